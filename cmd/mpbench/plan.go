package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpbench/datasets"
	"mpbench/pkg/device"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/outofcore"
	"mpbench/pkg/plan"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
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

// rateFlag is a flag for a ceiling.
type rateFlag struct {
	name, usage string
	text        *string
}

func (o *planOptions) rates() []rateFlag {
	return []rateFlag{
		{"disk", "what each host reads in a second, as 5GB/s, or a `file` or folder here to measure", &o.disk},
		{"memory", "what a host's memory gives in a second, as 200GB/s", &o.memory},
		{"bus", "what each GPU gets from its host in a second, as 55GB/s", &o.bus},
		{"link", "what goes from one host to another in a second, as 100Gbit/s", &o.link},
	}
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

// ceilings are measured, given or assumed.
func (o *planOptions) ceilings(ctx context.Context, w plan.Work) (c plan.Ceilings, err error) {
	for _, r := range []struct {
		text, name string
		to         *plan.Ceiling
		otherwise  func() (plan.Ceiling, error)
	}{
		{o.disk, "disk", &c.Disk, func() (plan.Ceiling, error) { return o.measureDisk(ctx) }},
		{o.memory, "memory", &c.Memory, o.memoryHere},
		{o.bus, "bus", &c.Bus, o.busHere},
		{o.link, "link", &c.Link, func() (plan.Ceiling, error) { return plan.AssumedLink, nil }},
	} {
		rate, isRate := parseRate(r.text)
		switch {
		case isRate:
			*r.to = plan.Ceiling{Value: rate, From: plan.Given}
		case r.text != "" && r.name != "disk":
			return c, usagef("--%s %s: want a rate, as 5GB/s or 100Gbit/s", r.name, r.text)
		default:
			if *r.to, err = r.otherwise(); err != nil {
				return c, err
			}
		}
	}
	c.Latency = plan.AssumedLatency
	if o.latency > 0 {
		c.Latency = plan.Ceiling{Value: o.latency.Seconds(), From: plan.Given}
	}
	if o.engine > 0 {
		c.Engine = plan.Ceiling{Value: o.engine, From: plan.Given}
		return c, nil
	}
	if o.gpus > 0 && !gpuHere() {
		c.Engine = plan.AssumedGPU(w)
		return c, nil
	}
	c.Engine, c.Convert, err = plan.MeasureEngine(ctx, w, o.runner(false))
	if here := o.config.Threads; o.gpus == 0 && o.threads > here { // more processors than there are here
		c.Engine.Value *= float64(here) / float64(o.threads)
		c.Convert.Value *= float64(here) / float64(o.threads)
		c.Engine.From += plan.Origin(fmt.Sprintf(" with %s", record.Count(here, "thread")))
	}
	return c, err
}

// runner is what is planned, or, to measure an engine apart, without reading and bus.
func (o *planOptions) runner(whole bool) plan.Runner {
	if o.from == string(plan.File) && o.gpus == 0 {
		return plan.Streamed(o.config.Threads)
	}
	c := o.config
	if c.Stream = whole && o.gpus > 0 && o.from != string(plan.Device); whole && o.gpus > 1 {
		c.Devices = device.GPUs(o.gpus)
	}
	return plan.By(o.chosen, c)
}

// memoryHere is measured, unless hosts of GPUs are planned where there are none.
func (o *planOptions) memoryHere() (plan.Ceiling, error) {
	if o.gpus > 0 && !gpuHere() {
		return plan.AssumedMemory, nil
	}
	return plan.MeasureMemory(0), nil
}

// busHere is measured where there is a GPU.
func (o *planOptions) busHere() (plan.Ceiling, error) {
	if o.gpus == 0 || !gpuHere() {
		return plan.AssumedBus, nil
	}
	rate, err := busRate(0)
	return plan.Ceiling{Value: rate, From: plan.Measured}, err
}

// diskSample is the bytes of the file that is written where a folder is to be measured: more than is read through the
// system's memory. Tests write less.
var diskSample = 128 << 20

// measureDisk reads the files, or what --disk names.
func (o *planOptions) measureDisk(ctx context.Context) (plan.Ceiling, error) {
	if o.from != string(plan.File) {
		return plan.Ceiling{Value: math.Inf(1), From: plan.Assumed}, nil
	}
	if o.disk == "" && o.data != nil {
		p := o.data.problem
		a := p.X
		if !p.A.Absent() {
			a = numbers.Array{Source: p.A.Source, Layout: numbers.Strided(p.A.Len(), 1)}
		}
		return plan.MeasureDisk(ctx, a)
	}
	path := o.disk
	info, err := os.Stat(path)
	switch {
	case path == "":
		return plan.Ceiling{}, usagef("--from file needs a file, or --disk: a rate as 5GB/s, or a file or folder here " +
			"to measure")
	case err != nil:
		return plan.Ceiling{}, usagef("--disk %s: want a rate as 5GB/s, or a file or folder here to measure", path)
	case info.IsDir():
		path = filepath.Join(path, fmt.Sprintf("mpbench-plan-%d.npy", os.Getpid()))
		defer os.Remove(path)
		if err := writeSample(path); err != nil {
			return plan.Ceiling{}, inputOutputf("cannot write %s: %v", path, cause(err))
		}
	}
	s, err := datasets.OpenStream(path)
	if err != nil {
		return plan.Ceiling{}, err
	}
	defer s.Close()
	return plan.MeasureDisk(ctx, numbers.Vector(s.Unhashed()))
}

func writeSample(path string) error {
	data, err := npyFile(path, make(numbers.Float64s, diskSample/8))
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}

// parseRate reads bytes per second: "5GB/s", "800MB/s", "100Gbit/s".
func parseRate(text string) (float64, bool) {
	for i, unit := range []string{"kB/s", "MB/s", "GB/s", "TB/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"} {
		number, ok := strings.CutSuffix(text, unit)
		x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if !ok || err != nil || !(x > 0) || math.IsInf(x, 1) {
			continue
		}
		x *= math.Pow(1000, float64(i%4+1))
		if i >= 4 {
			x /= 8
		}
		return x, true
	}
	return 0, false
}

// write prints the stages, the whole, and what would help most.
func (o *planOptions) write(out io.Writer, p plan.Prediction) error {
	size := countText(o.columns)
	if o.rows > 0 {
		size = countText(o.rows) + " x " + size
	}
	who := record.Count(o.threads, "thread")
	if o.gpus > 0 {
		who = record.Count(o.gpus, "GPU")
	}
	fmt.Fprintf(out, "%s of %s numbers from %s: %s of %s on %s\n\n", o.opName, size, o.from,
		record.Count(o.ranks, "rank"), who, record.Count(o.hosts, "host"))
	var rows [][]string
	for _, s := range p.Stages {
		bytes := "-"
		if s.Bytes > 0 {
			bytes = record.Bytes(int64(s.Bytes))
		}
		rows = append(rows, []string{s.Name, bytes, s.Ceiling, string(s.From), spanText(s.Seconds),
			fmt.Sprintf("%.0f %%", 100*s.Seconds/p.Seconds)})
	}
	err := report.List(out, []string{"stage", "bytes", "ceiling", "which is", "time", "share"}, rows, columns(out))
	fmt.Fprintf(out, "\ntotal %s, bound by %s\n", spanText(p.Seconds), p.Bound)
	for i, c := range p.Changes[:min(3, len(p.Changes))] {
		format := "then %s: %s\n"
		if i == 0 {
			format = "what would help most is %s: %s\n"
		}
		fmt.Fprintf(out, format, c.What, spanText(c.Seconds))
	}
	fmt.Fprintf(out, "on twice as many hosts: %s\n", spanText(p.Doubled))
	return err
}

// countText writes a number with at most four digits: "1e13", "6000".
func countText(n int) string {
	return strings.NewReplacer("e+0", "e", "e+", "e").Replace(strconv.FormatFloat(float64(n), 'g', 4, 64))
}

// spanText writes seconds with three digits, in the unit that people use.
func spanText(seconds float64) string {
	for _, u := range []struct {
		above, unit float64
		name        string
	}{
		{3 * 86400, 86400, "days"}, {2 * 3600, 3600, "h"}, {120, 60, "min"}, {1, 1, "s"}, {1e-3, 1e-3, "ms"},
		{0, 1e-6, "µs"},
	} {
		if seconds >= u.above {
			return fmt.Sprintf("%.3g %s", seconds/u.unit, u.name)
		}
	}
	return "" // of no time
}

// compared prints what the work took, and returns an error where the prediction is more than 25 % off.
func compared(out io.Writer, predicted, took float64) error {
	const within = 0.25
	ratio := predicted / took
	fmt.Fprintf(out, "\nit took %s here: the prediction is %.2f of that\n", spanText(took), ratio)
	if math.Abs(ratio-1) > within {
		return failedf("the prediction is %.0f %% off", 100*math.Abs(ratio-1))
	}
	return nil
}
