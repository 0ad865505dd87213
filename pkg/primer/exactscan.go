package primer

import (
	"math"
	"math/bits"

	"mpbench/pkg/superacc"
)

// scanExact rounds the exact sum of x_0 to x_i for every i: in 128 bits of fixed point if all sums fit, and otherwise
// in an accumulator of all bits that there are.
func scanExact[T Number](c Combiner[T], y, x []T, exclusive bool, _ int) {
	unit, width := FixedUnit(x)
	if width > FixedBits {
		scanAccumulated(y, x, exclusive)
		return
	}
	var sum fixed128
	precision := precisionOf[T]()
	for i, v := range x {
		before := sum
		sum.add(float64(v), unit)
		if exclusive {
			y[i] = T(before.round(unit, precision))
		} else {
			y[i] = T(sum.round(unit, precision))
		}
	}
}

// scanAccumulated is scanExact for any numbers.
func scanAccumulated[T Number](y, x []T, exclusive bool) {
	var sum superacc.Accumulator
	round := func() T { return T(sum.Float64()) }
	if precisionOf[T]() == 24 {
		round = func() T { return T(sum.Float32()) }
	}
	for i, v := range x {
		if exclusive {
			y[i] = round()
		}
		if sum.Add(float64(v)); !exclusive {
			y[i] = round()
		}
	}
}

func precisionOf[T Number]() uint {
	if TypeName[T]() == "float32" {
		return 24
	}
	return 53
}

// FixedBits are those of exact sums in 128 bits of fixed point, without a sign.
const FixedBits = 126

// FixedUnit returns the exponent of a unit of which all numbers are multiples, and a number of bits such that the sum
// of their magnitudes is below 2^width units; more than FixedBits if one is infinite or NaN.
func FixedUnit[T Number](x []T) (unit, width int) {
	low, high := math.MaxInt, math.MinInt
	for _, v := range x {
		b := math.Float64bits(float64(v)) &^ (1 << 63)
		switch e := int(b >> 52); {
		case b == 0:
		case e == 0x7ff:
			return 0, math.MaxInt
		default:
			// the significand as an integer, times 2^(e-1075)
			m := b&(1<<52-1) | 1<<52
			if e == 0 {
				m, e = b, 1
			}
			low = min(low, e-1075+bits.TrailingZeros64(m))
			high = max(high, e-1075+bits.Len64(m))
		}
	}
	if low > high {
		return 0, 0 // zeros
	}
	return low, high - low + bits.Len(uint(len(x)))
}

// fixed128 is an integer of 128 bits in two's complement.
type fixed128 struct{ hi, lo uint64 }

// add adds a multiple of 2^unit.
func (f *fixed128) add(x float64, unit int) {
	if x == 0 {
		return
	}
	b := math.Float64bits(x)
	m, e := b&(1<<52-1)|1<<52, int(b>>52&0x7ff)
	if e == 0 {
		m, e = b&(1<<52-1), 1
	}
	var hi, lo uint64
	if shift := e - 1075 - unit; shift >= 0 {
		hi, lo = shiftLeft(m, uint(shift))
	} else {
		lo = m >> -shift // zeros
	}
	var carry uint64
	if x > 0 {
		f.lo, carry = bits.Add64(f.lo, lo, 0)
		f.hi, _ = bits.Add64(f.hi, hi, carry)
	} else {
		f.lo, carry = bits.Sub64(f.lo, lo, 0)
		f.hi, _ = bits.Sub64(f.hi, hi, carry)
	}
}

func shiftLeft(m uint64, by uint) (hi, lo uint64) {
	if by >= 64 {
		return m << (by - 64), 0
	}
	return m >> (64 - by), m << by // a shift by 64 gives 0
}

// round returns the number times 2^unit, rounded to so many bits, to nearest, ties to even. It has no bits below those
// of subnormal numbers, so that the result is right where it is one.
func (f *fixed128) round(unit int, precision uint) float64 {
	hi, lo := f.hi, f.lo
	negative := hi>>63 != 0
	if negative {
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	length := uint(bits.Len64(lo))
	if hi != 0 {
		length = 64 + uint(bits.Len64(hi))
	}
	drop := max(length, precision) - precision
	m := lo>>drop | hi<<(64-drop) | hi>>(drop-64) // shifts by 64 and more give 0
	if drop > 0 {
		m += roundUp(hi, lo, drop, m)
	}
	x := scaled(m, unit+int(drop))
	if negative {
		return -x
	}
	return x
}

// scaled returns m * 2^e, of at most 2^53.
func scaled(m uint64, e int) float64 {
	if e < -1022 || e > 1023-53 {
		return math.Ldexp(float64(m), e)
	}
	return float64(m) * math.Float64frombits(uint64(e+1023)<<52) // exact: a normal number or 0
}

// roundUp returns 1 if the bits below bit drop make m one more.
func roundUp(hi, lo uint64, drop uint, m uint64) uint64 {
	at := drop - 1
	half, below := lo>>at&1, lo&(1<<at-1)
	if at >= 64 {
		half, below = hi>>(at-64)&1, lo|hi&(1<<(at-64)-1)
	}
	if half == 1 && (below != 0 || m&1 == 1) {
		return 1
	}
	return 0
}
