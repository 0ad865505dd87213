package numbers

import (
	"fmt"
	"math"
)

// Layout says where the elements of a matrix are in a Source: element (i, j) is number
// Offset + i*RowStride + j*ColStride. Strides may be negative. A vector is a matrix of one column.
type Layout struct {
	Rows, Cols           int
	Offset               int
	RowStride, ColStride int
}

// RowMajor is the layout of a matrix whose row i begins at number i*ld.
func RowMajor(rows, cols, ld int) Layout {
	return Layout{Rows: rows, Cols: cols, RowStride: ld, ColStride: 1}
}

// ColMajor is the layout of a matrix whose column j begins at number j*ld.
func ColMajor(rows, cols, ld int) Layout {
	return Layout{Rows: rows, Cols: cols, RowStride: 1, ColStride: ld}
}

// Strided is the layout of a vector of n elements inc apart, with the convention of BLAS for negative increments:
// element 0 is then the last in memory, at (1-n)*inc.
func Strided(n, inc int) Layout {
	l := Layout{Rows: n, Cols: 1, RowStride: inc}
	if inc < 0 && n > 0 {
		l.Offset = (1 - n) * inc
	}
	return l
}

// Index returns the number that element (i, j) is.
func (l Layout) Index(i, j int) int { return l.Offset + i*l.RowStride + j*l.ColStride }

// reach returns the least and the greatest number of the elements of a matrix, if any; ok is false beyond 64 bits.
func (l Layout) reach() (low, high int, ok bool) {
	low, high, ok = l.Offset, l.Offset, true
	for _, d := range [...]struct{ n, stride int }{{l.Rows, l.RowStride}, {l.Cols, l.ColStride}} {
		span := (d.n - 1) * d.stride
		if d.n > 1 && span/(d.n-1) != d.stride {
			return 0, 0, false
		}
		l, h := low+min(0, span), high+max(0, span)
		if l > low || h < high {
			return 0, 0, false
		}
		low, high = l, h
	}
	return low, high, true
}

// Size returns how many numbers there must be for every element to be one of them: 0 without elements, -1 beyond 63
// bits or where an element is before the first number.
func (l Layout) Size() int {
	if l.Rows == 0 || l.Cols == 0 {
		return 0
	}
	low, high, ok := l.reach()
	if !ok || low < 0 || high == math.MaxInt {
		return -1
	}
	return high + 1
}

// Check reports whether every element is one of n numbers.
func (l Layout) Check(n int) error {
	if l.Rows < 0 || l.Cols < 0 {
		return fmt.Errorf("a matrix of %d rows and %d columns", l.Rows, l.Cols)
	}
	if l.Rows == 0 || l.Cols == 0 {
		return nil
	}
	low, high, ok := l.reach()
	if !ok {
		return fmt.Errorf("%d rows %d apart and %d columns %d apart reach too far", l.Rows, l.RowStride, l.Cols, l.ColStride)
	}
	if low < 0 || high >= n {
		return fmt.Errorf("the layout reaches numbers %d to %d of %d", low, high, n)
	}
	return nil
}

// ComponentName names component i of a result: y[i] of a vector, where columns is 0, or C[i,j] of a matrix of so many
// columns whose components are counted row by row.
func ComponentName(i, columns int) string {
	if columns == 0 {
		return fmt.Sprintf("y[%d]", i)
	}
	return fmt.Sprintf("C[%d,%d]", i/columns, i%columns)
}
