package rns

import (
	"math/big"
	"math/bits"
)

// radix holds the tables by which residues become binary digits and binary digits residues: "words" of so few bits
// that a sum of word * residue products over all moduli, or over all words, stays below 2^64 and is reduced or carried
// only once.
//
// With 31-bit moduli a word has 29 bits at a precision of 120 bits, 28 at 424 and 26 at 1696.
type radix struct {
	bits   int // of a word
	words  int // of M
	pitch  int // words rounded up to a multiple of laneMultiple
	crt    []uint32
	minus  []uint32
	powers []uint32
	low    []uint32
	lowM   uint32
}

// The tables of a radix, with w = radix.bits and W = radix.words:
//
//	crt     row i, of pitch words: M/m_i in radix 2^w
//	minus   2^(w*W) - M in radix 2^w
//	powers  row h, of stride residues: 2^(w*h) mod m_i
//	low     M/m_i mod 2^32, 0 in padding lanes
//	lowM    M mod 2^32

// setRadix chooses the bits of a word and fills the tables.
//
// With L = bits(max(n + 2, W)) the condition is B + w + L <= 64 for moduli of B bits, w <= 32. The n terms c_i * word
// of toWords, each below 2^(B+w), leave room for two more, which covers rank * word < n * 2^w <= 2^(B+w) and a carry
// below 2^(64-w) <= 2^(B+w), as L < 2^16; the W terms of residuesOfWords fit at once.
func (b *Base) setRadix() {
	r := &b.radix
	for r.bits = 32; ; r.bits-- {
		r.words = b.log2M/r.bits + 1
		if b.widthBits+r.bits+bits.Len(uint(max(b.n+2, r.words))) <= 64 {
			break
		}
	}
	r.pitch = (r.words + laneMultiple - 1) / laneMultiple * laneMultiple
	r.crt = make([]uint32, b.n*r.pitch)
	r.low = make([]uint32, b.stride)
	weights := make([]uint32, b.stride)
	cofactor, modulus := new(big.Int), new(big.Int)
	for i, m := range b.modulus[:b.n] {
		modulus.SetUint64(uint64(m))
		cofactor.Quo(b.rangeInt, modulus)
		r.setWords(r.crt[i*r.pitch:(i+1)*r.pitch], cofactor)
		r.low[i] = uint32(limbsOf(cofactor, b.limbs)[0])
		weights[i] = uint32(cofactor.ModInverse(cofactor, modulus).Uint64())
	}
	b.crtWeight = newShoup(weights, b.modulus)
	minus := new(big.Int).Lsh(big.NewInt(1), uint(r.bits*r.words))
	r.minus = make([]uint32, r.pitch)
	r.setWords(r.minus, minus.Sub(minus, b.rangeInt))
	r.lowM = uint32(limbsOf(b.rangeInt, b.limbs)[0])
	r.powers = make([]uint32, r.words*b.stride)
	for i, m := range b.modulus {
		step, power := 1<<r.bits%uint64(m), uint64(1)
		for h := range r.words {
			r.powers[h*b.stride+i] = uint32(power)
			power = power * step % uint64(m)
		}
	}
}

// setWords writes x in radix 2^bits.
func (r *radix) setWords(words []uint32, x *big.Int) {
	rest, mask := new(big.Int).Set(x), uint32(1<<r.bits-1)
	for h := range words {
		if len(rest.Bits()) > 0 {
			words[h] = uint32(rest.Bits()[0]) & mask
		}
		rest.Rsh(rest, uint(r.bits))
	}
}

// toWords returns X mod 2^(radix.bits * count) in radix 2^radix.bits, given the coefficients c and the rank of X; with
// all words of M that is X itself. count <= radix.words; the result lies in words, which has room for radix.pitch of
// them.
//
// X = sum c_i * (M/m_i) - rank * M.
func (b *Base) toWords(words []uint64, count int, c []uint32, rank uint64) []uint64 {
	r := &b.radix
	weightedWords(words[:(count+laneMultiple-1)/laneMultiple*laneMultiple], c[:b.n], r.crt, r.pitch)
	words = words[:count]
	minus := r.minus[:count]
	width, mask, carry := uint(r.bits), uint64(1)<<r.bits-1, uint64(0)
	for h, sum := range words {
		sum += rank*uint64(minus[h]) + carry
		words[h] = sum & mask
		carry = sum >> (width & 63)
	}
	return words
}

// lowBits returns X mod 2^32.
func (b *Base) lowBits(c []uint32, rank uint64) uint32 {
	return lowWord(c, b.radix.low) - uint32(rank)*b.radix.lowM
}

// residuesOfWords sets z_i to the integer of the words, of which there is at least one, mod m_i.
func (b *Base) residuesOfWords(z []uint32, words []uint64) {
	wordsMod(z, words, b.radix.powers, &b.powers, b.modulus)
}

// packWords sets limbs to the integer of the words modulo 2^(64*len(limbs)).
func (r *radix) packWords(limbs, words []uint64) {
	clear(limbs)
	for h, word := range words {
		bit := h * r.bits
		i, shift := bit/64, uint(bit%64)
		if i >= len(limbs) {
			return
		}
		limbs[i] |= word << shift
		if rest := word >> (64 - shift); rest != 0 && i+1 < len(limbs) { // a shift by 64 gives 0
			limbs[i+1] |= rest
		}
	}
}

// unpackWords sets words to the integer of limbs modulo 2^(bits*len(words)).
func (r *radix) unpackWords(words, limbs []uint64) {
	mask := uint64(1)<<r.bits - 1
	for h := range words {
		bit := h * r.bits
		i, shift := bit/64, uint(bit%64)
		if i >= len(limbs) {
			clear(words[h:])
			return
		}
		word := limbs[i] >> shift
		if i+1 < len(limbs) {
			word |= limbs[i+1] << (64 - shift)
		}
		words[h] = word & mask
	}
}
