// Package exactsum is the method deferred for sums and dot products: everything is added exactly and rounded once, to
// nearest even at p bits, whatever the order of the terms and the devices that share them.
//
// What adds is a [Way]: on one kind of device, for numbers of one kind, in memory or not. Those of the CPU are here;
// packages superaccgpu and deferredgpu have those of GPUs. An [Engine] takes the first that fits the numbers at hand.
package exactsum

import (
	"math/big"

	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/superacc"
)

// Sum is an exact sum that has not been rounded. The zero value is empty. Sums are integers times a power of two, so
// they can be merged in any order.
type Sum struct {
	Floats superacc.Accumulator // of binary64 numbers and their products
	Wide   *deferred.LimbSum    // of other numbers; nil for none
}

// Reset makes the sum empty.
func (s *Sum) Reset() {
	s.Floats.Reset()
	s.Wide = nil
}

// Merge adds t, which stays as it is.
func (s *Sum) Merge(t *Sum) {
	s.Floats.Merge(&t.Floats)
	if t.Wide != nil {
		s.wide().Merge(t.Wide)
	}
}

func (s *Sum) wide() *deferred.LimbSum {
	if s.Wide == nil {
		s.Wide = new(deferred.LimbSum)
	}
	return s.Wide
}

// Round returns the sum divided by an odd integer, nil for 1, rounded once to prec bits, to nearest even; nil for NaN.
func (s *Sum) Round(prec uint, denominator *big.Int) *big.Float {
	if s.Wide == nil && denominator == nil {
		return s.Floats.Round(prec)
	}
	var total deferred.LimbSum
	if s.Wide != nil {
		total.Merge(s.Wide)
	}
	var z numbers.Number
	numbers.Values{s.Floats.Value()}.Read(&z, 0)
	total.AddNumber(&z)
	if denominator == nil {
		return total.Round(new(big.Float), prec)
	}
	return total.RoundQuotient(new(big.Float), denominator, prec)
}
