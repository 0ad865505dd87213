package rns

import (
	"math"
	"math/bits"
)

// coefficients sets c_i = x_i * (M/m_i)^-1 mod m_i, so that X = sum c_i * M/m_i - rank * M.
func (b *Base) coefficients(c, x []uint32) { mulConst(c, x, &b.crtWeight, b.modulus) }

// fraction returns frac(sum c_i/m_i) in fixed point, too small by less than evalError*2^-64, modulo 1.
func (b *Base) fraction(c []uint32) uint64 { return fractionSum(c, &b.fractions) }

// evaluate returns I(X/M) with a relative width of at most 2^-32, for every X in [0, M); c is scratch.
func (b *Base) evaluate(x, c []uint32) Interval {
	if allZero(x) {
		return Interval{}
	}
	b.coefficients(c, x)
	frac := b.fraction(c)
	up, wraps := bits.Add64(frac, b.evalError, 0)
	if wraps == 0 && frac >= b.evalError<<maxWidth {
		return Interval{frac, up, 0}.normalized()
	}
	signed, refined := b.refine(c, frac)
	if signed > 0 {
		return b.magnitude(signed, refined)
	}
	return nearOne(signed, refined)
}

// evaluateSigned reads the residues d as those of a number D with |D| <= M/4 and returns whether D is negative
// together with I(|D|/M); c is scratch and may be d.
func (b *Base) evaluateSigned(d, c []uint32) (negative bool, v Interval) {
	if allZero(d) {
		return false, Interval{}
	}
	b.coefficients(c, d)
	frac := b.fraction(c)
	signed, refined := b.refine(c, frac)
	return signed < 0, b.magnitude(signed, refined)
}

// refine multiplies the number behind the coefficients c by powers of two until its fraction, read as a signed number,
// is large compared with evalError. It returns that fraction s and the sum k of the exponents: the number
// divided by M, modulo 1 into [-1/2, 1/2), lies in [s, s + evalError] * 2^(-64-k). The number is not zero.
//
// Each step keeps the magnitude below 2^-2, so no step wraps around.
func (b *Base) refine(c []uint32, frac uint64) (s int64, k int) {
	enough := b.evalError << maxWidth
	for {
		s = int64(frac)
		size := magnitudeOf(s)
		if size >= enough {
			return s, k
		}
		step := min(62-bits.Len64(size+b.evalError), b.log2M)
		b.mulPower(c, c, &b.powers, step)
		k += step
		frac = b.fraction(c)
	}
}

func magnitudeOf(s int64) uint64 {
	if s < 0 {
		return -uint64(s)
	}
	return uint64(s)
}

// magnitude returns the interval of |t| for t in [s, s + evalError] * 2^(-64-k), where |s| > evalError.
func (b *Base) magnitude(s int64, k int) Interval {
	size := magnitudeOf(s)
	if s < 0 {
		return Interval{size - b.evalError, size, int32(-k)}.normalized()
	}
	return Interval{size, size + b.evalError, int32(-k)}.normalized()
}

// nearOne returns the interval of 1 - t with t at most |s| * 2^(-64-k), s < 0.
func nearOne(s int64, k int) Interval {
	below := uint64(1)
	if k < 62 {
		below += magnitudeOf(s) >> (k + 1)
	}
	return Interval{1<<63 - below, 1 << 63, 1} // in units of 2^-63
}

// rank returns r with X = sum c_i * M/m_i - r*M, given coefficients c and the interval of X.
//
// r is the integer nearest to sum c_i/m_i - X/M. The sum in binary64 is wrong by less than n*(n+2)*2^-53, as it has n
// terms below 1 with two roundings each and partial sums below n; the interval's upper bound is wrong by a relative
// 2^-32. Both together are far from the 1/2 that would matter, in whatever order the terms are added.
func (b *Base) rank(c []uint32, v Interval) uint64 {
	part := math.Ldexp(float64(v.Up), int(max(v.Exp, -200))-64)
	return uint64(quotientSum(c, b.fractions.quotient) - part + 0.5)
}
