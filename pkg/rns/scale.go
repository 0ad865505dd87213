package rns

// scaled is what scaling by a power of two leaves over: the quotient's parity and the part cut off,
// which decide the rounding to nearest even.
type scaled struct {
	odd       bool // the quotient is odd
	half      bool // the highest bit cut off is 1
	remaining bool // a lower bit cut off is 1
}

// roundsUp reports whether nearest, ties to even, adds one to the quotient.
func (s scaled) roundsUp() bool { return s.half && (s.remaining || s.odd) }

// scale sets z = floor(X / 2^k) for X with residues x and interval v, 1 <= k <= log2 M, and says what was cut off.
// z may be x.
//
// The k low bits R of X come from the Chinese remainder theorem modulo 2^(64*ceil((k+1)/64)); then
// z_i = (x_i - R) * 2^-k mod m_i is an exact division.
func (c *Context) scale(z, x []uint32, v Interval, k int) scaled {
	b := c.base
	b.coefficients(c.coef, x)
	low := c.limbs[:min(k/64+1, b.limbs)]
	b.toLimbs(low, c.coef, b.rank(c.coef, v))
	cut := splitBits(low, k)
	b.residuesOfLimbs(c.coef, low)
	subMod(z, x, c.coef, b.modulus)
	b.mulPower(z, z, &b.inverses, k)
	return cut
}

// splitBits clears all but the k low bits of limbs, k >= 1, and describes bits k, k-1 and those below.
func splitBits(limbs []uint64, k int) scaled {
	var cut scaled
	top := k / 64
	if top < len(limbs) {
		cut.odd = limbs[top]>>(k%64)&1 != 0
		limbs[top] &= 1<<(k%64) - 1
	}
	cut.half = limbs[(k-1)/64]>>((k-1)%64)&1 != 0
	low := limbs[(k-1)/64] &^ (1 << ((k - 1) % 64))
	for _, limb := range limbs[:(k-1)/64] {
		low |= limb
	}
	cut.remaining = low != 0
	return cut
}

// Scale sets z to the residues of floor(X / 2^k) for X in [0, M) with residues x; k >= 0. Both have Stride
// residues, as Residues makes them, and z may be x.
func (c *Context) Scale(z, x []uint32, k int) {
	switch {
	case k > c.base.log2M:
		clear(z)
	case k == 0:
		copy(z, x)
	default:
		c.scale(z, x, c.base.evaluate(x, c.coef), k)
	}
}
