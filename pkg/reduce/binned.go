package reduce

import (
	"fmt"

	"mpbench/pkg/binned"
	"mpbench/pkg/bound"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

const ahrens = "Ahrens, Demmel, Nguyen, ACM TOMS 46 (2020), DOI 10.1145/3389360; mpbench, package binned"

// binnedMethods are reproducible sums in the way of ReproBLAS. The bound of a sum is package binned's, P being the
// largest magnitude of a term. A product p_i is rounded before it is added: the sum of these differs from x'y by
// uS + n*2^-1075 at most, |p_i| <= (1+u)P + 2^-1075, and the sum is rounded once.
func binnedMethods() (list []method.Method) {
	for fold := 2; fold <= binned.MaxFold; fold++ {
		dropped := 40 * (fold - 1)
		base := method.Method{Name: fmt.Sprint("binned:", fold), Extra: true}
		empty := func() *binned.Sum { return binned.New(fold) }
		sum, dot := base, base
		sum.Operation = op.Sum
		sum.Summary = fmt.Sprintf("reproducible sum in %d bins of 40 bits (ReproBLAS), the same for every order", fold)
		sum.Bound = bound.New(
			fmt.Sprintf("u*|sum| + (1+u)n*(2^-%d*P + 2^-1056), u = 2^-53, P: the largest |x_i|", dropped), ahrens)
		dot.Operation = op.Dot
		dot.Summary = fmt.Sprintf("reproducible sum of rounded products in %d bins of 40 bits (ReproBLAS)", fold)
		dot.Bound = bound.New(fmt.Sprintf(
			"u*|x'y| + (1+u)u*S + (1+u)^2*n*(2^-%d*P + 2^-1055), u = 2^-53, P: the largest |x_i*y_i|", dropped), ahrens)
		list = append(list, accumulating(sum, empty), accumulating(dot, empty))
	}
	return list
}
