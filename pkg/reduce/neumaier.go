package reduce

import "math/big"

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

// ErrorBound is (u + gamma(n-1)^2) * sumAbs, an upper bound of u|S| + gamma(n-1)^2 * sumAbs.
//
// Source: T. Ogita, S. M. Rump, S. Oishi, SIAM J. Sci. Comput. 26 (2005) 1955-1988, proposition 4.5.
func (m *neumaier) ErrorBound(n int, sumAbs *big.Rat) *big.Rat {
	return m.withConversion(n, sumAbs, func(s *big.Rat) *big.Rat {
		gamma := gammaTimes(recursiveDepth(n), unit64, big.NewRat(1, 1))
		if gamma == nil {
			return nil
		}
		factor := gamma.Mul(gamma, gamma)
		return factor.Mul(factor.Add(factor, unit64), s)
	})
}
