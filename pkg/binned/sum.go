package binned

import (
	"math"
	"math/bits"

	"mpbench/pkg/superacc"
)

// Bins.
const (
	width     = 40
	firstUnit = 985 // exponent of the unit of bin 0
	lastIndex = 51
	MaxFold   = 4
)

// Sum is a reproducible sum. [New] makes it; it is not safe for concurrent use.
//
// Infinities and NaN follow IEEE 754, as in [superacc.Accumulator]; the product of two finite numbers is infinite if
// it rounds to that. Fewer than 2^80 terms are safe on every input.
type Sum struct {
	fold                int
	top                 int // index of the first bin: that of the largest term
	bins                [MaxFold]integer
	posInf, negInf, nan bool
}

// integer is hi*2^64 + lo: what is in a bin, in its unit.
type integer struct {
	hi int64
	lo uint64
}

func (x *integer) add(y integer) {
	var carry uint64
	x.lo, carry = bits.Add64(x.lo, y.lo, 0)
	x.hi += y.hi + int64(carry)
}

// small returns an integer of 64 bits.
func small(x int64) integer { return integer{x >> 63, uint64(x)} }

// New returns an empty sum of fold 2 to [MaxFold].
func New(fold int) *Sum { return &Sum{fold: fold, top: lastIndex} }

// index returns the bin whose range a magnitude is in.
func index(magnitude float64) int {
	field := int(math.Float64bits(magnitude) >> 52)
	return min((2046-field)/width, lastIndex)
}

// raise makes bin i the first one, if it is not below that; what falls below the last one is dropped.
func (s *Sum) raise(i int) {
	if i >= s.top {
		return
	}
	var bins [MaxFold]integer
	if shift := s.top - i; shift < s.fold {
		copy(bins[shift:s.fold], s.bins[:])
	}
	s.top, s.bins = i, bins
}

// Add adds x.
func (s *Sum) Add(x float64) {
	if x-x != 0 {
		s.posInf, s.negInf, s.nan = s.posInf || x > 0, s.negInf || x < 0, s.nan || x != x
		return
	}
	magnitude := math.Abs(x)
	s.raise(index(magnitude))
	field := int(math.Float64bits(magnitude) >> 52)
	rest, exponent := int64(math.Float64bits(magnitude)&(1<<52-1)), max(field, 1)-1075
	if field > 0 {
		rest |= 1 << 52
	}
	if x < 0 {
		rest = -rest
	}
	for k := max(0, index(magnitude)-s.top); k < min(s.fold, lastIndex+1-s.top) && rest != 0; k++ {
		var slice int64
		slice, rest = cut(rest, firstUnit-width*(s.top+k)-exponent)
		s.bins[k].add(small(slice))
	}
}

// cut returns the multiple of 2^bits that is nearest to x, ties away from zero, in units of 2^bits, and what is left.
func cut(x int64, bits int) (slice, rest int64) {
	if bits <= 0 {
		return x << -bits, 0
	}
	half := int64(1) << (bits - 1)
	if x < 0 {
		slice = -((half - x) >> bits)
	} else {
		slice = (half + x) >> bits
	}
	return slice, x - slice<<bits
}

// Merge adds to s all that was added to t, which has the same fold.
func (s *Sum) Merge(t *Sum) {
	other := *t
	s.raise(other.top)
	other.raise(s.top)
	for k := range s.bins {
		s.bins[k].add(other.bins[k])
	}
	s.posInf, s.negInf, s.nan = s.posInf || t.posInf, s.negInf || t.negInf, s.nan || t.nan
}

// Float64 returns the sum of the bins, rounded to nearest even.
func (s *Sum) Float64() float64 {
	switch {
	case s.nan, s.posInf && s.negInf:
		return math.NaN()
	case s.posInf:
		return math.Inf(1)
	case s.negInf:
		return math.Inf(-1)
	}
	var total superacc.Accumulator
	for k := range min(s.fold, lastIndex+1-s.top) {
		b, unit := s.bins[k], math.Ldexp(1, firstUnit-width*(s.top+k))
		for i, part := range []float64{ // each is exact
			float64(uint32(b.lo)), float64(b.lo >> 32), float64(uint32(b.hi)), float64(b.hi >> 32),
		} {
			if part != 0 {
				total.AddProduct(math.Ldexp(part, 32*i), unit)
			}
		}
	}
	return total.Float64()
}
