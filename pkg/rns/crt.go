package rns

import (
	"math/big"
	"math/bits"
)

// toLimbs sets the words of limbs to X mod 2^(64*len(limbs)) by the Chinese remainder theorem, given the coefficients
// c and the rank of X; all words of M give X itself. len(limbs) <= b.limbs.
func (b *Base) toLimbs(limbs []uint64, c []uint32, rank uint64) {
	count := min((64*len(limbs)-1)/b.radix.bits+1, b.radix.words)
	b.radix.packWords(limbs, b.toWords(make([]uint64, b.radix.pitch), count, c, rank))
}

// addMul sets z = z + x*y modulo 2^(64*len(z)).
func addMul(z, x []uint64, y uint64) {
	x = x[:len(z)]
	var carry uint64
	for j := range z {
		hi, lo := bits.Mul64(x[j], y)
		var c1, c2 uint64
		lo, c1 = bits.Add64(lo, carry, 0)
		z[j], c2 = bits.Add64(z[j], lo, 0)
		carry = hi + c1 + c2
	}
}

// residuesOfLimbs sets z_i to the integer of the little-endian words, which is below 2^(64*b.limbs), mod m_i.
func (b *Base) residuesOfLimbs(z []uint32, limbs []uint64) {
	words := make([]uint64, b.radix.words)
	b.radix.unpackWords(words, limbs)
	b.residuesOfWords(z, words)
}

// toInt returns X; c is scratch.
func (b *Base) toInt(x []uint32, v Interval, c []uint32) *big.Int {
	b.coefficients(c, x)
	limbs := make([]uint64, b.limbs)
	b.toLimbs(limbs, c, b.rank(c, v))
	return intOf(limbs)
}

// Int returns the integer X in [0, M) of the residues, of which there are at least Len.
func (b *Base) Int(residues []uint32) *big.Int {
	x, c := b.padded(residues), make([]uint32, b.stride)
	return b.toInt(x, b.evaluate(x, c), c)
}

// Residues sets residues, of which there are Stride, to those of x mod M in [0, M).
func (b *Base) Residues(residues []uint32, x *big.Int) {
	if x.Sign() < 0 || x.Cmp(b.rangeInt) >= 0 {
		x = new(big.Int).Mod(x, b.rangeInt)
	}
	b.residuesOfLimbs(residues, limbsOf(x, b.limbs))
}

// Evaluate returns the interval evaluation I(X/M) of the residues; it holds for every X in [0, M).
func (b *Base) Evaluate(residues []uint32) Interval {
	return b.evaluate(b.padded(residues), make([]uint32, b.stride))
}

// MixedRadix returns the digits a of X = a_1 + a_2 m_1 + a_3 m_1 m_2 + ..., with 0 <= a_i < m_i, least significant
// first. It takes O(n^2) operations.
func (b *Base) MixedRadix(residues []uint32) []uint32 {
	digits := append([]uint32(nil), residues[:b.n]...)
	modulus, inverse := new(big.Int), new(big.Int)
	for i := range digits {
		for j := i + 1; j < b.n; j++ {
			m := uint64(b.modulus[j])
			modulus.SetUint64(m)
			inverse.SetUint64(uint64(b.modulus[i]))
			inverse.ModInverse(inverse, modulus)
			difference := uint64(digits[j]) + m - uint64(digits[i])%m
			digits[j] = uint32(difference % m * inverse.Uint64() % m)
		}
	}
	return digits
}

// CompareMixedRadix compares X and Y, given their residues, by their mixed-radix digits: -1, 0 or +1.
func (b *Base) CompareMixedRadix(x, y []uint32) int {
	dx, dy := b.MixedRadix(x), b.MixedRadix(y)
	for i := b.n - 1; i >= 0; i-- {
		if dx[i] != dy[i] {
			if dx[i] > dy[i] {
				return 1
			}
			return -1
		}
	}
	return 0
}
