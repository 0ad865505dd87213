// Interval evaluations, as pkg/rns/interval.go has them: lo * 2^(exp-64) <= X/M <= up * 2^(exp-64). Zero exactly for X
// = 0; otherwise 0 < lo <= up and up >= 2^63.
#ifndef MPBENCH_INTERVAL_CUH
#define MPBENCH_INTERVAL_CUH

#include "portable.cuh"

struct Interval {
	u64 lo, up;
	i32 exp;
	i32 unused;
};

MP_DEVICE bool isZero(Interval v) { return v.up == 0; }

// tight tells whether the relative width is at most 2^-32, as intervals that are kept have it.
MP_DEVICE bool tight(Interval v) { return v.lo > 0 && v.up - v.lo <= v.up >> 32; }

// shifted returns v * 2^k.
MP_DEVICE Interval shifted(Interval v, i64 k) { return {v.lo, v.up, (i32)(v.exp + k)}; }

// normalized restores up >= 2^63 for lo <= up, up > 0.
MP_DEVICE Interval normalized(Interval v) {
	u32 shift = leadingZeros(v.up);
	return {v.lo << shift, v.up << shift, v.exp - (i32)shift};
}

// lowered gives v the exponent exp >= v.exp, rounding outwards.
MP_DEVICE Interval lowered(Interval v, i32 exp) {
	u32 shift = (u32)(exp - v.exp);
	if (shift >= 64) return {0, 1, exp};
	return {v.lo >> shift, ((v.up - 1) >> shift) + 1, exp};
}

// sumOf encloses the sum of two nonzero numbers.
MP_DEVICE Interval sumOf(Interval v, Interval w) {
	i32 exp = v.exp > w.exp ? v.exp : w.exp;
	v = lowered(v, exp), w = lowered(w, exp);
	u64 lo = v.lo + w.lo, up = v.up + w.up;
	if (up >= v.up) return {lo, up, exp};
	u64 half = lo >> 1; // the upper sum is 2^64 + up
	if (lo < v.lo) half |= 1ull << 63;
	return {half, 1ull << 63 | ((up >> 1) + (up & 1)), exp + 1};
}

// order returns +1 if v is certainly greater than w, -1 if it is certainly less, 0 if they overlap; both nonzero.
MP_DEVICE int order(Interval v, Interval w) {
	i32 exp = v.exp > w.exp ? v.exp : w.exp;
	v = lowered(v, exp), w = lowered(w, exp);
	return v.lo > w.up ? 1 : v.up < w.lo ? -1 : 0;
}

// differenceOf encloses v - w, where v is certainly greater.
MP_DEVICE Interval differenceOf(Interval v, Interval w) {
	i32 exp = v.exp > w.exp ? v.exp : w.exp;
	v = lowered(v, exp), w = lowered(w, exp);
	return normalized({v.lo - w.up, v.up - w.lo, exp});
}

// mulUp returns ceil(x*y / 2^64), at most 2^64 - 1.
MP_DEVICE u64 mulUp(u64 x, u64 y) { return mulHigh(x, y) + (x * y != 0); }

// productOf encloses v * w * M, the interval of a product of significands, for M in (mantissa + [0, 1]) * 2^(log2M -
// 63).
MP_DEVICE Interval productOf(Interval v, Interval w, u64 mantissa, i32 log2M) {
	u64 up = mulUp(mulUp(v.up, w.up), mantissa);
	up += up != ~0ull;
	return normalized({mulHigh(mulHigh(v.lo, w.lo), mantissa), up, v.exp + w.exp + log2M + 1});
}

// widened encloses every Z' with |Z' - Z| <= 1 for a Z >= 2^(p-1) in v; unit is 2^(65-p), at least 1. The result is
// not tight where the width does not suffice.
MP_DEVICE Interval widened(Interval v, u64 unit) {
	if (unit >= v.lo) return {0, 1, 0};
	u64 up = v.up + unit;
	if (up < v.up) return {(v.lo - unit) >> 1, (1ull << 63) + (up >> 1) + 1, v.exp + 1};
	return {v.lo - unit, up, v.exp};
}

// Bounds on the number of bits of X.
struct BitBounds {
	i32 least, most;
};

MP_DEVICE i32 length128(u64 high, u64 low) {
	return high ? 128 - (i32)leadingZeros(high) : 64 - (i32)leadingZeros(low);
}

// bitBounds bounds bits(X) for an X > 0 with the interval v, M as in productOf.
MP_DEVICE BitBounds bitBounds(Interval v, u64 mantissa, i32 log2M) {
	i32 scale = v.exp + log2M + 1 - 128;
	u64 low = v.up * mantissa, high = mulHigh(v.up, mantissa); // v.up * (mantissa + 1) is below 2^128
	u64 sum = low + v.up;
	high += sum < low;
	return {length128(mulHigh(v.lo, mantissa), v.lo * mantissa) + scale, length128(high, sum) + scale};
}

#endif
