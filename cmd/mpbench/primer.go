package main

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpbench/datasets"
	"mpbench/pkg/device"
	"mpbench/pkg/gpu"
	"mpbench/pkg/primer"
	"mpbench/pkg/primer/primergpu"
	"mpbench/pkg/report"
	"mpbench/pkg/sampling"
)

// primerOptions are the flags of reduce and scan.
type primerOptions struct {
	kind     primer.Kind
	elements string
	op       string
	n        string
	seed     uint64
	device   string
	threads  int
	gpu      primergpu.Options
	without  bool // the element itself: an exclusive scan
	sampler  sampling.Sampler
	output   documentOptions
	picture  string
}

func newPrimerOptions(kind primer.Kind) *primerOptions {
	s := sampling.DefaultSampler()
	s.MinTime, s.Timeout, s.Prefix = 200*time.Millisecond, 2*time.Second, "--"
	return &primerOptions{kind: kind, elements: "int32", op: "+", n: "2^20", seed: 1, device: "cpu", sampler: s}
}

func (o *primerOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVarP(&o.op, "op", "o", o.op,
		"operation: "+strings.Join(primer.Names(), " ")+", with or without Peril-L's sign")
	f.StringVarP(&o.elements, "type", "t", o.elements, "type of the elements: "+strings.Join(primer.Types, ", "))
	f.StringVarP(&o.n, "n", "n", o.n, "number of elements")
	f.Uint64Var(&o.seed, "seed", o.seed, "seed of the elements")
	f.StringVar(&o.device, "device", o.device, "devices, a list: cpu, cuda:0, ..., or all")
	f.IntVar(&o.threads, "threads", 0, "threads of the CPU, 0 for all processors")
	if o.kind == primer.Scan {
		f.BoolVar(&o.without, "exclusive", false, "without the element itself: the first result is the identity")
	} else {
		f.IntVar(&o.gpu.Block, "block-size", 256, "threads of a GPU's block: a power of two, at most 1024")
		f.IntVar(&o.gpu.Grid, "grid", 1, "dimensions of a GPU's grid of blocks: 1, 2 or 3")
	}
	addSampler(f, &o.sampler)
	complete(cmd, "op", primer.Names())
	complete(cmd, "type", primer.Types)
	completeList(cmd, "device", []string{"all", "cpu", "cuda:0"})
	f.StringVar(&o.picture, "plot", "", "also draw bandwidths, or what an emulator counts, into `file` (.svg .png)")
	completeFiles(cmd, "plot", []string{".svg", ".png"})
	o.output.addFlags(cmd, false)
}

