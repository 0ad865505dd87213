// Package digits has numbers of positional digits: words of 64 bits with one exponent and one sign, and methods that
// compute with them. It is the layout of ARPREC, GARPREC and CUMP, where an exponent counts words, so that numbers
// are aligned by moving words: no bit is shifted.
//
// The first word of a number that is not 0 may be as small as 1. Of W words, 64(W-1)+1 bits are therefore certain:
// that is the precision of a format. Results are the exact ones, truncated or rounded to nearest at the last word,
// and so every operation has a relative error of at most u = 2^(1-p), or 2^-p.
//
// Sources: D. H. Bailey, Y. Hida, X. S. Li, B. Thompson, "ARPREC: an arbitrary precision computation package",
// LBNL-53651 (2002); M. Lu, B. He, Q. Luo, "Supporting extended precision on graphics processors", DaMoN 2010, DOI
// 10.1145/1869389.1869392; T. Nakayama, D. Takahashi, "Implementation of multiple-precision floating-point arithmetic
// library for GPU computing", PDCS 2011.
package digits

import (
	"cmp"
	"encoding/binary"
	"math/big"
	"math/bits"
	"slices"

	"mpbench/pkg/exact"
)

const wordBits = 64

// Number is the sum of words[i] * 2^(64*(exponent-i)), or its negative. The first word is not 0, unless all are.
type Number struct {
	words    []uint64
	exponent int64
	negative bool
}

func (x *Number) isZero() bool { return x.words[0] == 0 }

// set makes z equal to x.
func (z *Number) set(x *Number) {
	copy(z.words, x.words)
	z.exponent, z.negative = x.exponent, x.negative
}

// Value returns the exact value.
func (x *Number) Value() exact.Value { return exact.FromBig(x.float()) }

func (x *Number) float() *big.Float {
	f := new(big.Float).SetInt(integer(x.words))
	if x.negative {
		f.Neg(f)
	}
	return f.SetMantExp(f, int(wordBits*(x.exponent-int64(len(x.words))+1)))
}

// integer returns words, from the highest down, as an integer.
func integer(words []uint64) *big.Int {
	var bytes []byte
	for _, w := range words {
		bytes = binary.BigEndian.AppendUint64(bytes, w)
	}
	return new(big.Int).SetBytes(bytes)
}

// split is the inverse of integer, with zeros in front to make at least so many words.
func split(x *big.Int, least int) []uint64 {
	words := make([]uint64, max(least, (x.BitLen()+wordBits-1)/wordBits))
	bytes := x.FillBytes(make([]byte, wordBits/8*len(words)))
	for i := range words {
		words[i] = binary.BigEndian.Uint64(bytes[wordBits/8*i:])
	}
	return words
}

// Cmp compares x and y: -1, 0 or 1.
func (x *Number) Cmp(y *Number) int {
	sign := func(x *Number) int {
		switch {
		case x.isZero():
			return 0
		case x.negative:
			return -1
		}
		return 1
	}
	if s, t := sign(x), sign(y); s != t || s == 0 {
		return cmp.Compare(s, t)
	}
	if x.negative {
		return compareMagnitudes(y, x)
	}
	return compareMagnitudes(x, y)
}

func compareMagnitudes(x, y *Number) int {
	return cmp.Or(cmp.Compare(x.exponent, y.exponent), slices.Compare(x.words, y.words))
}

// arithmetic computes with numbers of so many words. It has memory of its own: one goroutine uses it at a time.
type arithmetic struct {
	words   int
	nearest bool
	digits  []uint64 // of a result, before it is rounded
}

func newArithmetic(words int, nearest bool) *arithmetic {
	return &arithmetic{words, nearest, make([]uint64, 2*words+2)}
}

// number returns 0.
func (a *arithmetic) number() *Number { return &Number{words: make([]uint64, a.words)} }

// round sets z to digits, of which the first has the given exponent, and tells whether digits were lost. What the
// digits lack of the exact result is less than one unit of the last of them, and not negative.
func (a *arithmetic) round(z *Number, digits []uint64, exponent int64, negative bool) (lost bool) {
	for len(digits) > 0 && digits[0] == 0 {
		digits, exponent = digits[1:], exponent-1
	}
	clear(z.words[copy(z.words, digits):])
	z.exponent, z.negative = exponent, negative
	if len(digits) == 0 {
		z.exponent, z.negative = 0, false
	}
	if len(digits) <= a.words {
		return false
	}
	if a.nearest && digits[a.words]>>(wordBits-1) == 1 {
		a.increase(z)
	}
	return slices.ContainsFunc(digits[a.words:], func(w uint64) bool { return w != 0 })
}

