package numbers

import (
	"fmt"
	"math/big"
)

// Array is a vector or a matrix: numbers, and where its elements are among them. The zero Array has no elements. A
// vector is a matrix of one column, a scalar a vector of one.
//
// A sparse matrix has a Pattern, and a Layout that only says how many rows and columns there are. Its elements are
// those that are stored, of which Row has those of a row and Elements all; Index, ReadAt, SpanAt, ReadCut, Column
// and Tight are not for it.
type Array struct {
	Source
	Layout
	Pattern *Pattern // of a sparse matrix
}

// Vector returns all numbers of a source as a vector.
func Vector(s Source) Array { return Array{Source: s, Layout: Strided(s.Len(), 1)} }

// Scalar returns the number x as an array of one.
func Scalar(x float64) Array { return Vector(Float64s{x}) }

// Absent tells whether there is no array.
func (a Array) Absent() bool { return a.Source == nil }

// Len returns the number of elements.
func (a Array) Len() int {
	if a.Pattern != nil {
		return a.Pattern.Len()
	}
	return a.Rows * a.Cols
}

// Check reports whether every element is one of n numbers.
func (a Array) Check(n int) error {
	if a.Pattern != nil {
		return a.Pattern.check(a.Rows, a.Cols, n)
	}
	return a.Layout.Check(n)
}

// ReadAt sets z to element (i, j).
func (a Array) ReadAt(z *Number, i, j int) { a.Read(z, a.Index(i, j)) }

// SpanAt returns the span of element (i, j).
func (a Array) SpanAt(i, j int) Span { return a.Span(a.Index(i, j)) }

// Part returns rows from to to-1; it shares the numbers.
func (a Array) Part(from, to int) Array {
	if a.Pattern != nil {
		a.Pattern = a.Pattern.part(from, to)
	}
	if !a.Absent() {
		a.Offset, a.Rows = a.Offset+from*a.RowStride, to-from
	}
	return a
}

// Row returns row i as a vector; of a sparse matrix, the elements that are stored.
func (a Array) Row(i int) Array {
	if a.Pattern != nil {
		return a.run(a.Pattern.Start[i], a.Pattern.Start[i+1])
	}
	return a.Part(i, i+1).Transposed()
}

// Column returns column j.
func (a Array) Column(j int) Array {
	a.Offset, a.Cols = a.Offset+j*a.ColStride, 1
	return a
}

// Transposed returns the transpose of a matrix; it shares the numbers.
func (a Array) Transposed() Array {
	if a.Pattern != nil {
		a.Pattern = a.Pattern.transpose(a.Cols)
	}
	a.Rows, a.Cols, a.RowStride, a.ColStride = a.Cols, a.Rows, a.ColStride, a.RowStride
	return a
}

// Tight returns the same elements among no more numbers than there have to be, where the source can be cut.
func (a Array) Tight() Array {
	low, high, ok := a.reach()
	if a.Len() == 0 || !ok || a.Pattern != nil {
		return a
	}
	switch x := a.Source.(type) {
	case Float64s:
		a.Source = x[low : high+1]
	case Bigs:
		a.Source = x[low : high+1]
	default:
		return a
	}
	a.Offset -= low
	return a
}

// Contiguous returns the numbers of a vector if they are binary64, one next to the other: what vector code wants.
func (a Array) Contiguous() ([]float64, bool) {
	x, ok := a.Source.(Float64s)
	if !ok || !a.Adjacent() {
		return nil, false
	}
	if a.Rows == 0 {
		return nil, true
	}
	return x[a.Offset : a.Offset+a.Rows], true
}

// Adjacent tells whether Contiguous returns the numbers of a vector, or would if those of an Outline were there.
func (a Array) Adjacent() bool {
	return a.Binary64() && a.Pattern == nil && a.Cols == 1 && (a.RowStride == 1 || a.Rows < 2)
}

// ReadRun sets x to elements from, from + 1, ... of a vector of neighbouring binary64 numbers, in memory or not.
func (a Array) ReadRun(x []float64, from int) error {
	switch s := a.Source.(type) {
	case Float64s:
		copy(x, s[a.Index(from, 0):])
		return nil
	case Chunked:
		return s.ReadRun(x, a.Index(from, 0))
	}
	return fmt.Errorf("numbers: %T has no runs of binary64 numbers", a.Source)
}

// Binary64 tells whether all numbers are binary64 in memory, or will be.
func (a Array) Binary64() bool {
	if o, ok := a.Source.(Outline); ok {
		return o.Bytes == 8
	}
	_, ok := a.Source.(Float64s)
	return ok
}

// Chunked tells whether the numbers are not in memory.
func (a Array) Chunked() bool {
	_, ok := a.Source.(Chunked)
	return ok
}

// Denominator returns what the elements are divided by after they were read; nil for 1.
func (a Array) Denominator() *big.Int {
	if s, ok := a.Source.(Scaled); ok {
		return s.Denominator()
	}
	return nil
}

// ReadCut sets z to element (i, j). One that is no dyadic fraction is cut off after so many bits, the last of which is
// set then: rounding to at least two bits fewer gives what rounding the element itself gives.
func (a Array) ReadCut(z *Number, i, j, bits int) {
	a.ReadAt(z, i, j)
	if d := a.Denominator(); d != nil {
		z.divide(d, bits)
	}
}

// Each calls f with every element, row by row, read as by ReadCut.
func (a Array) Each(bits int, f func(*Number)) {
	a = a.Elements()
	var z Number
	for i := range a.Rows {
		for j := range a.Cols {
			a.ReadCut(&z, i, j, bits)
			f(&z)
		}
	}
}

// AllFinite reports whether no element is an infinity or NaN.
func (a Array) AllFinite() bool {
	if a.Absent() {
		return true
	}
	a = a.Elements()
	if sums, ok := a.Source.(Sums); ok { // an infinite part is none of a finite sum
		for _, a.Source = range sums {
			if !a.AllFinite() {
				return false
			}
		}
		return true
	}
	if a.ColStride < a.RowStride { // the inner loop below is over neighbours
		a = a.Transposed()
	}
	x, floats := a.Source.(Float64s)
	for j := range a.Cols {
		if floats {
			if !allFinite(x, a.Index(0, j), a.RowStride, a.Rows) {
				return false
			}
			continue
		}
		for i := range a.Rows {
			if a.SpanAt(i, j).Class >= Infinite {
				return false
			}
		}
	}
	return true
}

// allFinite reports whether n numbers, from one on and so far from each other, are finite.
func allFinite(x Float64s, from, stride, n int) bool {
	for range n {
		if v := x[from]; v-v != 0 {
			return false
		}
		from += stride
	}
	return true
}

// Equals reports whether a scalar is the number x.
func (a Array) Equals(x float64) bool {
	if s, ok := a.Source.(Float64s); ok {
		return s[a.Offset] == x
	}
	v := At(a.Source, a.Offset)
	return v.IsFinite() && v.Number().Cmp(new(big.Rat).SetFloat64(x)) == 0
}
