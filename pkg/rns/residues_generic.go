package rns

import "math/bits"

// The functions of this file work on slices of one length, a base's stride; residues are below their modulus m,
// which is below 2^31. Any operand may be the destination z.

// subModGeneric sets z = x - y mod m.
func subModGeneric(z, x, y, m []uint32) {
	for i := range z {
		z[i] = reduceOnce(x[i]+m[i]-y[i], m[i])
	}
}

// mulModGeneric sets z = x * y mod m; mulhi = floor((2^64 - 1) / m).
//
// The quotient estimate hi(x*y*mulhi) is at most one below floor(x*y/m), as x*y < 2^62.
func mulModGeneric(z, x, y, m []uint32, mulhi []uint64) {
	for i := range z {
		z[i] = reduceProduct(uint64(x[i])*uint64(y[i]), m[i], mulhi[i])
	}
}

// mulConstGeneric sets z = x * w mod m for a prepared constant w.
func mulConstGeneric(z, x []uint32, w *shoup, m []uint32) {
	for i := range z {
		z[i] = reduceOnce(w.mulLazy(x[i], i, m[i]), m[i])
	}
}

// mulConstAddGeneric sets z = x * w + y mod m for a prepared constant w.
func mulConstAddGeneric(z, x []uint32, w *shoup, y, m []uint32) {
	for i := range z {
		z[i] = reduceOnce(reduceOnce(w.mulLazy(x[i], i, m[i]), m[i])+y[i], m[i])
	}
}

// mulConstSubGeneric sets z = x * w - y mod m for a prepared constant w.
func mulConstSubGeneric(z, x []uint32, w *shoup, y, m []uint32) {
	for i := range z {
		z[i] = reduceOnce(reduceOnce(w.mulLazy(x[i], i, m[i]), m[i])+m[i]-y[i], m[i])
	}
}

// floatModGeneric sets z = x mod m for an integer 0 <= x < 2^53.
func floatModGeneric(z []uint32, x float64, m []uint32, mulhi []uint64) {
	for i := range z {
		z[i] = reduceProduct(uint64(x), m[i], mulhi[i])
	}
}

// reduceOnce returns x mod m for x < 2m < 2^32.
func reduceOnce(x, m uint32) uint32 {
	return min(x, x-m) // x - m wraps to a large number if x < m
}

// reduceProduct returns t mod m for t < 2^63, with mulhi = floor((2^64 - 1) / m).
func reduceProduct(t uint64, m uint32, mulhi uint64) uint32 {
	quotient, _ := bits.Mul64(t, mulhi)
	return reduceOnce(uint32(t-quotient*uint64(m)), m)
}

// mulLazy returns a number congruent to x * w_i in [0, 2m), for any x.
func (w *shoup) mulLazy(x uint32, i int, m uint32) uint32 {
	quotient := uint64(x) * uint64(w.scaled[i]) >> 32
	return x*w.value[i] - uint32(quotient)*m
}
