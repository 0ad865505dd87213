package reduce

import (
	"math/big"

	"mpbench/pkg/exact"
)

// kahan is compensated summation (Kahan 1965): the rounding error of each addition, as far as the compensation
// recovers it, is subtracted from the next term.
//
//	y = x_i - c;  t = s + y;  c = (t - s) - y;  s = t
type kahan struct{ binary64 }

func (k *kahan) Sum() {
	var sum, compensation float64
	for _, x := range k.terms {
		y := x - compensation
		t := sum + y
		compensation = (t - sum) - y
		sum = t
	}
	k.result = sum
	if sum-sum != 0 { // an infinity, or a NaN made from one by the compensation
		k.result = plainSum(k.terms)
	}
}

// plainSum is the recursive sum, which treats infinities as IEEE 754 asks.
func plainSum(terms []float64) float64 {
	sum := 0.0
	for _, x := range terms {
		sum += x
	}
	return sum
}

// ErrorBound is (3u + 12(n+1)u^2) * sumAbs, for n*u <= 1/64.
//
// Proof. With Delta_i = t_i - (s + y_i) the error of the i-th addition, |Delta_i| <= u|t_i|/(1 - u), the roundings of
// y, t - s and c having relative errors eta_i, gamma_i, delta_i of at most u, the corrected sum E_i = s_i - c_i satisfies
//
//	E_i = E_{i-1} + x_i + eta_i (x_i - c_{i-1}) - gamma_i (1 + delta_i)(y_i + Delta_i) - delta_i Delta_i,
//	s_n = E_{n-1} + x_n + eta_n (x_n - c_{n-1}) + Delta_n.
//
// Let T = sumAbs. By induction |s_i| <= 1.1 T, hence |Delta_i| <= 1.2 u T, |c_i| <= 2.5 u T and |y_i| <= (1 + u)(|x_i| + 2.5 u T).
// The terms in x_i add up to at most (2 + 3u) u T, those in c_i to (2 + 3u) 2.5 n u^2 T, those in Delta_i to
// (2 + u) 1.2 n u^2 T, and Delta_n itself to u|s_n|/(1 - u) with |s_n| <= T + |error|. The first-order part is 3 u T,
// the second at most (8n + 12) u^2 T. The well-known first-order constant 2 (Knuth; Higham, section 4.3) comes without
// an explicit second-order part.
func (k *kahan) ErrorBound(s exact.Summary) *big.Rat {
	if s.N > 1<<46 {
		return nil
	}
	return k.withConversion(s, func(abs *big.Rat) *big.Rat {
		second := new(big.Rat).Mul(new(big.Rat).SetInt64(12*(int64(s.N)+1)), unit64)
		factor := second.Add(second, new(big.Rat).SetInt64(3))
		return factor.Mul(factor, new(big.Rat).Mul(unit64, abs))
	})
}
