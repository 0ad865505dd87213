package selftest

// doubleDouble models sums of two binary64 numbers, as package multifloat computes with them: hi is the number rounded
// to binary64, lo the rest.
type doubleDouble struct{ binary }

// parts returns hi and lo of a number of the format.
func (d doubleDouble) parts(x number) (hi, lo number) {
	hi = d.round(x)
	return hi, x.plus(hi.neg())
}

// twoSum returns the rounded sum and its error, which is a binary64 number.
func (d doubleDouble) twoSum(x, y number) (s, e number) {
	s = d.binary.add(x, y)
	return s, x.plus(y).plus(s.neg())
}

// fastTwoSum is hi + lo of a sum in three additions, in which |x| need not be the larger.
func (d doubleDouble) fastTwoSum(x, y number) number {
	s := d.binary.add(x, y)
	return s.plus(d.binary.sub(y, d.binary.sub(s, x)))
}

// add is AccurateDWPlusDW of Joldes, Muller and Popescu (2017).
func (d doubleDouble) add(x, y number) number {
	xh, xl := d.parts(x)
	yh, yl := d.parts(y)
	s, e := d.twoSum(xh, yh)
	t, f := d.twoSum(xl, yl)
	s, e = d.parts(d.fastTwoSum(s, d.binary.add(e, t)))
	return d.fastTwoSum(s, d.binary.add(f, e))
}

// sqrt is the root, rounded to nearest so often that it is as good as exact, and then part by part.
func (d doubleDouble) sqrt(x number) number {
	root := bigFloat(4*d.bits + 64).sqrt(x)
	hi, lo := d.parts(root)
	return hi.plus(d.round(lo))
}

// mul is DWTimesDW2 of the same.
func (d doubleDouble) mul(x, y number) number {
	xh, xl := d.parts(x)
	yh, yl := d.parts(y)
	p := d.binary.mul(xh, yh)
	e := d.fma(xh, yh, p.neg())
	return d.fastTwoSum(p, d.binary.add(e, d.fma(xh, yl, d.binary.mul(xl, yh))))
}
