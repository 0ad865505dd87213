package intmat

import (
	"math/big"
	"math/bits"
)

// reconstruct calls emit with the integers of the block.
func (w *worker) reconstruct(emit func(i, j int, sum *big.Int)) {
	p, k, b := w.plan, w.plan.kernel, w.plan.base
	panels := roundUp(w.cols, k.cols) / k.cols
	for i := range w.rows {
		for panel := range panels {
			residues := w.residues[(i*panels+panel)*b.pairs*k.cols:]
			clear(w.tiles)
			for d := 0; d <= b.digits; d += k.rows {
				k.mul(w.tiles[d*k.cols:(d+k.rows)*k.cols], b.crt[d*b.pairs:], residues, b.pairs)
			}
			carry(w.tiles, k.cols, b.product)
			for lane := range min(k.cols, w.cols-panel*k.cols) {
				w.integer(w.tiles[lane:], p.kernel.cols)
				emit(w.row+i, w.col+panel*k.cols+lane, &w.sum)
			}
		}
	}
}

// integer sets w.sum to the integer of the digits in every step-th number, in two's complement.
func (w *worker) integer(digits []int32, step int) {
	n := w.plan.base.digits
	neg := digits[(n-1)*step]>>(digitBits-1) != 0
	var flip uint64
	if neg {
		flip = digitMask
	}
	var low uint64 // the next filled bits
	filled, at := 0, 0
	for d := range n {
		v := uint64(digits[d*step]) ^ flip
		low |= v << filled
		if filled += digitBits; filled >= bits.UintSize {
			w.words[at] = big.Word(low)
			at++
			filled -= bits.UintSize
			low = v >> (digitBits - filled)
		}
	}
	if filled > 0 {
		w.words[at] = big.Word(low)
		at++
	}
	for i := 0; neg && i < at; i++ { // -x is the complement and 1
		w.words[i]++
		neg = w.words[i] == 0
	}
	for at > 0 && w.words[at-1] == 0 {
		at--
	}
	w.sum.SetBits(w.words[:at])
	if flip != 0 {
		w.sum.Neg(&w.sum)
	}
}

// wordsFor returns how many words so many digits take.
func wordsFor(digits int) int { return (digits*digitBits + bits.UintSize - 1) / bits.UintSize }
