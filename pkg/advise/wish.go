package advise

import (
	"fmt"
	"math"
	"math/big"

	"mpbench/pkg/exact"
)

// A Wish is a wanted accuracy: a limit on the relative error, of every component where the result is a vector.
type Wish struct {
	limit *big.Rat
	text  string
}

// Digits asks for n correct decimal digits: a relative error of at most 10^-n.
func Digits(n int) Wish {
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
	return Wish{new(big.Rat).SetFrac(big.NewInt(1), power), fmt.Sprintf("%d correct digits: a relative error of at most 1e-%02d", n, n)}
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

// Met reports whether a relative error is within the wish. Only an exact result is for a limit of an infinite relative error.
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
