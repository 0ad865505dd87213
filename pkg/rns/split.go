package rns

// A product in three parts, as the 2020 paper's kernels compute it for arrays of numbers: signs, exponents and
// intervals; residues; rounding. After all three z is what [Context.Mul] makes it, bit for bit. z must be neither x
// nor y.
//
// Source: K. Isupov, V. Knyazkov, "Multiple-precision matrix-vector multiplication on graphics processing units"
// (2020), section 4, DOI 10.25209/2079-3316-2020-11-3-61-84.

// pending is the interval of a product with a wide operand, which residues would not hold: MulRound computes it anew.
var pending = Interval{Lo: 0, Up: 1 << 63, Exp: 1<<31 - 1}

// MulFields sets the sign, the exponent and the interval evaluation of z to those of x*y before rounding.
func (c *Context) MulFields(z, x, y *Float) {
	if x.IsZero() || y.IsZero() {
		z.interval, z.Exp, z.Neg = Interval{}, 0, false
		return
	}
	z.Exp, z.Neg = x.Exp+y.Exp, x.Neg != y.Neg
	if c.isWide(x.digits, x.interval) || c.isWide(y.digits, y.interval) {
		z.interval = pending
		return
	}
	z.interval = c.base.mulRange(x.interval, y.interval)
}

// MulResidues sets the residues of z to those of x*y before rounding.
func (c *Context) MulResidues(z, x, y *Float) { c.base.mulMod(z.digits, x.digits, y.digits) }

// MulRound rounds z, which MulFields and MulResidues made of x and y.
func (c *Context) MulRound(z, x, y *Float) {
	switch {
	case z.IsZero():
		return
	case z.interval == pending:
		c.Mul(z, x, y)
		return
	case !z.interval.tight():
		z.interval = c.base.evaluate(z.digits, c.coef)
	}
	c.round(z)
}
