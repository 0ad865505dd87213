package rns

// Float is a number (-1)^Neg * X * 2^Exp of some [Base]. Its significand X is held as residues with an interval
// evaluation. Zero has Neg false, Exp 0 and residues 0. Make one with [Base.NewFloat]; operations are
// methods of [Context].
type Float struct {
	digits   []uint32
	interval Interval
	Exp      int
	Neg      bool
}

// NewFloat returns zero.
func (b *Base) NewFloat() *Float { return &Float{digits: make([]uint32, b.stride)} }

// IsZero reports whether x is zero.
func (x *Float) IsZero() bool { return x.interval.IsZero() }

// Interval returns the interval evaluation I(X/M) of the significand.
func (x *Float) Interval() Interval { return x.interval }

// Residues returns the residues of the significand, padded to the base's stride. They must not be modified.
func (x *Float) Residues() []uint32 { return x.digits }

// Set makes z a copy of x, a number of the same base.
func (z *Float) Set(x *Float) {
	if z == x {
		return
	}
	copy(z.digits, x.digits)
	z.interval, z.Exp, z.Neg = x.interval, x.Exp, x.Neg
}

// SetZero makes z zero.
func (z *Float) SetZero() {
	clear(z.digits)
	z.interval, z.Exp, z.Neg = Interval{}, 0, false
}

// Negate changes the sign of z; zero stays as it is.
func (z *Float) Negate() { z.Neg = !z.Neg && !z.IsZero() }

// SetResidues makes z the number (-1)^neg * X * 2^exp for X in [0, M) with the given residues, of which there are
// at least Len. X is rounded if it has more than F - 4 bits (see the package comment).
func (c *Context) SetResidues(z *Float, residues []uint32, exp int, neg bool) {
	b := c.base
	b.pad(z.digits, residues)
	z.interval = b.evaluate(z.digits, c.coef)
	if z.IsZero() {
		z.SetZero()
		return
	}
	z.Exp, z.Neg = exp, neg
	if length := c.bitLen(z.digits, z.interval); length > b.ExactBits() {
		c.roundTo(z, length-b.precision)
	}
}
