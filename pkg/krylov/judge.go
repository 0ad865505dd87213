package krylov

import (
	"fmt"
	"math"
	"math/big"

	"mpbench/internal/parallel"
	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
)

// normBits is the precision of norms of exact residuals, whose error of about n*2^-128 no comparison notices.
const normBits = 128

// judge computes the exact residual, and takes back convergence where it is not below the limit.
func (r *Result) judge(s System, o Options) error {
	x := numbers.Vector(r.X)
	if !x.AllFinite() {
		if r.Status == Converged {
			r.Status = Overflow
		}
		r.True, r.Backward = math.NaN(), math.NaN()
		return nil
	}
	component, err := s.residual(r.X)
	if err != nil {
		return fmt.Errorf("krylov: %w", err)
	}
	n := s.A.Rows
	residual := normsOf(n, o.Threads, component)
	b, of := elements(s.B, o.Threads), elements(x, o.Threads)
	matrix := normsOf(n, o.Threads, func(i int) *big.Float { // sums of magnitudes of rows
		sum, row := new(big.Float).SetPrec(normBits), s.A.Row(i)
		for k := range row.Rows {
			v := rounded(row, k)
			sum.Add(sum, v.Abs(v))
		}
		return sum
	})
	norm, normB := residual.root(), b.root()
	r.True, _ = new(big.Float).Quo(norm, one(normB)).Float64()
	scale := new(big.Float).SetPrec(normBits).Mul(&matrix.largest, &of.largest)
	r.Backward, _ = new(big.Float).Quo(&residual.largest, one(scale.Add(scale, &b.largest))).Float64()
	limit := new(big.Float).SetPrec(normBits).Mul(big.NewFloat(o.Tolerance), normB)
	if r.Status == Converged && norm.Cmp(limit) >= 0 && norm.Sign() > 0 {
		r.Status = Deceived
	}
	return nil
}

// one returns x, or 1 for 0.
func one(x *big.Float) *big.Float {
	if x.Sign() == 0 {
		return big.NewFloat(1)
	}
	return x
}

// norms are the sum of the squares of numbers and the largest magnitude.
type norms struct{ squares, largest big.Float }

func (m *norms) root() *big.Float { return new(big.Float).Sqrt(&m.squares) }

// add adds a number, or numbers.
func (m *norms) add(squares, magnitude *big.Float) {
	m.squares.SetPrec(normBits).Add(&m.squares, squares)
	if magnitude.Cmp(&m.largest) > 0 {
		m.largest.Set(magnitude)
	}
}

// normsOf returns those of n numbers, by so many threads in an order that does not depend on them.
func normsOf(n, threads int, number func(i int) *big.Float) *norms {
	const grain = 1024
	parts := make([]norms, (n+grain-1)/grain)
	parallel.Ranges(threads, n, grain, func(_, from, to int) {
		for i := from; i < to; i++ {
			v := number(i)
			parts[from/grain].add(new(big.Float).SetPrec(normBits).Mul(v, v), new(big.Float).Abs(v))
		}
	})
	sum := new(norms)
	for i := range parts {
		sum.add(&parts[i].squares, &parts[i].largest)
	}
	return sum
}

// elements returns the norms of a vector.
func elements(v numbers.Array, threads int) *norms {
	return normsOf(v.Rows, threads, func(i int) *big.Float { return rounded(v, i) })
}

// rounded returns number i of a vector.
func rounded(v numbers.Array, i int) *big.Float {
	return numbers.At(v.Source, v.Index(i, 0)).Round(normBits)
}

// Forward returns ||x - y||_2 / ||y||_2 for a solution y that is known better.
func (r *Result) Forward(y numbers.Source) float64 {
	x := numbers.Vector(r.X)
	if !x.AllFinite() {
		return math.NaN()
	}
	difference := normsOf(x.Rows, 0, func(i int) *big.Float {
		u, v := numbers.At(r.X, i).Number(), numbers.At(y, i).Number()
		return exact.FromRat(new(big.Rat).Sub(u, v)).Round(normBits)
	})
	e, _ := new(big.Float).Quo(difference.root(), one(elements(numbers.Vector(y), 0).root())).Float64()
	return e
}
