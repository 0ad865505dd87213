package reduce

import (
	"math/big"

	"mpbench/pkg/exact"
	"mpbench/pkg/superacc"
)

// dot2 is the compensated dot product Dot2 of Ogita, Rump and Oishi: as if computed in twice the precision.
type dot2 struct{ dotPair }

func (d *dot2) Dot() {
	var sum, correction float64
	for i, x := range d.x {
		p, pe := superacc.TwoProduct(x, d.y[i])
		s, se := superacc.TwoSum(sum, p)
		sum = s
		correction += pe + se
	}
	d.result = sum + correction
	if d.result-d.result != 0 {
		d.result = plainDot(d.x, d.y)
	}
}

// ErrorBound is u*|sum| + gamma(n)^2 * sumAbs + 5n*2^-1074, for vectors that are float64 (rounding r of them adds
// 2.1 r u * sumAbs).
//
// Source: T. Ogita, S. M. Rump, S. Oishi, SIAM J. Sci. Comput. 26 (2005) 1955-1988, proposition 5.5 and, with underflow,
// theorem 5.6.
func (d *dot2) ErrorBound(s exact.Summary) *big.Rat {
	gamma := exact.GammaTimes(s.N, unit64, big.NewRat(1, 1))
	if gamma == nil {
		return nil
	}
	bound := gamma.Mul(gamma.Mul(gamma, gamma), sumAbs(s))
	bound.Add(bound, new(big.Rat).Mul(unit64, new(big.Rat).Abs(sum(s))))
	input := new(big.Rat).Mul(big.NewRat(int64(21*d.rounded), 10), unit64)
	bound.Add(bound, input.Mul(input, sumAbs(s)))
	return d.within(exact.Summary{N: 5 * s.N, SumAbs: s.SumAbs}, bound)
}
