package exact

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
)

// Layout of a binary64 pattern.
const (
	fractionBits = 52
	hiddenBit    = 1 << fractionBits
	fractionMask = hiddenBit - 1
	exponentMask = 0x7ff
	signBuckets  = 1 << 12 // one bucket for each pair of sign and exponent field
)

// Sum accumulates terms without any rounding. The zero value is an empty sum, ready for use; it must not be copied
// after first use and is not safe for concurrent use.
//
// # How it works
//
// The top 12 bits of a binary64 number, sign and exponent field, choose one of 4096 buckets; its 53-bit significand is
// added to that bucket's 128-bit integer. That is one addition per term, with a carry into the upper 64 bits about
// once in 2048 terms, and no other work until the value is asked for. A bucket holds 2^75 terms of the largest
// significand. When asked, the buckets are shifted to their places in two fixed-point integers, one for each sign, of
// [FixedPointBits] = 2240 bits over the range 2^-1074 ... 2^1165: 2098 bits for the finite binary64 numbers and 142 of
// headroom. The count of terms, an int, is therefore the only limit: more than 2^60 terms are safe on every input.
//
// Keeping the signs apart gives the exact sum of magnitudes for nothing ([Sum.Abs]), and makes the result independent
// of the order of the terms and of how they were split over several accumulators: everything is integer addition.
//
// Rationals that are no binary64 numbers ([Sum.AddRat]) are kept over one common denominator. A product of two
// binary64 numbers can be added as such, or as its two halves by an error-free transformation where those do not
// underflow.
//
// This is the large superaccumulator of R. M. Neal, "Fast exact summation using small and large superaccumulators",
// arXiv 1505.05571 (2015), section 4, with two-word buckets in the place of counts.
type Sum struct {
	n        int
	buckets  *buckets // nil until a finite float64 is added
	wide     *wideSum // nil until a rational is added
	specials specials
}

// buckets holds, for each of the 4096 leading bit patterns of a finite term, the integer sum hi*2^64 + lo of the
// significands in units of that exponent's last place.
type buckets struct {
	lo, hi [signBuckets]uint64
}

// Add adds x.
func (s *Sum) Add(x float64) { s.AddSlice([]float64{x}) }

// AddSlice adds every element of xs.
func (s *Sum) AddSlice(xs []float64) {
	if len(xs) == 0 {
		return
	}
	if s.buckets == nil {
		s.buckets = new(buckets)
	}
	s.n += len(xs)
	b := s.buckets
	for _, x := range xs {
		bits := math.Float64bits(x)
		i := bits >> fractionBits
		m := bits&fractionMask | hiddenBit
		if (i+1)&exponentMask <= 1 { // exponent field all zeros or all ones
			if i&exponentMask != 0 {
				s.specials.add(x)
				continue
			}
			m &^= hiddenBit // subnormal or zero
		}
		sum := b.lo[i] + m
		b.lo[i] = sum
		if sum < m {
			b.hi[i]++
		}
	}
}

// AddRat adds x, exactly. x is not kept.
func (s *Sum) AddRat(x *big.Rat) {
	s.n++
	if s.wide == nil {
		s.wide = newWideSum()
	}
	s.wide.add(x)
}

// AddValue adds a number or special value.
func (s *Sum) AddValue(v Value) {
	if v.Class == Finite {
		s.AddRat(v.Number())
		return
	}
	s.specials.add(v.Float64())
	s.n++
}

// Merge adds to s all that was added to t, which stays as it is.
func (s *Sum) Merge(t *Sum) {
	s.n += t.n
	s.specials.merge(t.specials)
	if t.buckets != nil {
		if s.buckets == nil {
			s.buckets = new(buckets)
		}
		s.buckets.merge(t.buckets)
	}
	if t.wide != nil {
		if s.wide == nil {
			s.wide = newWideSum()
		}
		s.wide.merge(t.wide)
	}
}

// N returns the number of terms added.
func (s *Sum) N() int { return s.n }

// Value returns the exact sum of the terms: 0 for no terms, NaN if a term is NaN or if there are infinities of both
// signs, an infinity if there are infinities of its sign only.
func (s *Sum) Value() Value {
	if c := s.specials.sum(); c != Finite {
		return Value{Class: c}
	}
	pos, neg := s.fixed()
	r := dyadic(pos.Sub(pos, neg), leastExp)
	if s.wide != nil {
		r.Add(r, s.wide.value(s.wide.sum))
	}
	return Value{Rat: r}
}

// Abs returns the exact sum of the magnitudes of the terms: NaN if a term is NaN, +Inf if one is infinite.
func (s *Sum) Abs() Value { return s.specials.magnitude(s.finiteAbs()) }

// finiteAbs returns the exact sum of the magnitudes of the finite terms.
func (s *Sum) finiteAbs() Value {
	pos, neg := s.fixed()
	r := dyadic(pos.Add(pos, neg), leastExp)
	if s.wide != nil {
		r.Add(r, s.wide.value(s.wide.abs))
	}
	return Value{Rat: r}
}

// specials are the infinities and NaN among the terms of a sum.
type specials struct{ posInf, negInf, nan bool }

func (s *specials) add(x float64) {
	switch {
	case x != x:
		s.nan = true
	case x > 0:
		s.posInf = true
	default:
		s.negInf = true
	}
}

