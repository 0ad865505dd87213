// Package bytemod has the moduli of exact products of matrices on units that multiply bytes and add the products in
// int32, and the tables with which integers become residues and residues integers on such units.
//
// Two kinds of moduli. An m up to 256 has residues in [-128, 127]: one product of matrices of bytes, m's bits
// of the result. Pairwise coprime numbers up to 256 end at 363 bits; 49 of them have 344. A wider m, up to
// 16255, has two digits in base 128, x = a0 + 128*a1, and takes three products, of a0, a1 and a0+a1
// (Karatsuba): 14 bits for three, where four products of digits of 8 bits would give 16 for four. For integers
// of 2^p and sums of 4096 products these are 16, 30, 70 and 160 products at p = 53, 106, 212 and 424.
//
// A [Plan] takes so many of both that M, their product, is more than 129/64 times every sum in magnitude: then the
// rank in
//
//	S = sum r_k*(M/m_k) - rank*M,  r_k = S*(M/m_k)^-1 mod m_k,
//
// which is the rounded quotient of the first sum and M, is certain in binary64. The factors (M/m_k)^-1 are those of
// the right operand's residues, so that products have the r_k.
//
// Both conversions are products of bytes with constant matrices: [Plan.Weights] has the powers of 256 modulo m_k,
// [Plan.Reconstruction] the balanced digits of M/m_k in base 256.
//
// # Sources
//
// Products of int8 matrices modulo many small moduli: Y. Uchino, K. Ozaki, T. Imamura, "High-performance and
// power-efficient emulation of matrix multiplication using INT8 matrix engines", 2025 (Ozaki scheme II), which
// ends at 20 moduli. Rank from a quotient: S. Kawamura et al., EUROCRYPT 2000.
package bytemod
