package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"mpbench/datasets"
	"mpbench/internal/parallel"
	"mpbench/internal/suggest"
	"mpbench/pkg/device"
	"mpbench/pkg/krylov"
	"mpbench/pkg/methods"
	"mpbench/pkg/numbers"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
)

type solveOptions struct {
	dataset, method, precision string
	n, right, reading, device  string
	algorithm, precondition    string
	seed                       uint64
	tolerance                  float64
	iterations                 int
	orders, threads            int
	reference, rounded         bool
	output                     documentOptions
}

func newSolve() *cobra.Command {
	o := solveOptions{
		method: "float64,dd", device: "cpu", precision: "212", reading: datasets.Double.String(),
		algorithm: string(krylov.BiCGStab), precondition: string(krylov.None), seed: 1, tolerance: 1e-12,
		iterations: 10_000, threads: 1,
	}
	cmd := &cobra.Command{
		Use:   "solve [FILE...]",
		Short: "Solve sparse linear systems in many number formats: which converges, in how many iterations",
		Long: `Solves A*x = b for the matrix of each Matrix Market file, CSR matrix of SciPy (.npz) or data set, with
b = (1, ..., 1) or that of --input-b, by BiCGStab, BiCGstab(2) or CG in each number format. The programs
of all formats are the same; sums are in the order of spmv and dot, which for float64 is from the first
term to the last. An iteration ends when the 2-norm of its residual, computed in binary64, is below --tol
times that of b, or after --iterations.

That residual is kept by a recurrence and may lie. So b - A*x is then computed exactly, and a system
counts as converged only if that residual is below the limit, too. The backward error is
||b - A*x|| / (||A|| ||x|| + ||b||) in the maximum norm. With --reference, a solution with a residual of
1e-30 times --tol gives the forward error. In deferred, dot products are exact until they are rounded
once, and everything else is binary64: what exact dot products alone bring. --orders 5 shows how far the
numbers of iterations scatter when nothing but the order of dot products changes.

refined solves in float64 to the square root of --tol, again and again with the residual of what there
is, which is computed in dd; refined-exact computes it without rounding. Both keep the solution in dd.
On a GPU the matrix and all vectors stay in its memory; residuals and the solution have the bits that they
have on the CPU. Dot products of float32 and float64 are added from the first term to the last, which a
GPU does not; where one is among the devices, float32-lanes and float64-lanes stand for them on all.
A matrix of float64 numbers takes no more bytes in dd, td and qd than in float64; --float64-matrix
rounds others to that.`,
		Example: `  mpbench solve add20.mtx dw2048.mtx --method float64,dd,qd
  mpbench solve add20.mtx --method float64,deferred,dd --orders 5
  mpbench solve --dataset olmstead,brusselator --method float64,dd --export residuals.svg
  mpbench solve watt_2.mtx --method float64,dd --precondition none,ilu0
  mpbench solve *.mtx --device cuda:0 --method float64,dd,qd --precondition none,jacobi,ilu0
  mpbench solve --dataset tridiagonal:cond=1e8 --algorithm cg --method float64,bigfloat --precision 106,212`,
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
		ValidArgsFunction: completeArguments(sparseFiles),
	}
	f := cmd.Flags()
	f.VarP(&listFlag{text: &o.dataset}, "dataset", "d", "data sets, a list; see mpbench datasets")
	f.StringVarP(&o.n, "n", "n", o.n, "unknowns of the data sets")
	f.Uint64Var(&o.seed, "seed", o.seed, "seed of random data")
	f.StringVar(&o.right, "input-b", o.right, "the right-hand side, in `file`")
	f.StringVar(&o.reading, "reading", o.reading, "decimals of at most 17 digits: double or exact")
	f.VarP(&listFlag{text: &o.method}, "method", "m", "number formats, a list: "+strings.Join(solverNames(), ", "))
	f.VarP(&listFlag{text: &o.precision}, "precision", "p", "precision of bigfloat in `bits`, a list")
	f.Float64Var(&o.tolerance, "tol", o.tolerance, "limit of residuals, relative to ||b||_2")
	f.IntVar(&o.iterations, "iterations", o.iterations, "iterations at most")
	f.IntVar(&o.orders, "orders", o.orders, "solve also with the unknowns in so many random orders, and so dot products")
	addThreads(f, &o.threads)
	f.Var(&listFlag{text: &o.device}, "device", "devices, a list: cpu, cuda:0, ..., or all")
	f.StringVar(&o.algorithm, "algorithm", o.algorithm, strings.Join(krylov.Algorithms(), ", "))
	f.VarP(&listFlag{text: &o.precondition}, "precondition", "", "a list: "+strings.Join(krylov.Preconditions(), ", "))
	f.BoolVar(&o.rounded, "float64-matrix", o.rounded,
		"round the matrix to float64; vectors are of each method's format")
	f.BoolVar(&o.reference, "reference", o.reference, "solve in 1024 bits first, for the forward error")
	o.output.addFlags(cmd, true)
	completeList(cmd, "method", solverNames())
	completeList(cmd, "device", []string{"all", "cpu", "cuda:0"})
	completeSets(cmd, "dataset", datasets.Sparses)
	complete(cmd, "reading", []string{"double", "exact"})
	complete(cmd, "algorithm", krylov.Algorithms())
	completeList(cmd, "precondition", krylov.Preconditions())
	completeFiles(cmd, "input-b", numberFiles)
	return cmd
}

