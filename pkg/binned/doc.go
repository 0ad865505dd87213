// Package binned has reproducible sums of binary64 numbers: the result is the same for every order of the terms and
// for every way of dividing them among sums that are merged.
//
// Bin i, for i = 0, ..., 51, takes what terms have from 2^(984-40i) up to 2^(1024-40i): a term adds the multiple of
// the bin's unit 2^(985-40i) that is nearest to it, ties away from zero, and what is left goes to the next bin. A
// [Sum] of fold K keeps the bin of its largest term and the K-1 after it, and drops what is below. What a term adds
// to a bin depends on the term alone; which bins there are, on the largest magnitude alone; and bins are integers,
// which may be added in any order.
//
// In each of n terms less than half a unit of the last bin is dropped, which is 2^(-40(K-1)) times the largest term
// at most, or 2^-1056 if that is more. With the exact sum s of the terms, of which X is the largest magnitude, and u
// = 2^-53,
//
//	|result - s| <= u|s| + (1+u) n (2^(-40(K-1)) X + 2^-1056),
//
// as the sum of the bins is rounded once, to nearest even. ReproBLAS adds the bins in binary64 instead, which gives
// it 7*2^-52 in the place of u.
//
// Bins, their width W = 40, their indices, rounding and what is dropped are those of ReproBLAS: P. Ahrens, J. Demmel,
// H. D. Nguyen, "Algorithms for efficient reproducible floating point summation", ACM TOMS 46 (2020), DOI
// 10.1145/3389360; J. Demmel, P. Ahrens, H. D. Nguyen, "Efficient reproducible floating point summation and BLAS",
// UCB/EECS-2016-121.
package binned
