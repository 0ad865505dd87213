package main

import (
	"cmp"
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpbench/datasets"
	"mpbench/pkg/device"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/outofcore"
	"mpbench/pkg/plan"
)

const aboutPlan = `Predicts how long a sum, a dot product or a matrix-vector product takes on machines that need not be
here, and what bounds it. The numbers go from disk to memory, to the GPUs if there are any, and through the
method, all at the same time: the slowest stage decides. Conversion to the method's numbers comes before,
the merging of what ranks have after.

What disk, memory, bus and method do in a second is measured here, in a few seconds, unless a flag has it:
rates such as 5GB/s, 800MB/s or 100Gbit/s, --engine in nanoseconds for a term. The method on a GPU,
its bus and its host's memory are, where no GPU is here, assumed to be an H200's, and the network to be
100 Gbit Ethernet. The table
says of each whether it was measured, given or assumed.

With --verify the work is done here, in turn with the measurements, and the best times are compared: exit
code 1 if the prediction is more than 25 % off.`

func newPlan() *cobra.Command {
	o := planOptions{operands: newOperands(op.Sum), opName: "sum", precision: 53, method: "deferred", ranks: 1}
	cmd := &cobra.Command{
		Use:   "plan [file]...",
		Short: "Predict the time of a large computation, and what bounds it",
		Long:  aboutPlan,
		Example: `  mpbench plan --op sum --n 1e13 --ranks 64 --gpus 8 --disk 5GB/s
  mpbench plan --op gemv --m 1e6 --n 1e6 --precision 106 --ranks 16 --from memory
  mpbench plan --op dot --n 1e8 --verify
  mpbench plan 'part-*.npy' --verify`,
		ValidArgsFunction: completeArguments(numberFiles),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args) },
	}
	f := cmd.Flags()
	f.StringVar(&o.opName, "op", o.opName, "what to compute: "+strings.Join(plannable(), ", "))
	f.StringVarP(&o.n, "n", "n", "", "numbers of a vector, or columns: 1e13; of files as many as they have")
	f.StringVar(&o.m, "m", "", "rows of the matrix (default as many as columns)")
	f.IntVarP(&o.precision, "precision", "p", o.precision, "precision in `bits`")
	f.StringVarP(&o.method, "method", "m", o.method, "method; answers about files are exact sums")
	f.StringVar(&o.from, "from", "", "where the numbers are: file, memory, or device, the GPUs' memory\n"+
		"(default file with a file or --disk, else memory)")
	f.IntVar(&o.ranks, "ranks", o.ranks, "processes that share the work")
	f.IntVar(&o.hosts, "hosts", 0, "hosts that they are on, 0 for as many as ranks")
	f.IntVar(&o.gpus, "gpus", 0, "GPUs of each rank, 0 for its processors")
	f.IntVar(&o.threads, "threads", 0,
		"goroutines of each rank, 0 for this machine's processors divided by the ranks of a host")
	for _, c := range o.rates() {
		f.StringVar(c.text, c.name, "", c.usage)
	}
	f.Float64Var(&o.engine, "engine", 0, "nanoseconds that a rank, or a GPU, takes for a term, 0 to measure or assume")
	f.DurationVar(&o.latency, "latency", 0, "of a message between hosts, 0 for 20 µs")
	f.BoolVar(&o.verify, "verify", false, "run it here, and compare")
	f.SortFlags = false
	complete(cmd, "op", plannable())
	completeFiles(cmd, "disk", numberFiles)
	complete(cmd, "method", catalog.Names())
	complete(cmd, "from", places)
	return cmd
}

var places = []string{string(plan.File), string(plan.Memory), string(plan.Device)}

// plannable are the operations that are planned.
func plannable() (names []string) {
	for _, o := range op.All() {
		if outofcore.Supports(o) {
			names = append(names, o.Name)
		}
	}
	return names
}

type planOptions struct {
	operands
	opName, n, m, method, from  string
	precision                   int
	ranks, hosts, gpus, threads int
	disk, memory, bus, link     string
	engine                      float64
	latency                     time.Duration
	verify                      bool

	rows, columns int
	data          *dataFiles // nil without files
	config        method.Config
	chosen        method.Method
}

func (o *planOptions) run(cmd *cobra.Command, args []string) (err error) {
	if err := o.check(cmd, args); err != nil {
		return err
	}
	if o.data != nil {
		defer func() { err = errors.Join(err, o.data.Close()) }()
	}
	w := plan.Work{Op: o.op, M: o.rows, N: o.columns, From: plan.Place(o.from)}
	machine := plan.Machine{Hosts: o.hosts, Ranks: o.ranks, GPUs: o.gpus}
	ceilings, err := o.ceilings(cmd.Context(), w)
	if err != nil {
		return err
	}
	if !o.verify {
		return o.write(cmd.OutOrStdout(), plan.Predict(w, machine, ceilings))
	}
	ceilings, took, err := o.alternate(cmd.Context(), w, ceilings)
	if err != nil {
		return err
	}
	p := plan.Predict(w, machine, ceilings)
	if err := o.write(cmd.OutOrStdout(), p); err != nil {
		return err
	}
	return compared(cmd.OutOrStdout(), p.Seconds, took)
}

// verifyRounds is how often ceilings are measured and the work is done, in turn, as a machine is not always the same.
const verifyRounds = 3

