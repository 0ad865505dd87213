package superacc

import "math"

// Accumulator is an exact sum of binary64 numbers and of products of two of them. The zero value is an empty sum,
// ready for use; it must not be copied after first use and is not safe for concurrent use.
//
// Nothing is rounded before a result is asked for, and a result is rounded once. It depends neither on the order of
// the terms nor on how they are distributed over several accumulators that are merged, nor on the instruction set.
// Fewer than 2^62 terms are safe on every input; intermediate sums do not overflow.
//
// Infinities and NaN follow IEEE 754: the sum is NaN if a term is, or if there are infinities of both signs; a product
// is NaN if a factor is, or for an infinity times 0. A product of finite factors is finite, however large. A sum of
// zeros is +0, whatever their signs.
type Accumulator struct {
	fixed           fixed
	terms, products window
	termBuckets     *termBuckets    // nil until needed
	productBuckets  *productBuckets // nil until needed

	posInf, negInf, nan bool
}

// Add adds x.
func (a *Accumulator) Add(x float64) {
	if !finite(x) {
		a.addSpecial(x)
		return
	}
	a.fixed.addFloat(math.Float64bits(x))
}

// AddProduct adds x * y.
func (a *Accumulator) AddProduct(x, y float64) {
	if !finite(x) || !finite(y) {
		a.addSpecial(x * y)
		return
	}
	a.fixed.addProduct(x, y)
}

func finite(x float64) bool { return math.Float64bits(x)>>fractionBits&exponentMask != exponentMask }

// addSpecial notes an infinity or NaN.
func (a *Accumulator) addSpecial(x float64) {
	switch {
	case x > 0:
		a.posInf = true
	case x < 0:
		a.negInf = true
	default:
		a.nan = true
	}
	a.nan = a.nan || a.posInf && a.negInf
}

// shortest is the number of terms from which a kernel is faster than Add.
const shortest = 8

// AddSlice adds every element of x.
func (a *Accumulator) AddSlice(x []float64) {
	w := &a.terms
	for len(x) >= shortest && !a.nan {
		if w.slow > 0 {
			n := min(w.slow, len(x))
			a.addEach(x[:n])
			x = x[n:]
			w.slow -= n
			continue
		}
		if w.limit == 0 {
			var first [guessFrom]float64
			for i := range first {
				first[i] = math.Abs(x[i])
			}
			w.start(first[:])
		}
		k := sumKernels[w.kernel]
		n := w.blockLength(len(x), k, maxSumGroups)
		if n < k.group {
			var padded [maxGroup]float64
			copy(padded[:], x[:n])
			sumBlock(k, padded[:k.group], &w.anchor, &w.out)
		} else {
			sumBlock(k, x[:n], &w.anchor, &w.out)
		}
		if w.accept(&a.fixed, sumKernels) {
			x = x[n:]
		}
	}
	if a.nan {
		return // whatever comes
	}
	for _, v := range x {
		a.Add(v)
	}
}

// AddProducts adds x[i] * y[i] for every i. It panics if the lengths differ.
func (a *Accumulator) AddProducts(x, y []float64) {
	checkLengths(x, y)
	if len(dotKernels) == 0 {
		a.addEachProduct(x, y)
		return
	}
	w := &a.products
	for len(x) >= shortest && !a.nan {
		if w.slow > 0 {
			n := min(w.slow, len(x))
			a.addEachProduct(x[:n], y[:n])
			x, y = x[n:], y[n:]
			w.slow -= n
			continue
		}
		if w.limit == 0 {
			var first [guessFrom]float64
			for i := range first {
				first[i] = math.Abs(x[i] * y[i])
			}
			w.start(first[:])
		}
		k := dotKernels[w.kernel]
		n := w.blockLength(len(x), k, maxDotGroups)
		if n < k.group {
			var paddedX, paddedY [maxGroup]float64
			copy(paddedX[:], x[:n])
			copy(paddedY[:], y[:n])
			dotBlock(k, paddedX[:k.group], paddedY[:k.group], &w.anchor, &w.out)
		} else {
			dotBlock(k, x[:n], y[:n], &w.anchor, &w.out)
		}
		if w.accept(&a.fixed, dotKernels) {
			x, y = x[n:], y[n:]
		}
	}
	if a.nan {
		return // whatever comes
	}
	for i, v := range x {
		a.AddProduct(v, y[i])
	}
}

// Merge adds to a all that was added to b, whose value stays as it is.
func (a *Accumulator) Merge(b *Accumulator) {
	a.settle()
	b.settle()
	a.fixed.merge(&b.fixed)
	a.posInf = a.posInf || b.posInf
	a.negInf = a.negInf || b.negInf
	a.nan = a.nan || b.nan || a.posInf && a.negInf
}

// Reset makes a an empty sum.
func (a *Accumulator) Reset() {
	a.settleBuckets() // leaves them empty
	*a = Accumulator{termBuckets: a.termBuckets, productBuckets: a.productBuckets}
}

// settle moves everything to a.fixed.
func (a *Accumulator) settle() {
	a.terms.settle(&a.fixed)
	a.products.settle(&a.fixed)
	a.settleBuckets()
}
