package exact

import (
	"math"
	"math/big"
	"math/bits"
)

// Dot accumulates products without any rounding. The zero value is an empty sum, ready for use; it must not be
// copied after first use and is not safe for concurrent use.
//
// The product of two binary64 numbers is an integer below 2^106 times a power of two from 2^-2148 to 2^1942; it is
// added to one of two fixed-point integers, one for each sign, of 68 words with the unit 2^-2148. Products of wider
// numbers ([Dot.AddBig]) are added to two integers of any length. Keeping the signs apart gives the exact sum of
// magnitudes for nothing and makes the result independent of the order of the terms.
type Dot struct {
	n        int
	pos, neg *dotLimbs
	wide     *wideDot
	specials specials
}

// dotLimbs is a fixed-point integer in units of 2^leastProductExp. The largest product, below 2^106 * 2^(1942 + 2148),
// ends in bit 4196; the 68 words leave room for 2^156 of them.
type dotLimbs [68]uint64

const leastProductExp = 2 * leastExp

// Add adds x*y. A product with an infinity or NaN is that of IEEE 754: 0 * Inf is NaN.
func (d *Dot) Add(x, y float64) {
	d.n++
	xm, xe := significand(x)
	ym, ye := significand(y)
	if xe < 0 || ye < 0 {
		d.specials.add(x * y)
		return
	}
	if xm == 0 || ym == 0 {
		return
	}
	sum := &d.pos
	if math.Signbit(x) != math.Signbit(y) {
		sum = &d.neg
	}
	if *sum == nil {
		*sum = new(dotLimbs)
	}
	hi, lo := bits.Mul64(xm, ym)
	addShifted((*sum)[:], hi, lo, uint(xe+ye))
}

// significand returns the integers m and e with |x| = m * 2^(e-1074), m < 2^53; e is negative for an infinity or NaN.
func significand(x float64) (m uint64, e int) {
	word := math.Float64bits(x)
	m, e = word&fractionMask, int(word>>fractionBits&exponentMask)
	switch e {
	case exponentMask:
		return 0, -1
	case 0:
		return m, 0
	}
	return m | hiddenBit, e - 1
}

func (z *dotLimbs) int() *big.Int {
	if z == nil {
		return new(big.Int)
	}
	return intOf(z[:])
}

// AddBig adds x*y for finite x and y, which are not kept. Its memory grows with the spread of the exponents.
func (d *Dot) AddBig(x, y *big.Float) {
	d.n++
	if x.Sign() == 0 || y.Sign() == 0 {
		return
	}
	if d.wide == nil {
		d.wide = new(wideDot)
	}
	d.wide.add(x, y)
}

// Merge adds the products of e, which must not be used afterwards.
func (d *Dot) Merge(e *Dot) {
	d.n += e.n
	d.pos = d.pos.merge(e.pos)
	d.neg = d.neg.merge(e.neg)
	d.specials.merge(e.specials)
	switch {
	case e.wide == nil || !e.wide.any:
	case d.wide == nil || !d.wide.any:
		d.wide = e.wide
	default:
		d.wide.merge(e.wide)
	}
}

func (z *dotLimbs) merge(y *dotLimbs) *dotLimbs {
	if z == nil || y == nil {
		if z == nil {
			return y
		}
		return z
	}
	var carry uint64
	for k := range z {
		z[k], carry = bits.Add64(z[k], y[k], carry)
	}
	return z
}

// N returns the number of products added.
func (d *Dot) N() int { return d.n }

// Value returns the exact sum of the products: 0 for none, NaN or an infinity as by IEEE 754 without overflow.
func (d *Dot) Value() Value {
	if c := d.specials.sum(); c != Finite {
		return Value{Class: c}
	}
	sum := d.pos.int()
	return d.result(sum.Sub(sum, d.neg.int()), func(w *wideDot) *big.Int { return new(big.Int).Sub(&w.pos, &w.neg) })
}

// Abs returns the exact sum of the magnitudes of the products: NaN if one is NaN, +Inf if one is infinite.
func (d *Dot) Abs() Value { return d.specials.magnitude(d.finiteAbs()) }

