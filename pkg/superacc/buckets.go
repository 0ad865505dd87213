package superacc

import (
	"math"
	"math/bits"
)

// termBuckets adds terms of any exponents fast: the top 12 bits of a number, sign and exponent field, choose a bucket,
// to which the significand is added as if the number were normal; a carry beyond 64 bits, one in some 1400 additions,
// is counted apart. Zeros, subnormal numbers, infinities and NaN leave something in buckets of their own, by which
// they are noticed after a block, and are then looked for.
//
// This is the large superaccumulator of R. M. Neal, "Fast exact summation using small and large superaccumulators",
// arXiv 1505.05571 (2015), section 4, with a count of carries in place of one of the terms: one number is read and
// written for a term, not two.
type termBuckets struct {
	sum   [1 << 12]uint64 // modulo 2^64
	carry [1 << 12]uint64
	used  bool
}

// bucketBlock is how many terms are looked through for those that are not normal numbers, if there are any.
const bucketBlock = 1 << 8

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
	a.addToTermBuckets(x)
}

func (a *Accumulator) addToTermBuckets(x []float64) {
	if a.termBuckets == nil {
		a.termBuckets = new(termBuckets)
	}
	b := a.termBuckets
	b.used = true
	for len(x) > 0 {
		n := min(len(x), bucketBlock)
		b.add(x[:n])
		if b.notNormal() {
			for _, v := range x[:n] {
				const least, infinite = hiddenBit, exponentMask << fractionBits
				magnitude := math.Float64bits(v) &^ signMask
				if magnitude-least >= infinite-least && magnitude != 0 { // below the least it wraps
					a.Add(v)
				}
			}
		}
		x = x[n:]
	}
}

// addGeneric adds normal numbers. Of others it leaves a bucket that is not 0.
func (b *termBuckets) addGeneric(x []float64) {
	for _, v := range x {
		pattern := math.Float64bits(v)
		significand := pattern&fractionMask | hiddenBit
		i := pattern >> fractionBits
		s := b.sum[i] + significand
		b.sum[i] = s
		if s < significand {
			b.carry[i]++
		}
	}
}

// notNormal tells whether numbers were added that are not normal, and forgets them.
func (b *termBuckets) notNormal() (found bool) {
	for _, i := range [...]int{0, exponentMask, exponentMask + 1, 2*exponentMask + 1} {
		found = found || b.sum[i]|b.carry[i] != 0
		b.sum[i], b.carry[i] = 0, 0
	}
	return found
}

// addEachProduct adds products of any exponents.
func (a *Accumulator) addEachProduct(x, y []float64) {
	if len(x) < manyProducts {
		for i, v := range x {
			a.AddProduct(v, y[i])
		}
		return
	}
	a.addToProductBuckets(x, y)
}

func (a *Accumulator) addToProductBuckets(x, y []float64) {
	if a.productBuckets == nil {
		a.productBuckets = new(productBuckets)
	}
	b := a.productBuckets
	for len(x) > 0 {
		n := min(len(x), mostProducts-b.terms)
		b.terms += n
		a.fillProductBuckets(x[:n], y[:n])
		x, y = x[n:], y[n:]
		if b.terms == mostProducts {
			a.settleProducts()
		}
	}
}

func (a *Accumulator) fillProductBuckets(x, y []float64) {
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
		for i, lo := range &b.sum {
			if hi := b.carry[i]; hi|lo != 0 {
				a.fixed.addInteger(-int64(i>>11), hi, lo, i&exponentMask-bias)
				b.sum[i], b.carry[i] = 0, 0
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
