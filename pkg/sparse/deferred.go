package sparse

import (
	"context"
	"math"
	"math/big"

	"mpbench/internal/parallel"
	"mpbench/pkg/bound"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/superacc"
)

// deferredMethod adds the products of a row exactly and rounds alpha times the sum plus beta*y once, to nearest even.
func deferredMethod() method.Method {
	return method.Method{
		Operation: op.Spmv, Name: "deferred", Summary: "exact sums of products, rounded once", Format: "exact",
		Least: 2, Most: 1 << 16, Threads: true,
		Bound: bound.New("u*|y|, u = 2^-p: correctly rounded", "own, mpbench/pkg/superacc, mpbench/pkg/rns/deferred"),
		On: map[device.Kind]method.New{device.CPU: func(c method.Config) (method.Engine, error) {
			return &deferredEngine{config: c}, nil
		}},
	}
}

type deferredEngine struct {
	config  method.Config
	problem *op.Problem
	scalars *deferred.Scalars
	special []exact.Value

	// A product of binary64 numbers alone, whose results are binary64 where the precision is 53 and they are normal
	// numbers, and in scalars otherwise.
	a, x numbers.Float64s
	rows *numbers.Pattern
	y    numbers.Float64s
}

func (e *deferredEngine) Prepare(_ context.Context, p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	if err != nil {
		return err
	}
	*e = deferredEngine{config: e.config, problem: p, special: op.Specials(p, shape.Components)}
	e.scalars = deferred.NewScalars(p, shape.Rows)
	if !p.Multiplies() || p.Adds() || !p.Alpha.Absent() && !p.Alpha.Equals(1) {
		return nil
	}
	a := p.Matrix().Compressed()
	elements, inMemory := a.Elements().Contiguous()
	if !inMemory || !p.X.Binary64() {
		return nil
	}
	x, ok := p.X.Contiguous()
	if !ok {
		x, _ = format.Binary64.Load(p.X)
	}
	e.a, e.x, e.rows, e.y = elements, x, a.Pattern, make(numbers.Float64s, shape.Rows)
	return nil
}

func (e *deferredEngine) Run(context.Context) error {
	switch {
	case e.rows != nil:
		starts := e.rows.Windows()
		parallel.Tasks(e.config.Threads, len(starts)-1, func(_, i int) { e.multiply(starts[i], starts[i+1]) })
	case e.problem.Multiplies():
		e.scalars.Divide(e.problem, uint(e.config.Precision), e.config.Threads)
	default:
		e.scalars.Scale(uint(e.config.Precision))
	}
	return nil
}

// multiply computes rows from to to-1 of binary64 numbers.
func (e *deferredEngine) multiply(from, to int) {
	var sum superacc.Accumulator
	for i := from; i < to; i++ {
		sum.Reset()
		for k := e.rows.Start[i]; k < e.rows.Start[i+1]; k++ {
			sum.AddProduct(e.a[k], e.x[e.rows.Column[k]])
		}
		if e.config.Precision == 53 {
			if e.y[i] = sum.Float64(); math.Abs(e.y[i]) >= 0x1p-1022 && math.Abs(e.y[i]) <= math.MaxFloat64 {
				e.scalars.Result[i] = nil
				continue
			}
		}
		if e.scalars.Result[i] = sum.Round(uint(e.config.Precision)); e.scalars.Result[i] == nil { // NaN, in special
			e.scalars.Result[i] = new(big.Float)
		}
	}
}

func (e *deferredEngine) Result() (numbers.Source, error) {
	list := make(numbers.Values, len(e.scalars.Result))
	for i, r := range e.scalars.Result {
		switch {
		case e.special != nil && !e.special[i].IsFinite():
			list[i] = e.special[i]
		case r == nil:
			list[i] = exact.FromFloat64(e.y[i])
		default:
			list[i] = exact.FromBig(r)
		}
	}
	return list, nil
}

func (e *deferredEngine) Info() method.Info {
	info := method.Info{
		Format: "exact", Bits: e.config.Precision, NumberBytes: 8, Threads: parallel.Threads(e.config.Threads),
	}
	if e.scalars != nil && e.problem.Copies() && e.scalars.Denominator != nil { // y itself is rounded
		info.Rounded.Factors, info.Range.Unit = 1, exact.PowerOfTwo(-e.config.Precision)
	}
	return info
}

func (e *deferredEngine) Close() error { return nil }