// solverNames lists the usual formats; others, such as expansion:5, are known by their names.
func solverNames() (names []string) {
	for _, s := range methods.Solvers() {
		if !strings.Contains(s.Name, ":") {
			names = append(names, s.Name)
		}
	}
	return names
}

// solverChoice is a solver at a precision on a device.
type solverChoice struct {
	krylov.Solver
	bits int
	set  device.Set
}

// solvers returns those of the methods on each of the devices, and a line for each method in whose place another one
// stands.
func (o *solveOptions) solvers() (list []solverChoice, notes []string, err error) {
	settings := settings{precision: o.precision}
	precisions, err := settings.precisions()
	if err != nil {
		return nil, nil, err
	}
	sets, err := o.devices()
	if err != nil {
		return nil, nil, err
	}
	all := methods.Solvers()
	find := func(name string) int {
		return slices.IndexFunc(all, func(s krylov.Solver) bool { return s.Name == name })
	}
	for _, name := range strings.Split(o.method, ",") {
		name = strings.TrimSpace(name)
		i := find(name)
		if i < 0 {
			names := mapped(all, func(s krylov.Solver) string { return s.Name })
			return nil, nil, usagef("%s", suggest.Unknown("method", name, names))
		}
		s := all[i]
		if s.Parallel != "" && slices.ContainsFunc(sets, onGPU) {
			notes = append(notes, fmt.Sprintf("%s stands for %s, which adds dot products from the first term to the last",
				s.Parallel, name))
			s = all[find(s.Parallel)]
		}
		choices, err := choices(s, precisions, sets)
		if err != nil {
			return nil, nil, err
		}
		list = append(list, choices...)
	}
	return list, notes, nil
}

// devices returns those that each solve the systems alone.
func (o *solveOptions) devices() ([]device.Set, error) {
	sets, err := chooseDevices(o.device, nil)
	for _, set := range sets {
		if set.Kind() == device.Hybrid {
			return nil, usagef("--device %s: a system is solved by one device; want cpu or cuda:0, or both as a list", set)
		}
	}
	return sets, err
}

func onGPU(s device.Set) bool { return s.Kind() == device.CUDA }

// choices returns a solver at each precision on each device that it runs on.
func choices(s krylov.Solver, precisions []int, sets []device.Set) (list []solverChoice, err error) {
	if s.Bits != 0 {
		precisions = []int{s.Bits}
	}
	for _, set := range sets {
		for _, p := range precisions {
			if s.Bits == 0 && (p < s.Least || p > s.Most) {
				return nil, usagef("%s: precision %d is outside its range, %d to %d bits", s.Name, p, s.Least, s.Most)
			}
			if s.On(set.Kind()) {
				list = append(list, solverChoice{s, p, set})
			}
		}
	}
	if len(list) == 0 {
		return nil, usagef("%s does not run on %s; use --device cpu", s.Name, joined(sets))
	}
	return list, nil
}

// preconditions returns those that are named.
func (o *solveOptions) preconditions() []string {
	return mapped(strings.Split(o.precondition, ","), strings.TrimSpace)
}

