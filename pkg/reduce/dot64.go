package reduce

import (
	"math/big"

	"mpbench/pkg/exact"
)

// dot64 is the recursive dot product in float64.
type dot64 struct{ dotPair }

func (d *dot64) Dot() { d.result = plainDot(d.x, d.y) }

// ErrorBound is gamma(n + r) * sumAbs + n*2^-1074 with u = 2^-53, r of the vectors having been rounded to float64; nil with
// rounded vectors that come near the ends of the range.
func (d *dot64) ErrorBound(s exact.Summary) *big.Rat {
	return d.within(s, exact.GammaTimes(s.N+d.rounded, unit64, sumAbs(s)))
}
