package superacc

import "math"

// DigitCount is the number of digits of [Digits].
const DigitCount = 264

const digitBits = 16

// Digits is an exact sum as devices compute it, the layout of cuda/digits.cuh: sum Digit[i] * 2^(16i - 2148), and how
// many infinities and NaN are among its terms. Digits overlap: each is a signed integer of up to 2^62 in magnitude.
// The sums of two parts of the terms are added element by element, in any order.
type Digits struct {
	Digit                [DigitCount]int64
	PosInf, NegInf, NaNs int64
}

// Add adds the sum of other terms.
func (d *Digits) Add(e *Digits) {
	for i, v := range &e.Digit {
		d.Digit[i] += v
	}
	d.PosInf += e.PosInf
	d.NegInf += e.NegInf
	d.NaNs += e.NaNs
}

// AddDigits adds the sum d.
func (a *Accumulator) AddDigits(d *Digits) {
	a.fixed.addDigits(&d.Digit)
	for _, special := range []struct {
		count int64
		value float64
	}{{d.PosInf, math.Inf(1)}, {d.NegInf, math.Inf(-1)}, {d.NaNs, math.NaN()}} {
		if special.count != 0 {
			a.addSpecial(special.value)
		}
	}
}

// addDigits adds sum digits[i] * 2^(unitExponent + 16i).
func (f *fixed) addDigits(digits *[DigitCount]int64) {
	if f.adds == maxAdds {
		f.propagate()
	}
	f.adds++
	var carry int64
	for i, d := range digits {
		d += carry
		carry = d >> digitBits
		at := digitBits * i
		f.chunk[at/chunkBits] += d & (1<<digitBits - 1) << (at % chunkBits)
	}
	f.chunk[digitBits*DigitCount/chunkBits] += carry // at most 2^47 in magnitude
}
