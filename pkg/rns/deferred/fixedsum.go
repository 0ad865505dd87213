package deferred

import (
	"math/big"
	"math/bits"

	"mpbench/pkg/numbers"
)

// fixedSum is an exact sum of products of numbers whose bits lie in a known range, as fixed-point numbers: positive
// and negative products apart, so that carries do not travel far.
type fixedSum struct {
	low     int
	sums    [2][]uint64
	product []uint64 // scratch
}

// mostFixed is the widest range of bits: beyond it sums are kept by exponents, as LimbSum.
const mostFixed = 1 << 16

// reset makes the sum zero, for so many products that are multiples of 2^low and below 2^top.
func (s *fixedSum) reset(low, top, terms int) {
	s.low = low
	n := (top-low+log2Ceil(terms))/64 + 2
	for k := range s.sums {
		if cap(s.sums[k]) < n {
			s.sums[k] = make([]uint64, n)
		}
		s.sums[k] = s.sums[k][:n]
		clear(s.sums[k])
	}
}

// add adds x*y for finite x and y.
func (s *fixedSum) add(x, y *numbers.Number) {
	s.product = mulWords(s.product, x.Words, y.Words)
	sum := s.sums[0]
	if x.Neg != y.Neg {
		sum = s.sums[1]
	}
	pos := x.Exp + y.Exp - s.low
	at, shift := pos>>6, uint(pos&63) // below 0, and beyond the last word, there are zeros only
	var carry, previous uint64
	for _, w := range s.product {
		v := w<<shift | previous>>(64-shift) // a shift by 64 gives 0
		if previous = w; v|carry != 0 {
			sum[at], carry = bits.Add64(sum[at], v, carry)
		}
		at++
	}
	if v := previous >> (64 - shift); v != 0 || carry != 0 {
		for sum[at], carry = bits.Add64(sum[at], v, carry); carry != 0; {
			at++
			sum[at], carry = bits.Add64(sum[at], 0, carry)
		}
	}
}

// term returns the sum.
func (s *fixedSum) term() *term {
	t := &term{exp: s.low}
	var other big.Int
	t.x.SetBits(numbers.BigWords(nil, s.sums[0]))
	other.SetBits(numbers.BigWords(nil, s.sums[1]))
	t.x.Sub(&t.x, &other)
	return t
}

// mulWords returns x*y in z, or in new memory.
func mulWords(z, x, y []uint64) []uint64 {
	if n := len(x) + len(y); cap(z) < n {
		z = make([]uint64, n)
	}
	z = z[:len(x)+len(y)]
	clear(z)
	for i, w := range x {
		var carry uint64
		row := z[i:][:len(y)]
		for j, v := range y {
			hi, lo := bits.Mul64(w, v)
			var c1, c2 uint64
			lo, c1 = bits.Add64(lo, carry, 0)
			row[j], c2 = bits.Add64(row[j], lo, 0)
			carry = hi + c1 + c2
		}
		z[i+len(y)] = carry
	}
	return z
}
