package deferred

import (
	"math/big"

	"mpbench/pkg/numbers"
)

// Rounder rounds alpha times an exact sum plus beta*y, as [Accumulator.Round] does, for sums that were found without
// residues. It is not safe for concurrent use.
type Rounder struct {
	rounder
	alpha, beta scalar
	result      bigResults
}

// NewRounder returns a rounder to prec bits.
func NewRounder(alpha, beta *big.Float, prec uint) *Rounder {
	r := &Rounder{result: bigResults{make([]*big.Float, 1), prec}}
	r.alpha.set(alpha)
	r.beta.set(beta)
	return r
}

// Round returns y = alpha*sum + beta*y, rounded once; y keeps its memory. NaN is nil in y, in both directions.
func (r *Rounder) Round(y *big.Float, sum *numbers.Number) *big.Float {
	r.result.y[0] = y
	r.sum.SetInt64(0)
	var row special
	if sum.Class == numbers.Finite {
		integerOf(sum, &r.sum)
	} else {
		row = special{class: sum.Class, neg: sum.Neg}
	}
	class, neg := combineClasses(&r.rounder, &r.result, 0, row, &r.alpha, &r.beta)
	if class != numbers.Finite {
		r.result.special(0, class, neg)
		return r.result.y[0]
	}
	r.combine(&r.lower, &r.sum, sum.Exp, &r.alpha, &r.beta, r.result.precision())
	r.result.round(0, &r.lower, nil)
	return r.result.y[0]
}
