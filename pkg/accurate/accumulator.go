package accurate

import (
	"math"
	"math/big"
	"slices"
	"strconv"

	"mpbench/pkg/superacc"
)

// Accumulator is an exact sum of numbers and of products of two numbers. It takes them one by one or in slices, in any
// order; what it has taken is rounded only when its value is asked for, which changes nothing. Sums of parts of the
// terms merge to the sum of all of them: over goroutines, and, as bytes, over processes, machines and time.
//
// The zero value is an empty sum, ready for use. An Accumulator must not be copied after its first use (merge it into
// an empty one instead) and is not safe for concurrent use: give each goroutine its own, and merge.
//
// Results depend neither on the order of the terms nor on how they were divided. Special values are those of [Sum] and
// [Dot]. It takes 2 kB, and up to 40 kB for terms and 130 kB for products of all magnitudes.
//
// Source: [mpbench/pkg/superacc].
type Accumulator struct {
	sum   superacc.Accumulator
	terms uint64
}

// Add adds x. Cost: 6 ns (BenchmarkAccumulator); AddSlice is faster from 8 elements on.
func (a *Accumulator) Add(x float64) {
	a.sum.Add(x)
	a.count(1)
}

// AddProduct adds x*y, exactly. Cost: 11 ns; AddProducts is faster from 8 elements on.
func (a *Accumulator) AddProduct(x, y float64) {
	a.sum.AddProduct(x, y)
	a.count(1)
}

// AddSlice adds every element of x. Cost: that of [Sum].
func (a *Accumulator) AddSlice(x []float64) { Threads(1).AddSlice(a, x) }

// AddSlice adds every element of x to a.
func (t Threads) AddSlice(a *Accumulator, x []float64) {
	a.sum.AddSliceParallel(x, int(t))
	a.count(uint64(len(x)))
}

// AddProducts adds x[i]*y[i] for every i, exactly. It panics with a [*LengthError] if x and y differ in length. Cost:
// that of [Dot].
func (a *Accumulator) AddProducts(x, y []float64) { Threads(1).AddProducts(a, x, y) }

// AddProducts adds x[i]*y[i] for every i to a.
func (t Threads) AddProducts(a *Accumulator, x, y []float64) {
	checkLength("AddProducts", "y", len(y), len(x))
	a.sum.AddProductsParallel(x, y, int(t))
	a.count(uint64(len(x)))
}

// AddIntegers adds every element of x, exactly. Cost: that of [Sum] of twice as many numbers.
func AddIntegers[T int64 | uint64](t Threads, a *Accumulator, x []T) {
	var halves [2][]float64
	for rest := x; len(rest) > 0; rest = rest[min(integerBlock, len(rest)):] {
		split(&halves, rest[:min(integerBlock, len(rest))])
		for _, half := range halves {
			a.sum.AddSliceParallel(half, int(t))
		}
	}
	a.count(uint64(len(x)))
}

// AddIntegerProducts adds x[i]*y[i] for every i, exactly. It panics with a [*LengthError] if x and y differ in length.
// Cost: that of [Dot] of four times as many numbers.
func AddIntegerProducts[X, Y int64 | uint64](t Threads, a *Accumulator, x []X, y []Y) {
	checkLength("AddIntegerProducts", "y", len(y), len(x))
	var xs, ys [2][]float64
	for from := 0; from < len(x); from += integerBlock {
		to := min(from+integerBlock, len(x))
		split(&xs, x[from:to])
		split(&ys, y[from:to])
		for _, left := range xs {
			for _, right := range ys {
				a.sum.AddProductsParallel(left, right, int(t))
			}
		}
	}
	a.count(uint64(len(x)))
}

// integerBlock is how many integers are split at a time.
const integerBlock = 1 << 16

// split sets halves to float64 whose sum x is: |high| is a multiple of 2^32 up to 2^64, and 0 <= low < 2^32.
func split[T int64 | uint64](halves *[2][]float64, x []T) {
	for i, half := range halves {
		halves[i] = slices.Grow(half[:0], len(x))[:len(x)]
	}
	for i, v := range x {
		halves[0][i], halves[1][i] = float64(v>>32<<32), float64(uint32(v))
	}
}

// Merge adds all that was added to b, whose value stays as it is. Cost: 0.3 µs; no allocation.
func (a *Accumulator) Merge(b *Accumulator) {
	a.sum.Merge(&b.sum)
	a.count(b.terms)
}

// Reset makes a an empty sum; it keeps the memory.
func (a *Accumulator) Reset() {
	a.sum.Reset()
	a.terms = 0
}

// mostTerms is how many terms are safe, far more than can be added.
const mostTerms = 1 << 62

// count notes n more terms, n <= mostTerms.
func (a *Accumulator) count(n uint64) { a.terms = min(a.terms+n, mostTerms) }

// Terms returns how many numbers and products were added.
func (a *Accumulator) Terms() uint64 { return a.terms }

// Float64 returns the sum, rounded once to the nearest float64, ties to even: bound and special values are those of
// [Sum]. Cost: 0.2 µs; no allocation.
func (a *Accumulator) Float64() float64 { return a.sum.Float64() }

// Float32 returns the sum, rounded once to the nearest float32, ties to even, not twice by way of float64.
func (a *Accumulator) Float32() float32 { return a.sum.Float32() }

// Big returns the sum, rounded once to prec bits, or exactly for a prec of 0: bound and special values are those of
// [SumPrec], NaN being nil.
func (a *Accumulator) Big(prec uint) *big.Float { return round(&a.sum, prec) }

// String returns the sum, rounded to float64, in the form of strconv.
func (a *Accumulator) String() string {
	v := a.Float64()
	if big := a.Big(53); math.IsInf(v, 0) && !big.IsInf() {
		return big.Text('g', 17)
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}
