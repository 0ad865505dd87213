// Package reduce has sums and dot products of vectors: one file for each algorithm.
//
// recursive.go, pairwise.go and blocks.go hold the orders of the additions of the 2018 paper's Reduce1, Reduce2 and
// Reduce3 apart from any format; each is a plain loop whose grouping depends on the number of terms (and, for blocks,
// on the grid) alone, never on threads, so that other devices can reproduce it bit for bit. reduce1.go, reduce2.go
// and reduce3.go add residue numbers in these orders (rns.go has what they share). pairwise64.go has NumPy's order in
// binary64; kahan.go, neumaier.go, sumk.go and dot2.go are compensated loops, the last two over the vector registers
// of package lanes; binned.go adds reproducibly; accsum.go, distill.go, superacc.go and deferred.go round once.
// accumulate.go runs accumulators, which may be divided at will, on threads and streams.
//
// Infinities and NaN among the numbers give the IEEE 754 result in every method: NaN if there is a NaN, an infinity
// times 0 or infinities of both signs, otherwise the infinity.
//
// Sources: K. Isupov, V. Knyazkov, A. Kuvaev (2018), DOI 10.23683/2311-3103-2018-8-191-203; N. J. Higham, "Accuracy
// and Stability of Numerical Algorithms", 2nd ed., chapter 4.
package reduce

import (
	"slices"

	"mpbench/pkg/method"
)

// Methods returns the methods of the package, in the order in which tables show them.
func Methods() []method.Method {
	return slices.Concat(
		float32Methods, float32In64Methods, float64Methods, pairwise64Methods,
		[]method.Method{kahanMethod, neumaierMethod}, sumKMethods(), []method.Method{dot2Method}, dot2Products(),
		dotKMethods(),
		binnedMethods(), accSumMethods(), distillMethods(), superaccMethods(),
		bigfloatMethods, deferredMethods(), reduce1Methods, reduce2Methods, reduce3Methods,
	)
}
