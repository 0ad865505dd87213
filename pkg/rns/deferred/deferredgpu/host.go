package deferredgpu

import (
	"unsafe"

	"mpbench/internal/parallel"
	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
)

// Host is a matrix in host memory that stays there, stored by columns: element (i, j) is number j*LD + i, LD >= Rows.
// Its numbers are Packed, or Float64 where that is nil. They must not change while they are in use.
type Host struct {
	Float64           []float64
	Packed            *deferred.Packed
	Rows, Columns, LD int
	Around            []float64 // of which Float64 is a part, for other devices have others; nil where it is all
}

// layout returns that of A, or of its transpose, among the numbers.
func (a *Host) layout(trans bool) numbers.Layout { return columnMajor(a.Rows, a.Columns, a.LD, trans) }

func columnMajor(rows, columns, ld int, trans bool) numbers.Layout {
	if trans {
		return numbers.RowMajor(columns, rows, ld)
	}
	return numbers.ColMajor(rows, columns, ld)
}

func (a *Host) numbers() numbers.Source {
	if a.Packed != nil {
		return a.Packed
	}
	return numbers.Float64s(a.Float64)
}

// words returns the numbers as words, of which each has so many, and the exponents of packed ones, nil otherwise.
func (a *Host) words() (words, exponents []uint64, width int) {
	if a.Packed == nil {
		return float64Bits(a.Float64), nil, 1
	}
	w, h, width := a.Packed.Words()
	if len(h) > 0 {
		exponents = unsafe.Slice((*uint64)(unsafe.Pointer(&h[0])), len(h))
	}
	return w, exponents, width
}

// lock locks the numbers' pages, so that the device copies from where they are.
func (a *Host) lock(d *gpu.Device) (list []*gpu.Locked, err error) {
	words, exponents, _ := a.words()
	if a.Around != nil {
		words = float64Bits(a.Around)
	}
	for _, x := range [][]uint64{words, exponents} {
		l, err := gpu.Lock(d, x)
		if err != nil {
			unlock(list)
			return nil, err
		}
		list = append(list, l)
	}
	return list, nil
}

func unlock(list []*gpu.Locked) {
	for _, l := range list {
		l.Free()
	}
}

// numberWords is how many words a number takes, its exponent included.
func (a *Host) numberWords() int {
	_, exponents, width := a.words()
	if exponents != nil {
		width++
	}
	return width
}

// copyColumns copies consecutive words of the columns from column first on to the bytes to, as many as fit: they begin
// at word from of these, and what lies between columns is left out. A column has rows*width words and begins every
// ld*width words.
func copyColumns(to []byte, words []uint64, first, from, rows, ld, width int) {
	column, step := rows*width, ld*width
	if len(to) == 0 {
		return
	}
	target := unsafe.Slice((*uint64)(unsafe.Pointer(&to[0])), len(to)/8)
	if column == step {
		copy(target, words[first*step+from:])
		return
	}
	for j, at := first+from/column, from%column; len(target) > 0; j, at = j+1, 0 {
		n := copy(target, words[j*step+at:j*step+column])
		target = target[n:]
	}
}

// How much of a matrix is looked at beforehand.
const (
	sampleTerms = 16      // numbers of a row of op(A)
	sampleRows  = 1 << 16 // rows at most; the others are taken for the like of their neighbours
	sampleBlock = 256     // rows that a goroutine takes at once
)

// sample returns extents of some elements of each row of op(A), evenly spread.
func (a *Host) sample(trans bool) []numbers.Extent {
	l, source := a.layout(trans), a.numbers()
	rows := make([]numbers.Extent, l.Rows)
	step := max(1, (l.Rows+sampleRows-1)/sampleRows)
	terms := min(sampleTerms, l.Cols)
	parallel.Ranges(0, l.Rows, sampleBlock*step, func(_, from, to int) {
		for s := range terms {
			j := 0
			if terms > 1 {
				j = int(int64(s) * int64(l.Cols-1) / int64(terms-1))
			}
			for i := from; i < to; i += step {
				span := source.Span(i*l.RowStride + j*l.ColStride)
				if span.Class == numbers.Finite {
					rows[i] = rows[i].Union(span.Extent)
				}
			}
		}
		for i := from; i < to; i++ {
			rows[i] = rows[i-(i-from)%step]
		}
	})
	return rows
}
