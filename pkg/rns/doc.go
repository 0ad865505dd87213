// Package rns is multiple-precision floating-point arithmetic in a residue number system.
//
// # Numbers
//
// A residue number system (RNS) is a list of odd, pairwise coprime moduli m_1 ... m_n. An integer X with 0 <= X < M =
// m_1 * ... * m_n is held as its residues x_i = X mod m_i: sums and products are formed residue by residue, without
// carries. A [Float] is (-1)^s * X * 2^e together with an interval evaluation I(X/M) that encloses X/M and takes the
// place of the digits that an RNS does not have: it decides signs, comparisons and when to round.
//
// With the dynamic range M the significand has the precision
//
//	p = floor(log2(floor(sqrt(M - 1)))) bits
//
// so that the product of two significands of at most floor(sqrt(M - 1)) stays below M.
//
// # Decisions are functions of values
//
// Every result of this package depends on the operands' values (s, X, e) only, never on how tight their
// intervals happen to be: where an interval cannot decide (it straddles a power of two, or two intervals
// overlap), the decision is made exactly from the residues. Plain Go, AVX2 and AVX-512 and other devices
// therefore give the same bits, and the arithmetic has a short specification in integers:
//
//   - F = floor(log2 M). A significand is wide if it exceeds floor(sqrt(M - 1)); conversions make wide
//     significands (of at most F - 4 bits) because they never round what they can hold, sums and products never.
//   - Round(Z): if Z is wide, Z becomes Z / 2^k for the k that leaves p bits, truncated or to nearest even,
//     and e becomes e + k.
//   - x + y: if one of them is zero, the other. Otherwise let x be the one with the larger exponent and
//     d = e_x - e_y. X is shifted up by g = min(d, F - 1 - bits(X)); if g < d, Y becomes floor(Y / 2^(d-g)).
//     Then Round(+-X*2^g +- Y). This is the alignment of the 2018 paper.
//   - The alignment "blas" (MPRES-BLAS) drops y if bits(X) + d exceeds F' = floor(log2(M - 4*floor(sqrt(M)) - 4));
//     otherwise it shifts X up by d. Only a wide y, which must not be dropped, is aligned as above.
//   - x * y: Round(X*Y), exactly, wide operands included.
//
// # Error
//
// Each operation has one relative error of at most [Context.UnitRoundoff], which is below 4/sqrt(M).
//
// # Interval evaluations
//
// The bounds are 64-bit integers with a common binary exponent: lo*2^(exp-64) <= X/M <= up*2^(exp-64). They are
// computed from X/M = frac(sum c_i/m_i), c_i = x_i * (M/m_i)^-1 mod m_i, in integer fixed point (c_i*2^64/m_i), where
// the wrap modulo 2^64 drops the integer part for free and no rounding mode is involved. Sums and products propagate
// the bounds; after cancellation they are computed anew, so a relative width of 2^-32 is never exceeded.
//
// # Speed
//
// Residue operations have plain Go code (residues_generic.go, meant to be read) and generated AVX2 and AVX-512 code
// (residues_amd64.s, from _asm) that works on the residues padded to a multiple of 8 by copies of the first. Scaling
// by 2^-k takes one pass whatever k is: the k low bits R of X come from the Chinese remainder theorem truncated to k
// bits, and (X - R)/2^k is an exact division in every residue. Binary digits and residues are exchanged through words
// of about 28 bits (radix.go), so that sums of word * residue are carried or reduced once at their end; for k < 32 a
// single word does.
//
// Sources: K. Isupov, V. Knyazkov, A. Kuvaev, "Summation of the multiple accuracy on central and graphic processors
// using the MPRES library" (2018), DOI 10.23683/2311-3103-2018-8-191-203; K. Isupov, "Using floating-point
// intervals for non-modular computations in residue number system", IEEE Access 8 (2020) 58603.
package rns