func newReduce() *cobra.Command {
	o := newPrimerOptions(primer.Reduction)
	cmd := &cobra.Command{
		Use:   "reduce",
		Short: "Reduce numbers by one operation in many ways: why reductions are made as they are",
		Long: `Reduces n numbers by an operation, from ways that are merely right to those that are fast, and compares
every result with the exact one. Integers are added and multiplied modulo 2^w; min and max are the minimum
and maximum of IEEE 754-2019; + and * of floating-point numbers round, and are within g(n-1).

On the CPU the ways are OpenMP's: every update in a critical section, atomic updates, copies of the result
in one cache line, and what reduction(+:s) stands for: each thread has a private copy, which begins as
the operation's identity (0 for +), and the copies are combined at the end. On a GPU they are the ladder of
kernels with which reductions in CUDA are taught. Each row is compared with a copy of the numbers on
the same device, and with the row before.

An operation may be written as Peril-L writes it: +/ is the sum of all, max/ the greatest. There operands
may be global, an array that all threads share, or local, a variable of each thread. A result that is
assigned to a local variable is copied to every thread: nobody goes on before the last one has given its
value, so that it is a barrier. A thread that only gives its value to a global result goes on at once.

On the emulator (scripts/emulator --count) there are no times; warps whose threads go different ways, and
conflicts of shared memory's banks, are counted for every step between two barriers.`,
		Example: `  mpbench reduce
  mpbench reduce --op max/ --type float64 -n 1e7
  mpbench reduce --device cpu,cuda:0 -n 2^26 --plot ladder.svg`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	o.addFlags(cmd)
	return cmd
}

func newScan() *cobra.Command {
	o := newPrimerOptions(primer.Scan)
	cmd := &cobra.Command{
		Use:   "scan",
		Short: "Combine every number with all before it, in several ways: prefix sums",
		Long: `Scans n numbers by an operation: result i is the combination of the elements up to i or, with
--exclusive, of those before i. Every result is compared with the exact one; a row's value is a hash of the
bits of all, its error the largest, relative to the sum of the magnitudes up to there.

Integers and operations that do not round are scanned on the CPU in two passes: each thread combines its
part, learns what the parts before give, and scans its part; on a GPU in one pass, in which blocks look
back at what blocks before have found. + and * of floating-point numbers have a fixed grouping, in tiles
of 16 KiB, so that every device and number of threads gives the same bits. Sums are also computed exactly,
every one rounded once.

Peril-L writes +\ for the scan by +. Assigned to local variables, one in each thread, it is a barrier: the
last thread's result needs all values. mpbench help reduce says more of local and global operands.`,
		Example: `  mpbench scan
  mpbench scan --op max\ --type int64 -n 1e6 --exclusive
  mpbench scan --type float32 --device cpu,cuda:0 --format jsonl`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.run(cmd) },
	}
	o.addFlags(cmd)
	return cmd
}

// run measures all ways on all devices.
func (o *primerOptions) run(cmd *cobra.Command) error {
	if err := o.output.check(); err != nil {
		return err
	}
	if o.picture != "" {
		if err := report.CheckPicture(o.picture); err != nil {
			return err
		}
	}
	operation, err := o.kind.Parse(o.op, o.elements)
	if err != nil {
		return usagef("%v", err)
	}
	if err := checkThreads(o.threads); err != nil {
		return err
	}
	n, err := datasets.ParseCount(o.n)
	if err != nil {
		return usagef("--n %s: want an integer of at least 1", o.n)
	}
	if err := cmp.Or(checkSampler(o.sampler), datasets.CheckMemory(16*int64(n))); err != nil {
		return err
	}
	devices, err := chooseDevices(o.device, nil)
	if err != nil {
		return err
	}
	rows, err := o.measure(cmd.Context(), operation, n, devices, reporter(cmd, o.output.quiet))
	if err != nil {
		return err
	}
	d := report.Primer(rows)
	env := captureEnvironment()
	d.Environment = &env
	if err := o.output.print(cmd, d, nil); err != nil {
		return err
	}
	if err := o.draw(cmd.Context(), rows); err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		return &statusError{exitInterrupted, "interrupted; what was measured until then is above"}
	}
	return checkRows(rows)
}

// draw writes the picture of the rows, if it is asked for.
func (o *primerOptions) draw(ctx context.Context, rows []primer.Row) error {
	if o.picture == "" {
		return nil
	}
	f := report.PrimerPicture(rows)
	if f == nil {
		return failedf("--plot %s: nothing was timed or counted", o.picture)
	}
	return writeTo(ctx, o.picture, func() error { return report.WritePicture(o.picture, f) })
}

func checkRows(rows []primer.Row) error {
	for _, r := range rows {
		if !r.Right {
			return failedf("%s on %s is wrong: %s", r.Way, r.Device, r.Value)
		}
	}
	return nil
}

