package superacc

import (
	"math"
	"math/bits"
)

// termBuckets adds terms of any exponents fast: the top 12 bits of a number, sign and exponent field, choose a bucket,
// to which the whole bit pattern is added as an integer. It also counts its terms, so that the exponent fields can be
// subtracted and the hidden bits added before the sum of the significands, below 2^64, is moved on.
//
// This is the large superaccumulator of R. M. Neal, "Fast exact summation using small and large superaccumulators",
// arXiv 1505.05571 (2015), section 4.
type termBuckets struct {
	sum   [1 << 12]uint64 // modulo 2^64
	count [1 << 12]uint16
	used  bool
}

// mostTerms is how many terms a bucket holds: 2^11 * 2^53 = 2^64.
const mostTerms = 1 << 11

// productBuckets does the same for products: the exponents' sum and the sign choose a bucket, to which the 106-bit
// product of the significands is added.
type productBuckets struct {
	sum   [1 << 13]struct{ hi, lo uint64 }
	terms int
}

// mostProducts is how many products are added before they are moved on: 2^21 * 2^106 < 2^128.
const mostProducts = 1 << 21

// The least numbers of terms and of products that are faster with buckets, which all go to a fixed at the end.
const (
	manyTerms    = 1 << 14
	manyProducts = 1 << 15
)

// addEach adds terms of any exponents.
func (a *Accumulator) addEach(x []float64) {
	if len(x) < manyTerms {
		for _, v := range x {
			a.Add(v)
		}
		return
	}
	if a.termBuckets == nil {
		a.termBuckets = new(termBuckets)
	}
	b := a.termBuckets
	b.used = true
	for _, v := range x {
		pattern := math.Float64bits(v)
		i := pattern >> fractionBits
		b.sum[i] += pattern
		b.count[i]++
		if b.count[i] == mostTerms {
			a.spill(i)
		}
	}
}

// spill moves a bucket to the fixed.
func (a *Accumulator) spill(i uint64) {
	b := a.termBuckets
	n := uint64(b.count[i])
	sum := b.sum[i] - n*(i<<fractionBits) // of the fractions
	b.sum[i], b.count[i] = 0, 0
	sign := int64(i<<fractionBits) >> 63
	switch field := i & exponentMask; {
	case field != exponentMask:
		if field != 0 {
			sum += n * hiddenBit
		}
		a.fixed.addInteger(sign, 0, sum, int(max(field, 1))-bias)
	case sum != 0: // only infinities have the fraction 0
		a.addSpecial(math.NaN())
	default:
		a.addSpecial(math.Inf(int(sign)))
	}
}

// addEachProduct adds products of any exponents.
func (a *Accumulator) addEachProduct(x, y []float64) {
	if len(x) < manyProducts {
		for i, v := range x {
			a.AddProduct(v, y[i])
		}
		return
	}
	if a.productBuckets == nil {
		a.productBuckets = new(productBuckets)
	}
	b := a.productBuckets
	for len(x) > 0 {
		n := min(len(x), mostProducts-b.terms)
		b.terms += n
		a.addToBuckets(x[:n], y[:n])
		x, y = x[n:], y[n:]
		if b.terms == mostProducts {
			a.settleProducts()
		}
	}
}

func (a *Accumulator) addToBuckets(x, y []float64) {
	b := a.productBuckets
	y = y[:len(x)]
	for i, v := range x {
		px, py := math.Float64bits(v), math.Float64bits(y[i])
		ex, ey := px>>fractionBits&exponentMask, py>>fractionBits&exponentMask
		if (ex+1)&exponentMask <= 1 || (ey+1)&exponentMask <= 1 { // a field is all zeros or all ones
			a.AddProduct(v, y[i])
			continue
		}
		hi, lo := bits.Mul64(px&fractionMask|hiddenBit, py&fractionMask|hiddenBit)
		s := &b.sum[ex+ey|(px^py)>>63<<12]
		var carry uint64
		s.lo, carry = bits.Add64(s.lo, lo, 0)
		s.hi += hi + carry
	}
}

// settleBuckets moves all that is in buckets to the fixed.
func (a *Accumulator) settleBuckets() {
	if b := a.termBuckets; b != nil && b.used {
		for i, n := range &b.count {
			if n != 0 {
				a.spill(uint64(i))
			}
		}
		b.used = false
	}
	if a.productBuckets != nil && a.productBuckets.terms != 0 {
		a.settleProducts()
	}
}

func (a *Accumulator) settleProducts() {
	b := a.productBuckets
	for i := range b.sum {
		if s := &b.sum[i]; s.hi|s.lo != 0 {
			a.fixed.addInteger(-int64(i>>12), s.hi, s.lo, i&(1<<12-1)-2*bias)
			s.hi, s.lo = 0, 0
		}
	}
	b.terms = 0
}
