package reduce

import (
	"math"

	"mpbench/pkg/bound"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

// neumaier is Kahan's summation with Neumaier's change: the exact error of every addition is summed apart and added
// at the end, whichever of sum and term is larger. The operations are those of Sum2 of Ogita, Rump and Oishi.
func neumaier(x []float64) float64 {
	var sum, correction float64
	for _, v := range x {
		t := sum + v
		if math.Abs(sum) >= math.Abs(v) {
			correction += (sum - t) + v
		} else {
			correction += (v - t) + sum
		}
		sum = t
	}
	if result := sum + correction; result-result == 0 {
		return result
	}
	return format.Binary64.Sum(x) // an infinity, or a NaN made from one by the correction
}

var neumaierMethod = format.Binary64.Method(method.Method{
	Operation: op.Sum, Name: "neumaier", Summary: "compensated summation (Neumaier, Sum2)",
	Bound: bound.New("u*|sum| + g(n-1)^2*S, u = 2^-53",
		"Neumaier, ZAMM 54 (1974) 39-51; Ogita, Rump, Oishi 2005, proposition 4.5"),
}, format.Loops[[]float64, float64]{Sum: neumaier})