// finiteAbs returns the exact sum of the magnitudes of the finite products.
func (d *Dot) finiteAbs() Value {
	sum := d.pos.int()
	return d.result(sum.Add(sum, d.neg.int()), func(w *wideDot) *big.Int { return new(big.Int).Add(&w.pos, &w.neg) })
}

// Summary returns the sum and the sum of magnitudes; its Condition is sum |x_i y_i| / |sum x_i y_i|, half of the
// condition number of the dot product.
func (d *Dot) Summary() Summary {
	finite := d.finiteAbs()
	return Summary{N: d.n, Sum: d.Value(), SumAbs: d.specials.magnitude(finite), Finite: finite}
}

// result adds the wide part, if there is one, to x in units of 2^leastProductExp, which it may modify.
func (d *Dot) result(x *big.Int, wide func(*wideDot) *big.Int) Value {
	exp := leastProductExp
	if d.wide != nil && d.wide.any {
		w := wide(d.wide)
		if x.Sign() == 0 {
			x, exp = w, d.wide.exp
		} else {
			if d.wide.exp < exp {
				x.Lsh(x, uint(exp-d.wide.exp))
				exp = d.wide.exp
			}
			x.Add(x, w.Lsh(w, uint(d.wide.exp-exp)))
		}
	}
	return Value{Rat: dyadic(x, exp)}
}

// dyadic returns x * 2^exp in lowest terms, and may modify x.
func dyadic(x *big.Int, exp int) *big.Rat {
	if x.Sign() == 0 {
		return new(big.Rat)
	}
	zeros := x.TrailingZeroBits()
	x.Rsh(x, zeros)
	exp += int(zeros)
	if exp >= 0 {
		return new(big.Rat).SetInt(x.Lsh(x, uint(exp)))
	}
	// An odd integer over a power of two is in lowest terms: SetFrac would look for a common divisor, slowly.
	r := new(big.Rat).Set(half)
	r.Num().Set(x)
	r.Denom().SetBit(r.Denom().SetInt64(0), -exp, 1)
	return r
}

// half is copied where numerator and denominator are to be set.
var half = big.NewRat(1, 2)

// wideDot is a pair of sums of products of big.Float numbers, in units of 2^exp.
type wideDot struct {
	pos, neg big.Int
	exp      int
	any      bool

	x, y, product, shifted big.Int // scratch
	mantissa               big.Float
}

// exponentSlack is how far below a new least exponent the unit is put, for falling exponents.
const exponentSlack = 256

func (w *wideDot) add(x, y *big.Float) {
	exp := w.integer(&w.x, x) + w.integer(&w.y, y)
	w.product.Mul(&w.x, &w.y)
	switch {
	case !w.any:
		w.any, w.exp = true, exp-exponentSlack
	case exp < w.exp:
		shift := uint(w.exp - exp + exponentSlack)
		w.pos.Lsh(&w.pos, shift)
		w.neg.Lsh(&w.neg, shift)
		w.exp = exp - exponentSlack
	}
	term := w.shifted.Lsh(&w.product, uint(exp-w.exp))
	if term.Sign() > 0 {
		w.pos.Add(&w.pos, term)
	} else {
		w.neg.Sub(&w.neg, term)
	}
}

func (w *wideDot) merge(v *wideDot) {
	if v.exp < w.exp {
		*w, *v = *v, *w
	}
	shift := uint(v.exp - w.exp)
	w.pos.Add(&w.pos, v.pos.Lsh(&v.pos, shift))
	w.neg.Add(&w.neg, v.neg.Lsh(&v.neg, shift))
}

// integer sets z to the odd integer with x = z * 2^e and returns e, for x != 0.
func (w *wideDot) integer(z *big.Int, x *big.Float) (e int) {
	length := int(x.MinPrec())
	exp := x.MantExp(&w.mantissa)
	w.mantissa.SetMantExp(&w.mantissa, length)
	w.mantissa.Int(z)
	return exp - length
}
