package superacc

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"

	"mpbench/pkg/exact"
)

// format is a binary floating-point format of IEEE 754.
type format struct {
	precision int
	least     int // exponent of the last place of a subnormal number
}

var (
	binary64 = format{53, -1074}
	binary32 = format{24, -149}
)

// special returns the result of a sum with a special term, and whether there was one. The rest is in a.fixed then.
func (a *Accumulator) special() (float64, bool) {
	a.settle()
	switch {
	case a.nan:
		return math.NaN(), true
	case a.posInf:
		return math.Inf(1), true
	case a.negInf:
		return math.Inf(-1), true
	}
	return 0, false
}

// Float64 returns the sum rounded to the nearest binary64 number, ties to even: gradual underflow below 2^-1022, an
// infinity from 2^1024 - 2^970 on.
func (a *Accumulator) Float64() float64 { return a.round(binary64) }

// Float32 returns the sum rounded once to the nearest binary32 number, ties to even: not twice, through binary64.
func (a *Accumulator) Float32() float32 { return float32(a.round(binary32)) }

// round returns the sum as a number of the format, or as a power of two beyond its largest number.
func (a *Accumulator) round(to format) float64 {
	if v, ok := a.special(); ok {
		return v
	}
	var words [magnitudeSize]uint64
	negative, count := a.fixed.magnitude(&words)
	length := bitLen(words[:count])
	// The last place of the result; the unit of words is far below that of any subnormal number.
	last := max(unitExponent+length-to.precision, to.least)
	m, half, more := bitsFrom(words[:], uint(last-unitExponent))
	if half && (more || m&1 != 0) {
		m++ // to 2^precision at most
	}
	x := math.Ldexp(float64(m), last) // exact, or infinite
	if negative && m != 0 {
		return -x
	}
	return x
}

// bitLen returns the number of bits of a magnitude.
func bitLen(words []uint64) int {
	for i := len(words) - 1; i >= 0; i-- {
		if words[i] != 0 {
			return 64*i + bits.Len64(words[i])
		}
	}
	return 0
}

// bitsFrom returns floor(words / 2^shift), which must be below 2^64, the bit below it, and whether a lower one is set.
func bitsFrom(words []uint64, shift uint) (m uint64, half, more bool) {
	i, r := shift/64, shift%64
	m = words[i] >> r
	if i+1 < uint(len(words)) {
		m |= words[i+1] << (64 - r)
	}
	below := words[i] << (64 - r) // the r bits below, at the top; a shift by 64 gives 0
	if r == 0 {
		i--
		below = words[i]
	}
	half, more = below>>63 != 0, below<<1 != 0
	for _, w := range words[:i] {
		more = more || w != 0
	}
	return m, half, more
}

// integer returns the finite sum in the unit 2^unitExponent.
func (a *Accumulator) integer() *big.Int {
	var words [magnitudeSize]uint64
	negative, to := a.fixed.magnitude(&words)
	var buf [8 * magnitudeSize]byte
	for i, w := range words[:to] {
		binary.BigEndian.PutUint64(buf[len(buf)-8*(i+1):], w)
	}
	x := new(big.Int).SetBytes(buf[len(buf)-8*to:])
	if negative {
		x.Neg(x)
	}
	return x
}

// Round returns the sum correctly rounded to prec bits, ties to even, for any exponent. 0 counts as 1. NaN gives nil.
func (a *Accumulator) Round(prec uint) *big.Float {
	z := new(big.Float).SetPrec(max(prec, 1)).SetMode(big.ToNearestEven)
	switch v, special := a.special(); {
	case special && v != v:
		return nil
	case special:
		return z.SetInf(v < 0)
	}
	z.SetInt(a.integer())
	return z.SetMantExp(z, unitExponent)
}

// Value returns the sum itself.
func (a *Accumulator) Value() exact.Value {
	if v, special := a.special(); special {
		return exact.FromFloat64(v)
	}
	x := a.integer()
	if x.Sign() == 0 {
		return exact.FromRat(new(big.Rat))
	}
	// removed here, as big.Rat would look for the common factor by a general algorithm
	shift := min(x.TrailingZeroBits(), -unitExponent)
	x.Rsh(x, shift)
	return exact.FromRat(new(big.Rat).SetFrac(x, new(big.Int).Lsh(big.NewInt(1), -unitExponent-shift)))
}