// alternate returns the best ceilings, and the least seconds that the work takes here.
func (o *planOptions) alternate(ctx context.Context, w plan.Work, c plan.Ceilings) (plan.Ceilings, float64, error) {
	var problem *op.Problem
	if o.data != nil {
		problem = o.data.problem
	} else {
		problem = plan.Sample(o.op, o.rows, o.columns)
	}
	took := math.Inf(1)
	for round := range verifyRounds {
		if round > 0 {
			again, err := o.ceilings(ctx, w)
			if err != nil {
				return c, 0, err
			}
			c = c.Best(again)
		}
		seconds, err := o.runner(true).Time(ctx, problem)
		if err != nil {
			return c, 0, err
		}
		took = min(took, seconds)
	}
	return c, took, nil
}

// check finds what is wrong about the flags, opens the files, and completes what is left open.
func (o *planOptions) check(cmd *cobra.Command, args []string) (err error) {
	var ok bool
	if o.op, ok = op.Lookup(o.opName); !ok || !outofcore.Supports(o.op) {
		return usagef("plan --op %s: want %s", o.opName, strings.Join(plannable(), ", "))
	}
	o.hosts = cmp.Or(o.hosts, o.ranks)
	switch {
	case o.ranks < 1 || o.ranks > 1<<30:
		return usagef("--ranks %d: want at least 1", o.ranks)
	case o.hosts < 1 || o.hosts > o.ranks:
		return usagef("--hosts %d: want from 1 to as many as ranks, %d", o.hosts, o.ranks)
	case o.gpus < 0 || o.gpus > 1<<16:
		return usagef("--gpus %d: want 0 or more", o.gpus)
	case o.engine < 0 || math.IsNaN(o.engine) || o.latency < 0:
		return usagef("--engine and --latency: want positive times, or 0")
	case o.verify && (o.ranks > 1):
		return usagef("--verify runs the work here, in one process; leave --ranks out")
	case o.from != "" && !slices.Contains(places, o.from):
		return usagef("--from %s: want %s", o.from, strings.Join(places, ", "))
	}
	if err := cmp.Or(checkThreads(o.threads), o.size(args)); err != nil {
		return err
	}
	if o.from == "" {
		o.from = string(plan.Memory)
		if o.data != nil || o.disk != "" {
			o.from = string(plan.File)
		}
	}
	return o.choose(cmd)
}

// size takes the files, if there are any, and finds out how large the work is.
func (o *planOptions) size(args []string) (err error) {
	if len(args) > 0 {
		if o.n != "" || o.m != "" {
			return usagef("the files have a size; leave --n and --m out")
		}
		reading, _ := datasets.ParseReading(o.reading)
		o.operands = newOperands(o.op)
		o.stream = true
		if err := o.takeArguments(args); err != nil {
			return err
		}
		if o.data, err = o.openData(reading); err != nil {
			return err
		}
		if o.columns = o.data.rows(); o.op.Has(op.Matrix) {
			o.rows, o.columns = o.data.problem.A.Rows, o.data.problem.A.Cols
		}
		return nil
	}
	if o.columns, err = parseRow(o.n); err != nil || o.columns == 0 {
		return usagef("--n %s: want how many numbers, as 1e13", o.n)
	}
	if !o.op.Has(op.Matrix) {
		if o.m != "" {
			return usagef("--m %s: %s has no matrix", o.m, o.opName)
		}
		return nil
	}
	if o.rows, err = parseRow(cmp.Or(o.m, o.n)); err != nil || o.rows == 0 {
		return usagef("--m %s: want how many rows, as 1e6", o.m)
	}
	if float64(o.rows)*float64(o.columns) > 1<<53 {
		return usagef("a matrix of %d x %d numbers is more than is planned for", o.rows, o.columns)
	}
	return nil
}

// choose completes the method's configuration.
func (o *planOptions) choose(cmd *cobra.Command) error {
	list, err := chooseMethods(o.method, catalog.Of(o.op))
	if err != nil {
		return err
	}
	if len(list) != 1 {
		return usagef("--method %s: want one method", o.method)
	}
	o.chosen = list[0]
	set := device.Set{}
	if o.gpus > 0 {
		set = device.GPU(0)
	}
	here := runtime.GOMAXPROCS(0)
	o.threads = max(1, cmp.Or(o.threads, here/((o.ranks+o.hosts-1)/o.hosts)))
	o.config, err = o.chosen.Complete(method.Config{
		Precision: o.precision, Devices: set, Threads: min(here, o.threads), MaxBytes: memoryLimit(),
		Stream: o.gpus > 0 && o.from == string(plan.File),
	})
	switch {
	case err != nil:
		return err
	case o.from == string(plan.Device) && o.gpus == 0:
		return usagef("--from device needs --gpus")
	case o.from == string(plan.File) && o.gpus == 0 &&
		(cmd.Flags().Changed("method") || cmd.Flags().Changed("precision")):
		return usagef("answers about files are exact sums by processors; leave --method and --precision out, or say " +
			"--from memory")
	case o.from == string(plan.File) && o.gpus > 0 && o.op.Has(op.Matrix):
		return usagef("a matrix goes to GPUs from memory, not from files; say --from memory")
	case !o.verify:
		return nil
	case o.gpus > 0 && !gpuHere():
		return &statusError{exitUnavailable, "there is no GPU here to verify the plan on"}
	case o.data != nil:
		return nil
	case o.from == string(plan.File):
		return usagef("--verify needs the files that are planned for, or --from memory")
	}
	need := 16 * float64(max(1, o.rows)) * float64(o.columns) // numbers, and room for the method's
	if err := datasets.CheckMemory(int64(min(need, math.MaxInt64/2))); err != nil {
		return inputOutputf("--verify: %v", err)
	}
	return nil
}
