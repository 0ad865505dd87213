// Package superacc holds error-free transformations of binary64 arithmetic ([TwoSum], [TwoProduct]) and what is built
// on them: sums and dot products of binary64 numbers that are exact until they are rounded once, at memory speed.
//
// [Sum] and [Dot] are correctly rounded for data of any size, order and condition number, with infinities and NaN by
// the rules of IEEE 754. An [Accumulator] adds terms and products step by step, from slices and from streams in
// constant memory, and gives its value in any precision. [RowSums] computes the dot products of all rows of a matrix,
// by rows or by columns, and a vector.
//
// # How it works
//
// A block of terms, of magnitude at most 2^m, is added at a few levels. Level k has an anchor A_k = 1.5 * 2^(E_k),
// with E_1 = m + 10 and E_(k+1) = E_k - 43, and each lane of each vector register has a biased sum S_k that starts at
// A_k. A term x is taken apart from the top:
//
//	t = S_k + x;  q = t - S_k;  S_k = t;  x = x - q
//
// so q is x rounded to a multiple of the level's unit 2^(E_k-52), and what is left goes to the next level. With at
// most 2^9 numbers for each biased sum, 2^E_k <= S_k <= 2^(E_k+1), t and q are exact, and |x - q| <= 2^(E_(k+1)-10).
// The value of a biased sum is the integer (bits of S_k) - (bits of A_k) times the unit. For a product, p = fl(x*y)
// enters at level 1 and e = fma(x, y, -p) at level 2; p + e is x*y if a factor is 0 or |p| >= 2^-968 ([TwoProduct]).
//
// A block is accepted if its magnitude was at most 2^m, nothing was left after the last level and no product was too
// small; otherwise it is added again with other anchors, more levels, or term by term into buckets by sign and
// exponent. Everything ends in one fixed-point number of 4320 bits, which is rounded by looking at its bits.
//
// docs/design/superacc.md has the proof, what levels cover, speeds, and what was slower.
//
// Sources: S. M. Rump, T. Ogita, S. Oishi, "Accurate floating-point summation part I: faithful rounding", SIAM J. Sci.
// Comput. 31(1) (2008), section 3, for extraction; J. Demmel, H. D. Nguyen, "Parallel reproducible summation", IEEE
// Trans. Computers 64(7) (2015), for biased sums; R. M. Neal, "Fast exact summation using small and large
// superaccumulators", arXiv 1505.05571 (2015); R. Iakymchuk, S. Collange, D. Defour, S. Graillat, "ExBLAS:
// reproducible and accurate BLAS library" (2015).
package superacc
