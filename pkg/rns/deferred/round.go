package deferred

import (
	"math"
	"math/big"
	"mpbench/internal/parallel"
	"mpbench/pkg/numbers"
)

// rounder is the scratch memory of the last step: alpha times an exact sum plus beta*y, rounded once.
type rounder struct {
	reconstructor
	number  numbers.Number
	sum     big.Int
	bound   big.Int
	lower   term // alpha * sum, or its lower bound, and then the result
	upper   term
	addend  term // beta * y
	low     big.Float
	high    big.Float
	shifted big.Int
	copied  term          // of addend
	single  reconstructor // of single elements
	element big.Int
}

// scalar is alpha or beta.
type scalar struct {
	numbers.Number
	x big.Int // the signed significand
}

func (s *scalar) set(v *big.Float) {
	s.SetBig(v)
	s.x.SetInt64(0)
	if s.Class == numbers.Finite {
		integerOf(&s.Number, &s.x)
	}
}

func (s *scalar) isUnit() bool {
	return s.Class == numbers.Finite && s.Exp == 0 && s.x.IsInt64() && s.x.CmpAbs(one) == 0
}

var one = big.NewInt(1)

// results is where rounded numbers go, and where y comes from.
type results interface {
	// read sets z to y_i.
	read(z *numbers.Number, i int)
	// special stores an infinity or NaN.
	special(i int, class numbers.Class, neg bool)
	// round stores t, rounded; f is scratch.
	round(i int, t *term, f *big.Float)
	// same reports whether t and u round to the same number; f and g are scratch.
	same(t, u *term, f, g *big.Float) bool
	// precision returns the greatest number of bits of a result.
	precision() int
}

// bigResults are numbers of prec bits.
type bigResults struct {
	y    []*big.Float
	prec uint
}

func (y *bigResults) precision() int                { return int(y.prec) }
func (y *bigResults) read(z *numbers.Number, i int) { z.SetBig(y.y[i]) }

func (y *bigResults) special(i int, class numbers.Class, neg bool) {
	if class == numbers.NaN {
		y.y[i] = nil
		return
	}
	if y.y[i] == nil {
		y.y[i] = new(big.Float)
	}
	y.y[i].SetPrec(0).SetPrec(y.prec).SetInf(neg)
}

func (y *bigResults) round(i int, t *term, _ *big.Float) {
	if y.y[i] == nil {
		y.y[i] = new(big.Float)
	}
	setRounded(y.y[i], t, y.prec)
}

func (y *bigResults) same(t, u *term, f, g *big.Float) bool {
	setRounded(f, t, y.prec)
	setRounded(g, u, y.prec)
	return f.Cmp(g) == 0
}

// setRounded sets z to t rounded to nearest even at prec bits.
func setRounded(z *big.Float, t *term, prec uint) {
	z.SetPrec(0).SetMode(big.ToNearestEven).SetPrec(prec).SetInt(&t.x)
	z.SetMantExp(z, t.exp)
}

// floatResults are binary64 numbers.
type floatResults struct{ y []float64 }

func (y *floatResults) precision() int                { return 53 }
func (y *floatResults) read(z *numbers.Number, i int) { numbers.Float64s(y.y).Read(z, i) }

func (y *floatResults) special(i int, class numbers.Class, neg bool) {
	switch {
	case class == numbers.NaN:
		y.y[i] = math.NaN()
	case neg:
		y.y[i] = math.Inf(-1)
	default:
		y.y[i] = math.Inf(1)
	}
}

func (y *floatResults) round(i int, t *term, f *big.Float) { y.y[i] = roundedFloat64(t, f) }

func (y *floatResults) same(t, u *term, f, g *big.Float) bool {
	return roundedFloat64(t, f) == roundedFloat64(u, g)
}

// roundedFloat64 returns t rounded once to binary64, with gradual underflow and overflow; f is scratch.
func roundedFloat64(t *term, f *big.Float) float64 {
	f.SetPrec(0).SetInt(&t.x) // exact: the precision becomes that of the integer
	f.SetMantExp(f, t.exp)
	value, _ := f.Float64()
	return value
}

// Round sets y_i = alpha*s_i + beta*y_i, each the exact result rounded once to prec bits, to nearest even. Elements of
// y that are nil are allocated; the others keep their memory.
//
// The conventions are those of BLAS: if alpha is zero, s is not used; if beta is zero, y is not read. Infinities and
// NaN follow IEEE 754; NaN is a nil in y, in both directions. An exact zero is +0. Exponents are those of big.Float:
// beyond 2^31 a result is infinite or zero.
func (s *Accumulator) Round(y []*big.Float, alpha, beta *big.Float, prec uint, threads int) {
	if prec == 0 {
		panic("deferred: Round to 0 bits")
	}
	var a, b scalar
	a.set(alpha)
	b.set(beta)
	s.round(&bigResults{y, prec}, len(y), &a, &b, threads)
}

