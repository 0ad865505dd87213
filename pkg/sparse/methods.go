// Package sparse has the methods of products of sparse matrices and vectors that no other package has: the loops of
// binary64 and big.Float, and exact sums.
package sparse

import (
	"slices"

	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

// Methods returns the methods, in the order in which tables show them.
func Methods() []method.Method {
	return slices.Concat(
		format.Recursive(method.Method{Name: "float64", Summary: "in binary64", Bits: 53}, "u = 2^-53",
			func(method.Config) format.Format[[]float64, float64] { return format.Binary64 }, op.Spmv),
		format.Recursive(method.Method{
			Name: "bigfloat", Summary: "with math/big.Float", Least: 2, Most: 1 << 16,
		}, "u = 2^-p", format.BigFloat, op.Spmv),
		[]method.Method{deferredMethod()},
	)
}
