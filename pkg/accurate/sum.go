package accurate

import (
	"math/big"

	"mpbench/pkg/superacc"
)

// Sum returns the sum of x.
//
// Result: the exact sum, rounded once to the nearest float64, ties to even, so |result - sum| <= 2^-53 |sum|, or half
// of 2^-1074 if that is more. It is the same for every order of the elements.
//
// Special values: +0 for no elements and for zeros of any sign; infinite if the exact sum is from 2^1024 - 2^970 on,
// or an element is; NaN if an element is, or if there are infinities of both signs. Partial sums do not overflow.
//
// Cost: 0.3 µs, and 0.1 to 0.9 ns an element: less the wider the processor's vectors are and the nearer to each other
// the magnitudes lie; no allocation (BenchmarkSum). A loop takes 0.5 to 1 ns an element.
//
// Source: [mpbench/pkg/superacc], after Rump, Ogita, Oishi 2008, Demmel, Nguyen 2015, and Neal 2015.
func Sum(x []float64) float64 { return Threads(1).Sum(x) }

// Sum is the function [Sum].
func (t Threads) Sum(x []float64) float64 { return superacc.Sum(x, int(t)) }

// SumPrec returns the sum of x, rounded once to prec bits.
//
// Result: the exact sum, rounded to the nearest number of prec bits, ties to even, so |result - sum| <= 2^-prec |sum|,
// or the exact sum itself, with as many bits as it takes, for a prec of 0. Nothing overflows or underflows.
//
// Special values: as for [Sum], infinite only if an element is; NaN, which a [big.Float] cannot be, is nil.
//
// Cost: that of [Sum], and 1 µs and 5 allocations for the result (BenchmarkSumPrec). Source: as for [Sum].
func SumPrec(x []float64, prec uint) *big.Float { return Threads(1).SumPrec(x, prec) }

// SumPrec is the function [SumPrec].
func (t Threads) SumPrec(x []float64, prec uint) *big.Float {
	var a superacc.Accumulator
	a.AddSliceParallel(x, int(t))
	return round(&a, prec)
}

// mostBits is the width of the widest sum: the words of a superaccumulator.
const mostBits = 64 * superacc.WordCount

// round returns the sum rounded to prec bits, 0 standing for as many as it has; nil for NaN.
func round(a *superacc.Accumulator, prec uint) *big.Float {
	if prec != 0 {
		return a.Round(prec)
	}
	z := a.Round(mostBits)
	if z == nil {
		return nil
	}
	return z.SetPrec(max(1, z.MinPrec()))
}
