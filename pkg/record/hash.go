package record

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"math"
	"math/big"
	"math/bits"
	"strconv"

	"mpbench/pkg/exact"
)

// hashBytes is the length of the short hashes: 64 bits, written as 16 hexadecimal digits.
const hashBytes = 8

func shortHash(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:hashBytes])
}

// NewCaseID returns the first 16 hexadecimal digits of the SHA-256 of a text that holds all that was asked for.
func NewCaseID(text string) string { return shortHash([]byte(text)) }

// ResultHash is the hash of a result while its numbers are added: the first 16 hexadecimal digits of the SHA-256 of
// their canonical texts, each followed by a newline. Equal results have equal hashes on every platform and for every
// method and format.
type ResultHash struct {
	hash hash.Hash
	text []byte
}

// NewResultHash returns the hash of no numbers.
func NewResultHash() *ResultHash { return &ResultHash{hash: sha256.New()} }

// Add adds a number.
func (h *ResultHash) Add(v exact.Value) {
	h.text = AppendHashed(h.text[:0], v)
	h.AddText(h.text)
}

// AddText adds numbers, as AppendHashed or AppendHashedFloat64 write them.
func (h *ResultHash) AddText(text []byte) { h.hash.Write(text) }

// AppendHashed appends what a hash is of: the canonical text of a number and a newline.
func AppendHashed(text []byte, v exact.Value) []byte { return append(appendCanonical(text, v), '\n') }

// AppendHashedFloat64 appends the same of a binary64 number.
func AppendHashedFloat64(text []byte, x float64) []byte {
	word := math.Float64bits(x)
	significand, exponent := word&(1<<52-1), int(word>>52&0x7ff)
	if exponent == 0x7ff || word<<1 == 0 {
		return AppendHashed(text, exact.FromFloat64(x))
	}
	if exponent > 0 {
		significand |= 1 << 52
		exponent--
	}
	if x < 0 {
		text = append(text, '-')
	}
	zeros := bits.TrailingZeros64(significand)
	text = strconv.AppendUint(append(text, "0x"...), significand>>zeros, 16)
	text = strconv.AppendInt(append(text, 'p'), int64(exponent-1074+zeros), 10)
	return append(text, '\n')
}

// Text returns the hash.
func (h *ResultHash) Text() string { return hex.EncodeToString(h.hash.Sum(nil)[:hashBytes]) }

// appendCanonical appends the one text that stands for an exact value: "0"; "+Inf"; "-Inf"; "NaN"; [-]0xHpE with
// an odd hexadecimal integer H and a decimal exponent E for H * 2^E; and [-]0xN/0xD in lowest terms for a
// number that is no integer times a power of two.
func appendCanonical(b []byte, v exact.Value) []byte {
	switch {
	case v.Class == exact.PosInf:
		return append(b, "+Inf"...)
	case v.Class == exact.NegInf:
		return append(b, "-Inf"...)
	case v.Class != exact.Finite:
		return append(b, "NaN"...)
	case v.Rat == nil || v.Rat.Sign() == 0:
		return append(b, '0')
	case v.Rat.Sign() < 0:
		b = append(b, '-')
	}
	num, den := new(big.Int).Abs(v.Rat.Num()), v.Rat.Denom()
	down := den.TrailingZeroBits()
	if den.BitLen() != int(down)+1 {
		b = append(num.Append(append(b, "0x"...), 16), "/0x"...)
		return den.Append(b, 16)
	}
	up := num.TrailingZeroBits()
	b = num.Rsh(num, up).Append(append(b, "0x"...), 16)
	b = append(b, 'p')
	return big.NewInt(int64(up)-int64(down)).Append(b, 10)
}
