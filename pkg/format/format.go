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
	Range method.Range
	IEEE  bool // the loops treat infinities and NaN as IEEE 754 asks; they never meet any otherwise

	Same  func(numbers.Array) (V, bool)           // the numbers of a vector as they are, if they are of this format
	Load  func(numbers.Array) (V, method.Rounded) // a copy, row by row
	Make  func(n int) V
	Slice func(v V, from, to int) V
	Get   func(v V, i int) S
	Set   func(v V, i int, x S)
	Value func(S) exact.Value
	Loops[V, S]
}

// Loops are what is fast or slow about a format, those of BLAS level 1. Each is called once for a vector: what happens
// to an element is inside, where the compiler, or generated vector code, sees all of it.
type Loops[V, S any] struct {
	Sum  func(x V) S
	Dot  func(x, y V) S
	Axpy func(z V, a S, x, y V) // z = a*x + y
	Scal func(z V, a S, x V)    // z = a*x
	Mul  func(x, y S) S
	Add  func(x, y S) S
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
