// Package measure is what happens to a method: it is made ready, timed, compared with the exact result and with its
// proved bound, and described by a record. It is the same for every operation, format and device.
package measure

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
	"mpbench/pkg/stats"
)

// Input is a problem with its exact result.
type Input struct {
	Dataset   record.Dataset
	Problem   *op.Problem
	Reference *op.Reference
	Warnings  []record.Warning // about the numbers, for every record of them
}

// NewInput computes the exact result of a problem.
func NewInput(d record.Dataset, p *op.Problem) (Input, error) {
	r, err := op.Exact(p)
	return Input{Dataset: d, Problem: p, Reference: r}, err
}

// Of problems of more than mostElements elements, with results of many components, sampleSize components are compared
// with exact ones: 2^30 products take some seconds.
const (
	mostElements = 1 << 30
	sampleSize   = 10_000
)

// NewSampledInput is NewInput of a problem that may be too large to compare all components of results.
func NewSampledInput(d record.Dataset, p *op.Problem) (Input, error) {
	r, err := op.Sampled(p, mostElements, sampleSize)
	return Input{Dataset: d, Problem: p, Reference: r}, err
}

// sampled returns a warning where not all components are compared.
func (in Input) sampled() (list []record.Warning) {
	n, all := in.Reference.Compared(), in.Reference.Shape.Components
	if n == all {
		return nil
	}
	return []record.Warning{{
		Code: record.WarnSampled, Text: fmt.Sprintf("%d of %d components, chosen at random, are compared", n, all),
		Advice: "of smaller problems all are",
	}}
}

// Result is what a method computed, and the record of it.
type Result struct {
	Record record.Record
	Y      numbers.Source
	Stages []method.Stage // of the last run
	Unit   *big.Rat       // unit roundoff of the method's operations, nil if it has none
}

// Measure runs a method on a problem, compares every component of the result with the exact one and its error with the
// method's proved bound. Value, exact value, error and bound in the record are those of the component with the largest
// relative error.
//
// A measurement that ctx interrupts gives a record with the samples so far; ok is false if it has none. An error means
// that the method cannot work with this configuration (*method.Error) or problem (*op.Error, *method.RangeError), that
// memory does not suffice (*method.MemoryError), or that a device failed.
func Measure(ctx context.Context, s sampling.Sampler, m method.Method, c method.Config, in Input) (
	result Result, ok bool, err error,
) {
	engine, err := m.New(c.Beside(in.Problem))
	if err != nil {
		return Result{}, false, err
	}
	defer func() {
		if closing := engine.Close(); err == nil {
			err = closing
		}
	}()
	t := timing{ctx: ctx, engine: engine, problem: in.Problem}
	t.timed, _ = engine.(method.Timed)
	taken, err := s.Measure(ctx, t.sample)
	if err != nil || len(taken.Timing.Samples) == 0 {
		return Result{}, false, err
	}
	if result.Y, err = engine.Result(); err != nil {
		return Result{}, false, err
	}
	info := engine.Info()
	limits := m.ErrorBound(info, in.Problem)
	judgment, err := in.Judge(result.Y, limits.Of)
	if err != nil {
		return Result{}, false, err
	}
	r := describe(m, c, info, in)
	judgment.Fill(&r, in)
	result.Unit = limits.Unit()
	if b, ok := in.normBound(result.Unit); ok {
		r.NormBound = b.Text(errorDigits)
	}
	shape := in.Reference.Shape
	taken.Fill(&r, shape.Elements, shape.Bytes(info.NumberBytes))
	t.complete(&r, info)
	if staged, ok := engine.(method.Staged); ok {
		result.Stages = staged.Stages()
	}
	result.Record = r
	return result, true, nil
}

type timing struct {
	ctx     context.Context
	engine  method.Engine
	timed   method.Timed // the engine, if it takes its time itself
	problem *op.Problem
	kernels [][]float64 // by kernel, in nanoseconds
}