// increase adds a unit of the last word.
func (a *arithmetic) increase(z *Number) {
	for i := a.words - 1; i >= 0; i-- {
		if z.words[i]++; z.words[i] != 0 {
			return
		}
	}
	z.words[0], z.exponent = 1, z.exponent+1 // all words were full, and are 0
}

// add sets z, which is neither x nor y, to x + y.
//
// The smaller number is cut at one word behind those of the larger one: downwards where it is added, upwards where it
// is subtracted, so that the digits are the exact result, cut. If the difference begins two words below x or lower, x
// and y are at most one word apart, and nothing was cut; if it begins one word below with a cut y, its first word is
// full, and what was cut is less than 2^(-64W)/(1 - 2^-64) of it, far below u.
func (a *arithmetic) add(z, x, y *Number) {
	switch {
	case y.isZero():
		z.set(x)
		return
	case x.isZero():
		z.set(y)
		return
	case compareMagnitudes(x, y) < 0:
		x, y = y, x
	}
	d := a.digits[:a.words+2] // a carry, the words of x, and one more
	d[0], d[a.words+1] = 0, 0
	copy(d[1:], x.words)
	apart := x.exponent - y.exponent
	kept := int(max(0, min(int64(a.words), int64(a.words)+1-apart))) // words of y
	end := len(d)
	if kept == a.words {
		end = 1 + int(apart) + kept
	}
	if x.negative == y.negative {
		addWords(d[:end], y.words[:kept])
	} else {
		cut := uint64(0)
		if slices.ContainsFunc(y.words[kept:], func(w uint64) bool { return w != 0 }) {
			cut = 1
		}
		subtractWords(d[:end], y.words[:kept], cut)
	}
	a.round(z, d, x.exponent+1, x.negative)
}

// addWords adds y to the last words of x.
func addWords(x, y []uint64) {
	carry := uint64(0)
	i := len(x) - 1
	for j := len(y) - 1; j >= 0; j-- {
		x[i], carry = bits.Add64(x[i], y[j], carry)
		i--
	}
	for ; carry != 0; i-- {
		x[i], carry = bits.Add64(x[i], 0, carry)
	}
}

// subtractWords subtracts y and borrow from the last words of x.
func subtractWords(x, y []uint64, borrow uint64) {
	i := len(x) - 1
	for j := len(y) - 1; j >= 0; j-- {
		x[i], borrow = bits.Sub64(x[i], y[j], borrow)
		i--
	}
	for ; borrow != 0; i-- {
		x[i], borrow = bits.Sub64(x[i], 0, borrow)
	}
}

// mul sets z, which is neither x nor y, to x * y.
func (a *arithmetic) mul(z, x, y *Number) {
	d := a.digits[:2*a.words]
	clear(d)
	for i := a.words - 1; i >= 0; i-- {
		carry := uint64(0)
		for j := a.words - 1; j >= 0; j-- {
			high, low := bits.Mul64(x.words[i], y.words[j])
			low, c := bits.Add64(low, d[i+j+1], 0)
			high += c // the product and two words are less than 2^128
			d[i+j+1], c = bits.Add64(low, carry, 0)
			carry = high + c
		}
		d[i] = carry
	}
	a.round(z, d, x.exponent+y.exponent+1, x.negative != y.negative)
}

// div returns x / y for y that is not 0.
func (a *arithmetic) div(x, y *Number) *Number {
	n := integer(x.words)
	n.Lsh(n, uint(wordBits*(a.words+1)))
	z := a.number()
	a.round(z, split(n.Quo(n, integer(y.words)), a.words+2), x.exponent-y.exponent, x.negative != y.negative)
	return z
}

// sqrt returns the square root of x >= 0.
func (a *arithmetic) sqrt(x *Number) *Number {
	z := a.number()
	if x.isZero() {
		return z
	}
	shift := int64(a.words + 2)
	if (x.exponent-int64(a.words)+1-shift)%2 != 0 {
		shift++
	}
	n := integer(x.words)
	words := split(n.Sqrt(n.Lsh(n, uint(wordBits*shift))), 0)
	a.round(z, words, int64(len(words))-1+(x.exponent-int64(a.words)+1-shift)/2, false)
	return z
}

// convert sets z to a number, and tells whether it was rounded.
func (a *arithmetic) convert(z *Number, x *big.Float) (rounded bool) {
	precision := x.MinPrec()
	if precision == 0 {
		return a.round(z, nil, 0, false)
	}
	exponent := x.MantExp(nil) - int(precision) // x is an integer times 2^exponent
	n, _ := new(big.Float).SetMantExp(x, -exponent).Int(nil)
	shift := ((exponent % wordBits) + wordBits) % wordBits
	n.Abs(n).Lsh(n, uint(shift))
	words := split(n, 0)
	return a.round(z, words, int64(len(words))-1+int64(exponent-shift)/wordBits, x.Signbit())
}
