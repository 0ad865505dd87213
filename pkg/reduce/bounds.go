package reduce

import (
	"math/big"

	"mpbench/pkg/exact"
)

// gammaTimes returns gamma(d) * s with gamma(d) = d*u / (1 - d*u), the bound on the error of a sum in which each term passes
// through at most d operations of unit roundoff u and s is the sum of the magnitudes. It is nil if d*u >= 1.
//
// Source: N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2nd ed., section 4.2 and lemma 3.1.
func gammaTimes(d int, u, s *big.Rat) *big.Rat {
	du := new(big.Rat).Mul(new(big.Rat).SetInt64(int64(d)), u)
	rest := new(big.Rat).Sub(big.NewRat(1, 1), du)
	if rest.Sign() <= 0 {
		return nil
	}
	return du.Mul(du.Quo(du, rest), s)
}

// powerOfTwo returns 2^k.
func powerOfTwo(k int) *big.Rat {
	power := new(big.Int).Lsh(big.NewInt(1), uint(max(k, -k)))
	if k < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), power)
	}
	return new(big.Rat).SetInt(power)
}

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
