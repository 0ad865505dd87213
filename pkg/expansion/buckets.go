package expansion

import "math"

// buckets adds terms of any exponents one by one, fast: the top 12 bits of a number, sign and exponent field, choose a
// bucket, and its significand is added to that bucket's 128-bit integer. That is one addition, with a carry into the upper 64
// bits about once in 2048 terms.
//
// This is the large superaccumulator of R. M. Neal, arXiv 1505.05571 (2015), section 4, with two-word buckets in the place
// of counts.
type buckets struct {
	lo, hi [bucketCount]uint64
	used   bool
}

const (
	bucketCount = 1 << 12
	fewTerms    = 2048 // so few terms are added faster to a fixed than the buckets are moved there
)

// settle moves all that b holds to f.
func (b *buckets) settle(f *fixed) {
	if !b.used {
		return
	}
	for i := range b.lo {
		if b.lo[i]|b.hi[i] != 0 {
			f.addInteger(i >= bucketCount/2, b.hi[i], b.lo[i], max(i&exponentMask, 1)-bias)
		}
	}
	*b = buckets{}
}

// addEach adds terms of any exponents.
func (a *Accumulator) addEach(x []float64) {
	if len(x) < fewTerms {
		for _, v := range x {
			a.Add(v)
		}
		return
	}
	a.addToBuckets(x)
}

func (a *Accumulator) addToBuckets(x []float64) {
	if a.buckets == nil {
		a.buckets = new(buckets)
	}
	b := a.buckets
	b.used = true
	for _, v := range x {
		pattern := math.Float64bits(v)
		i := pattern >> fractionBits
		m := pattern&fractionMask | hiddenBit
		if (i+1)&exponentMask <= 1 { // exponent field all zeros or all ones
			if i&exponentMask != 0 {
				a.addSpecial(v)
				continue
			}
			m &^= hiddenBit // subnormal or zero
		}
		sum := b.lo[i] + m
		b.lo[i] = sum
		if sum < m {
			b.hi[i]++
		}
	}
}

// addEachProduct adds products of any exponents: their halves where TwoProduct is exact.
func (a *Accumulator) addEachProduct(x, y []float64) {
	if len(x) < fewTerms {
		for i, v := range x {
			a.AddProduct(v, y[i])
		}
		return
	}
	var halves [1024]float64
	n := 0
	for i, v := range x {
		p, e := TwoProduct(v, y[i])
		if size := math.Abs(p); size >= tinyProduct && size <= math.MaxFloat64 {
			halves[n], halves[n+1] = p, e
			if n += 2; n == len(halves) {
				a.addToBuckets(halves[:])
				n = 0
			}
		} else if size != 0 || v != 0 && y[i] != 0 {
			a.AddProduct(v, y[i])
		}
	}
	a.addToBuckets(halves[:n])
}
