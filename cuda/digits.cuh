// Exact sums of binary64 numbers and of their products in fixed point.
//
// A number is sum digit[i] * 2^(16i - 2148): every binary64 number, and every product of two, is a multiple of 2^-2148 and less than
// 2^2048. A warp has such a number of its own in shared memory, in signed words of 32 bits, which hold 2^15 - 1 additions to a digit;
// a device has one in signed words of 64 bits, followed by the numbers of positive infinities, negative infinities and NaN among the
// terms. All of it is integer addition, so that the order of terms, of warps and of launches changes no bit.
//
// Most terms do not get there one by one: they are added in binary64, in bins, as in package expansion, whose documentation
// has the proof that nothing is rounded.
#ifndef MPBENCH_DIGITS_CUH
#define MPBENCH_DIGITS_CUH

#include "group.cuh"

static const u32 digitBits = 16;
static const u32 digitCount = 264; // of 16 bits: 4224 bits
static const i32 unitExponent = -2148;
static const u32 mostAdditions = 32767; // to one digit of a warp: 32767 * (2^16 - 1) < 2^31

// Places of the numbers of special terms behind the digits.
static const u32 positiveInfinities = digitCount, negativeInfinities = digitCount + 1, notNumbers = digitCount + 2;

// magnitudeWord returns the high word of |x|, which orders magnitudes to a factor of 2.
MP_DEVICE u32 magnitudeWord(double x) { return (u32)(bitsOf(x) >> 32) & 0x7fffffffu; }

// fusedMultiplyAdd returns x*y + z rounded once: the only place where a product and a sum are fused.
MP_DEVICE double fusedMultiplyAdd(double x, double y, double z) { return __builtin_fma(x, y, z); }

// addDigit adds (-1)^negative * d, d < 2^16, to digit i of the shared memory.
MP_DEVICE void addDigit(u32 i, u32 d, bool negative) {
	MP_SHARED(u32, digits);
	if (d) atomicAdd32(digits + i, negative ? 0u - d : d);
}

// addInteger adds (-1)^negative * m * 2^(position - 2148) to the number whose digits begin at `first`: at most one addition to
// each of five digits.
MP_DEVICE void addInteger(u32 first, u64 m, u32 position, bool negative) {
	u32 i = first + position / digitBits, shift = position % digitBits;
	addDigit(i, (u32)(m << shift) & 0xffff, negative);
	addDigit(i + 1, (u32)(m >> (16 - shift)) & 0xffff, negative);
	addDigit(i + 2, (u32)(m >> (32 - shift)) & 0xffff, negative);
	addDigit(i + 3, (u32)(m >> (48 - shift)) & 0xffff, negative);
	addDigit(i + 4, (u32)(m >> 1 >> (63 - shift)), negative); // a shift by 64 gives 0
}

// countSpecial counts an infinity or NaN.
MP_DEVICE void countSpecial(u64 *total, double x) {
	u32 place = x > 0 ? positiveInfinities : x < 0 ? negativeInfinities : notNumbers;
	atomicAdd64(total + place, 1);
}

// significand splits a finite number: |x| = m * 2^(field - 1075).
MP_DEVICE u64 significand(double x, u32 &field) {
	u64 bits = bitsOf(x);
	u32 f = (u32)(bits >> 52) & 0x7ff;
	u64 fraction = bits & 0xfffffffffffffull;
	field = f ? f : 1;
	return f ? fraction | 1ull << 52 : fraction;
}

// addTerm adds x, which may be anything, to the warp's digits.
MP_CALLED void addTerm(u32 first, u64 *total, double x) {
	if (magnitudeWord(x) >= 0x7ff00000u) {
		countSpecial(total, x);
		return;
	}
	u32 field;
	u64 m = significand(x, field);
	if (m) addInteger(first, m, field - 1075 - unitExponent, bitsOf(x) >> 63);
}

// addProduct adds x*y, which may be anything, to the warp's digits: at most one addition to each of eight digits.
MP_CALLED void addProduct(u32 first, u64 *total, double x, double y) {
	if (magnitudeWord(x) >= 0x7ff00000u || magnitudeWord(y) >= 0x7ff00000u) {
		countSpecial(total, x * y);
		return;
	}
	u32 fx, fy;
	u64 mx = significand(x, fx), my = significand(y, fy);
	u64 low = mx * my, high = mulHigh(mx, my); // below 2^106
	u32 position = fx + fy - 2 * 1075 - unitExponent;
	bool negative = (bitsOf(x) ^ bitsOf(y)) >> 63;
	u32 i = first + position / digitBits, shift = position % digitBits;
	u64 top = high << shift | low >> 1 >> (63 - shift); // below 2^57
	low <<= shift;
#pragma unroll
	for (u32 k = 0; k < 4; k++) {
		addDigit(i + k, (u32)(low >> 16 * k) & 0xffff, negative);
		addDigit(i + 4 + k, (u32)(top >> 16 * k) & 0xffff, negative);
	}
}

// Bins are one thread's biased sums at L levels: level k has the anchor 1.5 * 2^E_k, E_(k+1) = E_k - 43, and takes at most 2^9 numbers
// before they are emptied.
//
// add gives what is left of x after the last level: for |x| < 2^m and E_0 = m + 10, x is the exact sum of what the levels take
// and what is left. m is at most 1012, so that nothing overflows; no E_k is below -1022, where the unit 2^(E_k - 52) is that of
// all numbers.
static const i32 binRoom = 10, binWidth = 43, leastBin = -1022;
static const u32 mostBinned = 512; // numbers of one level
static const i32 leastLimit = -1022, mostLimit = 1012; // of m
static const u32 largestBinned = (u32)(mostLimit + 1023) << 20; // high word of 2^mostLimit

