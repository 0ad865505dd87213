package gemv

import (
	"context"
	"fmt"
	"time"

	"mpbench/internal/parallel"
	"mpbench/pkg/bound"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/deferred"
)

// deferredMethod is the deferred engine: exact sums of products in residues, and one rounding to nearest even of alpha
// times the sum plus beta*y. With alpha = 0 there are no sums; beta*y is rounded once.
func deferredMethod() method.Method {
	return method.Method{
		Operation: op.Gemv, Name: "deferred", Summary: "exact sums of products in residues, rounded once",
		Format: "residues",
		Least:  2, Most: 1 << 16, Threads: true, Streams: []device.Kind{device.CUDA, device.Hybrid},
		Bound: bound.New("u*|y|, u = 2^-p: correctly rounded", "own, mpbench/pkg/rns/deferred"),
		On: map[device.Kind]method.New{device.CPU: func(c method.Config) (method.Engine, error) {
			return &deferredEngine{config: c}, nil
		}},
	}
}

type deferredEngine struct {
	config  method.Config
	problem *op.Problem
	shape   op.Shape
	scalars *deferred.Scalars
	special []exact.Value

	matrix     *deferred.Matrix
	x          *deferred.Vector
	sums       *deferred.Accumulator
	accumulate time.Duration
	round      time.Duration
}

// Prepare aligns the rows of op(A), and x, and converts them to residues. An error that says how many moduli would be
// needed means that the exponents are spread too far.
func (e *deferredEngine) Prepare(_ context.Context, p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	if err != nil {
		return err
	}
	*e = deferredEngine{config: e.config, problem: p, shape: shape, special: op.Specials(p, shape.Components)}
	e.scalars = deferred.NewScalars(p, shape.Rows)
	if !p.Multiplies() || e.scalars.Denominator != nil {
		return nil
	}
	direction := deferred.NoTrans
	if p.Trans {
		direction = deferred.Trans
	}
	plan, err := deferred.NewPlanFor(p.A.Source, p.A.Layout, direction, p.X.Source, p.X.Layout, e.config.Precision,
		deferred.Options{Threads: e.config.Threads})
	if err != nil {
		return err
	}
	if err := e.convert(plan, direction); err != nil {
		return err
	}
	return e.reconsider(plan, direction)
}

func (e *deferredEngine) convert(plan *deferred.Plan, direction deferred.Op) (err error) {
	detail := fmt.Sprintf("%d moduli of 4 bytes per element", plan.Moduli())
	if err := e.config.CheckMemory("deferred", e.shape, plan.Bytes(), detail); err != nil {
		return err
	}
	e.matrix, e.sums = nil, nil // the memory of a former plan
	e.matrix = plan.Matrix()
	if e.x, err = e.matrix.NewVector(e.problem.X.Source, e.problem.X.Layout); err != nil {
		return err
	}
	e.sums = e.matrix.NewAccumulator(direction)
	return nil
}

// reconsiderShare is the share of the rows, one in so many, beyond which computing them again takes longer than exact
// sums of all: a row takes some 200 ns an element then (BenchmarkRecomputed of package rns/deferred), and exact sums
// of float64 numbers of all exponents take 16 ns more than truncated ones (BenchmarkTruncated).
const reconsiderShare = 16

// reconsider tries a product with truncated factors, and goes over to exact ones if too many rows are computed again
// and moduli and memory suffice.
func (e *deferredEngine) reconsider(plan *deferred.Plan, direction deferred.Op) error {
	if !e.matrix.Truncated() && !e.x.Truncated() {
		return nil
	}
	e.multiply()
	if reconsiderShare*e.sums.Recomputed() <= e.shape.Rows {
		return nil
	}
	extent, err := deferred.Measure(e.problem.X.Source, e.problem.X.Layout)
	if err != nil {
		return err
	}
	exact := plan.Exact(extent)
	if exact == nil || e.config.CheckMemory("deferred", e.shape, exact.Bytes(), "") != nil {
		return nil
	}
	return e.convert(exact, direction)
}

func (e *deferredEngine) Run(context.Context) error {
	e.accumulate, e.round = 0, 0
	switch {
	case !e.problem.Multiplies():
		start := time.Now()
		e.scalars.Scale(uint(e.config.Precision))
		e.round = time.Since(start)
	case e.scalars.Denominator != nil:
		start := time.Now()
		e.scalars.Divide(e.problem, uint(e.config.Precision), e.config.Threads)
		e.round = time.Since(start)
	default:
		e.multiply()
	}
	return nil
}

func (e *deferredEngine) multiply() {
	start := time.Now()
	s := e.scalars
	s.Reset()
	e.sums.Reset()
	e.sums.MulVec(e.matrix, e.x, e.config.Threads)
	e.accumulate = time.Since(start)
	start = time.Now()
	e.sums.Round(s.Result, s.Alpha, s.Beta, uint(e.config.Precision), e.config.Threads)
	e.round = time.Since(start)
}

func (e *deferredEngine) Result() (numbers.Source, error) {
	return e.scalars.Values(e.special, e.config.Threads), nil
}

func (e *deferredEngine) Stages() []method.Stage {
	return []method.Stage{
		{Name: "accumulate", Summary: "exact sums of products in residues", Time: e.accumulate},
		{Name: "round", Summary: "integers from residues, times alpha, plus beta*y, rounded once", Time: e.round},
	}
}

func (e *deferredEngine) Info() method.Info {
	info := method.Info{Format: "residues", Bits: e.config.Precision, Threads: parallel.Threads(e.config.Threads)}
	if e.problem != nil && e.problem.Copies() && e.scalars.Denominator != nil { // y itself is rounded
		info.Rounded.Factors, info.Range.Unit = 1, exact.PowerOfTwo(-e.config.Precision)
	}
	if e.matrix != nil {
		_, stride := e.sums.Residues()
		info.Moduli, info.ModuliBits = e.matrix.Moduli(), deferred.ModulusBits
		info.NumberBytes = 4 * info.Moduli
		info.WorkspaceBytes = int64(4 * info.Moduli * stride)
		if e.matrix.Truncated() || e.x.Truncated() {
			info.Variant = deferred.TruncatedVariant(e.sums.Recomputed())
		}
	}
	return info
}

func (e *deferredEngine) Close() error { return nil }
