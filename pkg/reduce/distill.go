package reduce

import (
	"mpbench/pkg/method"
	"mpbench/pkg/superacc"
)

// expansion is a sum of numbers that do not overlap, by increasing magnitude.
type expansion []float64

// add distils x into the expansion: each number gives its sum with x, which goes on, and the error, which stays if it
// is not 0. It returns false if something is no finite number.
func (e *expansion) add(x float64) bool {
	n := 0
	for _, v := range *e {
		var low float64
		if x, low = superacc.TwoSum(x, v); low != 0 {
			(*e)[n] = low
			n++
		}
	}
	if *e = (*e)[:n]; x != 0 {
		*e = append(*e, x)
	}
	return x-x == 0
}

// round returns the sum rounded to nearest even: numbers are added from the largest on until one leaves an error. As
// the rest is below half a unit of it, it only matters if the error is half a unit of the sum, and points away from
// it.
func (e expansion) round() float64 {
	if len(e) == 0 {
		return 0
	}
	last := len(e) - 1
	sum := e[last]
	for i := last - 1; i >= 0; i-- {
		var low float64
		if sum, low = superacc.FastTwoSum(sum, e[i]); low == 0 {
			continue
		}
		if i > 0 && (low > 0) == (e[i-1] > 0) {
			if up := sum + 2*low; up-sum == 2*low { // low is half a unit
				return up
			}
		}
		break
	}
	return sum
}

// distill returns the correctly rounded sum by distillation: the terms are added to an expansion, one after the
// other. Where that overflows or a term is no finite number, the exact sum is rounded.
//
// Source: D. M. Priest, "Algorithms for arbitrary precision floating point arithmetic", ARITH 1991; J. R. Shewchuk,
// "Adaptive precision floating-point arithmetic and fast robust geometric predicates", Discrete Comput. Geom. 18
// (1997) 305-363, DOI 10.1007/PL00009321, theorem 10 (Grow-Expansion). CPython's math.fsum is this algorithm.
func distill(x []float64) float64 {
	var memory [48]float64
	e := expansion(memory[:0])
	for _, v := range x {
		if !e.add(v) {
			return superacc.Sum(x, 1)
		}
	}
	return e.round()
}

func distillMethods() []method.Method {
	return roundedMethods("distill", "correctly rounded, by distillation (Priest, Shewchuk, fsum)", "u",
		"correctly rounded", "Shewchuk, Discrete Comput. Geom. 18 (1997) 305-363, DOI 10.1007/PL00009321", distill)
}
