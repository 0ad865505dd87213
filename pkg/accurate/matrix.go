package accurate

import (
	"fmt"

	"gonum.org/v1/gonum/mat"

	"mpbench/pkg/numbers"
)

// Strided is a matrix in a slice: element (i, j) is Data[i*RowStride + j*ColStride]. It is a [mat.Matrix].
// Functions panic with an error that says why if an element is outside Data.
type Strided struct {
	Rows, Cols           int
	Data                 []float64
	RowStride, ColStride int
}

// RowMajor returns the matrix whose rows follow each other in data. It panics with a [*LengthError] if data has not
// rows*cols elements; a matrix with others between its rows is a [Strided] with a larger RowStride.
func RowMajor(rows, cols int, data []float64) Strided {
	checkLength("RowMajor", "data", len(data), elements(rows, cols))
	return Strided{Rows: rows, Cols: cols, Data: data, RowStride: cols, ColStride: 1}
}

// ColMajor returns the matrix whose columns follow each other in data, as in Fortran and LAPACK. It panics with a
// [*LengthError] if data has not rows*cols elements.
func ColMajor(rows, cols int, data []float64) Strided {
	checkLength("ColMajor", "data", len(data), elements(rows, cols))
	return Strided{Rows: rows, Cols: cols, Data: data, RowStride: 1, ColStride: rows}
}

// elements returns rows*cols, or -1, which is no length.
func elements(rows, cols int) int {
	if n := rows * cols; rows >= 0 && cols >= 0 && (cols == 0 || n/cols == rows) {
		return n
	}
	return -1
}

// Dims returns the numbers of rows and columns.
func (s Strided) Dims() (rows, cols int) { return s.Rows, s.Cols }

// At returns element (i, j). It panics if there is none.
func (s Strided) At(i, j int) float64 {
	if uint(i) >= uint(s.Rows) || uint(j) >= uint(s.Cols) {
		panic(fmt.Sprintf("accurate: element (%d, %d) of a %d x %d matrix", i, j, s.Rows, s.Cols))
	}
	return s.Data[i*s.RowStride+j*s.ColStride]
}

// T returns the transpose; it shares the elements.
func (s Strided) T() mat.Matrix { return s.transposed() }

func (s Strided) transposed() Strided {
	s.Rows, s.Cols, s.RowStride, s.ColStride = s.Cols, s.Rows, s.ColStride, s.RowStride
	return s
}

// check tells whether every element is in Data.
func (s Strided) check() error {
	l := numbers.Layout{Rows: s.Rows, Cols: s.Cols, RowStride: s.RowStride, ColStride: s.ColStride}
	return l.Check(len(s.Data))
}

// stridedOf returns a matrix as one in a slice, if its type tells: that is how its elements are read fast.
func stridedOf(a mat.Matrix) (s Strided, ok bool) {
	switch a := a.(type) {
	case Strided:
		return a, true
	case mat.RawMatrixer:
		raw := a.RawMatrix()
		s = Strided{Rows: raw.Rows, Cols: raw.Cols, Data: raw.Data, RowStride: raw.Stride, ColStride: 1}
	case mat.RawVectorer:
		raw := a.RawVector()
		s = Strided{Rows: raw.N, Cols: 1, Data: raw.Data, RowStride: raw.Inc, ColStride: 1}
	case mat.Untransposer:
		if s, ok = stridedOf(a.Untranspose()); !ok {
			return s, false
		}
		s = s.transposed()
	default:
		return s, false
	}
	rows, cols := a.Dims()
	return s, rows == s.Rows && cols == s.Cols
}
