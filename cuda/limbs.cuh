// Integers of 28-bit limbs in shared memory, least significant limb first. One warp works on one integer.
#ifndef MPBENCH_LIMBS_CUH
#define MPBENCH_LIMBS_CUH

#include "modular.cuh"

// carry brings the limbs v, signed words of magnitude below 2^62, to 28 bits: lane l takes a contiguous part, and what its last limb carries goes
// to the next lane until nothing is left to carry. What exceeds the last limb is dropped, so a negative integer becomes its two's
// complement. T is i64 or i32.
template <class T> MP_DEVICE void carry(T *v, u32 n, u32 lane) {
	u32 part = (n + 31) / 32, from = lane * part, to = from + part < n ? from + part : n;
	T c = 0;
	for (u32 i = from; i < to; i++) {
		T t = v[i] + c;
		v[i] = t & (T)limbMask;
		c = t >> limbBits;
	}
	for (;;) {
		u64 below = shuffle(allLanes, (u64)(i64)c, lane - 1);
		c = lane > 0 && from < n ? (T)(i64)below : 0;
		if (!ballot(allLanes, c != 0)) break;
		for (u32 i = from; i < to && c != 0; i++) {
			T t = v[i] + c;
			v[i] = t & (T)limbMask;
			c = t >> limbBits;
		}
	}
	warpSync(allLanes);
}

// magnitude replaces the integer in two's complement by its magnitude and returns whether it was negative.
template <class T> MP_DEVICE bool magnitude(T *v, u32 n, u32 lane) {
	bool negative = v[n - 1] >> (limbBits - 1) & 1;
	warpSync(allLanes);
	if (!negative) return false;
	for (u32 i = lane; i < n; i += 32) v[i] = (T)(limbMask - (u32)v[i]) + (i == 0 ? 1 : 0);
	warpSync(allLanes);
	carry(v, n, lane);
	return true;
}

// bitLength returns the number of bits of the integer, all of whose limbs have 28 bits.
template <class T> MP_DEVICE u32 bitLength(const T *v, u32 n, u32 lane) {
	u32 best = 0;
	for (u32 i = lane; i < n; i += 32)
		if (v[i] != 0) best = i * limbBits + 32 - leadingZeros((u32)v[i]);
	for (u32 d = 16; d; d /= 2) {
		u32 other = shuffleXor(allLanes, best, d);
		best = other > best ? other : best;
	}
	return best;
}

// bitsAt returns 32 bits of the integer from bit at on; bits beyond its ends are 0.
template <class T> MP_DEVICE u32 bitsAt(const T *v, u32 n, i32 at) {
	i32 limb = at >= 0 ? at / (i32)limbBits : -((-at + (i32)limbBits - 1) / (i32)limbBits);
	u32 shift = (u32)(at - limb * (i32)limbBits);
	u64 w = 0;
	for (i32 k = 0; k < 3; k++)
		if (limb + k >= 0 && limb + k < (i32)n) w |= (u64)(u32)v[limb + k] << (limbBits * k) >> 0;
	return (u32)(w >> shift);
}

// anyBelow reports whether one of the bits below bit at is set, at >= 0.
template <class T> MP_DEVICE bool anyBelow(const T *v, u32 n, u32 at, u32 lane) {
	u32 whole = at / limbBits, found = 0;
	for (u32 i = lane; i < n && i <= whole; i += 32) {
		u32 limb = (u32)v[i];
		if (i == whole) limb &= (1u << at % limbBits) - 1;
		found |= limb;
	}
	return ballot(allLanes, found != 0) != 0;
}

#endif