// RoundFloat64 is Round with binary64 numbers: one rounding to nearest even, with gradual underflow.
func (s *Accumulator) RoundFloat64(y []float64, alpha, beta float64, threads int) {
	var a, b scalar
	a.setFloat64(alpha)
	b.setFloat64(beta)
	s.round(&floatResults{y}, len(y), &a, &b, threads)
}

func (s *scalar) setFloat64(v float64) {
	if math.IsNaN(v) {
		s.set(nil)
		return
	}
	s.set(big.NewFloat(v))
}

func (s *Accumulator) round(y results, n int, alpha, beta *scalar, threads int) {
	if n != s.rows {
		panic("deferred: Round into a slice of another length")
	}
	classes := s.specialRows()
	bound := s.truncation()
	threads = parallel.Threads(threads)
	s.grow(threads)
	recomputed := make([]int, threads)
	parallel.Tasks(threads, (n+laneMultiple-1)/laneMultiple, func(worker, task int) {
		w := &s.workers[worker].rounder
		i := task * laneMultiple
		count := min(laneMultiple, n-i)
		w.coefficients(s.base, s.residues, s.stride, i, count)
		for t := range count {
			var row special
			if classes != nil {
				row = classes[i+t]
			}
			if s.roundRow(w, y, i+t, t, row, bound, alpha, beta) {
				recomputed[worker]++
			}
		}
	})
	s.recomputed = 0
	for _, r := range recomputed {
		s.recomputed += r
	}
}

// Recomputed returns how many rows the last Round computed again, as truncation could have changed their rounding.
func (s *Accumulator) Recomputed() int { return s.recomputed }

// roundRow rounds row i, prepared number t of w. It reports whether the row was computed again.
func (s *Accumulator) roundRow(
	w *rounder, y results, i, t int, row special, bound truncation, alpha, beta *scalar,
) bool {
	w.integer(&w.sum, s.base, t)
	exp := s.exponent(i)
	if alpha.Class == numbers.Infinite && bound.affects(i) { // the sign decides
		w.addend.x.SetInt64(0)
		w.sum.Set(&s.exactRow(w, i, &scalar{x: *one}, 1).x)
	}
	class, neg := combineClasses(w, y, i, row, alpha, beta)
	switch {
	case class != numbers.Finite:
		y.special(i, class, neg)
		return false
	case alpha.Class == numbers.Zero || !bound.affects(i):
		w.combine(&w.lower, &w.sum, exp, alpha, beta, y.precision())
		y.round(i, &w.lower, &w.low)
		return false
	}
	// The exact sum is within bound of w.sum, and rounding is monotone.
	bound.of(&w.bound, i)
	w.shifted.Sub(&w.sum, &w.bound)
	w.combine(&w.lower, &w.shifted, exp, alpha, beta, y.precision())
	w.shifted.Add(&w.sum, &w.bound)
	w.combine(&w.upper, &w.shifted, exp, alpha, beta, y.precision())
	if y.same(&w.lower, &w.upper, &w.low, &w.high) {
		y.round(i, &w.lower, &w.low)
		return false
	}
	y.round(i, s.exactRow(w, i, alpha, y.precision()), &w.low)
	return true
}

// combine sets z to alpha * sum * 2^exp + beta * y in the sense of addTerms, y being in w.number by combineClasses.
func (w *rounder) combine(z *term, sum *big.Int, exp int, alpha, beta *scalar, prec int) {
	z.exp = exp + alpha.Exp
	switch {
	case alpha.Class == numbers.Zero:
		z.x.SetInt64(0)
	case alpha.isUnit():
		z.x.Set(sum)
		if alpha.Neg {
			z.x.Neg(&z.x)
		}
	default:
		z.x.Mul(sum, &alpha.x)
	}
	if w.addend.x.Sign() != 0 {
		w.copied.x.Set(&w.addend.x) // addTerms overwrites it
		w.copied.exp = w.addend.exp
		z.addTerms(&w.copied, prec)
	}
}

// exponent returns the exponent of the integer sum of row i.
func (s *Accumulator) exponent(i int) int {
	if len(s.parts) == 0 {
		return 0
	}
	p := s.parts[0]
	low, _ := p.a.alignment(i)
	return low + p.x.low
}
