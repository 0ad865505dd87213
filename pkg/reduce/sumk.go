package reduce

import (
	"fmt"

	"mpbench/pkg/bound"
	"mpbench/pkg/format"
	"mpbench/pkg/lanes"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

// sumK and dotK are SumK and DotK of Ogita, Rump and Oishi, as if in K times the precision, in their cascaded form
// and with lanes ([lanes.Cascade]). At the end lane l adds lane l + 8, l + 4, l + 2, l + 1, level by level, and the
// levels of lane 0, of which t is the first, are added to each other:
//
//	(t, d) = TwoSum(t, s_k), d is a term of level k+1, for k = 2, ..., K-1;  the result is t + s_K
//
// Errors. Let h be the most additions that a term of some level goes through, I_k the sum of the magnitudes of the
// terms of level k, and E_k that of the errors of their additions, those of t apart. As an error is at most u times
// the sum, E_k <= ((1+u)^h - 1) I_k <= g(h) I_k. As t + s_k is the exact sum s less the errors at level k, |d| <=
// u(|s| + E_k). With G = (1+u)g(h) <= g(h+1),
//
//	I_2 <= G S,  I_(k+1) <= (1+u)E_k + u|s| <= G I_k + u|s|,  |s_K - (its terms' sum)| <= g(h) I_K,
//	|result - s| <= u|s| + G I_K <= (u + uG/(1-G))|s| + G^K S,
//
// and without the second u for K = 2. uG/(1-G) <= 2uG for G <= 1/2, which 3(h+1)u <= 1 implies.
//
// The terms of a dot product's first level are the rounded products, and those of its second level also their errors:
// I_1 <= (1+u)S, I_2 <= g(h)(1+u)S + uS <= G S for G = g(h+1). Each product and its error add up to the exact
// product, or to less than 2^-1074 beside it where they underflow: with e = 2^-1075, n e comes to s and to I_1, 2n e
// to I_2, in all n e (1 + u + 2uG + G^K + 2G^(K-1)) <= 2n e for 8(h+1)u <= 1.
//
// Source: T. Ogita, S. M. Rump, S. Oishi, "Accurate sum and dot product", SIAM J. Sci. Comput. 26 (2005) 1955-1988,
// DOI 10.1137/030601818, algorithms 4.8, 4.12, 5.3, 5.10. Their bounds are for one lane; where h = n - 1, this one is
// smaller.
const mostLevels = 8

func sumK(levels int) func(x []float64) float64 {
	return func(x []float64) float64 {
		var memory [mostLevels]lanes.Lane
		c := lanes.Cascade(memory[:levels])
		full := len(x) / lanes.Count * lanes.Count
		c.AddSums(x[:full])
		var tail lanes.Lane
		if copy(tail[:], x[full:]) > 0 {
			c.AddSums(tail[:])
		}
		if sum := c.Sum(); sum-sum == 0 {
			return sum
		}
		return format.Binary64.Sum(x) // an infinity, or a NaN made from one by an error
	}
}

func dotK(levels int) func(x, y []float64) float64 {
	return func(x, y []float64) float64 {
		var memory [mostLevels]lanes.Lane
		c := lanes.Cascade(memory[:levels])
		addProducts(c, x, y)
		if sum := c.Sum(); sum-sum == 0 {
			return sum
		}
		return format.Binary64.Dot(x, y) // an infinity, or a NaN made from one by an error
	}
}

// addProducts adds products, those beyond the last full block with zeros beside them.
func addProducts(c lanes.Cascade, x, y []float64) {
	full := len(x) / lanes.Count * lanes.Count
	c.AddProducts(x[:full], y[:full])
	var tails [2]lanes.Lane
	if copy(tails[0][:], x[full:]) > 0 {
		copy(tails[1][:], y[full:])
		c.AddProducts(tails[0][:], tails[1][:])
	}
}

// sumDepth returns how many additions a term of some level goes through, at most.
func sumDepth(levels int) func(n int) int {
	return func(n int) int { return lanes.Depth(n, levels) }
}

// dotDepth is sumDepth for products: each has two terms at every level but the first, which are one for two levels,
// added before.
func dotDepth(levels int) func(n int) int {
	if levels == 2 {
		return sumDepth(levels)
	}
	return func(n int) int { return lanes.Depth(2*lanes.Count*((n+lanes.Count-1)/lanes.Count), levels) }
}

// cascaded is binary64 in which terms go through so many additions.
func cascaded(depth func(n int) int) format.Format[[]float64, float64] {
	f := format.Binary64
	f.Depth = depth
	return f
}

const ogita = "Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005) 1955-1988, DOI 10.1137/030601818"

// cascadeBound returns the bound of sums (result "sum") or dot products ("x'y").
func cascadeBound(levels int, result, underflow string) bound.Bound {
	once := "u"
	if levels > 2 {
		once = "(u + 2u*g(m))"
	}
	formula := fmt.Sprintf("%s*|%s| + g(m)^%d*S%s, u = 2^-53, for 8m*u <= 1", once, result, levels, underflow)
	return bound.New(formula, ogita)
}

func sumKMethods() (list []method.Method) {
	for k := 2; k <= mostLevels; k++ {
		list = append(list, cascaded(sumDepth(k)).Method(method.Method{
			Operation: op.Sum, Name: fmt.Sprint("sumk:", k), Extra: true,
			Summary: fmt.Sprintf("compensated summation (SumK) in 16 lanes, as if in %s the precision", times(k)),
			Bound:   cascadeBound(k, "sum", ""),
		}, format.Loops[[]float64, float64]{Sum: sumK(k)}))
	}
	return list
}

func dotKMethods() (list []method.Method) {
	for k := 2; k <= mostLevels; k++ {
		m := dotMethod(k)
		m.Name, m.Extra = fmt.Sprint("dotk:", k), true
		m.Summary = fmt.Sprintf("compensated dot product (DotK) in 16 lanes, as if in %s the precision", times(k))
		list = append(list, m)
	}
	return list
}

// dotMethod returns dotK without name and summary.
func dotMethod(levels int) method.Method {
	return cascaded(dotDepth(levels)).Method(method.Method{
		Operation: op.Dot, Bound: cascadeBound(levels, "x'y", " + n*2^-1074"),
	}, format.Loops[[]float64, float64]{Dot: dotK(levels)})
}

func times(k int) string {
	if k == 2 {
		return "twice"
	}
	return fmt.Sprintf("%d times", k)
}
