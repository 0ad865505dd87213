package op

import (
	"math/big"

	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
)

// mostShort is how many terms a component has at most to be looked at as an exact.Short.
const mostShort = 16

// shorts makes components exact.Shorts: of a problem on binary64 numbers, the same with its factors as binary64
// numbers, all multiplied by a divisor.
type shorts struct {
	problem *Problem
	divisor float64
}

// shortsOf returns nil where some component would have many terms, or terms that are not products of binary64 numbers
// and such factors.
func shortsOf(p *Problem, s Shape) *shorts {
	if p.Op.Norm != 0 || p.Op.Split != ByRow || s.Length > mostShort || !p.Multiplies() {
		return nil
	}
	for _, a := range []numbers.Array{p.A, p.X, p.Y} {
		if !a.Absent() && !a.Binary64() {
			return nil
		}
	}
	divisor := big.NewInt(1)
	for _, a := range []numbers.Array{p.Alpha, p.Beta} {
		if d := a.Denominator(); d != nil {
			divisor.Mul(divisor, d)
		}
	}
	q := *p
	var ok bool
	if q.Alpha, ok = wholeFactor(p.Alpha, divisor); !ok {
		return nil
	}
	if q.Beta, ok = wholeFactor(p.Beta, divisor); !ok {
		return nil
	}
	d, accuracy := new(big.Float).SetInt(divisor).Float64()
	if accuracy != big.Exact {
		return nil
	}
	return &shorts{&q, d}
}

// wholeFactor returns a factor times a divisor, if that is a binary64 number. An absent one stays absent.
func wholeFactor(a numbers.Array, divisor *big.Int) (numbers.Array, bool) {
	if a.Absent() {
		return a, true
	}
	v := numbers.At(a.Source, a.Offset)
	if !v.IsFinite() {
		return a, false
	}
	x, whole := exact.Mul(v.Number(), new(big.Rat).SetInt(divisor)).Float64()
	return numbers.Scalar(x), whole
}

// Divisor returns what the exact sums that [exact.Short.AddTo] adds to are to be divided by.
func (r *Reference) Divisor() *big.Rat {
	if r.shorts == nil {
		return one
	}
	return new(big.Rat).SetFloat64(r.shorts.divisor)
}

// Short is a component of few terms.
type Short struct {
	exact.Short
	terms Terms
}

// Short sets s to component i. It reports false where that is to be had by [Reference.Component]. It is safe for
// concurrent use with different s.
func (r *Reference) Short(i int, s *Short) bool {
	if !r.HasShorts() {
		return false
	}
	s.Reset(r.shorts.divisor)
	s.terms.short, s.terms.divisor = &s.Short, r.shorts.divisor
	r.shorts.problem.Op.Terms(r.shorts.problem, i, &s.terms)
	return s.OK()
}

// HasShorts tells whether there are many components of few terms, for Short, and they are not kept.
func (r *Reference) HasShorts() bool { return r.shorts != nil && r.kept == nil }

// shortProducts adds scale * sum x_i*y_i to the short sum.
func (t *Terms) shortProducts(scale, x, y numbers.Array) {
	factor := t.divisor
	if !scale.Absent() {
		factor = scale.Source.(numbers.Float64s)[scale.Offset]
	}
	xs := x.Source.(numbers.Float64s)
	if y.Absent() {
		for i := range x.Rows {
			t.short.Add(factor, xs[x.Index(i, 0)])
		}
		return
	}
	ys := y.Source.(numbers.Float64s)
	for i := range x.Rows {
		t.short.AddProduct(factor, xs[x.Index(i, 0)], ys[y.Index(i, 0)])
	}
}
