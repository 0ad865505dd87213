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

// ilu0 factors row by row and returns what solves M z = x: J. A. Meijerink, H. A. van der Vorst, Math. Comp. 31 (1977)
// 148-162, DOI 10.1090/S0025-5718-1977-0438681-4; Saad, Iterative Methods for Sparse Linear Systems, algorithm 10.4.
func ilu0[V, S any](f *format.Format[V, S], a numbers.Array) (func(z, x V), error) {
	a = sorted(a)
	p := a.Pattern
	diagonal, err := diagonalOf(p, ILU0)
	if err != nil {
		return nil, err
	}
	values, _ := f.Load(a.Elements())
	one, _ := f.Load(numbers.Scalar(1))
	minus, _ := f.Load(numbers.Scalar(-1))
	place := make([]int, len(diagonal)) // of the elements of a row, by column, plus 1
	inverse := f.Make(len(diagonal))
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
			return nil, err
		}
		f.Set(inverse, i, f.Div(f.Get(one, 0), d))
	}
	return func(z, x V) {
		row := func(i, from, to int, sum S) S {
			for k := from; k < to; k++ {
				sum = subtract(sum, f.Get(values, k), f.Get(z, int(p.Column[k])))
			}
			return sum
		}
		for i := range diagonal {
			f.Set(z, i, row(i, p.Start[i], diagonal[i], f.Get(x, i)))
		}
		for i := len(diagonal) - 1; i >= 0; i-- {
			f.Set(z, i, f.Mul(f.Get(inverse, i), row(i, diagonal[i]+1, p.Start[i+1], f.Get(z, i))))
		}
	}, nil
}
