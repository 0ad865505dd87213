package reduce

import (
	"mpbench/pkg/bound"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/superacc"
)

// superaccMethods are exact sums and dot products that take every term by itself, rounded once to nearest even: what
// deferred does where vector registers are of no use.
func superaccMethods() []method.Method {
	const source = "Neal, arXiv 1505.05571 (2015); Kulisch, Computer Arithmetic and Validity, 2nd ed. (2013), chapter 8"
	rows := func(name, by string) (sum, dot method.Method) {
		sum = method.Method{
			Operation: op.Sum, Name: name, Summary: "exact sum " + by + ", term by term", Extra: true,
			Bound: bound.New("u*|sum|, u = 2^-53: correctly rounded", source),
		}
		dot = method.Method{
			Operation: op.Dot, Name: name, Summary: "exact dot product " + by + ", term by term", Extra: true,
			Bound: bound.New("u*|x'y| + 2^-1075, u = 2^-53: correctly rounded", source),
		}
		return sum, dot
	}
	sum, dot := rows("superacc", "by a large superaccumulator")
	smallSum, smallDot := rows("superacc-small", "by a small superaccumulator")
	large := func() *superacc.Large { return new(superacc.Large) }
	small := func() *superacc.Small { return new(superacc.Small) }
	return []method.Method{
		accumulating(sum, large), accumulating(dot, large), accumulating(smallSum, small), accumulating(smallDot, small),
	}
}
