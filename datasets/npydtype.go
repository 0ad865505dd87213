package datasets

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"strings"
)

// npyDtype is a type of numbers in .npy files: the letter f, i or u (float, integer, unsigned) and the bytes of a
// number, in an order.
type npyDtype struct {
	kind  byte
	width int
	order binary.ByteOrder
}

// dtypes are the types without the order of their bytes.
const dtypes = "f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8"

// wantDtypes says which types there are.
const wantDtypes = "(want floats or integers of at most 64 bits: f2 f4 f8, i1 to i8 or u1 to u8)"

// parseDtype reads a descr such as "<f8"; ok is false for other types.
func parseDtype(descr string) (d npyDtype, ok bool) {
	if len(descr) != 3 || !strings.Contains(dtypes, descr[1:]) {
		return d, false
	}
	d = npyDtype{descr[1], int(descr[2] - '0'), binary.LittleEndian}
	switch descr[0] {
	case '>':
		d.order = binary.BigEndian
	case '<':
	default:
		return d, descr[0] == '|' && d.width == 1
	}
	return d, true
}

// String returns the type's name in NumPy, with the order of its bytes.
func (d npyDtype) String() string {
	text := d.name()
	switch {
	case d.width == 1:
	case d.order == binary.ByteOrder(binary.BigEndian):
		text += ", big-endian"
	default:
		text += ", little-endian"
	}
	return text
}

func (d npyDtype) name() string {
	family := map[byte]string{'f': "float", 'i': "int", 'u': "uint"}[d.kind]
	return family + map[int]string{1: "8", 2: "16", 4: "32", 8: "64"}[d.width]
}

// mayBeWide tells whether there are numbers of the type that are no float64.
func (d npyDtype) mayBeWide() bool { return d.kind != 'f' && d.width == 8 }

// float64 returns the number of an encoding, exactly; an integer of 64 bits is rounded.
func (d npyDtype) float64(word uint64) float64 {
	switch {
	case d.kind == 'u':
		return float64(word)
	case d.kind == 'i':
		return float64(d.signed(word))
	case d.width == 2:
		return float16(uint16(word))
	case d.width == 4:
		return float64(math.Float32frombits(uint32(word)))
	}
	return math.Float64frombits(word)
}

// signed extends the sign of an integer.
func (d npyDtype) signed(word uint64) int64 {
	shift := 64 - 8*d.width
	return int64(word<<shift) >> shift
}

// word reads the encoding of a number.
func (d npyDtype) word(b []byte) uint64 {
	switch d.width {
	case 1:
		return uint64(b[0])
	case 2:
		return uint64(d.order.Uint16(b))
	case 4:
		return uint64(d.order.Uint32(b))
	}
	return d.order.Uint64(b)
}

// rational returns an integer of 64 bits, and whether it is no float64.
func (d npyDtype) rational(word uint64) (*big.Rat, bool) {
	n, magnitude := new(big.Int).SetUint64(word), word
	if v := int64(word); d.kind == 'i' && v < 0 {
		n.SetInt64(v)
		magnitude = -word
	}
	return new(big.Rat).SetInt(n), bits.Len64(magnitude)-bits.TrailingZeros64(magnitude) > 53 && magnitude != 0
}

// float16 returns the number of a binary16 encoding: a sign, 5 bits of exponent with bias 15, 10 bits of fraction.
func float16(word uint16) float64 {
	exponent, fraction := int(word>>10&31), float64(word&1023)
	x := 0.0
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		x = math.Inf(1)
	case exponent == 0:
		x = math.Ldexp(fraction, -24)
	default:
		x = math.Ldexp(1024+fraction, exponent-25)
	}
	if word>>15 != 0 {
		return -x
	}
	return x
}