// measure returns the rows of the ways on the devices.
func (o *primerOptions) measure(
	ctx context.Context, operation primer.Operation, n int, devices []device.Set, progress func(string),
) (rows []primer.Row, err error) {
	switch o.elements {
	case "int32":
		rows, err = measureOf[int32](ctx, o, operation, n, devices, progress)
	case "int64":
		rows, err = measureOf[int64](ctx, o, operation, n, devices, progress)
	case "float32":
		rows, err = measureOf[float32](ctx, o, operation, n, devices, progress)
	case "float64":
		rows, err = measureOf[float64](ctx, o, operation, n, devices, progress)
	}
	for i := range rows {
		rows[i].Command, rows[i].Operation, rows[i].Type, rows[i].N = o.kind.Name, operation.Name, o.elements, n
	}
	primer.Compare(rows)
	return rows, err
}

func measureOf[T primer.Number](
	ctx context.Context, o *primerOptions, operation primer.Operation, n int, devices []device.Set,
	progress func(string),
) (rows []primer.Row, err error) {
	p := primer.NewProblem[T](operation, n, o.seed, o.threads)
	ways := func(set device.Set) ([]primer.Way, func() error, error) { return reductionsOn(o, p, set) }
	if o.kind == primer.Scan {
		reference := primer.NewPrefixReference(p.Combiner, p.X, o.without)
		ways = func(set device.Set) ([]primer.Way, func() error, error) { return scansOn(p, reference, set) }
	}
	for _, set := range devices {
		if len(set.Members()) > 1 {
			return rows, usagef("%s runs on cpu and on single GPUs, not on %s", o.kind.Name, set)
		}
		list, closeWays, err := ways(set)
		if err != nil {
			return rows, err
		}
		more, err := measureWays(ctx, o.sampler, list, progress)
		rows = append(rows, more...)
		if err := cmp.Or(err, closeWays()); err != nil {
			return rows, err
		}
	}
	return rows, nil
}

func measureWays(
	ctx context.Context, s sampling.Sampler, ways []primer.Way, progress func(string),
) (rows []primer.Row, err error) {
	for _, w := range ways {
		if progress != nil {
			progress(w.Name + " on " + w.Device)
		}
		row, ok, err := primer.Measure(ctx, s, w)
		if err != nil || !ok {
			return rows, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func noClose() error { return nil }

// reductionsOn returns the ways to reduce on a device, and what gives back their memory.
func reductionsOn[T primer.Number](
	o *primerOptions, p *primer.Problem[T], set device.Set,
) ([]primer.Way, func() error, error) {
	if set.Kind() == device.CPU {
		return append([]primer.Way{p.CPUCopy()}, p.CPUReductions()...), noClose, nil
	}
	d, err := gpu.Open(set.GPUs()[0])
	if err != nil {
		return nil, nil, err
	}
	if err := o.gpu.Check(d.Info()); err != nil {
		return nil, nil, usagef("%v", err)
	}
	ladder, err := primergpu.NewLadder(d, p, o.gpu)
	if err != nil {
		return nil, nil, err
	}
	return ladder.Ways(), ladder.Close, nil
}

// scansOn returns the ways to scan on a device, and what gives back their memory.
func scansOn[T primer.Number](
	p *primer.Problem[T], r *primer.PrefixReference[T], set device.Set,
) ([]primer.Way, func() error, error) {
	if set.Kind() == device.CPU {
		return append([]primer.Way{p.CPUCopy()}, p.CPUScans(r)...), noClose, nil
	}
	d, err := gpu.Open(set.GPUs()[0])
	if err != nil {
		return nil, nil, err
	}
	scan, err := primergpu.NewScan(d, p, r.Exclusive())
	if err != nil {
		return nil, nil, err
	}
	ways := []primer.Way{scan.Copy(), scan.Way(r)}
	exact, err := primergpu.NewExactScan(d, p, r.Exclusive())
	switch {
	case errors.Is(err, primergpu.ErrNoSum), errors.Is(err, primergpu.ErrWide):
		return ways, scan.Close, nil
	case err != nil:
		return nil, nil, errors.Join(err, scan.Close())
	}
	closeBoth := func() error { return errors.Join(scan.Close(), exact.Close()) }
	return append(ways, exact.Way(r)), closeBoth, nil
}
