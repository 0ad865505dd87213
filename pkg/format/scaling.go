package format

import (
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
)

// tops returns how large the largest number may be for squares, and their sum, to be in the range of a format of so
// many bits, and for what the small ones lose below it not to matter: between 2^low and 2^high. There are such numbers
// if low < high.
//
// With magnitudes up to 2^top the squares of n numbers are below n*2^(2top), and their sum is at least 2^(2top-2), of
// which n times the least number must be below a rounding error: n < 2^60 for both.
func tops(r method.Range, bits int) (low, high int) {
	tiny := r.Tiny.Denom().BitLen() - 1
	return (bits + 63 - tiny) / 2, r.Overflow.Num().BitLen()/2 - 31
}

// HasNorms tells whether 2-norms can be computed in a format of so many bits.
func HasNorms(r method.Range, bits int) bool {
	if r.Overflow == nil {
		return true
	}
	low, high := tops(r, bits)
	return low < high
}

// scaling returns a k for which x_i / 2^k are numbers whose squares can be added, see tops; 0 where that is so without
// scaling. 2^k and 2^-k are in the range.
func scaling(r method.Range, bits int, x numbers.Array) int {
	if r.Overflow == nil {
		return 0
	}
	top, any := 0, false
	for i := range x.Rows {
		if s := x.SpanAt(i, 0); s.Class == numbers.Finite && (!any || s.Top > top) {
			top, any = s.Top, true
		}
	}
	if d := x.Denominator(); d != nil {
		top -= d.BitLen() - 1
	}
	low, high := tops(r, bits)
	if !any || low <= top && top <= high {
		return 0
	}
	exponents := r.Overflow.Num().BitLen()
	return max(2-exponents, min(top-min(high, max(low, 0)), exponents-1))
}
