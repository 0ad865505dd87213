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
// The k low bits R of X come from the Chinese remainder theorem modulo a power of two above 2^k; then
// z_i = (x_i - R) * 2^-k mod m_i is an exact division.
func (c *Context) scale(z, x []uint32, v Interval, k int) scaled {
	b := c.base
	b.coefficients(c.coef, x)
	rank := b.rank(c.coef, v)
	if k < 32 {
		low, cut := splitWord(uint64(b.lowBits(c.coef, rank)), k)
		b.floatMod(c.coef, float64(low))
		subMulConst(z, x, c.coef, &b.inverses.fine[k], b.modulus)
		return cut
	}
	low := b.toWords(c.words, k/b.radix.bits+1, c.coef, rank)
	cut := splitWords(low, b.radix.bits, k)
	b.residuesOfWords(c.coef, low)
	coarse, fine := b.inverses.split(k)
	subMulConst(z, x, c.coef, coarse, b.modulus)
	if fine != &b.inverses.fine[0] {
		mulConst(z, z, fine, b.modulus)
	}
	return cut
}

// splitWord returns the k low bits of word, k >= 1, and describes bits k, k-1 and those below.
func splitWord(word uint64, k int) (low uint64, cut scaled) {
	cut.odd = word>>k&1 != 0
	cut.half = word>>(k-1)&1 != 0
	cut.remaining = word<<(65-k) != 0 // a shift by 64 gives 0
	return word & (1<<k - 1), cut
}

// splitWords clears all but the k low bits of the words of so many bits each, k >= 1, and describes bits k, k-1 and
// those below.
func splitWords(words []uint64, width, k int) scaled {
	var cut scaled
	if top := k / width; top < len(words) {
		cut.odd = words[top]>>(k%width)&1 != 0
		words[top] &= 1<<(k%width) - 1
	}
	last := (k - 1) / width
	cut.half = words[last]>>((k-1)%width)&1 != 0
	low := words[last] &^ (1 << ((k - 1) % width))
	for _, word := range words[:last] {
		low |= word
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

// round rounds z's significand to p bits if it is wide.
func (c *Context) round(z *Float) {
	if c.isWide(z.digits, z.interval) {
		c.roundTo(z, c.bitLen(z.digits, z.interval)-c.base.precision)
	}
}

// roundTo scales z's significand down by 2^k, k >= 1, rounding as the context does.
func (c *Context) roundTo(z *Float, k int) {
	c.counts.Roundings++
	b := c.base
	cut := c.scale(z.digits, z.digits, z.interval, k)
	if c.rounding == Nearest && cut.roundsUp() {
		b.increment(z.digits)
	}
	z.Exp += k
	z.interval = z.interval.shifted(-k).widenedByOne(b)
	if !z.interval.tight() {
		z.interval = b.evaluate(z.digits, c.coef)
	}
}

// widenedByOne returns the interval of every Z' with |Z' - Z| <= 1, where Z >= 2^(p-1) lies in v.
func (v Interval) widenedByOne(b *Base) Interval {
	// 1/M relative to Z/M is at most 2^(1-p): in units of 2^(Exp-64), where Up < 2^64, at most 2^(65-p).
	unit := uint64(1)
	if b.precision < 65 {
		unit <<= 65 - b.precision
	}
	if unit >= v.Lo {
		return Interval{}
	}
	up := v.Up + unit
	if up < v.Up {
		return Interval{(v.Lo - unit) >> 1, 1<<63 + up>>1 + 1, v.Exp + 1}
	}
	return Interval{v.Lo - unit, up, v.Exp}
}
