package krylov

import (
	"math/big"

	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/superacc"
)

// residual returns what computes component i of b - A*x without rounding, and then rounds it to normBits; it is safe
// for concurrent use. All numbers are finite.
func (s System) residual(x numbers.Source) (func(i int) *big.Float, error) {
	if accumulate := s.accumulate(x); accumulate != nil {
		return func(i int) *big.Float {
			var sum superacc.Accumulator
			accumulate(&sum, i)
			return sum.Round(normBits)
		}, nil
	}
	exactly, err := op.Exact(s.problem(numbers.Vector(x)))
	if err != nil {
		return nil, err
	}
	return func(i int) *big.Float { return exactly.Component(i).Sum.Round(normBits) }, nil
}

// accumulate returns what adds component i of b - A*x to a sum; nil unless A and b are of binary64 numbers, and x of
// them or of sums of them.
func (s System) accumulate(x numbers.Source) func(sum *superacc.Accumulator, i int) {
	a := s.A.Compressed()
	elements, ok := a.Elements().Contiguous()
	b, ok2 := s.B.Contiguous()
	if !ok || !ok2 {
		return nil
	}
	var parts numbers.Sums
	switch list := x.(type) {
	case numbers.Float64s:
		parts = numbers.Sums{list}
	case numbers.Sums:
		parts = list
	default:
		return nil
	}
	return func(sum *superacc.Accumulator, i int) {
		sum.Add(b[i])
		for k := a.Pattern.Start[i]; k < a.Pattern.Start[i+1]; k++ {
			for _, part := range parts {
				sum.AddProduct(-elements[k], part[a.Pattern.Column[k]])
			}
		}
	}
}
