// Package numbers is the one way in which numbers reach a method and leave it: a Source is an array of numbers in any format, read exactly, and
// a Layout says which of them are the elements of a vector or a matrix.
package numbers

import (
	"math"
	"math/big"
	"math/bits"
)

// Class says what kind of number a number is.
type Class uint8

// The classes of numbers. Signed zeros are one value.
const (
	Zero Class = iota
	Finite
	Infinite
	NaN
)

// Extent is the range of bit positions that a set of numbers uses: each of them is a multiple of 2^Low and less than 2^Top in
// magnitude. Low = Top is the extent of zeros.
type Extent struct{ Low, Top int }

// Bits returns Top - Low, the width of the integers that the numbers become when they are aligned.
func (e Extent) Bits() int { return e.Top - e.Low }

// Union returns the extent of two sets of numbers together.
func (e Extent) Union(f Extent) Extent {
	switch {
	case e.Bits() == 0:
		return f
	case f.Bits() == 0:
		return e
	}
	return Extent{min(e.Low, f.Low), max(e.Top, f.Top)}
}

// Span describes a number without its digits. Extent is exact for finite numbers (bit Low and bit Top-1 are set) and
// zero for other classes.
type Span struct {
	Extent
	Class Class
	Neg   bool
}

// Number is a number with its digits: (-1)^Neg * W * 2^Exp, W = sum Words[i] * 2^(64i), for the class Finite. The
// same Number can be read into again and again; it owns the memory of its words.
type Number struct {
	Class Class
	Neg   bool
	Exp   int
	Words []uint64 // at least one word is not zero if Class is Finite

	float   big.Float // scratch of the sources
	int     big.Int
	Scratch any // of the Source that read last, for its own use
}

// A Source is an array of numbers in some format, for reading. Its methods must be safe for concurrent use with different z.
type Source interface {
	Len() int
	// Span returns the class, sign and bit positions of number i.
	Span(i int) Span
	// Read sets z to number i.
	Read(z *Number, i int)
}

// Float64s are a Source of binary64 numbers. Methods that work on such numbers find them in it.
type Float64s []float64

func (x Float64s) Len() int { return len(x) }

// Significand returns the integer s < 2^53 and e with |x| = s * 2^e, for finite x.
func Significand(x float64) (s uint64, e int) {
	word := math.Float64bits(x)
	field := word >> 52 & 0x7ff
	normal := min(field, 1) // 0 for zeros and subnormals
	return word&(1<<52-1) | normal<<52, int(field) - int(normal) - 1074
}

func (x Float64s) Span(i int) Span {
	v := x[i]
	switch {
	case v == 0:
		return Span{}
	case v != v:
		return Span{Class: NaN}
	case math.Abs(v) > math.MaxFloat64:
		return Span{Class: Infinite, Neg: v < 0}
	}
	s, e := Significand(v)
	return Span{Extent{e + bits.TrailingZeros64(s), e + bits.Len64(s)}, Finite, v < 0}
}

func (x Float64s) Read(z *Number, i int) {
	span := x.Span(i)
	z.Class, z.Neg = span.Class, span.Neg
	z.Words = z.Words[:0]
	if span.Class == Finite {
		var s uint64
		s, z.Exp = Significand(x[i])
		z.Words = append(z.Words, s)
	}
}

// Bigs are a Source of numbers of any precision. A nil stands for NaN, which big.Float lacks.
type Bigs []*big.Float

func (x Bigs) Len() int { return len(x) }

func (x Bigs) Span(i int) Span { return spanOfBig(x[i]) }

func spanOfBig(v *big.Float) Span {
	switch {
	case v == nil:
		return Span{Class: NaN}
	case v.IsInf():
		return Span{Class: Infinite, Neg: v.Signbit()}
	case v.Sign() == 0:
		return Span{}
	}
	top := v.MantExp(nil)
	return Span{Extent{top - int(v.MinPrec()), top}, Finite, v.Signbit()}
}

func (x Bigs) Read(z *Number, i int) { z.SetBig(x[i]) }

// SetBig sets z to v, or to NaN if v is nil.
func (z *Number) SetBig(v *big.Float) {
	span := spanOfBig(v)
	z.Class, z.Neg, z.Exp = span.Class, span.Neg, span.Low
	z.Words = z.Words[:0]
	if span.Class != Finite {
		return
	}
	v.MantExp(&z.float)
	z.float.SetMantExp(&z.float, span.Bits())
	z.float.Int(&z.int) // exact: an odd integer of span.Bits() bits
	z.SetWords(z.int.Bits())
}

// SetWords sets z.Words to the words of a big.Int.
func (z *Number) SetWords(words []big.Word) {
	z.Words = z.Words[:0]
	if bits.UintSize == 64 {
		for _, w := range words {
			z.Words = append(z.Words, uint64(w))
		}
		return
	}
	for i := 0; i < len(words); i += 2 {
		w := uint64(words[i])
		if i+1 < len(words) {
			w |= uint64(words[i+1]) << 32
		}
		z.Words = append(z.Words, w)
	}
}

// Span returns the span of z.
func (z *Number) Span() Span {
	if z.Class != Finite {
		return Span{Class: z.Class, Neg: z.Neg}
	}
	low, top := z.Exp, z.Exp+64*(len(z.Words)-1)
	for i, w := range z.Words {
		if w != 0 {
			low += 64*i + bits.TrailingZeros64(w)
			break
		}
	}
	for i := len(z.Words) - 1; ; i-- {
		if w := z.Words[i]; w != 0 {
			return Span{Extent{low, top + bits.Len64(w)}, Finite, z.Neg}
		}
		top -= 64
	}
}
