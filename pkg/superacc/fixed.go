package superacc

import (
	"math"
	"math/bits"
)

// Layout of a binary64 pattern.
const (
	fractionBits = 52
	hiddenBit    = 1 << fractionBits
	fractionMask = hiddenBit - 1
	exponentMask = 0x7ff
	signMask     = 1 << 63
	bias         = 1075 // of the exponent of a significand's last place
)

// Layout of a fixed.
const (
	unitExponent  = -2148 // of the unit: the product of any two binary64 numbers is a multiple of 2^-2148
	chunkBits     = 32
	chunkMask     = 1<<chunkBits - 1
	chunkCount    = 135 // bits -2148 ... 2171, the last of them the sign
	magnitudeSize = (chunkCount*chunkBits + 63) / 64

	// maxAdds is how often something can be added before carries have to be propagated: each time at most 2^52 comes
	// to a chunk, which starts below 2^32, and 2^32 + maxAdds*2^52 < 2^63.
	maxAdds = 2046
)

// fixed is a fixed-point number of 4320 bits in the unit 2^-2148: sum chunk[i] * 2^(32*i). It holds every sum of fewer
// than 2^74 products of binary64 numbers: each is below 2^2048, and the largest number is 2^2171 = 2^(135*32-1-2148).
//
// Chunks overlap: a chunk is a signed 64-bit integer, so that carries are propagated once in maxAdds additions only.
// This is the small superaccumulator of R. M. Neal, "Fast exact summation using small and large superaccumulators",
// arXiv 1505.05571 (2015), section 3, over the range of products.
type fixed struct {
	chunk [chunkCount]int64
	adds  int // since the last propagation
}

// addFloat adds the finite number with the given bit pattern.
func (f *fixed) addFloat(pattern uint64) {
	if f.adds == maxAdds {
		f.propagate()
	}
	f.adds++
	position, m := split(pattern)
	position += -bias - unitExponent
	shift := position % chunkBits
	sign := int64(pattern) >> 63
	c := f.chunk[position/chunkBits:][:2]
	c[0] += (int64(m<<shift&chunkMask) ^ sign) - sign // the sign is 0 or -1: (x^-1)+1 = -x
	c[1] += (int64(m>>(chunkBits-shift)) ^ sign) - sign
}

// split returns the exponent, with its bias, and the significand of a finite number.
func split(pattern uint64) (exponent uint, significand uint64) {
	exponent, significand = uint(pattern>>fractionBits&exponentMask), pattern&fractionMask
	if exponent == 0 {
		return 1, significand // subnormal or zero
	}
	return exponent, significand | hiddenBit
}

// addInteger adds (hi*2^64 + lo) * 2^exponent, negated if sign is -1 and not if it is 0. The exponent is at least
// unitExponent and leaves room for 160 bits.
func (f *fixed) addInteger(sign int64, hi, lo uint64, exponent int) {
	if f.adds == maxAdds {
		f.propagate()
	}
	f.adds++
	position := uint(exponent - unitExponent)
	shift := position % chunkBits
	middle := hi<<shift | lo>>(64-shift)
	c := f.chunk[position/chunkBits:][:5]
	c[0] += (int64(lo<<shift&chunkMask) ^ sign) - sign
	c[1] += (int64(lo<<shift>>chunkBits) ^ sign) - sign
	c[2] += (int64(middle&chunkMask) ^ sign) - sign
	c[3] += (int64(middle>>chunkBits) ^ sign) - sign
	c[4] += (int64(hi>>(64-shift)) ^ sign) - sign
}

// addSigned adds the signed 128-bit integer hi*2^64 + lo times 2^exponent.
func (f *fixed) addSigned(hi int64, lo uint64, exponent int) {
	sign := hi >> 63
	// minus -1 with a borrow: the carry of the two's complement
	low, borrow := bits.Sub64(lo^uint64(sign), uint64(sign), 0)
	high, _ := bits.Sub64(uint64(hi^sign), uint64(sign), borrow)
	f.addInteger(sign, high, low, exponent)
}

