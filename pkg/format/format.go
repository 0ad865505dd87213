// Package format makes methods of number formats. A [Format] says how numbers come in and go out, and has the loops of
// BLAS level 1; sums, dot products and matrix-vector products in it follow from one implementation.
//
// A format is loops, not an arithmetic that is called for each element: additions as function values, or as methods of
// a type parameter, cost a double-double dot product 28 to 38 %.
package format

import (
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
)

// Format is a number format: S is one number, V a vector of them, as it lies in memory. V is []S for most; planes of
// parts, or float64 with float32 beside, are other ways ([Elements] makes the fields for the first).
type Format[V, S any] struct {
	Name  string // in records: "binary64", "double-double"
	Bits  int    // of the significand
	Bytes int    // of a number
	Parts string // what these are, "2 x 8 bytes"; "" for one number of the processor
	Range method.Range
	IEEE  bool // the loops treat infinities and NaN as IEEE 754 asks; they never meet any otherwise
	Alone bool // Dots gets all rows at once, as it has threads of its own
	// Stored is, as a formula, the relative error of rounding a number to where it is stored, if registers have more
	// digits; below Range.Tiny it is that at most.
	Stored string
	// LosesSums tells that sums lose Range.Tiny below the normal range, too: where there are products, a product and a
	// sum together do not lose more.
	LosesSums bool
	// Check returns an error that names the first element that has no number of the format; nil where all have one.
	Check func(numbers.Array) error
	// DotGrain, if not 0, is a number of which holds: dot products of slices of so many numbers, neighbours added in
	// pairs until one is left, give the bits of Dot.
	DotGrain int
	// Skips tells that Dots is to have no zeros beside what is stored of a row where numbers are beyond the range, as
	// zero times an infinity is NaN.
	Skips bool
	// Depth returns how many additions a term of n goes through; nil for recursive loops.
	Depth func(n int) int

	Same  func(numbers.Array) (V, bool)           // the numbers of a vector as they are, if they are of this format
	Load  func(numbers.Array) (V, method.Rounded) // a copy, row by row
	Make  func(n int) V
	Slice func(v V, from, to int) V
	Get   func(v V, i int) S
	Set   func(v V, i int, x S)
	Value func(S) exact.Value
	// Float64s sets z to the numbers of x, rounded to binary64, or to less where a component of a number has less.
	Float64s func(z []float64, x V)
	Loops[V, S]
	Device *Device[V]
}

// Device has what vectors in a device's memory need beside loops, which begin work there and do not wait for it.
type Device[V any] struct {
	Sum, Asum func(z, x V)    // set z[0]
	Wait      func() error    // waits for all work, and returns the first error since the last call
	Fetch     func(v V) error // makes Get return the numbers of v
	Free      func() error    // gives all memory back
}

// Loops are what is fast or slow about a format, those of BLAS level 1. Each is called once for a vector: what happens
// to an element is inside, where the compiler, or generated vector code, sees all of it.
type Loops[V, S any] struct {
	Sum  func(x V) S
	Asum func(x V) S // sum of |x_i|
	Dot  func(x, y V) S
	// Dots sets z to the dot products of the rows of a and the columns of x, row by row; both have n numbers each, which
	// lie together. Nil for Dot, one by one.
	Dots func(z, a, x V, rows, columns, n int)
	// Rows returns a function that sets z to the products of rows from to to-1 of a sparse matrix and x: number i of z
	// is the sum of the elements a_k of row i, each times number Column[k] of x, from the first to the last. The
	// elements are numbered from 0; from and to bound windows of rows (numbers.Pattern.Windows). Nil for Mul and Add,
	// one by one.
	Rows func(rows *numbers.Pattern, a V) func(z, x V, from, to int)
	// Triangle returns a function that sets number i of z to number i of y, which may be z, plus the elements a_k of
	// row i, each times number Column[k] of z, from the first to the last. All elements are below the diagonal, or all
	// above it. Nil for Mul and Add, one by one.
	Triangle func(rows *numbers.Pattern, upper bool, a V) func(z, y V)
	// Combine sets z to alpha times these dot products, plus beta*y, all at once; nil for Scal, Dots and Axpy.
	Combine func(z V, alpha S, a, x V, beta S, y V, rows, columns, n int)
	// CombineRows returns a function that sets z to alpha times the products of all rows of a sparse matrix of so many
	// columns and x, in any order, plus beta*y, which is read if beta is not 0; nil for Scal, Rows and Axpy.
	CombineRows func(rows *numbers.Pattern, columns int, a V) func(z V, alpha S, x V, beta S, y V)
	Axpy        func(z V, a S, x, y V) // z = a*x + y
	Scal        func(z V, a S, x V)    // z = a*x
	// Products sets z_i = x_i * y_i; nil for Mul, one by one.
	Products func(z, x, y V)
	Mul      func(x, y S) S
	Add      func(x, y S) S
	Sqrt     func(x S) S // of x >= 0, rounded as the others
	Div      func(x, y S) S
}

