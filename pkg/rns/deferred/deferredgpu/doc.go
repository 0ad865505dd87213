// Package deferredgpu is the deferred engine on a GPU: y = alpha*A*x + beta*y from planes of residues, or of limbs, in
// device memory, exact, rounded once, with the same bits as package deferred.
//
// A [Matrix] holds the planes of op(A), rows of op(A) next to each other, so that A and its transpose are read in the
// same way. The numbers cross the bus as they are, float64 or packed words, and become residues on the device. Where
// aligned elements of A and x have at most 112 bits they become limbs of 28 bits instead, which take half the bytes
// and need no reconstruction: a float64 matrix of similar exponents is one of two limbs. A [Product] holds a matrix, a
// vector and the memory for results; [Product.Launch] is two kernels: sums of products; and reconstruction, alpha,
// beta and rounding (cuda/deferred.cu, cuda/limb_products.cu, cuda/round_rows.cuh).
//
// Factors may be truncated ([deferred.KeepBits]). Then the last kernel tests for each row whether what was left out
// could change its rounding (Ziv's test, cuda/round_rows.cuh), and [Product.Recompute] computes the rows that it marks
// again, from the numbers on the device with the moduli that exact sums of them take. Rows for which
// deferred.MaxModuli or the device's memory do not suffice are the host's.
//
// A [HostProduct] leaves the matrix in host memory and copies it in panels of columns, each of which becomes residues
// and is multiplied while the next is on its way.
//
// Everything here must be called on the device's thread ([gpu.Device.Do]), but for what says otherwise.
package deferredgpu
