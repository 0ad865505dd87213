package numbers

import "math/big"

// Symmetric returns the symmetric matrix of which a square one holds the upper or the lower triangle. The other
// triangle is never read.
func (a Array) Symmetric(upper bool) Array {
	return a.view(&triangle{matrix: a, upper: upper, mirrored: true})
}

// Triangular returns the upper or the lower triangle of a square matrix, with zeros beside it that are not elements
// ([Array.Stored]); with unit, the diagonal is ones. What is not there is never read.
func (a Array) Triangular(upper, unit bool) Array {
	t := &triangle{matrix: a, upper: upper}
	if unit {
		t.one = big.NewFloat(1)
		if d := a.Denominator(); d != nil {
			t.one = new(big.Float).SetInt(d) // it is divided by d
		}
	}
	return a.view(t)
}

func (a Array) view(t *triangle) Array {
	return Array{Source: Quotients(t, a.Denominator()), Layout: RowMajor(a.Rows, a.Rows, max(1, a.Rows))}
}

// triangle is a Source of the elements of a matrix of which one triangle is stored, row by row.
type triangle struct {
	matrix   Array // square
	upper    bool
	mirrored bool       // the other triangle is that of a symmetric matrix
	one      *big.Float // what the diagonal consists of; nil where it is stored
}

func (t *triangle) Len() int { return t.matrix.Len() }

// place returns the row and column of number k, and whether it is in the other triangle.
func (t *triangle) place(k int) (i, j int, other bool) {
	i, j = k/t.matrix.Rows, k%t.matrix.Rows
	return i, j, i != j && i < j != t.upper
}

func (t *triangle) Span(k int) Span {
	switch i, j, other := t.place(k); {
	case other && t.mirrored:
		return t.matrix.SpanAt(j, i)
	case other:
		return Span{}
	case i == j && t.one != nil:
		return spanOfBig(t.one)
	default:
		return t.matrix.SpanAt(i, j)
	}
}

func (t *triangle) Read(z *Number, k int) {
	switch i, j, other := t.place(k); {
	case other && t.mirrored:
		t.matrix.ReadAt(z, j, i)
	case other:
		z.Class, z.Neg, z.Words = Zero, false, z.Words[:0]
	case i == j && t.one != nil:
		z.SetBig(t.one)
	default:
		t.matrix.ReadAt(z, i, j)
	}
}

// Stored returns which elements of row i there are: those of columns from to to-1. Beside them are the zeros of a
// triangular matrix, by which nothing is multiplied.
func (a Array) Stored(i int) (from, to int) {
	s := a.Source
	if q, ok := s.(*quotients); ok {
		s = q.Source
	}
	t, ok := s.(*triangle)
	if !ok || t.mirrored {
		return 0, a.Cols
	}
	empty := func(j int) bool {
		_, _, other := t.place(a.Index(i, j))
		return other
	}
	for to = a.Cols; from < to && empty(from); {
		from++
	}
	for from < to && empty(to-1) {
		to--
	}
	return from, to
}