func (s *specials) merge(t specials) {
	s.posInf, s.negInf, s.nan = s.posInf || t.posInf, s.negInf || t.negInf, s.nan || t.nan
}

// sum returns the class of the sum.
func (s specials) sum() Class {
	switch {
	case s.nan, s.posInf && s.negInf:
		return NaN
	case s.posInf:
		return PosInf
	case s.negInf:
		return NegInf
	}
	return Finite
}

// magnitude returns the sum of magnitudes, of which finite is that of the finite terms.
func (s specials) magnitude(finite Value) Value {
	switch {
	case s.nan:
		return Value{Class: NaN}
	case s.posInf, s.negInf:
		return Value{Class: PosInf}
	}
	return finite
}

// wideSum adds rationals over one common denominator, the least common multiple of those seen so far. The denominators
// of decimals are divisors of a power of ten, so after a few terms the denominator no longer changes and a term costs
// one division and one multiplication, without the greatest common divisor that big.Rat.Add takes each time.
type wideSum struct {
	sum, abs *big.Int // numerators of the sum and of the sum of magnitudes
	den      *big.Int

	quo, rem big.Int // scratch
}

func newWideSum() *wideSum { return &wideSum{sum: new(big.Int), abs: new(big.Int), den: big.NewInt(1)} }

// add adds x.
func (w *wideSum) add(x *big.Rat) {
	term := w.bring(x.Num(), x.Denom())
	w.sum.Add(w.sum, term)
	w.abs.Add(w.abs, term.Abs(term))
}

func (w *wideSum) merge(t *wideSum) {
	w.sum.Add(w.sum, w.bring(t.sum, t.den))
	w.abs.Add(w.abs, w.bring(t.abs, t.den))
}

// bring makes w.den a multiple of den and returns num/den as a numerator over it, in scratch memory.
func (w *wideSum) bring(num, den *big.Int) *big.Int {
	w.quo.QuoRem(w.den, den, &w.rem)
	if w.rem.Sign() != 0 {
		w.extend(den)
		w.quo.Quo(w.den, den)
	}
	return w.quo.Mul(&w.quo, num)
}

// extend replaces w.den by its least common multiple with den.
func (w *wideSum) extend(den *big.Int) {
	gcd := new(big.Int).GCD(nil, nil, w.den, den)
	factor := gcd.Quo(den, gcd)
	w.den.Mul(w.den, factor)
	w.sum.Mul(w.sum, factor)
	w.abs.Mul(w.abs, factor)
}

// value returns num over the common denominator, in lowest terms.
func (w *wideSum) value(num *big.Int) *big.Rat { return new(big.Rat).SetFrac(num, w.den) }

// FixedPointBits is the width of the fixed-point integers of a Sum, one for each sign, in units of 2^-1074.
const FixedPointBits = fixedLimbs * 64

const (
	fixedLimbs = 35
	leastExp   = -1074 // exponent of the unit: every finite binary64 number is an integer multiple of 2^leastExp
)

func (b *buckets) merge(t *buckets) {
	for i := range b.lo {
		var carry uint64
		b.lo[i], carry = bits.Add64(b.lo[i], t.lo[i], 0)
		b.hi[i], _ = bits.Add64(b.hi[i], t.hi[i], carry)
	}
}

// fixed resolves the buckets to the sums of positive terms and of magnitudes of negative ones, in units of 2^-1074.
func (s *Sum) fixed() (pos, neg *big.Int) {
	if s.buckets == nil {
		return new(big.Int), new(big.Int)
	}
	half := signBuckets / 2
	b := s.buckets
	return resolve(b.lo[:half], b.hi[:half]), resolve(b.lo[half:], b.hi[half:])
}

// resolve returns the sum over the exponent fields e of (hi[e]*2^64 + lo[e]) * 2^max(e-1, 0). Fields 0 (subnormal) and
// 1 have the same unit, 2^-1074.
//
// The highest limb touched: e = 2046 shifts by 2045 = 31*64 + 61, so a bucket spans limbs 31 to 34 where the last may
// receive a carry; a bucket below 2^128 ends below 2^2173, and the sum of all below 2^2174.
func resolve(lo, hi []uint64) *big.Int {
	var limbs [fixedLimbs]uint64
	for e := range lo {
		if lo[e]|hi[e] != 0 {
			addShifted(limbs[:], hi[e], lo[e], uint(max(e-1, 0)))
		}
	}
	return intOf(limbs[:])
}

// intOf returns the integer of 64-bit limbs, the least significant first.
func intOf(limbs []uint64) *big.Int {
	buf := make([]byte, 8*len(limbs))
	for i, limb := range limbs {
		binary.BigEndian.PutUint64(buf[len(buf)-8*(i+1):], limb)
	}
	return new(big.Int).SetBytes(buf)
}

// addShifted adds (hi*2^64 + lo) * 2^shift to limbs, the least significant first.
func addShifted(limbs []uint64, hi, lo uint64, shift uint) {
	i, r := shift/64, shift%64
	var carry uint64
	limbs[i], carry = bits.Add64(limbs[i], lo<<r, 0)
	limbs[i+1], carry = bits.Add64(limbs[i+1], hi<<r|lo>>(64-r), carry) // a shift by 64 gives 0
	limbs[i+2], carry = bits.Add64(limbs[i+2], hi>>(64-r), carry)
	for k := i + 3; carry != 0; k++ {
		limbs[k], carry = bits.Add64(limbs[k], 0, carry)
	}
}
