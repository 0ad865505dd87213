package reduce

import (
	"math/big"

	"mpbench/pkg/exact"
)

// special returns the IEEE 754 sum of terms with an infinity or a NaN among them, and whether there is one.
func special(terms []float64) (exact.Value, bool) {
	sum, found := 0.0, false
	for _, x := range terms {
		if x-x != 0 { // not finite
			sum += x
			found = true
		}
	}
	return exact.FromFloat64(sum), found
}

// sumAbs and sum are the finite sums of a summary as rationals.
func sumAbs(s exact.Summary) *big.Rat { return rational(s.SumAbs) }

func sum(s exact.Summary) *big.Rat { return rational(s.Sum) }

// rational returns a finite value, whose zero may have no Rat.
func rational(v exact.Value) *big.Rat {
	if v.Rat == nil {
		return new(big.Rat)
	}
	return v.Rat
}
