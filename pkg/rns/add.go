package rns

// Add sets z = x + y, with a relative error of at most UnitRoundoff; the package comment specifies the result.
func (c *Context) Add(z, x, y *Float) { c.addSigned(z, x, y, y.Neg) }

// Sub sets z = x - y, with a relative error of at most UnitRoundoff.
func (c *Context) Sub(z, x, y *Float) { c.addSigned(z, x, y, !y.Neg) }

// addSigned sets z = x + y with y's sign replaced by yNeg.
func (c *Context) addSigned(z, x, y *Float, yNeg bool) {
	xNeg := x.Neg
	switch {
	case y.IsZero():
		z.Set(x)
		return
	case x.IsZero():
		z.Set(y)
		z.Neg = yNeg
		return
	}
	if x.Exp < y.Exp {
		x, y = y, x
		xNeg, yNeg = yNeg, xNeg
	}
	up, down := c.align(x, y)
	if down < 0 { // y is negligible
		z.Set(x)
		z.Neg = xNeg
		return
	}
	exp, yDigits, yInterval := y.Exp+down, y.digits, y.interval
	if down > 0 {
		yDigits = c.shift
		yInterval = c.scaleDown(y, down)
	}
	if xNeg == yNeg {
		c.addAligned(z, x, up, yDigits, yInterval)
		z.Neg = xNeg
	} else {
		less := c.subAligned(z, x, up, yDigits, yInterval)
		z.Neg = xNeg != less && !z.IsZero()
	}
	if z.IsZero() {
		z.SetZero()
		return
	}
	z.Exp = exp
	c.round(z)
}

// align returns by how many bits X is to be shifted up and Y down, where x has the exponent that is not smaller;
// down < 0 says that y is to be dropped.
func (c *Context) align(x, y *Float) (up, down int) {
	b := c.base
	d := x.Exp - y.Exp
	if d != 0 {
		c.counts.Alignments++
	}
	if int(x.interval.Exp)+d <= -2 { // X*2^d < M/4 < 2^(F-1)
		return d, 0
	}
	length := c.bitLen(x.digits, x.interval)
	if c.alignment == AlignBLAS && !c.isWide(y.digits, y.interval) {
		if length+d > b.dropBits {
			return 0, -1
		}
		return d, 0
	}
	up = min(d, b.log2M-1-length)
	return up, d - up
}

// scaleDown sets c.shift to floor(Y / 2^k), k >= 1, and returns its interval.
func (c *Context) scaleDown(y *Float, k int) Interval {
	if _, most := c.base.bitBounds(y.interval); k >= most {
		clear(c.shift)
		return Interval{}
	}
	c.scale(c.shift, y.digits, y.interval, k)
	return c.base.evaluate(c.shift, c.coef)
}

// addAligned sets z's significand to X*2^up + Y.
func (c *Context) addAligned(z, x *Float, up int, y []uint32, v Interval) {
	b := c.base
	b.mulPowerAdd(z.digits, x.digits, up, y, c.coef)
	if v.IsZero() {
		z.interval = x.interval.shifted(up)
		return
	}
	z.interval = x.interval.shifted(up).add(v)
	if !z.interval.tight() {
		z.interval = b.evaluate(z.digits, c.coef)
	}
}

// subAligned sets z's significand to |X*2^up - Y| and reports whether X*2^up < Y.
func (c *Context) subAligned(z, x *Float, up int, y []uint32, v Interval) (less bool) {
	b := c.base
	w := x.interval.shifted(up)
	b.mulPowerSub(z.digits, x.digits, up, y, c.coef)
	if v.IsZero() {
		z.interval = w
		return false
	}
	switch order := w.compare(v); {
	case order > 0:
		z.interval = w.sub(v)
	case order < 0:
		z.interval, less = v.sub(w), true
	default:
		less, z.interval = b.evaluateSigned(z.digits, c.coef)
	}
	if less {
		negMod(z.digits, z.digits, b.modulus)
	}
	if !z.IsZero() && !z.interval.tight() { // cancellation
		z.interval = b.evaluate(z.digits, c.coef)
	}
	return less
}

// mulPowerAdd sets z = x * 2^k + y mod m; scratch must be none of the others.
func (b *Base) mulPowerAdd(z, x []uint32, k int, y, scratch []uint32) {
	coarse, fine := b.powers.split(k)
	if coarse != nil {
		mulConst(scratch, x, coarse, b.modulus)
		x = scratch
	}
	mulConstAdd(z, x, fine, y, b.modulus)
}

// mulPowerSub sets z = x * 2^k - y mod m; scratch must be none of the others.
func (b *Base) mulPowerSub(z, x []uint32, k int, y, scratch []uint32) {
	coarse, fine := b.powers.split(k)
	if coarse != nil {
		mulConst(scratch, x, coarse, b.modulus)
		x = scratch
	}
	mulConstSub(z, x, fine, y, b.modulus)
}
