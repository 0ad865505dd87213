package accurate

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"

	"mpbench/pkg/superacc"
)

// The layout of a marshalled Accumulator, which the package comment describes.
const (
	magic   = "mpbsum"
	version = 1

	atVersion = 6
	atClass   = 7
	atTerms   = 8
	atFirst   = 16
	atCount   = 20
	atWords   = 24
	sumBytes  = 4 // of the checksum

	// mostProduct is the number of bits of the largest product of two float64 in units of 2^-2148.
	mostProduct = 2*1024 - superacc.UnitExponent
)

// The classes of sums.
const (
	classFinite = iota
	classPosInf
	classNegInf
	classNaN
)

// AppendBinary appends the bytes of a to b. It implements [encoding.BinaryAppender] and does not fail.
//
// Result: equal bytes for equal sums of equally many terms, however they were computed. At most 564 bytes, most often
// about 50. Cost: 0.3 µs; no allocation if b has room (BenchmarkAccumulator).
func (a *Accumulator) AppendBinary(b []byte) ([]byte, error) {
	words, special := a.sum.Words()
	from, to := span(&words)
	start := len(b)
	b = append(b, magic...)
	b = append(b, version, classOf(special))
	b = binary.LittleEndian.AppendUint64(b, a.terms)
	b = binary.LittleEndian.AppendUint32(b, uint32(from))
	b = binary.LittleEndian.AppendUint32(b, uint32(to-from))
	for _, w := range words[from:to] {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return binary.LittleEndian.AppendUint32(b, crc32.ChecksumIEEE(b[start:])), nil
}

// MarshalBinary returns the bytes of a; see AppendBinary. It implements [encoding.BinaryMarshaler], which encoding/gob
// uses.
func (a *Accumulator) MarshalBinary() ([]byte, error) { return a.AppendBinary(nil) }

// UnmarshalBinary sets a to what was marshalled to b. It implements [encoding.BinaryUnmarshaler].
//
// An error is [ErrFormat], [ErrVersion] or [ErrChecksum], with what is wrong; a stays as it was. Bytes that it accepts
// are those that AppendBinary makes of the same sum, bit by bit. Cost: 0.2 µs; no allocation.
func (a *Accumulator) UnmarshalBinary(b []byte) error {
	words, special, terms, err := parse(b)
	if err != nil {
		return fmt.Errorf("accurate: %w", err)
	}
	a.Reset()
	a.sum.AddWords(&words, special)
	a.terms = terms
	return nil
}

// parse reads and checks marshalled bytes.
func parse(b []byte) (words [superacc.WordCount]uint64, special float64, terms uint64, err error) {
	fail := func(format string, args ...any) ([superacc.WordCount]uint64, float64, uint64, error) {
		return words, 0, 0, fmt.Errorf("%w: "+format, append([]any{ErrFormat}, args...)...)
	}
	switch {
	case len(b) < len(magic) || string(b[:len(magic)]) != magic:
		return fail("they do not begin with %q", magic)
	case len(b) < atWords+sumBytes:
		return fail("%d bytes are too few", len(b))
	case b[atVersion] != version:
		return words, 0, 0, fmt.Errorf("%w: %d, not %d", ErrVersion, b[atVersion], version)
	}
	from, count := binary.LittleEndian.Uint32(b[atFirst:]), binary.LittleEndian.Uint32(b[atCount:])
	if size := atWords + 8*uint64(count) + sumBytes; uint64(len(b)) != size {
		return fail("%d bytes, where %d words take %d", len(b), count, size)
	}
	end := len(b) - sumBytes
	if crc32.ChecksumIEEE(b[:end]) != binary.LittleEndian.Uint32(b[end:]) {
		return words, 0, 0, ErrChecksum
	}
	if uint64(from)+uint64(count) > superacc.WordCount {
		return fail("words %d to %d of %d", from, uint64(from)+uint64(count)-1, superacc.WordCount)
	}
	for i := range count {
		words[from+i] = binary.LittleEndian.Uint64(b[atWords+8*i:])
	}
	if count > 0 && words[from+count-1]>>63 != 0 {
		for i := from + count; i < superacc.WordCount; i++ {
			words[i] = math.MaxUint64
		}
	}
	terms = binary.LittleEndian.Uint64(b[atTerms:])
	class := b[atClass]
	switch low, high := span(&words); {
	case low != int(from) || high != int(from+count):
		return fail("words %d to %d, where %d to %d suffice", from, int(from+count)-1, low, high-1)
	case class > classNaN:
		return fail("a sum of the class %d", class)
	case class != classFinite && count > 0:
		return fail("an infinity or NaN with words")
	case terms > mostTerms:
		return fail("%d terms", terms)
	case terms == 0 && (class != classFinite || count > 0) || bitLen(&words) > mostProduct+bits.Len64(terms):
		return fail("a sum that %d terms do not have", terms)
	}
	return words, specials[class], terms, nil
}

// specials are the sums of the classes, 0 for a finite one.
var specials = [...]float64{classPosInf: math.Inf(1), classNegInf: math.Inf(-1), classNaN: math.NaN()}

func classOf(special float64) byte {
	switch {
	case special > 0:
		return classPosInf
	case special < 0:
		return classNegInf
	case special != special:
		return classNaN
	}
	return classFinite
}

// span returns which words, from from to to-1, an integer in two's complement needs: those below are 0, those above
// repeat its sign. It is 0, 0 for 0.
func span(words *[superacc.WordCount]uint64) (from, to int) {
	for from < len(words) && words[from] == 0 {
		from++
	}
	if from == len(words) {
		return 0, 0
	}
	to = len(words)
	sign := uint64(int64(words[to-1]) >> 63)
	for to-1 > from && words[to-1] == sign && words[to-2]>>63 == sign&1 {
		to--
	}
	return from, to
}

// bitLen returns the number of bits of an integer in two's complement, but for the sign.
func bitLen(words *[superacc.WordCount]uint64) int {
	sign := uint64(int64(words[len(words)-1]) >> 63)
	for i := len(words) - 1; i >= 0; i-- {
		if w := words[i] ^ sign; w != 0 {
			return 64*i + bits.Len64(w)
		}
	}
	return 0
}
