package deferred

import (
	"math"
	"math/big"
	"math/bits"
)

// reconstructor finds the integers of residues, using the reconstruction of base. Each goroutine needs its own.
type reconstructor struct {
	coef  []uint32 // c_0 ... c_(n-1), rank for each of laneMultiple numbers
	limbs []uint64
	words []big.Word
}

// coefficients prepares numbers i to i+count-1 of the residues, count <= laneMultiple.
func (r *reconstructor) coefficients(b *base, residues []uint32, stride, i, count int) {
	size := b.n + 1
	if len(r.coef) < laneMultiple*size {
		r.coef = make([]uint32, laneMultiple*size)
		r.limbs = make([]uint64, b.lanes)
		r.words = make([]big.Word, b.n*limbBits/bits.UintSize+1)
	}
	var rank [laneMultiple]float64
	for k := range b.n {
		delta, weight, reciprocal := b.delta[k], b.weight[k], b.reciprocal[k]
		for t, x := range residues[k*stride+i:][:count] {
			c := mulMod(x, weight, delta)
			r.coef[t*size+k] = c
			// An error of n*2^-52 * n/2 cannot move a sum that is within 0.3 of an integer to the next.
			rank[t] += float64(float64(c) * reciprocal)
		}
	}
	for t := range count {
		r.coef[t*size+b.n] = uint32(math.Round(rank[t]))
	}
}

// integer sets z to the integer of prepared number t. z shares memory with r until the next call.
func (r *reconstructor) integer(z *big.Int, b *base, t int) {
	size := b.n + 1
	coef, table := r.coef[t*size:(t+1)*size], b.crt
	limbs := r.limbs[:b.lanes]
	clear(limbs)
	for {
		part := min(len(coef), lazyProducts-1) // with the limb left by carry, sums are below 255*2^56 + 2^28
		axpyTable(limbs, table, b.lanes, coef[:part])
		carry(limbs[:b.n])
		if coef = coef[part:]; len(coef) == 0 {
			break
		}
		table = table[part*b.lanes:]
	}
	neg := limbs[b.n-1]>>(limbBits-1) != 0
	if neg {
		negate(limbs[:b.n])
	}
	z.SetBits(pack(r.words, limbs[:b.n]))
	if neg {
		z.Neg(z)
	}
}

// carry brings limbs below 2^64 - 2^36 to 28 bits; what exceeds the last is dropped.
func carry(limbs []uint64) {
	var c uint64
	for i, limb := range limbs {
		c += limb
		limbs[i] = c & limbMask
		c >>= limbBits
	}
}

// negate replaces limbs by their two's complement.
func negate(limbs []uint64) {
	borrow := uint64(1)
	for i, limb := range limbs {
		t := limbMask - limb + borrow
		limbs[i] = t & limbMask
		borrow = t >> limbBits
	}
}

// pack sets words to the limbs, and returns them without leading zeros.
func pack(words []big.Word, limbs []uint64) []big.Word {
	n := 0
	var low uint64 // the next filled bits
	filled := 0
	for _, limb := range limbs {
		low |= limb << filled
		filled += limbBits
		if filled >= bits.UintSize {
			words[n] = big.Word(low)
			n++
			filled -= bits.UintSize
			if bits.UintSize == 64 {
				low = limb >> (limbBits - filled)
			} else {
				low >>= 32
			}
		}
	}
	if low != 0 {
		words[n] = big.Word(low)
		n++
	}
	for n > 0 && words[n-1] == 0 {
		n--
	}
	return words[:n]
}
