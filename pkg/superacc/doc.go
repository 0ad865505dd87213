// Package superacc holds error-free transformations of binary64 arithmetic ([TwoSum], [TwoProduct]) and what is built
// on them: sums and dot products of binary64 numbers that are exact until they are rounded once, at memory speed.
//
// [Sum] and [Dot] are correctly rounded for data of any size, order and condition number, with infinities and NaN by
// the rules of IEEE 754. An [Accumulator] adds terms and products step by step, from slices and from streams in
// constant memory, and gives its value in any precision.
//
// # How it works
//
// A block of terms is added at a few levels. Level k has an anchor A_k = 1.5 * 2^(E_k), and each lane of each vector
// register has a biased sum S_k that starts at A_k. A term x is taken apart from the top:
//
//	t = S_k + x;  q = t - S_k;  S_k = t;  x = x - q
//
// so q is x rounded to a multiple of the level's unit 2^(E_k-52), and what is left goes to the next level. Afterwards
// a block is accepted if its largest magnitude was at most 2^m, for which the anchors were made, and nothing was left
// after the last level. Both are found out on the way: the largest magnitude and the bits left are collected in
// registers. A block that is refused is added again with other anchors, with more levels, or term by term, and leaves
// no trace of the first attempt.
//
// # Why nothing is rounded
//
// Let E_1 = m + 10 and E_(k+1) = E_k - 43, and let at most 2^9 numbers be added to a biased sum in one block. Level 1
// gets numbers of at most 2^m = 2^(E_1-10), and each later level of at most 2^(E_k-10), as shown by induction:
//
//   - 2^(E_k-10) is a multiple of the unit, and rounding is monotonic, so |q| <= 2^(E_k-10). The sum of 2^9 such
//     numbers is at most 2^(E_k-1), so before and after every addition 2^E_k <= S_k <= 2^(E_k+1), as is S_k + x. In
//     this range binary64 numbers are the multiples of the unit: t is S_k + x rounded to a multiple of it.
//   - q = t - S_k is exact, as a multiple of the unit that is not larger than 2^42 units.
//   - x - q is exact: it is the error of the addition t = S_k + x, for |S_k| >= |x| (Dekker 1971).
//   - |x - q| is at most half a unit, 2^(E_k-53) = 2^(E_(k+1)-10).
//
// The value of a biased sum is the integer (bits of S_k) - (bits of A_k) times the unit, so the lanes are added up as
// integers, and the integers of all blocks with the same anchors as 128-bit integers. E_1 is at most 1022, so nothing
// overflows; no E_k is below -1022, where the unit is 2^-1074, so that nothing can be left, and larger anchors than
// necessary do no harm.
//
// For a product x*y, p = fl(x*y) and its error e = fma(x, y, -p) take the place of x. Blocks have half the length, as
// p and e are two numbers; e enters at level 2, as |e| <= 2^(m-53) is well below half a unit of level 1. p + e is x*y
// if x or y is 0, or if |p| >= 2^-968 (see [TwoProduct]); a block with any other product is refused. So is a block
// with an overflow: |p| > 2^m.
//
// Levels cover 43 bits each: with 2, the last places of the least terms may lie 85 bits below the largest term, with
// 3, 4, 6 and 8 levels 128, 171, 257 and 343 bits. The accumulator finds the number of levels and the anchors by
// trying, and keeps them as long as they fit; trying fewer levels again, or any levels after giving up, is done on
// short blocks and ever less often.
//
// Terms that no number of levels fits go to buckets by sign and exponent as in Neal's large superaccumulator, products
// to buckets of their exact 106-bit significands. Everything ends in one fixed-point number of 4320 bits, which is
// rounded by looking at its bits.
//
// # Speed
//
// Nanoseconds per element for 10^6 elements, one core of an AMD EPYC (Zen 5), rounding at the end included, least of 8
// or more runs on a machine with other load; the plain loop takes 0.47 for a sum and for a dot product, package exact
// 1.20:
//
//	                                       sum                        dot product
//	                                       AVX-512  AVX2  plain Go    AVX-512  AVX2  plain Go
//	uniform11                              0.090    0.23  0.85        0.25     0.62  2.4
//	zhuhayes2:delta=50                     0.11     0.31  0.63        0.51     1.27  2.3
//	zhuhayes4:delta=2000 (sum 0)           0.59     0.60  0.59        2.6      2.6   2.4
//
// The first line is what the memory delivers: 88 GB/s from the third-level cache.
//
// What else was tried, for 2^20 terms of uniform11 with AVX-512 where not said otherwise:
//
//   - Floating-point expansions, TwoSum with early exit as in ExBLAS, of 2, 3 and 4 terms: 0.19 in each case, as two
//     levels of TwoSum are 12 additions, and extraction at two levels is 5. It needs no range check, but a branch for
//     each vector.
//   - All streams one after the other instead of in turns: 0.25 instead of 0.23 for a dot product in the cache, as the
//     processor's queues fill up with instructions that wait.
//   - x - q in the adders instead of the multipliers: 0.13 instead of 0.11 for 3 levels in the cache, 0.18 instead of
//     0.15 for 4.
//   - Term by term in plain Go: 2.0 to fixed point (two 64-bit chunks of 32 bits), 1.0 to 1.2 to 128-bit buckets with
//     a carry, 0.6 to buckets that add whole bit patterns and count them (2.0 if all terms have the same exponent).
//     Products: 4.8 to fixed point, 2.4 to 2.6 to buckets.
//   - Extraction in plain Go: 0.87 at two levels; 3.9 for products at three levels, hence buckets.
//
// Sources: S. M. Rump, T. Ogita, S. Oishi, "Accurate floating-point summation part I: faithful rounding", SIAM J. Sci.
// Comput. 31(1) (2008), section 3, for extraction; J. Demmel, H. D. Nguyen, "Parallel reproducible summation", IEEE
// Trans. Computers 64(7) (2015), for biased sums; R. M. Neal, "Fast exact summation using small and large
// superaccumulators", arXiv 1505.05571 (2015); R. Iakymchuk, S. Collange, D. Defour, S. Graillat, "ExBLAS:
// reproducible and accurate BLAS library" (2015).
package superacc
