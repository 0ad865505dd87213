package lanes

import "math"

// Bins are biased sums at several levels: each lane of level k starts at the anchor 1.5 * 2^e_k, and what a term adds
// is the nearest multiple of the level's unit 2^(e_k - 52). What is left goes to the next level. Before each addition
// the last bit of the term is set, so that a tie is rounded away from zero, whatever is in the sum: what a term adds
// depends on nothing but the term.
//
// The loops may add a term to another lane than its own: only the totals of the levels are defined.
//
// Source: J. Demmel, H. D. Nguyen, "Fast reproducible floating-point summation", ARITH 2013, DOI
// 10.1109/ARITH.2013.9; P. Ahrens, J. Demmel, H. D. Nguyen, "Algorithms for efficient reproducible floating point
// summation", ACM TOMS 46 (2020), DOI 10.1145/3389360, algorithm 4.
type Bins []Lane

// sumsGeneric adds the terms of x, whose number is a multiple of Count, and returns the largest magnitude; that of
// NaN is left out.
func (b Bins) sumsGeneric(x []float64) (largest float64) {
	for i, v := range x {
		largest = b.add(i%Count, v, largest)
	}
	return largest
}

// productsGeneric does so for rounded products.
func (b Bins) productsGeneric(x, y []float64) (largest float64) {
	for i, v := range x {
		largest = b.add(i%Count, v*y[i], largest)
	}
	return largest
}

func (b Bins) add(lane int, v, largest float64) float64 {
	if a := math.Abs(v); a > largest {
		largest = a
	}
	last := len(b) - 1
	for k := range last {
		s := b[k][lane]
		t := s + odd(v)
		v -= t - s
		b[k][lane] = t
	}
	b[last][lane] += odd(v)
	return largest
}

// odd returns x with its last bit set.
func odd(x float64) float64 { return math.Float64frombits(math.Float64bits(x) | 1) }
