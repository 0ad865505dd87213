// Package reduce has sums and dot products of vectors: one file per algorithm, one registry of methods.
//
// A method is an algorithm with a number format. recursive.go, pairwise.go and blocks.go hold the orders of the
// additions of the 2018 paper's Reduce1, Reduce2 and Reduce3 apart from any format; each is a plain loop whose grouping depends
// on the number of terms (and, for blocks, on the grid) alone, never on threads, so that other devices can
// reproduce it bit for bit. binary.go, kahan.go, neumaier.go, bigfloat.go, rns.go and deferred.go bind orders to formats; dot*.go hold
// the dot products.
//
// Every method states a proved bound on its error, Summer.ErrorBound; bounds.go has the common part.
//
// Infinities and NaN among the terms give the IEEE 754 result in every method: NaN if there is a NaN or infinities
// of both signs, otherwise the infinity.
//
// Sources: K. Isupov, V. Knyazkov, A. Kuvaev (2018), DOI 10.23683/2311-3103-2018-8-191-203; N. J. Higham, "Accuracy and
// Stability of Numerical Algorithms", 2nd ed., chapter 4.
package reduce
