// Package deferred computes y = alpha*op(A)*x + beta*y, dot products and sums of multiple-precision numbers exactly
// and rounds each result once, to nearest even. Nothing is rounded or normalized on the way: residues of a residue
// number system have no carries, so a term of a sum of products costs one multiplication and one addition per modulus,
// at the speed of memory.
//
// # Results
//
// Every result is the correctly rounded exact value, whatever the condition of the sum. It does not depend on the
// number of goroutines, on how a product is split into parts, nor on the instruction set, because all that is added
// are integers. Infinities and NaN follow IEEE 754; an exact zero is +0; alpha = 0 and beta = 0 follow BLAS (A and x,
// or y, are not used).
//
// # How a matrix-vector product works
//
//  1. Align ([NewPlan]). Row i of op(A) becomes integers a'_ij = a_ij * 2^-low_i, where low_i is the lowest bit set in
//     the row; x likewise, as a whole. No bit is lost. bits(A) is the width of the widest row: its highest less its
//     lowest bit position.
//  2. Residues ([Plan.Matrix], [Plan.NewVector]). The moduli are the n largest primes below 2^28, n the least with M =
//     m_1*...*m_n > 2^(1 + bits(A) + bits(x) + ceil(log2 N)) for sums of N terms ([ModuliFor]). The list is the same
//     for all n, so planes of fewer moduli are a prefix of those of more. A negative integer -r has the residues m -
//     r.
//  3. Accumulate ([Accumulator.MulVec]). Products of residues have 56 bits, so 256 of them are added in a 64-bit lane
//     before anything is reduced. op = N: the dot product of a row and x, whose lanes are at the end split into 32-bit
//     halves that are summed apart. op = T: sums_j += a_ij*x_i row by row, reduced every 256 rows. Both read A once,
//     in the order of memory.
//  4. Reconstruct and round ([Accumulator.Round]). With c_k = s_k * (M/m_k)^-1 mod m_k, the sum is S = sum
//     c_k*(M/m_k) - rank*M with rank = round(sum c_k/m_k): a combination of n + 1 rows of a table of 28-bit limbs, by
//     the kernel of op = T. As |S| < 0.31 M, binary64 finds the rank. Then alpha*S*2^(low_i + low_x) + beta*y_i is
//     formed in integers and rounded once. Numbers too small to matter are replaced by their sign, so exponents may
//     differ by any amount.
//
// # Memory
//
// A takes 4 bytes for each modulus and element ([Plan.Bytes] says so before anything is allocated), rows padded to 64
// bytes, and 16 bytes for each row of op(A): nothing else grows with its elements, but for a packed copy while the
// planes are made ([Options].Pack). Planes are laid out
// [modulus][row][column]; those of x [modulus][element]; sums [modulus][row of op(A)]. [Plan.Slice] makes parts of a
// matrix that does not fit. A product allocates nothing that grows with A: [Accumulator] holds the memory.
//
// # Short factors
//
// Matrices of factors of few bits that leave the caches are [LimbMatrix], not [Matrix]: fewer bytes, more
// multiplications.
//
// # Wide ranges
//
// Above Options.MaxModuli, on request (Options.KeepBits), or where [NewPlanFor] finds it worth while, elements are
// truncated to fewer bits, counted from the row's highest. If the sum minus and plus the bound on what that leaves out
// (type truncation) round to the same number, that is the result (Ziv's test); other rows are computed again from the
// original numbers ([Accumulator.Recomputed] counts them), which truncated matrices and vectors keep.
//
// [Sum], [Dot] and sums of [Packed] numbers, which are used once, take no residues but a [LimbSum]: one bucket of
// carry-save words for each exponent and sign.
//
// # Products of matrices
//
// [Gemm] makes integers of A and B, by rows and by columns, multiplies them by package intmat, of shorter moduli, and
// rounds each entry once: exact factors or truncated ones, with the same test for each entry.
//
// docs/design/deferred.md has the number of moduli by precision, what decides about truncation, and the kernels.
//
// # Sources
//
// Lazy reduction and the Chinese remainder theorem with a table of limbs: the usual tools of modular linear algebra,
// e.g. J.-G. Dumas, P. Giorgi, C. Pernet, "Dense linear algebra over word-size prime fields", ACM TOMS 35(3), 2008.
// Rank from an approximate sum of fractions: S. Kawamura, M. Koike, F. Sano, A. Shimbo, "Cox-Rower architecture for
// fast parallel Montgomery multiplication", EUROCRYPT 2000. Ziv's test: A. Ziv, "Fast evaluation of elementary
// mathematical functions with correctly rounded last bit", ACM TOMS 17(3), 1991. Sums by exponent: R. M. Neal, arXiv
// 1505.05571, 2015.
package deferred
