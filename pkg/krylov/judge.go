package krylov

import (
	"fmt"
	"math"
	"math/big"
	"slices"

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
	residual := normsOf(s.A.Rows, o.Threads, component)
	b := elements(s.B, o.Threads)
	matrix, of := s.rowNorm(o.Threads), largest(x.Rows, o.Threads,
		func(i int) float64 { return math.Abs(approximate(x, i)) },
		func(i int) *big.Float { return rounded(x, i) })
	norm, normB := residual.root(), b.root()
	r.True, _ = new(big.Float).Quo(norm, one(normB)).Float64()
	scale := new(big.Float).SetPrec(normBits).Mul(matrix, of)
	r.Backward, _ = new(big.Float).Quo(&residual.largest, one(scale.Add(scale, &b.largest))).Float64()
	limit := new(big.Float).SetPrec(normBits).Mul(big.NewFloat(o.Tolerance), normB)
	if r.Status == Converged && norm.Cmp(limit) >= 0 && norm.Sign() > 0 {
		r.Status = Deceived
	}
	return nil
}

// rowNorm returns the maximum norm of the matrix, with a relative error of some units of 2^-53 for each element of a
// row.
func (s System) rowNorm(threads int) *big.Float {
	return largest(s.A.Rows, threads, func(i int) (sum float64) {
		for k, row := 0, s.A.Row(i); k < row.Rows; k++ {
			sum += math.Abs(approximate(row, k))
		}
		return sum
	}, func(i int) *big.Float {
		sum, row := new(big.Float).SetPrec(normBits), s.A.Row(i)
		for k := range row.Rows {
			v := rounded(row, k)
			sum.Add(sum, v.Abs(v))
		}
		return sum
	})
}

// largest returns the largest magnitude of n numbers, as approximations say; only where these overflow, the numbers
// are looked at.
func largest(n, threads int, approximate func(i int) float64, number func(i int) *big.Float) *big.Float {
	const grain = 1 << 14
	tops := make([]float64, (n+grain-1)/grain)
	parallel.Ranges(threads, n, grain, func(_, from, to int) {
		for i := from; i < to; i++ {
			tops[from/grain] = max(tops[from/grain], approximate(i))
		}
	})
	top := slices.Max(tops)
	if !math.IsInf(top, 1) {
		return new(big.Float).SetPrec(normBits).SetFloat64(top)
	}
	found := new(big.Float).SetPrec(normBits)
	for i := range n {
		if math.IsInf(approximate(i), 1) {
			if v := number(i); v.Abs(v).Cmp(found) > 0 {
				found = v
			}
		}
	}
	return found
}

// approximate returns number i of a vector, with a relative error of some units of 2^-53.
func approximate(v numbers.Array, i int) float64 {
	switch x := v.Source.(type) {
	case numbers.Float64s:
		return x[v.Index(i, 0)]
	case numbers.Sums:
		sum := 0.0
		for _, part := range x {
			sum += part[v.Index(i, 0)]
		}
		return sum
	}
	return numbers.At(v.Source, v.Index(i, 0)).Float64()
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
		square, magnitude := new(big.Float).SetPrec(normBits), new(big.Float)
		for i := from; i < to; i++ {
			v := number(i)
			parts[from/grain].add(square.Mul(v, v), magnitude.Abs(v))
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
	if x, ok := v.Source.(numbers.Float64s); ok {
		return new(big.Float).SetFloat64(x[v.Index(i, 0)])
	}
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
