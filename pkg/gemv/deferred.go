package gemv

import (
	"context"
	"fmt"
	"slices"
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

// deferredMethods are the deferred engine: exact sums of products in residues, and one rounding to nearest even of
// alpha times the sum plus beta*y. With alpha = 0 there are no sums; beta*y is rounded once.
func deferredMethods() []method.Method {
	m := method.Method{
		Operation: op.Gemv, Name: "deferred", Summary: "exact sums of products in residues, rounded once",
		Format: "residues",
		Least:  2, Most: 1 << 16, Threads: true, Streams: []device.Kind{device.CUDA, device.Hybrid},
		Bound: bound.New("u*|y|, u = 2^-p: correctly rounded", "own, mpbench/pkg/rns/deferred"),
		On: map[device.Kind]method.New{device.CPU: func(c method.Config) (method.Engine, error) {
			return &deferredEngine{config: c}, nil
		}},
		Options: []method.Option{method.ReuseOption("deferred")},
	}
	list := []method.Method{m}
	gemm := deferredGemm(m)
	m.Streams, m.Options = nil, nil
	for _, o := range []*op.Operation{op.Symv, op.Trmv} {
		m.Operation = o
		list = append(list, m)
	}
	return append(list, gemm)
}

type deferredEngine struct {
	config  method.Config
	problem *op.Problem
	shape   op.Shape
	columns []column
	special []exact.Value

	rows       *rowSums // instead of matrix and sums
	matrix     *deferred.Matrix
	sums       *deferred.Accumulator
	recomputed int // rows, of the last run
	accumulate time.Duration
	round      time.Duration
}

// column is a column of the result: the product of the matrix and a vector.
type column struct {
	problem *op.Problem
	scalars *deferred.Scalars
	x       *deferred.Vector
}

// columnsOf returns the products that p consists of: op(A) and a column of op(x) each, without what is known to be
// infinite or NaN.
func (e *deferredEngine) columnsOf(p *op.Problem) []column {
	right := p.Right()
	if e.special != nil {
		right = right.Finite()
	}
	columns := make([]column, right.Cols)
	for j := range columns {
		q := *p
		q.X, q.TransX, q.Y = right.Column(j), false, p.Y.Column(j)
		columns[j] = column{problem: &q, scalars: deferred.NewScalars(&q, e.shape.Rows)}
	}
	return columns
}

// Prepare aligns the rows of op(A), and x, and converts them to limbs or residues. An error that says how many moduli
// would be needed means that the exponents are spread too far.
func (e *deferredEngine) Prepare(_ context.Context, p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	if err != nil {
		return err
	}
	*e = deferredEngine{config: e.config, problem: p, shape: shape}
	once := inPlace(p) && e.usedRarely()
	if !once || !finiteVectors(p) { // otherwise the sums find them
		e.special = op.Specials(p, shape.Components)
	}
	e.columns = e.columnsOf(p)
	if !p.Multiplies() || shape.Components == 0 || e.columns[0].scalars.Denominator != nil {
		return nil
	}
	if once {
		e.rows = newDirect(e)
		return nil
	}
	direction := deferred.NoTrans
	if p.Trans {
		direction = deferred.Trans
	}
	right := p.Right()
	plan, err := deferred.NewPlanFor(p.A.Source, p.A.Layout, direction, right.Source, right.Layout, e.config.Precision,
		deferred.Options{Threads: e.config.Threads, Pack: true})
	if err != nil {
		return err
	}
	if inPlace(p) && directIsFaster(plan) {
		e.rows = newDirect(e)
		return nil
	}
	if e.rows, err = newLimbs(e, plan); e.rows != nil || err != nil {
		return err
	}
	if err := e.convert(plan, direction); err != nil {
		return err
	}
	return e.reconsider(plan, direction)
}

func (e *deferredEngine) convert(plan *deferred.Plan, direction deferred.Op) (err error) {
	detail := fmt.Sprintf("%d moduli of 4 bytes per element", plan.Moduli())
	if err := e.config.CheckMemory("deferred", e.shape, e.bytes(plan), detail); err != nil {
		return err
	}
	e.matrix, e.sums = nil, nil // the memory of a former plan
	e.matrix = plan.Matrix()
	for j := range e.columns {
		x := e.columns[j].problem.X
		if e.columns[j].x, err = e.matrix.NewVector(x.Source, x.Layout); err != nil {
			return err
		}
	}
	e.sums = e.matrix.NewAccumulator(direction)
	return nil
}

// bytes returns what residues take, and what they are made of: of the matrix and, if there are several, of the columns
// that it is multiplied by.
func (e *deferredEngine) bytes(plan *deferred.Plan) int64 {
	need := plan.Bytes() + plan.CopyBytes()
	if len(e.columns) > 1 {
		need += 4 * int64(plan.Moduli()) * int64(e.shape.Length) * int64(len(e.columns))
	}
	return need
}

// truncated tells whether factors are truncated.
func (e *deferredEngine) truncated() bool {
	return e.matrix.Truncated() || slices.ContainsFunc(e.columns, func(c column) bool { return c.x.Truncated() })
}

// reconsiderShare is the share of the rows, one in so many, beyond which computing them again takes longer than exact
// sums of all: a row takes some 200 ns an element then (BenchmarkRecomputed of package rns/deferred), and exact sums
// of float64 numbers of all exponents take 16 ns more than truncated ones (BenchmarkTruncated).
const reconsiderShare = 16

// reconsider tries a product with truncated factors, and goes over to exact ones if too many rows are computed again
// and moduli and memory suffice.
func (e *deferredEngine) reconsider(plan *deferred.Plan, direction deferred.Op) error {
	if !e.truncated() {
		return nil
	}
	e.multiply()
	if reconsiderShare*e.recomputed <= e.shape.Components {
		return nil
	}
	right := e.problem.Right()
	extent, err := deferred.Measure(right.Source, right.Layout)
	if err != nil {
		return err
	}
	exact := plan.Exact(extent)
	if exact == nil || e.config.CheckMemory("deferred", e.shape, e.bytes(exact), "") != nil {
		return nil
	}
	return e.convert(exact, direction)
}

func (e *deferredEngine) Run(context.Context) error {
	switch {
	case e.rows != nil:
		e.accumulate, e.round = 0, 0
		e.rows.multiply(e)
		return nil
	case e.matrix != nil:
		e.multiply()
		return nil
	}
	start := time.Now()
	for _, c := range e.columns {
		if e.problem.Multiplies() {
			c.scalars.Divide(c.problem, uint(e.config.Precision), e.config.Threads)
		} else {
			c.scalars.Scale(uint(e.config.Precision))
		}
	}
	e.accumulate, e.round = 0, time.Since(start)
	return nil
}

func (e *deferredEngine) multiply() {
	e.accumulate, e.round, e.recomputed = 0, 0, 0
	for _, c := range e.columns {
		start := time.Now()
		s := c.scalars
		s.Reset()
		e.sums.Reset()
		e.sums.MulVec(e.matrix, c.x, e.config.Threads)
		e.accumulate += time.Since(start)
		start = time.Now()
		e.sums.Round(s.Result, s.Alpha, s.Beta, uint(e.config.Precision), e.config.Threads)
		e.round += time.Since(start)
		e.recomputed += e.sums.Recomputed()
	}
}

// Result returns the components row by row.
func (e *deferredEngine) Result() (numbers.Source, error) {
	list := make(numbers.Values, e.shape.Components)
	for j, c := range e.columns {
		for i, v := range c.scalars.Values(nil, e.config.Threads) {
			list[i*len(e.columns)+j] = v
		}
	}
	for i, v := range e.special {
		if !v.IsFinite() {
			list[i] = v
		}
	}
	return list, nil
}

func (e *deferredEngine) Stages() []method.Stage {
	return []method.Stage{
		{Name: "accumulate", Summary: "exact sums of products", Time: e.accumulate},
		{Name: "round", Summary: "sums times alpha, plus beta*y, rounded once", Time: e.round},
	}
}

func (e *deferredEngine) Info() method.Info {
	info := method.Info{Format: "residues", Bits: e.config.Precision, Threads: parallel.Threads(e.config.Threads)}
	if len(e.columns) > 0 && e.problem.Copies() && e.columns[0].scalars.Denominator != nil { // y itself is rounded
		info.Rounded.Factors, info.Range.Unit = 1, exact.PowerOfTwo(-e.config.Precision)
	}
	switch {
	case e.rows != nil:
		info.Format, info.NumberBytes, info.Variant = e.rows.info.Format, e.rows.info.NumberBytes, e.rows.info.Variant
	case e.matrix != nil:
		_, stride := e.sums.Residues()
		info.Moduli, info.ModuliBits = e.matrix.Moduli(), deferred.ModulusBits
		info.NumberBytes = 4 * info.Moduli
		info.WorkspaceBytes = int64(4 * info.Moduli * stride)
		if e.truncated() {
			info.Variant = deferred.TruncatedVariant(e.recomputed)
		}
	}
	return info
}

func (e *deferredEngine) Close() error { return nil }
