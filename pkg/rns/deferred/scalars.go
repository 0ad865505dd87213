package deferred

import (
	"fmt"
	"math/big"

	"mpbench/internal/parallel"
	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// Scalars are what a product y = alpha*op(A)*x + beta*y has beside A and x, and its result: what engines on the CPU
// and on a GPU share. Infinities and NaN count as 0.
type Scalars struct {
	Alpha, Beta *big.Float
	Y, Result   []*big.Float // the elements, in order; a nil result is NaN

	// Denominator is an odd integer that the result is to be divided by; nil for 1. Alpha and Beta have been multiplied
	// by it, and by the denominators of other numbers.
	Denominator *big.Int
	copies      bool
}

// NewScalars reads them; y has so many rows.
func NewScalars(p *op.Problem, rows int) *Scalars {
	s := &Scalars{Alpha: scalarOf(p.Alpha, 1), Beta: scalarOf(p.Beta, 0), copies: p.Copies()}
	if s.copies {
		s.Beta = big.NewFloat(1)
	}
	list := make([]big.Float, 2*rows) // one allocation
	s.Y, s.Result = make([]*big.Float, rows), make([]*big.Float, rows)
	var z numbers.Number
	for i := range rows {
		s.Y[i], s.Result[i] = &list[2*i], &list[2*i+1]
		if p.Adds() {
			if p.Y.ReadAt(&z, i, 0); z.Class == numbers.Finite {
				s.Y[i] = z.Big()
			}
		}
	}
	s.divide(p)
	return s
}

func scalarOf(a numbers.Array, absent float64) *big.Float {
	if a.Absent() {
		return big.NewFloat(absent)
	}
	var z numbers.Number
	if a.ReadAt(&z, 0, 0); z.Class >= numbers.Infinite {
		return new(big.Float)
	}
	return z.Big()
}

// divide brings what is read of alpha*op(A)*x and beta*y over one denominator.
func (s *Scalars) divide(p *op.Problem) {
	var left, right *big.Int
	if p.Multiplies() {
		left = denominators(p.Alpha, p.A, p.X)
	}
	switch {
	case p.Copies():
		right = denominators(p.Y)
	case p.Adds():
		right = denominators(p.Beta, p.Y)
	}
	if left == nil && right == nil {
		return
	}
	s.Denominator = big.NewInt(1)
	for _, d := range []*big.Int{left, right} {
		if d != nil {
			s.Denominator.Mul(s.Denominator, d)
		}
	}
	s.Alpha, s.Beta = times(s.Alpha, right), times(s.Beta, left)
}

// denominators returns the product of the denominators of arrays, nil for 1.
func denominators(arrays ...numbers.Array) (d *big.Int) {
	for _, a := range arrays {
		if f := a.Denominator(); f != nil {
			if d == nil {
				d = big.NewInt(1)
			}
			d = new(big.Int).Mul(d, f)
		}
	}
	return d
}

// times returns x*n exactly; nil stands for 1.
func times(x *big.Float, n *big.Int) *big.Float {
	if n == nil {
		return x
	}
	prec := x.MinPrec() + uint(n.BitLen())
	return new(big.Float).SetPrec(prec).Mul(x, new(big.Float).SetInt(n))
}

// Reset makes the results y, as a product takes them.
func (s *Scalars) Reset() {
	for i, y := range s.Y {
		if s.Result[i] == nil { // NaN, last time
			s.Result[i] = new(big.Float)
		}
		s.Result[i].SetPrec(0).Set(y)
	}
}

// Scale makes the results beta*y rounded once to prec bits, or y as it is, where there is no product.
func (s *Scalars) Scale(prec uint) {
	s.Reset()
	for i, y := range s.Y {
		switch {
		case s.Denominator != nil:
			var sum LimbSum
			var a, b numbers.Number
			a.SetBig(s.Beta)
			b.SetBig(y)
			sum.AddProduct(&a, &b)
			sum.RoundQuotient(s.Result[i], s.Denominator, prec)
		case !s.copies:
			s.Result[i].SetPrec(prec).Mul(s.Beta, y)
		}
	}
}

// Divide computes a problem with numbers that need not be dyadic fractions: row by row, without residues.
func (s *Scalars) Divide(p *op.Problem, prec uint, threads int) {
	a := p.Matrix()
	parallel.Tasks(threads, a.Rows, func(_, i int) {
		var y numbers.Number
		y.SetBig(s.Y[i])
		row, x := a.Part(i, i+1), p.X
		if a.Pattern != nil {
			row, x = a.Row(i).Transposed(), numbers.Pick(p.X, a.Pattern.Row(i))
		}
		s.Result[i] = RoundedRow(row, x, s.Alpha, s.Beta, &y, s.Denominator, prec)
	})
}

// Values returns the results, with what is infinite or NaN in its place.
func (s *Scalars) Values(special []exact.Value, threads int) numbers.Values {
	list := make(numbers.Values, len(s.Result))
	parallel.Ranges(threads, len(list), 256, func(_, from, to int) {
		for i := from; i < to; i++ {
			if special != nil && !special[i].IsFinite() {
				list[i] = special[i]
			} else {
				list[i] = exact.FromBig(s.Result[i])
			}
		}
	})
	return list
}

// TruncatedVariant says that factors are truncated, and how many rows the last run computed again.
func TruncatedVariant(recomputed int) string {
	if recomputed == 1 {
		return "truncated factors, 1 row computed again"
	}
	return fmt.Sprintf("truncated factors, %d rows computed again", recomputed)
}
