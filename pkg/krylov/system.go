package krylov

import (
	"fmt"
	"math/rand/v2"

	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// System is A*x = b with a sparse square matrix.
type System struct{ A, B numbers.Array }

// problem returns the problem whose result is b - A*x.
func (s System) problem(x numbers.Array) *op.Problem {
	return &op.Problem{Op: op.Spmv, Alpha: numbers.Scalar(-1), A: s.A, X: x, Beta: numbers.Scalar(1), Y: s.B}
}

// Check reports whether the matrix is square, b as long, and all numbers finite.
func (s System) Check() error {
	if _, err := op.Spmv.Shape(s.problem(s.B)); err != nil || s.A.Rows != s.A.Cols || s.A.Rows == 0 {
		return fmt.Errorf("krylov: a matrix of %d x %d elements and %d right-hand sides; want a square one and as many",
			s.A.Rows, s.A.Cols, s.B.Rows)
	}
	if !s.A.AllFinite() || !s.B.AllFinite() {
		return fmt.Errorf("krylov: the matrix or the right-hand side has an infinity or NaN")
	}
	return nil
}

// Ones returns a vector of n ones.
func Ones(n int) numbers.Array {
	x := make(numbers.Float64s, n)
	for i := range x {
		x[i] = 1
	}
	return numbers.Vector(x)
}

// Permuted returns the system with its equations and unknowns in a random order. Elements of a row stay in theirs: an
// iteration without preconditioner, or with Jacobi's, then differs in the order of its dot products and norms alone.
func (s System) Permuted(seed uint64) System {
	n, from := s.A.Rows, s.A.Compressed()
	order := rand.New(rand.NewPCG(seed, 7)).Perm(n) // order[i] is where unknown i goes
	old := make([]int, n)
	for i, k := range order {
		old[k] = i
	}
	p := &numbers.Pattern{Start: make([]int, 1, n+1)}
	for _, i := range old {
		for k := from.Pattern.Start[i]; k < from.Pattern.Start[i+1]; k++ {
			p.Column = append(p.Column, int32(order[from.Pattern.Column[k]]))
			p.Number = append(p.Number, k)
		}
		p.Start = append(p.Start, len(p.Column))
	}
	return System{numbers.Sparse(from.Source, n, p).Compressed(), numbers.Pick(s.B, old)}
}
