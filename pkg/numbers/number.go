// Package numbers is the one way in which numbers reach a method and leave it: a [Source] is a list of numbers in any
// format, read exactly; a [Layout] says which of them are the elements of a vector or a matrix; an [Array] is both.
package numbers

import (
	"math"
	"math/big"
	"math/bits"

	"mpbench/pkg/exact"
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

// Extent is the range of bit positions that a set of numbers uses: each of them is a multiple of 2^Low and less than
// 2^Top in magnitude. Low = Top is the extent of zeros.
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

// Span describes a number without its digits. Extent is exact for finite numbers (bits Low, Top-1 are set), else zero.
type Span struct {
	Extent
	Class Class
	Neg   bool
}

// Number is a number with its digits: (-1)^Neg * W * 2^Exp, W = sum Words[i] * 2^(64i), for the class Finite. The same
// Number can be read into again and again; it owns the memory of its words.
type Number struct {
	Class Class
	Neg   bool
	Exp   int
	Words []uint64 // at least one word is not zero if Class is Finite

	float   big.Float // scratch of the sources
	int     big.Int
	Scratch any // of the Source that read last, for its own use
}

// SetBig sets z to v, or to NaN if v is nil. Its words are those of v: the highest bit is set, and the lowest word is
// not zero.
func (z *Number) SetBig(v *big.Float) {
	z.Words = z.Words[:0]
	z.Class, z.Neg = classOfBig(v)
	if z.Class != Finite {
		return
	}
	words := (int(v.MinPrec()) + 63) / 64
	z.Exp = v.MantExp(&z.float) - 64*words
	z.float.SetMantExp(&z.float, 64*words)
	z.float.Int(&z.int) // exact
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

// divide divides z by an odd integer d. A quotient that is no dyadic fraction is cut off after so many bits or more,
// its last bit set.
func (z *Number) divide(d *big.Int, bits int) {
	if z.Class != Finite {
		return
	}
	if d.IsUint64() {
		z.divideByWord(d.Uint64(), bits)
		return
	}
	n := z.integer()
	shift := uint(max(0, bits+d.BitLen()-n.BitLen()))
	var rest big.Int
	n.Lsh(n, shift).QuoRem(n, d, &rest)
	if rest.Sign() != 0 {
		n.SetBit(n, 0, 1)
	}
	z.Exp -= int(shift)
	z.SetWords(n.Bits())
}

// divideByWord is divide by an odd word, whole words at a time.
func (z *Number) divideByWord(d uint64, width int) {
	missing := max(0, width+bits.Len64(d)-z.Span().Top+z.Exp)
	shift := (missing + 63) / 64
	words := append(z.Words, make([]uint64, shift)...)
	copy(words[shift:], z.Words)
	clear(words[:shift])
	var rest uint64
	for i := len(words) - 1; i >= 0; i-- {
		words[i], rest = bits.Div64(rest, words[i], d)
	}
	if rest != 0 {
		words[0] |= 1
	}
	for words[len(words)-1] == 0 {
		words = words[:len(words)-1]
	}
	z.Words, z.Exp = words, z.Exp-64*shift
}

// Top returns the highest 64 bits of z, which must be finite, the last one set if a lower one is: rounding h * 2^exp
// to at most 62 bits gives what rounding |z| gives.
func (z *Number) Top() (h uint64, exp int) {
	i := len(z.Words) - 1
	for z.Words[i] == 0 {
		i--
	}
	zeros := bits.LeadingZeros64(z.Words[i])
	h, exp = z.Words[i]<<zeros, z.Exp+64*i-zeros
	if i--; i >= 0 && zeros > 0 {
		h |= z.Words[i] >> (64 - zeros)
	}
	low := i >= 0 && z.Words[i]<<zeros != 0
	for i--; i >= 0 && !low; i-- {
		low = z.Words[i] != 0
	}
	if low {
		h |= 1
	}
	return h, exp
}

// integer returns W.
func (z *Number) integer() *big.Int {
	return new(big.Int).SetBits(BigWords(make([]big.Word, 0, 64/bits.UintSize*len(z.Words)), z.Words))
}

// BigWords appends words of 64 bits, the least significant first, to those of a big.Int.
func BigWords(to []big.Word, words []uint64) []big.Word {
	for _, w := range words {
		to = append(to, big.Word(w))
		if bits.UintSize == 32 {
			to = append(to, big.Word(w>>32))
		}
	}
	return to
}

// Big returns z, which must be zero or finite, as a big.Float that holds it exactly.
func (z *Number) Big() *big.Float {
	if z.Class == Zero {
		return new(big.Float)
	}
	n := z.integer()
	if z.Neg {
		n.Neg(n)
	}
	f := new(big.Float).SetPrec(uint(max(1, n.BitLen()))).SetInt(n)
	return f.SetMantExp(f, z.Exp)
}

// Binary64 returns z as a binary64 number; false where it is none, or of several words.
func (z *Number) Binary64() (x float64, ok bool) {
	switch {
	case z.Class == NaN:
		return math.NaN(), true
	case z.Class == Infinite:
		x = math.Inf(1)
	case z.Class == Zero:
		return 0, true
	case len(z.Words) != 1 || z.Words[0] == 0:
		return 0, false
	default:
		zeros := bits.TrailingZeros64(z.Words[0])
		m, exp := z.Words[0]>>zeros, z.Exp+zeros
		if length := bits.Len64(m); length > 53 || exp < -1074 || exp+length > 1024 {
			return 0, false
		}
		x = math.Ldexp(float64(m), exp)
	}
	if z.Neg {
		x = -x
	}
	return x, true
}

// Value returns z as an exact value.
func (z *Number) Value() exact.Value {
	switch {
	case z.Class == NaN:
		return exact.Value{Class: exact.NaN}
	case z.Class == Infinite && z.Neg:
		return exact.Value{Class: exact.NegInf}
	case z.Class == Infinite:
		return exact.Value{Class: exact.PosInf}
	case z.Class == Zero:
		return exact.Value{}
	}
	return exact.FromBig(z.Big())
}
