package reduce

import (
	"math/big"

	"mpbench/pkg/exact"
)

// neumaier is Kahan's summation with Neumaier's change: the exact error of every addition is summed apart and added at
// the end, whichever of sum and term is larger.
//
// Source: A. Neumaier, ZAMM 54 (1974) 39-51; the same operations as Sum2 of Ogita, Rump and Oishi (2005).
type neumaier struct{ binary64 }

func (m *neumaier) Sum() {
	var sum, correction float64
	for _, x := range m.terms {
		t := sum + x
		if abs(sum) >= abs(x) {
			correction += (sum - t) + x
		} else {
			correction += (x - t) + sum
		}
		sum = t
	}
	m.result = sum + correction
	if m.result-m.result != 0 { // an infinity, or a NaN made from one by the correction
		m.result = plainSum(m.terms)
	}
}

func abs(x float64) float64 {
	if x < 0 {
		return -x
	}
	return x
}

// ErrorBound is u*|sum| + gamma(n-1)^2 * sumAbs, where the sum is that of the terms as rounded to float64.
//
// Source: T. Ogita, S. M. Rump, S. Oishi, SIAM J. Sci. Comput. 26 (2005) 1955-1988, proposition 4.5.
func (m *neumaier) ErrorBound(s exact.Summary) *big.Rat {
	return m.withConversion(s, func(abs *big.Rat) *big.Rat {
		gamma := exact.GammaTimes(recursiveDepth(s.N), unit64, big.NewRat(1, 1))
		if gamma == nil {
			return nil
		}
		second := gamma.Mul(gamma.Mul(gamma, gamma), abs)
		// |sum of the rounded terms| <= |sum| + (abs - sumAbs), abs being that of the rounded terms at most
		first := new(big.Rat).Sub(abs, sumAbs(s))
		first.Add(first, new(big.Rat).Abs(sum(s)))
		return second.Add(second, first.Mul(first, unit64))
	})
}
