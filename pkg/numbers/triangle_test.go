package numbers

import (
	"math"
	"math/big"
	"testing"

	"mpbench/pkg/exact"
)

// TestTriangles: symmetric and triangular matrices of all sizes, in memory by rows or columns, of every source, whole,
// transposed and in parts. What must not be read is NaN.
func TestTriangles(t *testing.T) {
	for n := range 5 {
		for turn := range 2 * 2 * 2 * 3 {
			upper, unit, columns, kind := turn%2 == 1, turn/2%2 == 1, turn/4%2 == 1, turn/8
			l := RowMajor(n, n, n+1)
			if columns {
				l = ColMajor(n, n, n+1)
			}
			value := func(i, j int) float64 { return float64(10*i + j + 1) }
			there := func(i, j int) bool { return i == j || i < j == upper }
			at := func(i, j int) float64 { // of the triangular matrix
				switch {
				case i == j && unit:
					return 1
				case there(i, j):
					return value(i, j)
				}
				return 0
			}
			stored := func(diagonal bool) Array {
				x := make(Float64s, (n+1)*n)
				for i := range x {
					x[i] = math.NaN()
				}
				for i := range n {
					for j := range n {
						if there(i, j) && (i != j || diagonal) {
							x[l.Index(i, j)] = value(i, j)
						}
					}
				}
				return Array{Source: asSource(x, kind), Layout: l}
			}
			a := stored(!unit).Triangular(upper, unit)
			checkMatrix(t, a, n, at)
			checkMatrix(t, a.Transposed(), n, func(i, j int) float64 { return at(j, i) })
			checkStored(t, a, 0, n, there)
			checkStored(t, a.Transposed(), 0, n, func(i, j int) bool { return there(j, i) })
			checkStored(t, a.Part(n/2, n), n/2, n, there)
			s := stored(true).Symmetric(upper)
			checkMatrix(t, s, n, func(i, j int) float64 {
				if !there(i, j) {
					i, j = j, i
				}
				return value(i, j)
			})
			checkStored(t, s, 0, n, func(int, int) bool { return true })
		}
	}
	if from, to := Vector(Float64s{1, 2}).Stored(1); from != 0 || to != 1 {
		t.Errorf("a vector has columns %d to %d", from, to)
	}
}

// asSource returns float64 numbers in a source of one of three kinds; thirds of them in the last.
func asSource(x Float64s, kind int) Source {
	if kind == 0 {
		return x
	}
	list := make(Bigs, len(x))
	for i, v := range x {
		if v == v {
			list[i] = big.NewFloat(v)
			if kind == 2 {
				list[i].Mul(list[i], big.NewFloat(3))
			}
		}
	}
	if kind == 2 {
		return Quotients(list, big.NewInt(3))
	}
	return list
}

func checkMatrix(t *testing.T, a Array, n int, at func(i, j int) float64) {
	t.Helper()
	if a.Rows != n || a.Cols != n {
		t.Fatalf("%d x %d, want %d", a.Rows, a.Cols, n)
	}
	if err := a.Check(a.Source.Len()); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		for j := range n {
			want := exact.FromFloat64(at(i, j))
			if got := At(a.Source, a.Index(i, j)); !got.Equal(want) {
				t.Fatalf("element %d, %d of %d is %v, want %v", i, j, n, got, want)
			}
			if span := a.SpanAt(i, j); (span.Class == Zero) != (want.Sign() == 0) || span.Class > Finite {
				t.Fatalf("element %d, %d of %d: %+v", i, j, n, span)
			}
		}
	}
}

func checkStored(t *testing.T, a Array, first, n int, there func(i, j int) bool) {
	t.Helper()
	for i := range a.Rows {
		from, to := a.Stored(i)
		for j := range n {
			if in := from <= j && j < to; in != there(first+i, j) {
				t.Fatalf("row %d of %d has columns %d to %d", first+i, n, from, to)
			}
		}
	}
}
