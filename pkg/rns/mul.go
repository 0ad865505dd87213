package rns

import "math/bits"

// Mul sets z = x * y, with a relative error of at most UnitRoundoff; the package comment specifies the result.
func (c *Context) Mul(z, x, y *Float) {
	if x.IsZero() || y.IsZero() {
		z.SetZero()
		return
	}
	exp, neg := x.Exp+y.Exp, x.Neg != y.Neg
	if c.isWide(x.digits, x.interval) || c.isWide(y.digits, y.interval) {
		exp += c.mulWide(z, x, y)
		z.Exp, z.Neg = exp, neg
		return
	}
	b := c.base
	b.mulMod(z.digits, x.digits, y.digits)
	z.interval = b.mulRange(x.interval, y.interval)
	if !z.interval.tight() {
		z.interval = b.evaluate(z.digits, c.coef)
	}
	z.Exp, z.Neg = exp, neg
	c.round(z)
}

// mulWide sets z's significand to Round(X*Y) through binary words and returns k, the bits cut off. X*Y may exceed M.
func (c *Context) mulWide(z, x, y *Float) (k int) {
	b := c.base
	xw, yw := make([]uint64, b.limbs), make([]uint64, b.limbs)
	c.significand(xw, x)
	c.significand(yw, y)
	product := make([]uint64, 2*b.limbs)
	for i, word := range xw {
		addMul(product[i:], extended(yw, len(product)-i), word)
	}
	k = bitLenOf(product) - b.precision
	low := append([]uint64(nil), product[:k/64+1]...)
	cut := splitWords(low, 64, k)
	shiftRight(product, k)
	b.residuesOfLimbs(z.digits, product[:b.limbs])
	if c.rounding == Nearest && cut.roundsUp() {
		b.increment(z.digits)
	}
	z.interval = b.evaluate(z.digits, c.coef)
	return k
}

// significand sets the words of limbs, all b.limbs of them, to X.
func (c *Context) significand(limbs []uint64, x *Float) {
	c.base.coefficients(c.coef, x.digits)
	c.base.toLimbs(limbs, c.coef, c.base.rank(c.coef, x.interval))
}

// extended returns x, cut or extended by zeros to n words.
func extended(x []uint64, n int) []uint64 {
	if n <= len(x) {
		return x[:n]
	}
	return append(append(make([]uint64, 0, n), x...), make([]uint64, n-len(x))...)
}

// bitLenOf returns the number of bits of the integer of little-endian words.
func bitLenOf(limbs []uint64) int {
	for i := len(limbs) - 1; i >= 0; i-- {
		if limbs[i] != 0 {
			return 64*i + bits.Len64(limbs[i])
		}
	}
	return 0
}

// shiftRight sets x = floor(x / 2^k).
func shiftRight(x []uint64, k int) {
	words, part := k/64, uint(k%64)
	for i := range x {
		var low, high uint64
		if i+words < len(x) {
			low = x[i+words]
		}
		if i+words+1 < len(x) {
			high = x[i+words+1]
		}
		x[i] = low>>part | high<<(64-part) // a shift by 64 gives 0
	}
}
