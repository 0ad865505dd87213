package rns

import "math/bits"

// coefficients sets c_i = x_i * (M/m_i)^-1 mod m_i, so that X = sum c_i * M/m_i - rank * M.
func (b *Base) coefficients(c, x []uint32) {
	mulConst(c, x, &b.crtWeight, b.modulus)
}

// fraction returns the fixed-point sum of c_i/m_i as a whole part and a 64-bit fraction.
// The true sum is at least whole + frac*2^-64 and exceeds it by less than evalError*2^-64.
func (b *Base) fraction(c []uint32) (whole, frac uint64) {
	shift, scale := b.fracShift[:b.n], b.fracScale[:b.n]
	c = c[:b.n]
	var carry uint64
	for i, ci := range c {
		// (c * 2^(64-L)) * (2^(63+L)/m) / 2^64 = (c/m) * 2^63; each of the two floors loses less than one.
		half, _ := bits.Mul64(uint64(ci)<<shift[i], scale[i])
		frac, carry = bits.Add64(frac, half<<1, 0)
		whole += carry
	}
	return whole, frac
}

// evaluate returns I(X/M) with a relative width of at most 2^-32, for every X in [0, M); c is scratch.
func (b *Base) evaluate(x, c []uint32) Interval {
	if allZero(x) {
		return Interval{}
	}
	b.coefficients(c, x)
	_, frac := b.fraction(c)
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
	_, frac := b.fraction(c)
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
		_, frac = b.fraction(c)
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
func (b *Base) rank(c []uint32, v Interval) uint64 {
	whole, frac := b.fraction(c)
	if _, wraps := bits.Add64(frac, b.evalError, 0); wraps != 0 && v.Exp < 0 {
		whole++ // the sum fell short of a whole number by rounding: X/M is next to 0, not next to 1
	}
	return whole
}
