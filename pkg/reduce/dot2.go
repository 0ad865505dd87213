package reduce

import (
	"mpbench/pkg/bound"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/superacc"
)

// dot2 is the compensated dot product Dot2 of Ogita, Rump and Oishi: as if computed in twice the precision.
func dot2(x, y []float64) float64 {
	var sum, correction float64
	for i, v := range x {
		p, pe := superacc.TwoProduct(v, y[i])
		s, se := superacc.TwoSum(sum, p)
		sum = s
		correction += pe + se
	}
	if result := sum + correction; result-result == 0 {
		return result
	}
	return format.Binary64.Dot(x, y) // an infinity, or a NaN made from one by the correction
}

// The source's proposition 5.5 and, with underflow, theorem 5.6.
var dot2Method = format.Binary64.Method(method.Method{
	Operation: op.Dot, Name: "dot2", Summary: "compensated dot product (Dot2), as if in twice the precision",
	Bound: bound.New("u*|x'y| + g(n)^2*S + 5n*2^-1074, u = 2^-53",
		"Ogita, Rump, Oishi, SIAM J. Sci. Comput. 26 (2005) 1955-1988, DOI 10.1137/030601818"),
}, format.Loops[[]float64, float64]{Dot: dot2})
