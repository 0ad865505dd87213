package reduce

import (
	"mpbench/pkg/bound"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

// kahan is compensated summation (Kahan 1965): the rounding error of each addition, as far as the compensation
// recovers it, is subtracted from the next term.
//
//	y = x_i - c;  t = s + y;  c = (t - s) - y;  s = t
//
// The error is at most (3u + 12(n+1)u^2) * S, S the sum of magnitudes, for n*u <= 1/64.
//
// Proof. With Delta_i = t_i - (s + y_i) the error of the i-th addition, |Delta_i| <= u|t_i|/(1 - u), the roundings of
// y, t - s and c having relative errors eta_i, gamma_i, delta_i of at most u, the corrected sum E_i = s_i - c_i
// satisfies
//
//	E_i = E_{i-1} + x_i + eta_i (x_i - c_{i-1}) - gamma_i (1 + delta_i)(y_i + Delta_i) - delta_i Delta_i,
//	s_n = E_{n-1} + x_n + eta_n (x_n - c_{n-1}) + Delta_n.
//
// By induction |s_i| <= 1.1 S, hence |Delta_i| <= 1.2 u S, |c_i| <= 2.5 u S and |y_i| <= (1 + u)(|x_i| + 2.5 u S).
// The terms in x_i add up to at most (2 + 3u) u S, those in c_i to (2 + 3u) 2.5 n u^2 S, those in Delta_i to (2 + u)
// 1.2 n u^2 S, and Delta_n itself to u|s_n|/(1 - u) with |s_n| <= S + |error|. The first-order part is 3 u S, the
// second at most (8n + 12) u^2 S. The well-known first-order constant 2 (Knuth; Higham, section 4.3) has no explicit
// second-order part.
func kahan(x []float64) float64 {
	var sum, compensation float64
	for _, v := range x {
		y := v - compensation
		t := sum + y
		compensation = (t - sum) - y
		sum = t
	}
	if sum-sum != 0 { // an infinity, or a NaN made from one by the compensation
		return format.Binary64.Sum(x)
	}
	return sum
}

var kahanMethod = format.Binary64.Method(method.Method{
	Operation: op.Sum, Name: "kahan", Summary: "compensated summation (Kahan)",
	Bound: bound.New("(3u + 12(n+1)u^2)*S, u = 2^-53, for n*u <= 1/64",
		"Kahan, Comm. ACM 8 (1965) 40, DOI 10.1145/363707.363723"),
}, format.Loops[[]float64, float64]{Sum: kahan})