func (b *timing) sample(t *sampling.Timer) error {
	if t.Index() == 0 {
		if err := b.prepare(t); err != nil {
			return err
		}
	}
	err := b.run(t)
	if staged, ok := b.engine.(method.Staged); ok && err == nil {
		for _, s := range staged.Stages() {
			t.AddNs(s.Name, float64(s.Time))
		}
	}
	return err
}

func (b *timing) run(t *sampling.Timer) error {
	if b.timed == nil {
		var failed error
		run, ctx := b.engine.Run, b.ctx
		t.Time(record.PhaseKernel, func() { // one virtual call a run
			if err := run(ctx); err != nil {
				failed = err
			}
		})
		return failed
	}
	if err := b.timed.RunTimed(b.ctx); err != nil {
		return err
	}
	times := b.timed.Times()
	t.AddNs(record.PhaseKernel, float64(times.Kernel))
	if times.CopyOut > 0 {
		t.AddNs(record.PhaseD2H, float64(times.CopyOut))
	}
	if times.Host > 0 {
		t.AddNs(record.PhaseHost, float64(times.Host))
	}
	for i, k := range times.Kernels {
		if i == len(b.kernels) {
			b.kernels = append(b.kernels, nil)
		}
		b.kernels[i] = append(b.kernels[i], float64(k.Time))
	}
	return nil
}

// How often the conversion of the numbers is timed, unless it takes longer than conversionTime in all. It comes before
// the first run and not between runs, where it would leave other things in the caches.
const (
	conversions    = 3
	conversionTime = time.Second
)

// prepare prepares the engine a few times and takes the median, or once where the engine takes the times.
func (b *timing) prepare(t *sampling.Timer) error {
	if b.timed != nil {
		if err := b.engine.Prepare(b.ctx, b.problem); err != nil {
			return err
		}
		t.AddNs(record.PhaseConvert, float64(b.timed.Times().Convert))
		t.AddNs(record.PhaseH2D, float64(b.timed.Times().CopyIn))
		return nil
	}
	var clock []float64
	for begin := time.Now(); len(clock) == 0 || len(clock) < conversions && time.Since(begin) < conversionTime; {
		start := time.Now()
		if err := b.engine.Prepare(b.ctx, b.problem); err != nil {
			return err
		}
		clock = append(clock, float64(time.Since(start)))
	}
	t.AddNs(record.PhaseConvert, stats.Median(clock))
	return nil
}

// complete fills what is known after the last run.
func (b *timing) complete(r *record.Record, info method.Info) {
	for _, text := range info.Warnings {
		r.Warnings = append(r.Warnings, record.Warning{Code: record.WarnTuning, Text: text,
			Advice: "remove the file, or switch tuning off"})
	}
	if b.timed == nil {
		return
	}
	times := b.timed.Times()
	if times.CopyOut > 0 && r.Phases[record.PhaseD2H] == 0 { // Result copies
		r.Phases[record.PhaseD2H] = float64(times.CopyOut)
	}
	for i, k := range times.Kernels {
		one := record.Kernel{
			Phase: k.Stage, Name: k.Name, Array: k.Array, TimeNs: sampling.Picoseconds(stats.Median(b.kernels[i])),
			Bytes: k.Bytes, Occupancy: k.Occupancy, Blocks: k.Blocks, Threads: k.Threads, SharedBytes: k.Shared,
			Registers: k.Registers, LocalBytes: k.Local,
		}
		if k.Bandwidth > 0 && one.TimeNs > 0 {
			one.BytesShare = float64(k.Bytes) / (one.TimeNs / 1e9) / k.Bandwidth
		}
		r.Kernels = append(r.Kernels, one)
	}
}