template <u32 L> struct Bins {
	double sum[L];
	i32 top;   // E_0
	u32 limit; // the high word of 2^m
	u32 count; // numbers added to a level since the last start

	__device__ __forceinline__ i32 exponent(u32 k) const {
		i32 e = top - binWidth * (i32)k;
		return e < leastBin ? leastBin : e;
	}
	__device__ __forceinline__ u64 anchor(u32 k) const { return (u64)(exponent(k) + 1023) << 52 | 1ull << 51; }

	// start makes empty bins for magnitudes below 2^m.
	__device__ __forceinline__ void start(i32 m) {
		limit = (u32)(m + 1023) << 20;
		top = m + binRoom;
		empty();
	}
	__device__ __forceinline__ void empty() {
		count = 0;
#pragma unroll
		for (u32 k = 0; k < L; k++) sum[k] = doubleOf(anchor(k));
	}
	// add takes x apart, beginning at a level.
	__device__ __forceinline__ double add(double x, u32 from = 0) {
#pragma unroll
		for (u32 k = 0; k < L; k++) {
			if (k < from) continue;
			double t = sum[k] + x, q = t - sum[k];
			sum[k] = t;
			x = x - q;
		}
		return x;
	}
};

// emptyBins adds what the bins of a warp's lanes hold to the warp's digits: at most L additions to a digit.
template <u32 L> MP_CALLED void emptyBins(u32 first, Bins<L> bins) {
	u32 lane = threadIdx.x & 31;
	u64 mine = 0;
#pragma unroll
	for (u32 k = 0; k < L; k++) {
		u64 units = bitsOf(bins.sum[k]) - bins.anchor(k); // at most 2^51 in magnitude
#pragma unroll
		for (u32 d = 16; d; d /= 2) units += shuffleXor(allLanes, units, d);
		if (lane == k) mine = units;
	}
	bool negative = mine >> 63;
	if (mine) addInteger(first, negative ? 0 - mine : mine, (u32)(bins.exponent(lane) - 52 - unitExponent), negative);
}

// warpMax returns the greatest v of a warp's lanes.
MP_DEVICE u32 warpMax(u32 v) {
#pragma unroll
	for (u32 d = 16; d; d /= 2) {
		u32 other = shuffleXor(allLanes, v, d);
		v = other > v ? other : v;
	}
	return v;
}

// A warp's way of summing: its bins, its digits, and how many additions those may have got.
static const i32 headroom = 4; // binades between the largest term seen and the limit

template <u32 L> struct WarpSum {
	Bins<L> bins;
	u32 first;     // place of the warp's digits in the shared memory
	u32 additions; // to a digit, at most
	u64 *total;    // the device's digits

	__device__ __forceinline__ WarpSum(u64 *t) : first(threadIdx.x / 32 * digitCount), additions(0), total(t) {
		MP_SHARED(u32, digits);
		for (u32 i = threadIdx.x & 31; i < digitCount; i += 32) digits[first + i] = 0;
		warpSync(allLanes);
		bins.start(leastLimit);
		bins.limit = 0; // the first terms raise it
	}

	// empty moves the bins' content to the digits, and makes room for additions there.
	__device__ __forceinline__ void empty() {
		if (bins.count) emptyBins(first, bins);
		bins.empty();
		reserve(L);
	}

	// raise makes the limit greater than the magnitudes of which the lanes give the high words, below that of 2^mostLimit. The
	// limit is 2^least at least.
	__device__ __forceinline__ void raise(u32 magnitude, i32 least) {
		u32 most = warpMax(magnitude);
		if (most < bins.limit) return;
		empty();
		i32 m = (i32)(most >> 20) - 1023 + 1 + headroom;
		bins.start(m < least ? least : m > mostLimit ? mostLimit : m);
	}

	// makeRoom empties the bins if they cannot take so many more numbers.
	__device__ __forceinline__ void makeRoom(u32 numbers) {
		if (bins.count + numbers > mostBinned) empty();
		bins.count += numbers;
	}

	// reserve makes sure that so many additions to a digit can follow.
	__device__ __forceinline__ void reserve(u32 more) {
		if (additions + more > mostAdditions) spill();
		additions += more;
	}

	// spill moves the warp's digits to the device's.
	__device__ __forceinline__ void spill() {
		MP_SHARED(u32, digits);
		warpSync(allLanes);
		for (u32 i = threadIdx.x & 31; i < digitCount; i += 32) {
			i64 d = (i32)digits[first + i];
			digits[first + i] = 0;
			if (d) atomicAdd64(total + i, (u64)d);
		}
		warpSync(allLanes);
		additions = 0;
	}

	// finish adds the digits of all warps of the block to the device's.
	__device__ __forceinline__ void finish() {
		MP_SHARED(u32, digits);
		empty();
		blockSync();
		for (u32 i = threadIdx.x; i < digitCount; i += blockDim.x) {
			i64 d = 0;
			for (u32 w = 0; w < blockDim.x / 32; w++) d += (i32)digits[w * digitCount + i];
			if (d) atomicAdd64(total + i, (u64)d);
		}
	}
};

#endif
