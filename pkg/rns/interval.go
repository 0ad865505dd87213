package rns

import "math/bits"

// Interval is an interval evaluation I(X/M) with extended range:
//
//	Lo * 2^(Exp-64) <= X/M <= Up * 2^(Exp-64).
//
// It is zero exactly for X = 0; otherwise 0 < Lo <= Up and Up >= 2^63.
type Interval struct {
	Lo, Up uint64
	Exp    int32
}

// maxWidth: an interval with (Up - Lo) > Up >> maxWidth is too wide to keep and is evaluated anew.
const maxWidth = 32

// IsZero reports whether the interval is that of X = 0.
func (v Interval) IsZero() bool { return v.Up == 0 }

// tight reports whether the interval may be kept: its lower bound is positive and its relative width at most 2^-32.
func (v Interval) tight() bool { return v.Lo > 0 && v.Up-v.Lo <= v.Up>>maxWidth }

// shifted returns v * 2^k, exactly.
func (v Interval) shifted(k int) Interval {
	v.Exp += int32(k)
	return v
}

// normalized restores Up >= 2^63 for Lo <= Up, Up > 0.
func (v Interval) normalized() Interval {
	shift := bits.LeadingZeros64(v.Up)
	return Interval{v.Lo << shift, v.Up << shift, v.Exp - int32(shift)}
}

// loweredTo returns v's bounds at the exponent exp >= v.Exp, rounded outwards.
func (v Interval) loweredTo(exp int32) (lo, up uint64) {
	shift := uint(exp - v.Exp)
	if shift >= 64 {
		return 0, 1
	}
	return v.Lo >> shift, (v.Up-1)>>shift + 1
}

// add returns an enclosure of the sum of two nonzero numbers.
func (v Interval) add(w Interval) Interval {
	if v.Exp < w.Exp {
		v, w = w, v
	}
	lo, up := w.loweredTo(v.Exp)
	lo += v.Lo // carries only if the next line does
	up, carry := bits.Add64(up, v.Up, 0)
	if carry == 0 {
		return Interval{lo, up, v.Exp}
	}
	return halved(lo, v.Lo, up, v.Exp)
}

// halved finishes add after a carry out of the upper bound: lo and up are the low words of the sums,
// addend is a term of the lower one.
func halved(lo, addend, up uint64, exp int32) Interval {
	half := lo >> 1
	if lo < addend { // the lower bound carried too
		half |= 1 << 63
	}
	// The upper sum is 2^64 + up with up <= 2^64 - 2; round its half upwards.
	return Interval{half, 1<<63 | (up+1)>>1, exp + 1}
}

// compare returns +1 if v is certainly greater than w, -1 if it is certainly less, 0 if they overlap. None is 0.
func (v Interval) compare(w Interval) int {
	if v.Exp < w.Exp {
		return -w.compare(v)
	}
	lo, up := w.loweredTo(v.Exp)
	switch {
	case v.Lo > up:
		return 1
	case v.Up < lo:
		return -1
	}
	return 0
}

// sub returns an enclosure of v - w, where v is certainly greater than w.
func (v Interval) sub(w Interval) Interval {
	exp := max(v.Exp, w.Exp)
	vlo, vup := v.loweredTo(exp)
	wlo, wup := w.loweredTo(exp)
	return Interval{vlo - wup, vup - wlo, exp}.normalized()
}

// mulRange returns an enclosure of v * w * M: the interval of the product of two significands.
func (b *Base) mulRange(v, w Interval) Interval {
	lo, _ := bits.Mul64(v.Lo, w.Lo)
	lo, _ = bits.Mul64(lo, b.rangeMant)
	up := mulUp(mulUp(v.Up, w.Up), b.rangeMant)
	up = addSaturated(up, 1) // M's mantissa is below rangeMant + 1
	// v*w*M = (v.Lo w.Lo / 2^128) (rangeMant / 2^64) * 2^(v.Exp + w.Exp + F + 1)
	return Interval{lo, up, v.Exp + w.Exp + int32(b.log2M) + 1}.normalized()
}

// mulUp returns ceil(x*y / 2^64), at most 2^64 - 1.
func mulUp(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	if lo != 0 {
		hi++
	}
	return hi
}

func addSaturated(x, y uint64) uint64 {
	sum, carry := bits.Add64(x, y, 0)
	if carry != 0 {
		return ^uint64(0)
	}
	return sum
}

// bitBounds returns numbers of bits between which bits(X) lies, given the interval of X > 0.
func (b *Base) bitBounds(v Interval) (least, most int) {
	scale := int(v.Exp) + b.log2M + 1
	hi, lo := bits.Mul64(v.Lo, b.rangeMant)
	least = len128(hi, lo) - 128 + scale
	hi, lo = bits.Mul64(v.Up, b.rangeMant)
	lo, carry := bits.Add64(lo, v.Up, 0) // Up * (rangeMant + 1), below 2^128
	most = len128(hi+carry, lo) - 128 + scale
	return least, most
}

func len128(hi, lo uint64) int {
	if hi != 0 {
		return 64 + bits.Len64(hi)
	}
	return bits.Len64(lo)
}
