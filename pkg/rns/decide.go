package rns

import "cmp"

// The functions of this file decide about significands: exactly, whatever their intervals' widths.

// bitLen returns bits(X) = floor(log2 X) + 1 for X > 0 with residues x and interval v.
func (c *Context) bitLen(x []uint32, v Interval) int {
	least, most := c.base.bitBounds(v)
	for most > least && c.belowPower(x, most-1) {
		most--
	}
	return most
}

// belowPower reports whether X < 2^k, for X in [0, M) known to lie within a factor of two of 2^k, k <= log2 M.
func (c *Context) belowPower(x []uint32, k int) bool {
	b := c.base
	coarse, fine := b.powers.split(k)
	power := fine.value
	if coarse != nil {
		mulConst(c.coef, coarse.value, fine, b.modulus)
		power = c.coef
	}
	subMod(c.coef, x, power, b.modulus)
	negative, _ := b.evaluateSigned(c.coef, c.coef)
	return negative
}

// isWide reports whether X > floor(sqrt(M - 1)), for X > 0 with residues x and interval v.
func (c *Context) isWide(x []uint32, v Interval) bool {
	if order := v.compare(c.base.limit.interval); order != 0 {
		return order > 0
	}
	subMod(c.coef, x, c.base.limit.digits, c.base.modulus)
	negative, difference := c.base.evaluateSigned(c.coef, c.coef)
	return !negative && !difference.IsZero()
}

func (c *Context) compareMagnitudes(x []uint32, v Interval, y []uint32, w Interval) int {
	if v.IsZero() || w.IsZero() {
		return boolToInt(!v.IsZero()) - boolToInt(!w.IsZero())
	}
	if order := v.compare(w); order != 0 {
		return order
	}
	subMod(c.coef, x, y, c.base.modulus)
	negative, difference := c.base.evaluateSigned(c.coef, c.coef)
	switch {
	case difference.IsZero():
		return 0
	case negative:
		return -1
	}
	return 1
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Compare returns -1, 0 or +1 as x < y, x = y or x > y, exactly.
func (c *Context) Compare(x, y *Float) int {
	if x.Neg != y.Neg || x.IsZero() || y.IsZero() {
		return cmp.Compare(x.sign(), y.sign())
	}
	order := c.compareSameSign(x, y)
	if x.Neg {
		return -order
	}
	return order
}

func (x *Float) sign() int {
	switch {
	case x.IsZero():
		return 0
	case x.Neg:
		return -1
	}
	return 1
}

// Sign returns -1, 0 or +1.
func (x *Float) Sign() int { return x.sign() }

// compareSameSign compares the magnitudes of two nonzero numbers.
func (c *Context) compareSameSign(x, y *Float) int {
	if x.Exp < y.Exp {
		return -c.compareSameSign(y, x)
	}
	// Magnitudes decide unless the highest bits coincide; then the difference of the exponents fits the room above X.
	d := x.Exp - y.Exp
	xTop, yTop := c.bitLen(x.digits, x.interval)+d, c.bitLen(y.digits, y.interval)
	if xTop != yTop {
		return 2*boolToInt(xTop > yTop) - 1
	}
	c.base.mulPower(c.shift, x.digits, &c.base.powers, d)
	return c.compareMagnitudes(c.shift, x.interval.shifted(d), y.digits, y.interval)
}
