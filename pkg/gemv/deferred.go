package gemv

import (
	"math/big"
	"strings"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
)

// deferredEngine is the deferred engine: exact sums of products in residues, and one rounding to nearest even of alpha times the sum plus
// beta*y. With alpha = 0 there are no sums; beta*y is rounded once.
type deferredEngine struct {
	precision, threads int
	maxBytes           int64

	problem     Problem
	alpha, beta big.Float
	matrix      *deferred.Matrix
	x           *deferred.Vector
	sums        *deferred.Accumulator
	y, result   []*big.Float
	special     []float64
	accumulate  time.Duration
	round       time.Duration
}

func newDeferred(o Options) (Engine, error) {
	switch {
	case strings.HasPrefix(o.Device, hybridPrefix):
		return newHybridDeferred(o)
	case isGPU(o.Device):
		return newDeviceChoice(o)
	}
	return &deferredEngine{precision: o.Precision, threads: threadsOf(o.Threads), maxBytes: o.MaxBytes}, nil
}

// Load aligns the rows of op(A), and x, and converts them to residues. An error that says how many moduli would be needed means that
// the exponents are spread too far.
func (e *deferredEngine) Load(p Problem) error {
	*e = deferredEngine{precision: e.precision, threads: e.threads, maxBytes: e.maxBytes}
	if err := e.loadScalars(p); err != nil {
		return err
	}
	e.special = p.specials()
	if p.work() != full {
		return nil
	}
	return e.loadMatrix()
}

// loadScalars checks the problem and takes over alpha, beta and y.
func (e *deferredEngine) loadScalars(p Problem) error {
	if err := p.Check(); err != nil {
		return err
	}
	e.problem = p
	e.alpha.Set(p.Alpha.numbers().float(new(big.Float), 0))
	e.beta.Set(p.Beta.numbers().float(new(big.Float), 0))
	numbers := make([]big.Float, 2*p.Rows()) // one allocation
	e.y, e.result = make([]*big.Float, p.Rows()), make([]*big.Float, p.Rows())
	for i := range e.y {
		e.y[i], e.result[i] = &numbers[2*i], &numbers[2*i+1]
		if p.readsY() {
			e.y[i].Set(p.Y.float(new(big.Float), p.yIndex(i)))
		}
	}
	return nil
}

func (e *deferredEngine) loadMatrix() error {
	p := &e.problem
	x, layout := source(p.X), numbers.Strided(p.Terms(), p.IncX)
	op := deferred.NoTrans
	if p.Op == Trans {
		op = deferred.Trans
	}
	plan, err := deferred.NewPlanFor(source(p.A), numbers.ColMajor(p.M, p.N, p.LDA), op, x, layout, e.precision, deferred.Options{Threads: e.threads})
	if err != nil {
		return err
	}
	if err := e.convert(plan, x, layout, op); err != nil {
		return err
	}
	return e.reconsider(plan, x, layout, op)
}

// convert makes the residues.
func (e *deferredEngine) convert(plan *deferred.Plan, x numbers.Source, layout numbers.Layout, op deferred.Op) (err error) {
	if err := e.problem.checkBytes("deferred", plan.Bytes(), e.maxBytes, moduliDetail(plan.Moduli())); err != nil {
		return err
	}
	e.matrix, e.sums = nil, nil // the memory of a former plan
	e.matrix = plan.Matrix()
	if e.x, err = e.matrix.NewVector(x, layout); err != nil {
		return err
	}
	e.sums = e.matrix.NewAccumulator(op)
	return nil
}

func source(x Numbers) numbers.Source {
	if x.Wide != nil {
		return numbers.Bigs(x.Wide)
	}
	return numbers.Float64s(x.Float64)
}

func (e *deferredEngine) Run() {
	start := time.Now()
	e.accumulate = 0
	for i, y := range e.y {
		if e.result[i] == nil { // NaN, last time
			e.result[i] = new(big.Float)
		}
		e.result[i].SetPrec(0).Set(y)
	}
	switch e.problem.work() {
	case scaleOnly:
		for i, y := range e.y {
			e.result[i].SetPrec(uint(e.precision)).Mul(&e.beta, y)
		}
	case full:
		e.sums.Reset()
		e.sums.MulVec(e.matrix, e.x, e.threads)
		e.accumulate = time.Since(start)
		start = time.Now()
		e.sums.Round(e.result, &e.alpha, &e.beta, uint(e.precision), e.threads)
	}
	e.round = time.Since(start)
}

func (e *deferredEngine) Result() []exact.Value {
	result := make([]exact.Value, len(e.result))
	parallel(threadsOf(e.threads), len(result), 256, func(_, first, last int) {
		for i := first; i < last; i++ {
			if e.special != nil && e.special[i] != 0 {
				result[i] = exact.FromFloat64(e.special[i])
			} else {
				result[i] = exact.FromBig(e.result[i])
			}
		}
	})
	return result
}

func (e *deferredEngine) Phases() []Phase {
	return []Phase{
		{"accumulate", "exact sums of products in residues", e.accumulate},
		{"round", "integers from residues, times alpha, plus beta*y, rounded once", e.round},
	}
}

func (e *deferredEngine) UnitRoundoff() *big.Rat { return exact.PowerOfTwo(-e.precision) }

// ErrorBound is u*|y*_i|, u = 2^-p, whatever the condition: one rounding.
func (e *deferredEngine) ErrorBound(_ int, s exact.Summary) *big.Rat {
	if e.problem.work() == unchanged {
		return new(big.Rat)
	}
	bound := e.UnitRoundoff()
	return bound.Mul(bound, rat(s.Sum.Abs()))
}

func (e *deferredEngine) Format() Format {
	f := Format{Name: "residues", Actual: e.precision, Threads: e.threads}
	if e.matrix != nil {
		_, stride := e.sums.Residues()
		f.Moduli, f.ModuliBits = e.matrix.Moduli(), deferred.ModulusBits
		f.NumberBytes = 4 * f.Moduli
		f.WorkspaceBytes = 4 * f.Moduli * stride
		if e.matrix.Truncated() || e.x.Truncated() {
			f.Variant = truncatedVariant(e.sums.Repaired())
		}
	}
	return f
}
