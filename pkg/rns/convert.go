package rns

import (
	"math"
	"math/big"
	"math/bits"
)

// SetFloat64 makes z equal to the finite number x, exactly: its significand is odd (or zero) and has
// at most 53 bits. SetFloat64 panics if x is infinite or NaN.
func (c *Context) SetFloat64(z *Float, x float64) {
	if x == 0 {
		z.SetZero()
		return
	}
	significand, exp := splitFloat64(x)
	b := c.base
	b.floatMod(z.digits, float64(significand))
	z.interval = b.intervalOfWord(significand)
	z.Exp, z.Neg = exp, x < 0
}

// splitFloat64 returns the odd integer s and e with |x| = s * 2^e, for finite x != 0.
func splitFloat64(x float64) (s uint64, e int) {
	word := math.Float64bits(x)
	s, e = word&(1<<52-1), int(word>>52&0x7ff)
	switch e {
	case 0:
		e = 1
	case 0x7ff:
		panic("rns: SetFloat64 of an infinity or NaN")
	default:
		s |= 1 << 52
	}
	zeros := bits.TrailingZeros64(s)
	return s >> zeros, e - 1075 + zeros
}

// intervalOfWord returns I(X/M) for 0 < X < 2^53.
func (b *Base) intervalOfWord(x uint64) Interval {
	shift := bits.LeadingZeros64(x)
	lo, _ := bits.Mul64(x<<shift, b.invMant)
	// X/M = (X*2^shift) * (invMant + [0, 1)) * 2^(-F-64-shift): two more than lo is an upper bound.
	return Interval{lo, lo + 2, int32(64 - b.log2M - shift)}.normalized()
}

// SetInt makes z equal to x * 2^exp, exactly if x without its factors of two has at most F - 4 bits (see the
// package comment), otherwise rounded to p bits as the context does.
func (c *Context) SetInt(z *Float, x *big.Int, exp int) {
	if x.Sign() == 0 {
		z.SetZero()
		return
	}
	b := c.base
	zeros := x.TrailingZeroBits()
	magnitude := new(big.Int).Abs(x)
	magnitude.Rsh(magnitude, zeros)
	exp += int(zeros)
	if length := magnitude.BitLen(); length > b.ExactBits() {
		exp += c.roundInt(magnitude, length-b.precision)
	}
	b.residuesOfLimbs(z.digits, limbsOf(magnitude, b.limbs))
	z.interval = b.evaluate(z.digits, c.coef)
	z.Exp, z.Neg = exp, x.Sign() < 0
}

// roundInt replaces x > 0 by x / 2^k, rounded as the context does, and returns k.
func (c *Context) roundInt(x *big.Int, k int) int {
	up := false
	if c.rounding == Nearest && x.Bit(k-1) == 1 {
		up = x.TrailingZeroBits() < uint(k-1) || x.Bit(k) == 1
	}
	x.Rsh(x, uint(k))
	if up {
		x.Add(x, big.NewInt(1))
	}
	return k
}

// SetBig makes z equal to the finite number x; see [Context.SetInt] for when it rounds. It panics if x is infinite.
func (c *Context) SetBig(z *Float, x *big.Float) {
	if x.IsInf() {
		panic("rns: SetBig of an infinity")
	}
	significand := new(big.Float)
	exp := x.MantExp(significand)
	length := int(x.MinPrec())
	n, _ := significand.SetMantExp(significand, length).Int(nil)
	c.SetInt(z, n, exp-length)
}

// Significand returns X, exactly.
func (c *Context) Significand(x *Float) *big.Int {
	if x.IsZero() {
		return new(big.Int)
	}
	return c.base.toInt(x.digits, x.interval, c.coef)
}

// Big returns x, exactly, with the least precision that holds it (at least 1 bit).
func (c *Context) Big(x *Float) *big.Float {
	significand := c.Significand(x)
	if x.Neg {
		significand.Neg(significand)
	}
	result := new(big.Float).SetInt(significand) // exact: the precision is that of the integer, at least 64
	result.SetMantExp(result, x.Exp)
	return result.SetPrec(max(1, result.MinPrec()))
}

// Float64 returns x correctly rounded to nearest even; out of range it is infinite, below the subnormals zero.
func (c *Context) Float64(x *Float) float64 {
	f, _ := c.Big(x).Float64()
	return f
}
