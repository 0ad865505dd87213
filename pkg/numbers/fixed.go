package numbers

import "math/bits"

// Fixed are a Source of numbers Integers[i] * 2^Exp.
type Fixed struct {
	Integers []int64
	Exp      int
}

// Len returns how many numbers there are.
func (x Fixed) Len() int { return len(x.Integers) }

// Span returns that of number i.
func (x Fixed) Span(i int) Span {
	n, neg := x.at(i)
	if n == 0 {
		return Span{}
	}
	return Span{Extent{x.Exp + bits.TrailingZeros64(n), x.Exp + bits.Len64(n)}, Finite, neg}
}

// Read sets z to number i.
func (x Fixed) Read(z *Number, i int) {
	var n uint64
	n, z.Neg = x.at(i)
	z.Class, z.Words = Zero, z.Words[:0]
	if n != 0 {
		z.Class, z.Exp, z.Words = Finite, x.Exp, append(z.Words, n)
	}
}

// at returns the magnitude and the sign of integer i.
func (x Fixed) at(i int) (n uint64, neg bool) {
	if v := x.Integers[i]; v < 0 {
		return -uint64(v), true
	}
	return uint64(x.Integers[i]), false
}
