package rns

// round rounds z's significand to p bits if it is wide.
func (c *Context) round(z *Float) {
	if c.isWide(z.digits, z.interval) {
		c.roundTo(z, c.bitLen(z.digits, z.interval)-c.base.precision)
	}
}

// roundTo scales z's significand down by 2^k, k >= 1, rounding as the context does.
func (c *Context) roundTo(z *Float, k int) {
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