// RowsOf returns the Rows of a format, of its Mul and Add if it has none.
func (f *Format[V, S]) RowsOf(rows *numbers.Pattern, a V) func(z, x V, from, to int) {
	if f.Rows != nil {
		return f.Rows(rows, a)
	}
	zero := f.Get(f.Make(1), 0)
	return func(z, x V, from, to int) {
		for i := from; i < to; i++ {
			sum := zero
			for k := rows.Start[i]; k < rows.Start[i+1]; k++ {
				sum = f.Add(sum, f.Mul(f.Get(a, k), f.Get(x, int(rows.Column[k]))))
			}
			f.Set(z, i, sum)
		}
	}
}

// TriangleOf returns the Triangle of a format, of its Mul and Add if it has none.
func (f *Format[V, S]) TriangleOf(rows *numbers.Pattern, upper bool, a V) func(z, y V) {
	if f.Triangle != nil {
		return f.Triangle(rows, upper, a)
	}
	n := len(rows.Start) - 1
	return func(z, y V) {
		for l := range n {
			i := l
			if upper {
				i = n - 1 - l
			}
			sum := f.Get(y, i)
			for k := rows.Start[i]; k < rows.Start[i+1]; k++ {
				sum = f.Add(sum, f.Mul(f.Get(a, k), f.Get(z, int(rows.Column[k]))))
			}
			f.Set(z, i, sum)
		}
	}
}

// Multiply sets z_i = x_i * y_i for the first n numbers.
func (f *Format[V, S]) Multiply(z, x, y V, n int) {
	if f.Products != nil {
		f.Products(z, x, y)
		return
	}
	for i := range n {
		f.Set(z, i, f.Mul(f.Get(x, i), f.Get(y, i)))
	}
}

// Source returns the first n numbers of a vector, exactly. Vectors of sums of binary64 numbers have a method Sums.
func (f *Format[V, S]) Source(x V, n int) numbers.Source {
	switch list := any(x).(type) {
	case []float64:
		return numbers.Float64s(list[:n])
	case interface{ Sums(n int) numbers.Source }:
		if sums := list.Sums(n); sums != nil {
			return sums
		}
	}
	values := make(numbers.Values, n)
	for i := range values {
		values[i] = f.Value(f.Get(x, i))
	}
	return values
}

func (f *Format[V, S]) sum(z, x V) {
	if f.Device != nil {
		f.Device.Sum(z, x)
		return
	}
	f.Set(z, 0, f.Sum(x))
}

func (f *Format[V, S]) asum(z, x V) {
	if f.Device != nil {
		f.Device.Asum(z, x)
		return
	}
	f.Set(z, 0, f.Asum(x))
}

// dot sets z[0] to the dot product of two vectors of n numbers.
func (f *Format[V, S]) dot(z, x, y V, n int) {
	if f.Dots != nil {
		f.Dots(z, x, y, 1, 1, n)
		return
	}
	f.Set(z, 0, f.Dot(x, y))
}

// Elements completes a format whose vectors are []S, by the conversion of a number. from reports whether it rounded,
// and whether that lost more than the relative Range.Unit.
func Elements[S any](f Format[[]S, S], from func(*numbers.Number) (x S, rounded, lost bool)) Format[[]S, S] {
	f.Make = func(n int) []S { return make([]S, n) }
	f.Slice = func(v []S, from, to int) []S { return v[from:to] }
	f.Get = func(v []S, i int) S { return v[i] }
	f.Set = func(v []S, i int, x S) { v[i] = x }
	f.Load = func(a numbers.Array) ([]S, method.Rounded) {
		list := make([]S, 0, a.Len())
		var any method.Rounded
		a.Each(ReadBits(f.Bits), func(z *numbers.Number) {
			x, rounded, lost := from(z)
			list = append(list, x)
			if rounded {
				any = method.Rounded{Factors: 1, Lost: any.Lost || lost}
			}
		})
		return list, any
	}
	return f
}

// ReadBits returns how many bits of decimals are to be read for formats of so many: they are rounded once.
func ReadBits(bits int) int { return 2*bits + 64 }
