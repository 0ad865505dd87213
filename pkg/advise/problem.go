package advise

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// Problem is an operation on given data, with its exact result, and the methods that there are.
type Problem struct {
	input    measure.Input
	catalog  method.Catalog
	maxBytes int64
}

// NewProblem returns a problem for methods that may use so many bytes of memory, 0 for no limit.
func NewProblem(in measure.Input, catalog method.Catalog, maxBytes int64) *Problem {
	return &Problem{in, catalog.Of(in.Problem.Op), maxBytes}
}

// Facts are what is measured of data before any method is run.
type Facts struct {
	Size      []string    // "n = 1000"
	Condition exact.Value // the worst of the components
	Least     int         // the exponents of the magnitudes of the terms: from 2^Least ...
	Most      int         // ... to below 2^(Most+1)
	Spread    int         // Most - Least, in bits; 0 without any term
}

// Facts describe the data: numbers, condition, exponents.
func (p *Problem) Facts() Facts {
	r := p.input.Reference
	f := Facts{Size: []string{fmt.Sprintf("n = %d", r.Shape.N)}, Condition: exact.FromRat(big.NewRat(1, 1))}
	if r.Shape.M != 0 {
		f.Size = []string{fmt.Sprintf("m = %d", r.Shape.M), f.Size[0]}
		if r.Shape.K != 0 {
			f.Size = append(f.Size, fmt.Sprintf("k = %d", r.Shape.K))
		}
		for i, letter := range r.Shape.Trans {
			f.Size = append(f.Size, fmt.Sprintf("op(%c) = %c", 'A'+i, letter))
		}
	}
	for i := range r.Shape.Components {
		if c := r.Condition(i); measure.Larger(c, f.Condition) {
			f.Condition = c
		}
	}
	any := false
	p.eachExponent(func(e int) {
		if !any {
			f.Least, f.Most, any = e, e, true
		}
		f.Least, f.Most = min(f.Least, e), max(f.Most, e)
	})
	f.Spread = f.Most - f.Least
	return f
}

// eachExponent calls f with the exponents of magnitudes: of the elements of a matrix, of the terms of a sum (those of
// products may be too low by 1), otherwise of all numbers.
func (p *Problem) eachExponent(f func(int)) {
	q := p.input.Problem
	switch {
	case !q.A.Absent():
		eachExponent(q.A, f)
	case q.Op.Split == op.ByTerm && !q.Y.Absent():
		for i := range q.X.Rows {
			x, y := q.X.SpanAt(i, 0), q.Y.SpanAt(i, 0)
			if x.Class == numbers.Finite && y.Class == numbers.Finite {
				f(x.Top - 1 + y.Top - 1)
			}
		}
	default:
		eachExponent(q.X, f)
		eachExponent(q.Y, f)
	}
}

func eachExponent(a numbers.Array, f func(int)) {
	shift := 0
	if d := a.Denominator(); d != nil {
		shift = d.BitLen()
	}
	for j := range a.Cols {
		for i := range a.Rows {
			if s := a.SpanAt(i, j); s.Class == numbers.Finite {
				f(s.Top - 1 - shift)
			}
		}
	}
}

// How large a part is that costs are estimated on, and how many times as large the data must be.
const (
	sampleTerms = 4096
	sampleSide  = 64 // of a matrix
	sampleWorth = 2
)

// sample returns a part of the data and how many times as much the whole is; nil for data that are small already.
func (p *Problem) sample() (*Problem, float64) {
	side := sampleTerms
	if !p.input.Problem.A.Absent() {
		side = sampleSide
	}
	part := *p
	part.input.Problem = p.input.Problem.Sample(side, side)
	shape, err := part.input.Problem.Op.Shape(part.input.Problem)
	whole := p.input.Reference.Shape.Elements
	if err != nil || whole <= sampleWorth*shape.Elements {
		return nil, 1
	}
	return &part, float64(whole) / float64(shape.Elements)
}

// instance is a method made ready for one precision.
type instance struct {
	*Problem
	ctx    context.Context
	method method.Method
	engine method.Engine
	loaded bool
}

func (p *Problem) prepare(ctx context.Context, m method.Method, c method.Config) (*instance, error) {
	c.MaxBytes = p.maxBytes
	e, err := m.New(c)
	if err != nil {
		return nil, err
	}
	return &instance{Problem: p, ctx: ctx, method: m, engine: e}, nil
}

// bound returns the proved bound on the relative error, of the worst component; +Inf or NaN where nothing is proved.
// Before load it converts as few numbers as it can, and may leave out what the conversion of the others costs.
func (i *instance) bound() exact.Value {
	p := i.input.Problem
	if !i.loaded && i.engine.Prepare(i.ctx, p.Sample(1, 1)) != nil {
		return exact.Value{Class: exact.NaN}
	}
	bounds := i.method.ErrorBound(i.engine.Info(), p)
	worst := exact.Value{}
	for k := range i.input.Reference.Shape.Components {
		s := i.input.Reference.Component(k)
		if b := relativeBound(bounds.Of(s), s.Sum); measure.Larger(b, worst) {
			worst = b
		}
	}
	return worst
}

