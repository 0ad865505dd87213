package superacc

// Small is an exact sum that takes every term, or product, by itself, into a fixed-point number of chunks that
// overlap: the small superaccumulator of R. M. Neal, arXiv 1505.05571 (2015), section 3, after U. Kulisch's long
// accumulator.
type Small struct{ exact Accumulator }

// AddSlice adds every element of x.
func (s *Small) AddSlice(x []float64) {
	for _, v := range x {
		s.exact.Add(v)
	}
}

// AddProducts adds x[i] * y[i] for every i. It panics if the lengths differ.
func (s *Small) AddProducts(x, y []float64) {
	checkLengths(x, y)
	for i, v := range x {
		s.exact.AddProduct(v, y[i])
	}
}

// Merge adds to s all that was added to t.
func (s *Small) Merge(t *Small) { s.exact.Merge(&t.exact) }

// Float64 returns the sum, correctly rounded.
func (s *Small) Float64() float64 { return s.exact.Float64() }

// Large is an exact sum that takes every term, or product, by itself, into the bucket of its sign and exponent: the
// large superaccumulator of Neal's section 4.
type Large struct{ exact Accumulator }

// AddSlice adds every element of x.
func (l *Large) AddSlice(x []float64) { l.exact.addToTermBuckets(x) }

// AddProducts adds x[i] * y[i] for every i. It panics if the lengths differ.
func (l *Large) AddProducts(x, y []float64) {
	checkLengths(x, y)
	l.exact.addToProductBuckets(x, y)
}

// Merge adds to l all that was added to k.
func (l *Large) Merge(k *Large) { l.exact.Merge(&k.exact) }

// Float64 returns the sum, correctly rounded.
func (l *Large) Float64() float64 { return l.exact.Float64() }

// checkLengths panics if vectors have different lengths.
func checkLengths(x, y []float64) {
	if len(x) != len(y) {
		panic("superacc: vectors of different lengths")
	}
}
