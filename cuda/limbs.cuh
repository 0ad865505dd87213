// Integers of 28-bit limbs in shared memory, least significant limb first. One warp works on one integer. Where there
// is a template parameter ROWS, so many threads of a block, or a warp if ROWS is 1, work on ROWS integers, each so
// many words behind the other; t is the thread's number.
#ifndef MPBENCH_LIMBS_CUH
#define MPBENCH_LIMBS_CUH

#include "modular.cuh"

// normalize brings limbs below 2^32 to 28 bits and adds carryIn, 0 or 1; what exceeds the last limb is dropped.
//
// After each limb has passed its upper 4 bits on, it is below 2^28 + 16 and carries 1 at most. Which limbs get a carry
// is the carry chain of a 32-bit addition: a limb above 2^28 - 1 generates one, the limb 2^28 - 1 passes one on.
MP_DEVICE void normalize(u32 *v, u32 n, u32 carryIn, u32 lane) {
	u32 above = 0;
	for (u32 base = 0; base < n; base += 32) {
		u32 i = base + lane, x = i < n ? v[i] : 0, upper = x >> limbBits;
		u32 below = shuffle(allLanes, upper, lane - 1);
		x = (x & limbMask) + (lane > 0 ? below : above);
		above = shuffle(allLanes, upper, 31u);
		u32 generates = ballot(allLanes, x > limbMask), passes = generates | ballot(allLanes, x == limbMask);
		u64 sum = (u64)passes + generates + carryIn;
		u32 carries = (u32)sum ^ passes ^ generates;
		carryIn = (u32)(sum >> 32);
		if (i < n) v[i] = (x + (carries >> lane & 1)) & limbMask;
	}
	warpSync(allLanes);
}

// sync waits for the threads that work together.
template <int ROWS> MP_DEVICE void sync() {
	if (ROWS == 1)
		warpSync(allLanes);
	else
		blockSync();
}

// addWide adds the 64-bit numbers s of limb q, if q < n, to the integers v: three parts of 28, 28 and 8 bits to
// neighbouring limbs.
template <int ROWS> MP_DEVICE void addWide(u32 *v, u32 pitch, u32 n, const u64 (&s)[ROWS], u32 q) {
#pragma unroll
	for (u32 part = 0; part < 3; part++) {
		if (q + part < n) {
#pragma unroll
			for (u32 r = 0; r < ROWS; r++) v[r * pitch + q + part] += (u32)(s[r] >> part * limbBits) & limbMask;
		}
		sync<ROWS>();
	}
}

// clear sets n limbs of each integer to 0.
template <int ROWS> MP_DEVICE void clear(u32 *v, u32 pitch, u32 n, u32 t, u32 threads) {
	for (u32 i = t; i < n; i += threads) {
#pragma unroll
		for (u32 r = 0; r < ROWS; r++) v[r * pitch + i] = 0;
	}
	sync<ROWS>();
}

// normalizeRows normalizes the integers, each by a warp.
template <int ROWS> MP_DEVICE void normalizeRows(u32 *v, u32 pitch, u32 n, u32 t) {
	if (t / 32 < ROWS) normalize(v + t / 32 * pitch, n, 0, t % 32);
	sync<ROWS>();
}

// magnitude replaces an integer in two's complement by its magnitude and returns whether it was negative.
MP_DEVICE bool magnitude(u32 *v, u32 n, u32 lane) {
	bool negative = v[n - 1] >> (limbBits - 1) & 1;
	if (!negative) return false;
	warpSync(allLanes);
	for (u32 i = lane; i < n; i += 32) v[i] = limbMask - v[i];
	warpSync(allLanes);
	normalize(v, n, 1, lane);
	return true;
}

// bitLength returns the number of bits of the integer.
MP_DEVICE u32 bitLength(const u32 *v, u32 n, u32 lane) {
	for (u32 base = (n - 1) / 32 * 32;; base -= 32) {
		u32 x = base + lane < n ? v[base + lane] : 0, set = ballot(allLanes, x != 0);
		if (set) {
			u32 top = 31 - leadingZeros(set);
			return (base + top) * limbBits + 32 - leadingZeros(shuffle(allLanes, x, top));
		}
		if (base == 0) return 0;
	}
}

// bitsAt returns 32 bits of the integer from bit at on; bits beyond its ends are 0.
MP_DEVICE u32 bitsAt(const u32 *v, u32 n, i32 at) {
	i32 limb = at >= 0 ? at / (i32)limbBits : -((-at + (i32)limbBits - 1) / (i32)limbBits);
	u32 shift = (u32)(at - limb * (i32)limbBits);
	u64 w = 0;
#pragma unroll
	for (i32 k = 0; k < 3; k++)
		if (limb + k >= 0 && limb + k < (i32)n) w |= (u64)v[limb + k] << (limbBits * k);
	return (u32)(w >> shift);
}

// anyBelow reports whether one of the bits below bit at is set.
MP_DEVICE bool anyBelow(const u32 *v, u32 n, u32 at, u32 lane) {
	u32 whole = at / limbBits, found = 0;
	for (u32 i = lane; i < n && i <= whole; i += 32) found |= i == whole ? v[i] & ((1u << at % limbBits) - 1) : v[i];
	return ballot(allLanes, found != 0) != 0;
}

// equalBits reports whether the bits from..to-1 of the integer are all the same as bit.
MP_DEVICE bool equalBits(const u32 *v, u32 from, u32 to, bool bit, u32 lane) {
	u32 differ = 0;
	for (u32 i = from / limbBits + lane; i * limbBits < to; i += 32) {
		u32 first = i * limbBits, skip = from > first ? from - first : 0;
		u32 take = to - first < limbBits ? to - first : limbBits;
		u32 mask = ((1u << take) - 1) & ~((1u << skip) - 1);
		differ |= (v[i] ^ (bit ? limbMask : 0)) & mask;
	}
	return ballot(allLanes, differ != 0) == 0;
}

// multiply sets z, of n limbs, to a*x; z is in shared memory.
MP_DEVICE void multiply(u32 *z, u32 n, const u32 *a, u32 aLimbs, const u32 *x, u32 xLimbs, u32 lane) {
	const u32 lazyTerms = 248; // products of 28-bit numbers that fit 64 bits, with room
	clear<1>(z, 0, n, lane, 32);
	for (u32 from = 0; from < aLimbs; from += lazyTerms) {
		u32 to = from + lazyTerms < aLimbs ? from + lazyTerms : aLimbs;
		for (u32 q0 = 0; q0 < n; q0 += 32) {
			u64 s[1] = {0};
			u32 q = q0 + lane;
#pragma unroll 4
			for (u32 i = from; i < to; i++) {
				u32 at = q - i; // beyond xLimbs if negative
				if (at < xLimbs) s[0] += (u64)a[i] * x[at];
			}
			addWide<1>(z, 0, n, s, q);
		}
		normalize(z, n, 0, lane);
	}
}

#endif
