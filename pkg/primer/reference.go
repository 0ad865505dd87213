package primer

import (
	"fmt"
	"math"
	"math/big"

	"mpbench/pkg/exact"
)

// Reference is the exact result of a reduction, and what its proved bound needs.
type Reference[T Number] struct {
	combiner Combiner[T]
	n        int
	exact    T // of operations that do not round

	value exact.Value // of others
	slack *big.Rat    // at most how far value is from the exact result
	scale *big.Rat    // of the bound g(n-1)*scale; nil where nothing is proved, as something may overflow or underflow
}

// Verdict is what a result is worth.
type Verdict struct {
	Value    string
	RelError string // of results that round
	Bound    string // on RelError; "" where nothing is proved
	Exact    bool
	Right    bool // exact, or within its bound, or not proved to be either
}

// NewReference computes the exact result of a reduction. Operations that do not round need no more than a loop:
// integers of Go wrap around, modulo 2^w.
func NewReference[T Number](c Combiner[T], x []T) *Reference[T] {
	r := &Reference[T]{combiner: c, n: len(x), slack: new(big.Rat)}
	switch {
	case !r.rounds():
		r.exact = c.Fold(c.Identity, x)
	case c.Name == "+":
		r.sum(x)
	default:
		r.product(x)
	}
	return r
}

func (r *Reference[T]) rounds() bool { return r.combiner.Rounds && IsFloat[T]() }

// unit returns the unit roundoff of T, and the exponent of two below which magnitudes are in range, with room for
// rounding.
func unit[T Number]() (u *big.Rat, range2 int) {
	if TypeName[T]() == "float32" {
		return exact.PowerOfTwo(-24), 126
	}
	return exact.PowerOfTwo(-53), 1022
}

func (r *Reference[T]) sum(x []T) {
	var s exact.Sum
	for _, v := range x {
		s.Add(float64(v))
	}
	r.value = s.Value()
	magnitudes := s.Abs()
	if _, range2 := unit[T](); magnitudes.IsFinite() && magnitudes.Number().Cmp(exact.PowerOfTwo(range2)) < 0 {
		r.scale = magnitudes.Number() // sums of few bits are exact however small they are
	}
}

// productBits is the precision of the reference of products, whose exact value has up to 53 n bits. Of up to four
// factors it is exact; otherwise n multiplications err by less than 2n 2^-productBits of what they give.
const productBits = 256

func (r *Reference[T]) product(x []T) {
	p, up, down := one(productBits), one(64), one(64)
	special := 1.0 // the product with zeros, infinities and NaN
	for _, v := range x {
		f := float64(v)
		if f == 0 || math.IsInf(f, 0) || f != f {
			special *= f
			continue
		}
		special = math.Copysign(special, special*f)
		b := new(big.Float).SetFloat64(f)
		p.Mul(p, b)
		if b.Abs(b).Cmp(one(64)) > 0 {
			up.Mul(up, b)
		} else {
			down.Mul(down, b)
		}
	}
	if special == 0 || math.IsInf(special, 0) || special != special {
		r.value = exact.FromFloat64(special)
		return // the order decides what overflows before
	}
	r.value = exact.FromBig(p)
	_, range2 := unit[T]()
	if up.MantExp(nil) >= range2 || down.MantExp(nil) <= -range2 {
		return
	}
	r.scale = new(big.Rat).Abs(r.value.Number())
	if r.n*53 > productBits {
		r.slack = exact.PowerOfTwo(-productBits + 1)
		r.slack.Mul(r.slack, new(big.Rat).SetInt64(int64(r.n))).Mul(r.slack, r.scale)
	}
}

func one(bits uint) *big.Float { return new(big.Float).SetPrec(bits).SetInt64(1) }

// Judge compares a result, of any order of n - 1 operations, with the exact one and the bound g(n-1).
func (r *Reference[T]) Judge(result T) Verdict {
	v := Verdict{Value: fmt.Sprint(result)}
	if !r.rounds() {
		v.Exact = same(result, r.exact)
		v.Right = v.Exact
		return v
	}
	e := exact.Measure(exact.FromFloat64(float64(result)), r.value)
	v.RelError = e.Rel.Text(2)
	v.Exact = e.Exact() && r.slack.Sign() == 0
	if r.scale == nil {
		v.Right = true
		return v
	}
	u, _ := unit[T]()
	limit := exact.GammaTimes(max(0, r.n-1), u, r.scale)
	if limit == nil { // n u >= 1
		v.Right = true
		return v
	}
	limit.Sub(limit, r.slack)
	v.Right = e.Within(limit)
	if v.Bound = "0"; r.value.Sign() != 0 && limit.Sign() > 0 {
		v.Bound = exact.FormatRat(new(big.Rat).Quo(limit, new(big.Rat).Abs(r.value.Number())), 2)
	}
	return v
}

// same tells whether two elements are the same number: with the same bits, or both NaN.
func same[T Number](a, b T) bool { return bitsOf(a) == bitsOf(b) || a != a && b != b }
