// Package gemv computes y = alpha*op(A)*x + beta*y, op(A) = A or its transpose, by methods that differ in algorithm and
// number format, and judges the results against the exact one.
//
// # Storage
//
// A is an M x N matrix stored by columns, as in BLAS and in the 2020 paper: element (i, j) is number j*LDA + i of its
// array, LDA >= max(1, M). The rows M to LDA-1 of a column belong to the caller and are never read. A matrix that is stored by
// rows, as in gonum's blas64, is its own transpose stored by columns: swap M and N and the operation.
//
// A vector with increment inc has element i at i*inc for inc > 0; for inc < 0 it starts from the end, element i at
// (n-1-i)*|inc|. Nothing between the elements is read.
//
// RNS methods keep the numbers as structures of arrays (Table 2 of the paper). A 2 x 3 matrix with LDA = 2 and three
// moduli, a_ij.k being residue k:
//
//	            column 0                    column 1                    column 2
//	digits   a00.0 a00.1 a00.2 | a10.0 ... | a01.0 ... | a11.0 ... | a02.0 ... | a12.0 a12.1 a12.2
//	sign     a00  a10 | a01  a11 | a02  a12
//	exp      a00  a10 | a01  a11 | a02  a12
//	lo       a00  a10 | a01  a11 | a02  a12        interval evaluation: lower bounds,
//	up       a00  a10 | a01  a11 | a02  a12        upper bounds
//	ivexp    a00  a10 | a01  a11 | a02  a12        and their exponents
//
// where the residues of one number are padded to a multiple of 8. The paper's buf array is not needed here.
//
// # Arguments
//
// Arguments are checked first, in the order of [Problem.Check], with gonum's conventions. With M = 0 or N = 0 nothing is
// computed and y stays as it is. With alpha = 0 neither A nor x is read, with beta = 0 y is not: a NaN there
// does not survive. (The paper's algorithm multiplies; BLAS does not.)
//
// # Infinities and NaN
//
// They may occur in arrays of float64 and in alpha and beta. A component is what IEEE 754 arithmetic without overflow gives for
// sum_j a_ij*(alpha*x_j) + beta*y_i: NaN if a factor or term is, for 0 * Inf and for Inf - Inf; an infinity if a term is infinite.
// Other components are computed as usual. The method float64 leaves this to the arithmetic itself.
//
// # Methods
//
// [Methods] lists them; float64.go, bigfloat.go, basic.go, split.go and deferred.go hold one each. Threads share rows or columns,
// never the order of the operations on one component, so their number never changes a result.
//
// # Devices
//
// rns-basic and rns-split also run on a GPU (device_basic.go, device_split.go; kernels in cuda/gemv.cu), with the operations and
// the order of the CPU, so that results are the same bit for bit. Such an engine is a [DeviceEngine]: Load converts on the host, copies
// to the device and reserves the workspace there; Run is kernels alone, each timed by events. How many threads
// work on what ([Options].Tune, device_shape.go, device_tune.go) never changes a result.
//
// deferred on a GPU has A in the device's memory, converted there by Load (device_deferred.go), or, where that is too small or with [Options].Stream, in the
// host's, from which every Run copies it (device_stream.go). device_choice.go chooses.
//
// # Errors
//
// With S = |alpha||op(A)||x| + |beta||y|, component by component, and g(k) = k*u/(1 - k*u), methods that round every operation satisfy
// |y - y*| <= g(k)*S with the k of their order of operations ([Engine.ErrorBound]); the deferred engine rounds once: |y - y*| <= u|y*|. The paper's bounds (16) to (19) have k = n + 2, n
// being the length of the sums ([Bounds]). Both are computed for the data at hand, exactly: [Exact] gives y* and S.
//
// Source: K. Isupov, V. Knyazkov, "Multiple-precision matrix-vector multiplication on graphics processing units", Program Systems:
// Theory and Applications 11:3(46) (2020) 61-84, DOI 10.25209/2079-3316-2020-11-3-61-84.
package gemv
