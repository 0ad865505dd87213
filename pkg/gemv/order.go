// Package gemv has methods for y = alpha*op(A)*x + beta*y, op(A) = A or its transpose, one file for each; some are
// also for a symmetric or a triangular A, or for x and y of several columns.
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
	"math/bits"
	"slices"

	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

// The order of the additions of the paper's step 4, apart from any number format.

// adder adds the terms of several components at once. Component r has its own slots r*used to (r+1)*used - 1.
type adder interface {
	load(slot, r, j int)    // slot = term j of component r
	addTerm(slot, r, j int) // slot = slot + term j of component r
	addSlot(slot, other int)
}

// blockSums leaves the sum of the n >= 1 terms of each component r < components in its first slot; used =
// min(blockSize, n) slots each.
//
// Thread t of a block of B threads adds terms t, t + B, t + 2B, ... in this order; then, for h = P/2, P/4, ..., 1 with
// P the least power of two >= B, thread t < h adds the sum of thread t + h, if there is one. The order depends on n
// and B alone. The components go side by side, column by column, because that is how their terms lie in memory.
//
// Source: K. Isupov, V. Knyazkov (2020), section 4.1, which cites algorithm 6 of their DOI 10.1016/j.jpdc.2020.02.006.
func blockSums[A adder](a A, components, n, blockSize int) {
	used := min(blockSize, n)
	for j := range n {
		t := j % blockSize
		for r := range components {
			if j < used {
				a.load(r*used+t, r, j)
			} else {
				a.addTerm(r*used+t, r, j)
			}
		}
	}
	for r := range components {
		for half := 1 << bits.Len(uint(used-1)) / 2; half >= 1; half /= 2 {
			for t := 0; t < half && t+half < used; t++ {
				a.addSlot(r*used+t, r*used+t+half)
			}
		}
	}
}

const sourcePaper2020 = "Isupov, Knyazkov 2020, DOI 10.25209/2079-3316-2020-11-3-61-84"

// Methods returns the methods of the package, in the order in which tables show them. bigfloat is the classical
// algorithm: alpha*x first, then for each component the a_ij*d_j are added from left to right, to beta*y_i in the end.
func Methods() []method.Method {
	return slices.Concat(
		[]method.Method{float64Method()},
		format.Recursive(method.Method{
			Name: "bigfloat", Summary: "with math/big.Float", Least: 2, Most: 1 << 16,
		}, "u = 2^-p", format.BigFloat, op.Gemv),
		gemmMethods(), []method.Method{basicMethod(), sparseBasicMethod(), splitMethod()}, deferredMethods(),
	)
}
