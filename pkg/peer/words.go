package peer

import (
	"math/big"
	"math/bits"

	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
)

// widest returns how many bits the longest significand of an array has, at least 2.
func widest(a numbers.Array) int {
	longest := 2
	a.Each(2, func(z *numbers.Number) { longest = max(longest, z.Span().Bits()) })
	return longest
}

// each calls f with the elements of an array, row by row, those with more bits rounded to nearest even.
func each(a numbers.Array, bits int, f func(*numbers.Number)) (rounded method.Rounded) {
	var short numbers.Number
	a.Each(format.ReadBits(bits), func(z *numbers.Number) {
		if z.Span().Bits() > bits {
			short.SetBig(new(big.Float).SetPrec(uint(bits)).Set(z.Big()))
			z, rounded.Factors = &short, 1
		}
		f(z)
	})
	return rounded
}

// wordsOf returns how many words of 64 bits a significand takes.
func wordsOf(bits int) int { return (bits + 63) / 64 }

// pack writes the significand of a finite number to words, the least significant first, with its highest bit in the
// highest place: the number is 0.w * 2^exponent. There are enough words.
func pack(words []uint64, z *numbers.Number) (exponent int) {
	clear(words)
	w := z.Words
	for w[len(w)-1] == 0 {
		w = w[:len(w)-1]
	}
	exponent = z.Exp + 64*len(w)
	shift := bits.LeadingZeros64(w[len(w)-1])
	for i := range words {
		k := len(w) - 1 - i // from the highest on
		if k < 0 {
			break
		}
		v := w[k] << shift
		if k > 0 && shift > 0 {
			v |= w[k-1] >> (64 - shift)
		}
		words[len(words)-1-i] = v
	}
	return exponent - shift
}

// unpack is the inverse of pack, for words of any alignment.
func unpack(words []uint64, negative bool, exponent int) exact.Value {
	z := numbers.Number{Class: numbers.Zero, Neg: negative, Exp: exponent - 64*len(words), Words: words}
	for _, w := range words {
		if w != 0 {
			z.Class = numbers.Finite
		}
	}
	return z.Value()
}