func (o *solveOptions) check() error {
	for _, name := range o.preconditions() {
		if !slices.Contains(krylov.Preconditions(), name) {
			return usagef("--precondition: %s", suggest.Unknown("preconditioner", name, krylov.Preconditions()))
		}
	}
	switch {
	case !slices.Contains(krylov.Algorithms(), o.algorithm):
		return usagef("--algorithm: %s", suggest.Unknown("algorithm", o.algorithm, krylov.Algorithms()))
	case !(o.tolerance > 0 && o.tolerance < 1):
		return usagef("--tol %g: want a number between 0 and 1", o.tolerance)
	case o.iterations < 1:
		return usagef("--iterations %d: want an integer of at least 1", o.iterations)
	case o.orders < 0:
		return usagef("--orders %d: want an integer of at least 0", o.orders)
	case o.orders > 0 && slices.Contains(o.preconditions(), string(krylov.ILU0)):
		return usagef("--orders: ilu0 depends on the order of the unknowns; want --precondition none or jacobi")
	case checkThreads(o.threads) != nil:
		return checkThreads(o.threads)
	}
	return o.output.check()
}

// systems returns functions that load the systems.
func (o *solveOptions) systems(files []string) (list []func() (*datasets.Data, error), err error) {
	reading, err := datasets.ParseReading(o.reading)
	if err != nil {
		return nil, err
	}
	general := datasets.Options{Seed: o.seed}
	if o.n != "" {
		if general.N, err = datasets.ParseCount(o.n); err != nil {
			return nil, usagef("--n %s: want an integer of at least 1", o.n)
		}
	}
	if o.dataset != "" {
		specs, err := datasets.Sparses.ParseList(o.dataset)
		if err != nil {
			return nil, err
		}
		for _, s := range specs {
			list = append(list, func() (*datasets.Data, error) { return datasets.Generate(s, general) })
		}
	}
	for _, path := range files {
		list = append(list, func() (*datasets.Data, error) { return datasets.LoadSparse(path, reading) })
	}
	if len(list) == 0 {
		return nil, usagef("solve: name Matrix Market files, or --dataset")
	}
	return list, nil
}

func (o *solveOptions) system(d *datasets.Data) (krylov.System, error) {
	s := krylov.System{A: numbers.Sparse(d.A.Source, d.N, d.Pattern), B: krylov.Ones(d.M)}
	if d.M != d.N || d.M == 0 {
		return s, inputOutputf("%s is a %d x %d matrix; solve needs a square one", d.Name, d.M, d.N)
	}
	if o.right != "" {
		reading, err := datasets.ParseReading(o.reading)
		if err != nil {
			return s, err
		}
		b, err := datasets.Load(o.right, reading)
		if err != nil {
			return s, err
		}
		if b.N != d.N {
			return s, inputOutputf("%s holds %d numbers; b needs %d for the matrix %s", o.right, b.N, d.N, d.Name)
		}
		s.B = numbers.Vector(b.X.Source)
	}
	return s, nil
}

func (o *solveOptions) run(cmd *cobra.Command, files []string) error {
	if err := o.check(); err != nil {
		return err
	}
	solvers, notes, err := o.solvers()
	if err != nil {
		return err
	}
	systems, err := o.systems(files)
	if err != nil {
		return err
	}
	env := captureEnvironment()
	progress := newProgress(cmd, len(systems)*len(solvers)*len(o.preconditions()), o.output.quiet)
	run := &record.Run{Environments: []record.Environment{env}}
	for _, load := range systems {
		if err = o.solveAll(cmd.Context(), load, solvers, progress, run); err != nil || cmd.Context().Err() != nil {
			break
		}
	}
	progress.Close()
	if len(run.Records) > 0 {
		d := report.Solve(run.Records)
		d.Environment, d.Closing = &env, append(d.Closing, notes...)
		err = cmp.Or(err, o.output.print(cmd, d, run))
	}
	if err == nil && cmd.Context().Err() != nil {
		return &statusError{exitInterrupted, "interrupted"}
	}
	return err
}

