package krylov

import (
	"fmt"
	"slices"

	"mpbench/pkg/format"
	"mpbench/pkg/numbers"
)

// Precondition is a kind of preconditioner.
type Precondition string

// The preconditioners.
const (
	None   Precondition = "none"
	Jacobi Precondition = "jacobi" // the diagonal
	ILU0   Precondition = "ilu0"   // an incomplete factorisation L U with the pattern of the matrix
)

// Preconditions lists them.
func Preconditions() []string { return []string{string(None), string(Jacobi), string(ILU0)} }

// diagonalOf returns which elements are those of the diagonal.
func diagonalOf(p *numbers.Pattern, kind Precondition) ([]int, error) {
	diagonal := make([]int, len(p.Start)-1)
	for i := range diagonal {
		k := slices.Index(p.Row(i), int32(i))
		if k < 0 {
			return nil, fmt.Errorf("krylov: row %d has no diagonal element, which %s divides by", i+1, kind)
		}
		diagonal[i] = p.Start[i] + k
	}
	return diagonal, nil
}

// sorted returns the matrix with the columns of each row in order.
func sorted(a numbers.Array) numbers.Array { return a.Transposed().Transposed().Compressed() }

func divisor[V, S any](f *format.Format[V, S], values V, k, row int) (S, error) {
	x := f.Get(values, k)
	if v := f.Value(x); !v.IsFinite() || v.Number().Sign() == 0 {
		return x, fmt.Errorf("krylov: the diagonal element of row %d, or of its factor, is 0 or beyond the range", row+1)
	}
	return x, nil
}

// jacobi returns the inverse of the diagonal. M is computed in the format.
func jacobi[V, S any](f *format.Format[V, S], p *numbers.Pattern, values V) (inverse V, err error) {
	diagonal, err := diagonalOf(p, Jacobi)
	if err != nil {
		return inverse, err
	}
	inverse = f.Make(len(diagonal))
	one, _ := f.Load(numbers.Scalar(1))
	for i, k := range diagonal {
		d, err := divisor(f, values, k, i)
		if err != nil {
			return inverse, err
		}
		f.Set(inverse, i, f.Div(f.Get(one, 0), d))
	}
	return inverse, nil
}

// Factors are those of L*D*U with ones on the diagonals of L and U: what is beside them, times -1. The inverse of D is
// beside them, too.
type Factors[V any] struct{ Lower, Upper Triangle[V] }

// Triangle is the part of a matrix below or above its diagonal.
type Triangle[V any] struct {
	Pattern  *numbers.Pattern
	Elements V
}

// ilu0 factors row by row: J. A. Meijerink, H. A. van der Vorst, Math. Comp. 31 (1977) 148-162,
// DOI 10.1090/S0025-5718-1977-0438681-4; Saad, Iterative Methods for Sparse Linear Systems, algorithm 10.4.
func ilu0[V, S any](f *format.Format[V, S], a numbers.Array) (factors *Factors[V], inverse V, err error) {
	a = sorted(a)
	p := a.Pattern
	diagonal, err := diagonalOf(p, ILU0)
	if err != nil {
		return nil, inverse, err
	}
	values, _ := f.Load(a.Elements())
	one, _ := f.Load(numbers.Scalar(1))
	minus, _ := f.Load(numbers.Scalar(-1))
	place := make([]int, len(diagonal)) // of the elements of a row, by column, plus 1
	inverse = f.Make(len(diagonal))
	subtract := func(x, y, z S) S { return f.Add(x, f.Mul(f.Get(minus, 0), f.Mul(y, z))) }
	for i := range diagonal {
		for k := p.Start[i]; k < p.Start[i+1]; k++ {
			place[p.Column[k]] = k + 1
		}
		for k := p.Start[i]; k < diagonal[i]; k++ {
			j := p.Column[k]
			factor := f.Mul(f.Get(values, k), f.Get(inverse, int(j)))
			f.Set(values, k, factor)
			for l := diagonal[j] + 1; l < p.Start[j+1]; l++ {
				if at := place[p.Column[l]] - 1; at >= 0 {
					f.Set(values, at, subtract(f.Get(values, at), factor, f.Get(values, l)))
				}
			}
		}
		for k := p.Start[i]; k < p.Start[i+1]; k++ {
			place[p.Column[k]] = 0
		}
		d, err := divisor(f, values, diagonal[i], i)
		if err != nil {
			return nil, inverse, err
		}
		f.Set(inverse, i, f.Div(f.Get(one, 0), d))
	}
	return &Factors[V]{
		Lower: triangle(f, p, func(i int) (from, to int) { return p.Start[i], diagonal[i] },
			func(_, k int) S { return f.Mul(f.Get(minus, 0), f.Get(values, k)) }),
		Upper: triangle(f, p, func(i int) (from, to int) { return diagonal[i] + 1, p.Start[i+1] },
			func(i, k int) S { return f.Mul(f.Get(minus, 0), f.Mul(f.Get(inverse, i), f.Get(values, k))) }),
	}, inverse, nil
}

// triangle returns a part of each row, with the elements that a function says.
func triangle[V, S any](
	f *format.Format[V, S], p *numbers.Pattern, part func(i int) (from, to int), element func(i, k int) S,
) (t Triangle[V]) {
	n := len(p.Start) - 1
	q := &numbers.Pattern{Start: make([]int, 1, n+1)}
	for i := range n {
		from, to := part(i)
		q.Column = append(q.Column, p.Column[from:to]...)
		q.Start = append(q.Start, len(q.Column))
	}
	t = Triangle[V]{q, f.Make(len(q.Column))}
	for i := range n {
		from, to := part(i)
		for k := from; k < to; k++ {
			f.Set(t.Elements, q.Start[i]+k-from, element(i, k))
		}
	}
	return t
}
