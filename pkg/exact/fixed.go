package exact

import (
	"encoding/binary"
	"math/big"
	"math/bits"
)

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