// describe is the record before anything is judged.
func describe(m method.Method, c method.Config, f method.Info, in Input) record.Record {
	s := in.Reference.Shape
	r := record.Record{
		Schema: record.RecordSchema, Command: m.Operation.Name, Method: m.Name, Format: f.Format, Variant: f.Variant,
		Device: f.Device, Threads: f.Threads, Dataset: in.Dataset, Shape: shape(s),
		PrecisionBits: c.Precision, ActualBits: f.Bits, Moduli: f.Moduli, ModuliBits: f.ModuliBits,
		Rounding: f.Rounding, Alignment: f.Alignment, Alignments: f.Alignments, Roundings: f.Roundings,
		Blocks: f.Blocks, BlockSize: f.BlockSize,
		Reference: m.Operation.Reference, Warnings: append(slices.Clone(in.Warnings), in.sampled()...),
		Factors: factors(in.Problem), Strides: strides(in.Problem),
	}
	if f.Ranks != nil {
		ranks := record.Ranks(*f.Ranks)
		r.Ranks = &ranks
	}
	if m.Bits != 0 {
		r.PrecisionBits = m.Bits
	}
	if r.Device == "" {
		r.Device = "cpu"
	}
	if m.Operation.Has(op.Matrix) {
		r.MatrixBytes, r.WorkspaceBytes = s.MatrixBytes(f.NumberBytes), f.WorkspaceBytes
	}
	return r
}

func shape(s op.Shape) record.Shape {
	return record.Shape{M: s.M, N: s.N, K: s.K, NNZ: s.NNZ, Trans: s.Trans, Uplo: s.Uplo, Diag: s.Diag}
}

// Operation is a method that is ready to run on a problem, to be timed beside another (sampling.RatioSampler).
type Operation struct {
	method.Engine
	ctx    context.Context
	failed error
}

// Prepare makes a method ready for a problem. Its errors are those of Measure.
func Prepare(ctx context.Context, m method.Method, c method.Config, in Input) (*Operation, error) {
	engine, err := m.New(c.Beside(in.Problem))
	if err != nil {
		return nil, err
	}
	if err := engine.Prepare(ctx, in.Problem); err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return &Operation{Engine: engine, ctx: ctx}, nil
}

// Run runs the method. The first error stays for Err.
func (o *Operation) Run() {
	if err := o.Engine.Run(o.ctx); err != nil && o.failed == nil {
		o.failed = err
	}
}

// Err returns the error of a device that failed during Run, whose times then mean nothing.
func (o *Operation) Err() error { return o.failed }

// Given names values that were computed elsewhere.
type Given struct {
	Name   string // of the file
	Format string // in the record
	Bits   int    // precision that units of the last place are those of
}

// Given returns the record of values that were computed elsewhere, judged by limit, which is nil for none.
func (in Input) Given(g Given, y numbers.Source, limit Limit) (record.Record, error) {
	j, err := in.Judge(y, limit)
	if err != nil {
		return record.Record{}, err
	}
	r := record.Record{
		Schema: record.RecordSchema, Command: in.Problem.Op.Name, Method: g.Name, Format: g.Format, Device: "cpu",
		Threads: 1,
		Dataset: in.Dataset, Shape: shape(in.Reference.Shape), PrecisionBits: g.Bits, ActualBits: g.Bits,
		Reference: in.Problem.Op.Reference, Phases: record.Phases{},
		Factors: factors(in.Problem), Strides: strides(in.Problem),
	}
	j.Fill(&r, in)
	r.Warnings = slices.Clone(in.Warnings) // the others speak of methods
	if limit == nil {
		r.WithinBound, r.Bound, r.AbsBound = nil, "", ""
	}
	return r, nil
}

// Limit returns a method's proved bounds for a problem, from one run of it.
func (in Input) Limit(ctx context.Context, m method.Method, c method.Config) (Limit, error) {
	engine, err := m.New(c.Beside(in.Problem))
	if err != nil {
		return nil, err
	}
	if err := method.Run(ctx, engine, in.Problem); err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	bounds := m.ErrorBound(engine.Info(), in.Problem)
	return func(s exact.Summary) *big.Rat { return bounds.Of(s) }, engine.Close()
}