func (i *instance) load() error {
	i.loaded = true
	return i.engine.Prepare(i.ctx, i.input.Problem)
}

func (i *instance) run() error { return i.engine.Run(i.ctx) }

// close gives back a device's memory; what is lost with a device has been reported by run.
func (i *instance) close() { _ = i.engine.Close() }

// found returns the relative error of the last run, of the worst component.
func (i *instance) found() exact.Value {
	y, err := i.engine.Result()
	if err != nil {
		return exact.Value{Class: exact.NaN}
	}
	j, err := i.input.Judge(y, nil)
	switch {
	case err != nil:
		return exact.Value{Class: exact.NaN}
	case j.Worst < 0:
		return exact.Value{}
	}
	return j.Errors.Rel
}

// relativeBound returns bound/|exact|: 0 for 0/0, +Inf where only exact is 0, NaN for a nil bound.
func relativeBound(bound *big.Rat, want exact.Value) exact.Value {
	switch {
	case bound == nil || !want.IsFinite():
		return exact.Value{Class: exact.NaN}
	case bound.Sign() == 0:
		return exact.FromRat(new(big.Rat))
	case want.Sign() == 0:
		return exact.Value{Class: exact.PosInf}
	}
	r := new(big.Rat).Quo(bound, want.Number())
	return exact.FromRat(r.Abs(r))
}

// effort is how long a measurement takes.
type effort struct {
	samples int
	least   time.Duration // of a sample, by repetition
	most    time.Duration // of all samples, but for the first
}

var (
	quick  = effort{3, 10 * time.Microsecond, 2 * time.Millisecond}
	normal = effort{7, 50 * time.Microsecond, 40 * time.Millisecond}
)

// times returns the least time of a conversion and of a run, in nanoseconds: more is what else the machine did.
func times(in *instance, e effort) (convertNs, runNs float64, err error) {
	if convertNs, err = e.leastTime(in.load); err != nil {
		return 0, 0, err
	}
	runNs, err = e.leastTime(in.run)
	return convertNs, runNs, err
}

// leastTime returns the least time of one call of f, or its first error.
func (e effort) leastTime(f func() error) (float64, error) {
	start := time.Now()
	err := f()
	first := time.Since(start)
	best := float64(first)
	repetitions := 1
	if first < e.least {
		repetitions = int(e.least/max(first, 10)) + 1
	}
	if first > e.most {
		return best, err
	}
	for begin, i := time.Now(), 1; err == nil && i < e.samples && (i == 1 || time.Since(begin) < e.most); i++ {
		start := time.Now()
		for range repetitions {
			if err = f(); err != nil {
				return best, err
			}
		}
		best = min(best, float64(time.Since(start))/float64(repetitions))
	}
	return best, err
}

// A Wish is a wanted accuracy: a limit on the relative error, of every component where the result is a vector.
type Wish struct {
	limit *big.Rat
	text  string
}

// Digits asks for n correct decimal digits: a relative error of at most 10^-n.
func Digits(n int) Wish {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
	return Wish{new(big.Rat).SetFrac(big.NewInt(1), power),
		fmt.Sprintf("%d correct digits: a relative error of at most 1e-%02d", n, n)}
}

// CorrectBits asks for n correct bits: a relative error of at most 2^-n.
func CorrectBits(n int) Wish {
	limit := exact.PowerOfTwo(-n)
	return Wish{limit, fmt.Sprintf("%d correct bits: a relative error of at most %s", n, exact.FormatRat(limit, 2))}
}

// String says what is wanted.
func (w Wish) String() string { return w.text }

// Bits is the least precision of a format whose rounding alone does not spoil the wish: that with 2^-p <= limit.
func (w Wish) Bits() int {
	p := w.limit.Denom().BitLen() - w.limit.Num().BitLen() - 1
	for exact.PowerOfTwo(-p).Cmp(w.limit) > 0 {
		p++
	}
	return p
}

// Met reports whether a relative error is within the wish; an infinite one never is.
func (w Wish) Met(relative exact.Value) bool {
	return relative.IsFinite() && (relative.Rat == nil || relative.Rat.Cmp(w.limit) <= 0)
}

// log2 returns the logarithm of a positive finite value, +Inf for an infinite one.
func log2(v exact.Value) float64 {
	if !v.IsFinite() {
		return math.Inf(1)
	}
	if v.Rat == nil || v.Rat.Sign() == 0 {
		return math.Inf(-1)
	}
	x := new(big.Float).SetPrec(64).SetRat(v.Rat)
	mantissa := new(big.Float)
	exp := x.MantExp(mantissa)
	f, _ := mantissa.Float64()
	return float64(exp) + math.Log2(math.Abs(f))
}
