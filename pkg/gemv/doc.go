// Package gemv has methods for y = alpha*op(A)*x + beta*y, op(A) = A or its transpose: one file for each.
//
// Threads share rows or columns, never the order of the operations on one component, so their number never changes a
// result. With S = |alpha||op(A)||x| + |beta||y|, component by component, and g(k) = k*u/(1 - k*u), methods that round
// every operation satisfy |y - y*| <= g(k)*S with the k of their order of operations; deferred rounds once: |y - y*|
// <= u|y*|. The 2020 paper's bounds (16) to (19) have k = n + 2, n being the length of the sums.
//
// A component is infinite or NaN where IEEE 754 arithmetic without overflow gives that for sum_j a_ij*(alpha*x_j) +
// beta*y_i. Other components are computed as usual. The method float64 leaves this to the arithmetic itself.
//
// Source: K. Isupov, V. Knyazkov, "Multiple-precision matrix-vector multiplication on graphics processing units",
// Program Systems: Theory and Applications 11:3(46) (2020) 61-84, DOI 10.25209/2079-3316-2020-11-3-61-84.
package gemv

import (
	"slices"

	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

const sourcePaper2020 = "Isupov, Knyazkov 2020, DOI 10.25209/2079-3316-2020-11-3-61-84"

// Methods returns the methods of the package, in the order in which tables show them. bigfloat is the classical
// algorithm: alpha*x first, then for each component the products a_ij*d_j are added from left to right, to beta*y_i in
// the end.
func Methods() []method.Method {
	return slices.Concat(
		[]method.Method{float64Method()},
		format.Recursive(method.Method{
			Name: "bigfloat", Summary: "with math/big.Float", Least: 2, Most: 1 << 16,
		}, "u = 2^-p", format.BigFloat, op.Gemv),
		[]method.Method{basicMethod(), splitMethod(), deferredMethod()},
	)
}