// solveAll solves a system by all solvers.
func (o *solveOptions) solveAll(
	ctx context.Context, load func() (*datasets.Data, error), solvers []solverChoice, progress report.Progress,
	run *record.Run,
) error {
	d, err := load()
	if err != nil {
		return err
	}
	system, err := o.system(d)
	if err != nil {
		return err
	}
	options := krylov.Options{
		Tolerance: o.tolerance, Iterations: o.iterations, Algorithm: krylov.Algorithm(o.algorithm), Threads: o.threads,
		Float64Matrix: o.rounded, Precondition: krylov.Precondition(o.preconditions()[0]),
	}
	others := make([]krylov.System, o.orders)
	for i := range others {
		others[i] = system.Permuted(o.seed + uint64(i))
	}
	var known numbers.Source
	if o.reference {
		if known, err = referenceSolution(ctx, system, options); err != nil {
			return inputOutputf("%s: %v", d.Name, err)
		}
	}
	for _, s := range solvers {
		for _, name := range o.preconditions() {
			options.Precondition, options.Devices = krylov.Precondition(name), s.set
			progress.Begin(d.Name + " " + s.Name)
			r, err := s.measure(ctx, d, system, others, options, known)
			if err != nil {
				return inputOutputf("%s: %s", d.Name, strings.TrimPrefix(err.Error(), "krylov: "))
			}
			r.EnvID = run.Environments[0].ID
			run.Records = append(run.Records, r)
			progress.End()
			if r.Solve.Status == string(krylov.Interrupt) {
				return nil
			}
		}
	}
	return nil
}

// measure solves a system, which is that of the data, and others that differ from it in the order of the unknowns.
func (s solverChoice) measure(
	ctx context.Context, d *datasets.Data, system krylov.System, others []krylov.System, o krylov.Options,
	known numbers.Source,
) (record.Record, error) {
	result, err := s.Solve(ctx, s.bits, system, o)
	if err != nil {
		return record.Record{}, err
	}
	r := solveRecord(d, s, o, result)
	if known != nil {
		r.Solve.Forward = decimalText(result.Forward(known))
	}
	r.Solve.Orders, err = s.iterations(ctx, others, o)
	return r, err
}

// iterations returns how many each system takes, negative where the recurrence's residual does not become small.
func (s solverChoice) iterations(
	ctx context.Context, systems []krylov.System, o krylov.Options,
) (list []int, err error) {
	for _, system := range systems {
		result, err := s.Solve(ctx, s.bits, system, o)
		if err != nil {
			return nil, err
		}
		if result.Status != krylov.Converged && result.Status != krylov.Deceived {
			result.Iterations = -result.Iterations
		}
		list = append(list, result.Iterations)
	}
	return list, nil
}

// referenceBits is the precision of solutions that others are compared with.
const referenceBits = 1024

func referenceSolution(ctx context.Context, s krylov.System, o krylov.Options) (numbers.Source, error) {
	o.Tolerance *= 1e-30
	r, err := methods.WideSolver().Solve(ctx, referenceBits, s, o)
	if err == nil && r.Status != krylov.Converged && ctx.Err() == nil {
		err = fmt.Errorf("no reference: in %d bits the iteration ended with %q after %d iterations", referenceBits, r.Status,
			r.Iterations)
	}
	return r.X, err
}

func decimalText(x float64) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case math.IsInf(x, 1):
		return "+Inf"
	}
	return strconv.FormatFloat(x, 'e', 3, 64)
}

func solveRecord(d *datasets.Data, s solverChoice, o krylov.Options, result krylov.Result) record.Record {
	ns := float64(result.Time)
	phases := record.Phases{record.PhaseKernel: ns}
	for _, p := range krylov.Phases() {
		phases[p.String()] = float64(result.Shares[p])
	}
	threads := 1
	if result.Device == "" {
		threads = parallel.Threads(o.Threads)
	}
	sum := d.Record()
	sum.SHA256, _, _ = strings.Cut(sum.SHA256, ",") // of the matrix
	return record.Record{
		Schema: record.RecordSchema, Command: "solve", Method: s.Name, Format: s.Format,
		Device: cmp.Or(result.Device, string(device.CPU)), Threads: threads,
		Dataset: sum, Shape: record.Shape{M: d.M, N: d.N, NNZ: d.Pattern.Len()},
		PrecisionBits: s.bits, ActualBits: s.bits, Reference: "exact residual of the computed solution",
		Time:     record.Timing{Median: ns, Lo: ns, Hi: ns, Samples: []float64{ns}},
		Phases:   phases,
		Warnings: []record.Warning{},
		Solve: &record.Solve{
			Algorithm: string(o.Algorithm), Precondition: string(o.Precondition), Tolerance: o.Tolerance,
			Status: string(result.Status), Converged: result.Status == krylov.Converged, Iterations: result.Iterations,
			Products:   result.Products,
			Recurrence: decimalText(result.Recurrence), True: decimalText(result.True), Backward: decimalText(result.Backward),
			History: result.History, Float64Matrix: o.Float64Matrix,
		},
	}
}
