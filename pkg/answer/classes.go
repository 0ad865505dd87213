package answer

import (
	"math/big"

	"mpbench/pkg/exact"
	"mpbench/pkg/method"
)

// classes are the components of a long result by the exponents of their exact values: what a method promises of a
// class, one evaluation of its formula tells.
type classes struct {
	ratio map[int]float64 // by exponent e: at least the largest S/|s| of the components with 2^e <= |s| < 2^(e+1)
	of    []int32         // the class of each component
	apart []int           // components of no class: those that are 0, infinite or NaN; of those without terms but 0 one
	zero  bool            // there is one
}

func newClasses(components int) classes {
	return classes{ratio: map[int]float64{}, of: make([]int32, components)}
}

// add puts component i into its class.
func (c *classes) add(i int, l look) {
	if l.apart {
		if !l.zero || !c.zero {
			c.apart = append(c.apart, i)
		}
		c.zero = c.zero || l.zero
		return
	}
	c.of[i] = int32(l.exponent)
	if l.above > c.ratio[l.exponent] {
		c.ratio[l.exponent] = l.above
	}
}

// promised returns a bound on the relative errors of all components; nil where nothing is proved of one.
//
// All formulas are sums of multiples of S and |s|, with coefficients that are not negative, and of what does not
// depend on the numbers: a bound relative to |s| grows with S/|s| and, where that is the same, falls with |s|. So that
// of a class is at most the bound for |s| = 2^(e-1) and S = ratio |s|. Where sums of numbers four times as large may
// overflow, the components are asked one by one.
func (c *classes) promised(a *Answer, bounds *method.ErrorBound) *big.Rat {
	worst := new(big.Rat)
	single := map[int]bool{}
	n := a.Input.Reference.Shape.Length
	for e, ratio := range c.ratio {
		at := func(e int) exact.Summary {
			sum := exact.FromRat(exact.PowerOfTwo(e))
			abs := exact.FromRat(new(big.Rat).Mul(sum.Number(), new(big.Rat).SetFloat64(ratio)))
			return exact.Summary{N: n, Sum: sum, SumAbs: abs, Finite: abs}
		}
		if single[e] = relative(bounds, at(e+1)) == nil; !single[e] {
			worst = larger(worst, relative(bounds, at(e-1)))
		}
	}
	for k := 0; k < len(c.apart) && worst != nil; k++ {
		worst = larger(worst, relative(bounds, a.Value(c.apart[k])))
	}
	for i := 0; i < len(c.of) && worst != nil; i++ {
		if single[int(c.of[i])] {
			worst = larger(worst, relative(bounds, a.Value(i)))
		}
	}
	return worst
}