// addProduct adds x*y for finite x and y.
func (f *fixed) addProduct(x, y float64) {
	px, py := math.Float64bits(x), math.Float64bits(y)
	ex, mx := split(px)
	ey, my := split(py)
	hi, lo := bits.Mul64(mx, my)
	f.addInteger(int64(px^py)>>63, hi, lo, int(ex+ey)-2*bias)
}

// propagate brings every chunk into [0, 2^32) but the highest that is not 0, which has the sign and is at least -2^31.
// Chunks below first and above top are 0: both are 0 for zero.
func (f *fixed) propagate() (first, top int) {
	f.adds = 0
	for first < chunkCount && f.isZero(first) {
		first += scanned
	}
	if first == chunkCount {
		return 0, 0
	}
	top = chunkCount - 1
	for f.isZero(top - scanned + 1) {
		top -= scanned
	}
	for f.chunk[top] == 0 {
		top--
	}
	var carry int64
	for i, c := range f.chunk[first:top] {
		c += carry
		carry = c >> chunkBits
		f.chunk[first+i] = c & chunkMask
	}
	c := f.chunk[top] + carry
	f.chunk[top] = c
	if c < -1<<(chunkBits-1) || c > chunkMask { // never in the last one
		f.chunk[top] = c & chunkMask
		top++
		f.chunk[top] = c >> chunkBits
	}
	return first, top
}

// scanned is how many chunks, a divisor of chunkCount, are compared with 0 at once.
const scanned = 5

func (f *fixed) isZero(from int) bool {
	c := f.chunk[from:][:scanned]
	return c[0]|c[1]|c[2]|c[3]|c[4] == 0
}

// merge adds g to f.
func (f *fixed) merge(g *fixed) {
	f.propagate()
	first, top := g.propagate()
	for i, c := range g.chunk[first : top+1] {
		f.chunk[first+i] += c
	}
	f.adds = 1
}

// words sets words, which are 0, to f in the unit 2^unitExponent in two's complement, least significant word first.
// Words from the returned one on repeat the sign.
func (f *fixed) words(words *[magnitudeSize]uint64) (negative bool, to int) {
	first, top := f.propagate()
	for i, c := range f.chunk[first : top+1] {
		i += first
		words[i/2] |= uint64(c) & chunkMask << (i % 2 * chunkBits)
	}
	to = top/2 + 1
	if f.chunk[top] >= 0 {
		return false, to
	}
	if top%2 == 0 {
		words[top/2] |= ^uint64(chunkMask)
	}
	for i := range words[to:] {
		words[to+i] = math.MaxUint64
	}
	return true, to
}

// magnitude sets words, which are 0, to the absolute value of f in the unit 2^unitExponent, least significant word
// first, and returns how many are not 0, or more.
func (f *fixed) magnitude(words *[magnitudeSize]uint64) (negative bool, to int) {
	negative, to = f.words(words)
	if negative {
		var borrow uint64
		for i, w := range words[:to] {
			words[i], borrow = bits.Sub64(0, w, borrow)
		}
		clear(words[to:])
	}
	return negative, to
}

// appendMagnitude appends the absolute value of f in the unit 2^exp to words, least significant word first, without
// the zeros below.
func (f *fixed) appendMagnitude(words []uint64) (_ []uint64, exp int, negative bool) {
	first, top := f.propagate()
	first &^= 1
	negative = f.chunk[top] < 0
	var borrow uint64
	for i := first; i <= top; i += 2 {
		w := uint64(f.chunk[i]) // the highest has the sign
		if i < top {
			w |= uint64(f.chunk[i+1]) << chunkBits
		}
		if negative {
			w, borrow = bits.Sub64(0, w, borrow)
		}
		words = append(words, w)
	}
	return words, unitExponent + first*chunkBits, negative
}

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
