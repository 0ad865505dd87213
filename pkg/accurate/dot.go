package accurate

import (
	"math/big"

	"mpbench/pkg/superacc"
)

// Dot returns the dot product of x and y, the sum of x[i]*y[i].
//
// Result: the exact value, rounded once to the nearest float64, ties to even, so |result - x*y| <= 2^-53 |x*y|, or
// half of 2^-1074 if that is more. Products are exact too: they neither overflow nor underflow, not even x[i] = y[i] =
// 2^-1074.
//
// Special values: +0 for no elements and for products that are zeros of any sign; infinite if the exact value is from
// 2^1024 - 2^970 on, or a product is because a factor is; NaN if a factor is, for an infinity times 0, or for
// infinities of both signs. It panics with a [*LengthError] if x and y differ in length.
//
// Cost: 0.4 µs, and 0.25 to 2.6 ns an element, as for [Sum]; no allocation (BenchmarkDot). A loop takes 0.5 to 1 ns.
//
// Source: [mpbench/pkg/superacc]; products are split by TwoProduct (Ogita, Rump, Oishi 2005).
func Dot(x, y []float64) float64 { return Threads(1).Dot(x, y) }

// Dot is the function [Dot].
func (t Threads) Dot(x, y []float64) float64 {
	checkLength("Dot", "y", len(y), len(x))
	return superacc.Dot(x, y, int(t))
}

// DotPrec returns the dot product of x and y, rounded once to prec bits.
//
// Result: the exact value, rounded to the nearest number of prec bits, ties to even, so |result - x*y| <= 2^-prec
// |x*y|, or the exact value itself, with as many bits as it takes, for a prec of 0. Nothing overflows or underflows.
//
// Special values: as for [Dot], infinite only if a factor is; NaN is nil. It panics with a [*LengthError] if x and y
// differ in length.
//
// Cost: that of [Dot], and 1 µs and 5 allocations for the result (BenchmarkDotPrec). Source: as for [Dot].
func DotPrec(x, y []float64, prec uint) *big.Float { return Threads(1).DotPrec(x, y, prec) }

// DotPrec is the function [DotPrec].
func (t Threads) DotPrec(x, y []float64, prec uint) *big.Float {
	checkLength("DotPrec", "y", len(y), len(x))
	var a superacc.Accumulator
	a.AddProductsParallel(x, y, int(t))
	return round(&a, prec)
}
