// How a warp sums binary64 numbers exactly: most of them in binary64, in bins that each lane keeps in registers, or,
// where their exponents differ too much for that, in fixed point, in digits that each lane has for itself in shared
// memory.
#ifndef MPBENCH_WARP_SUM_CUH
#define MPBENCH_WARP_SUM_CUH

#include "digits.cuh"

// Bins are one thread's biased sums at L levels: level k has the anchor 1.5 * 2^E_k, E_(k+1) = E_k - 43, and takes at
// most 2^9 numbers before they are emptied.
//
// add gives what is left of x after the last level: for |x| < 2^m and E_0 = m + 10, x is the exact sum of what the
// levels take and what is left. m is at most 1012, so that nothing overflows; no E_k is below -1022, where the unit
// 2^(E_k - 52) is that of all numbers. The proof is that of package superacc.
static const i32 binRoom = 10, binWidth = 43, leastBin = -1022;
static const u32 mostBinned = 512; // numbers of one level
static const i32 leastLimit = -1022, mostLimit = 1012; // of m
static const u32 largestBinned = (u32)(mostLimit + 1023) << 20; // high word of 2^mostLimit

template <u32 L> struct Bins {
	double sum[L];
	i32 top;   // E_0
	u32 limit; // the high word of 2^m
	u32 count; // numbers added to a level since the last start

	MP_MEMBER i32 exponent(u32 k) const {
		i32 e = top - binWidth * (i32)k;
		return e < leastBin ? leastBin : e;
	}
	MP_MEMBER u64 anchor(u32 k) const { return (u64)(exponent(k) + 1023) << 52 | 1ull << 51; }

	// start makes empty bins for magnitudes below 2^m.
	MP_MEMBER void start(i32 m) {
		limit = (u32)(m + 1023) << 20;
		top = m + binRoom;
		empty();
	}
	MP_MEMBER void empty() {
		count = 0;
#pragma unroll
		for (u32 k = 0; k < L; k++) sum[k] = doubleOf(anchor(k));
	}
	// add takes x apart, beginning at a level.
	MP_MEMBER double add(double x, u32 from = 0) {
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
	addSigned(first, mine, (u32)(bins.exponent(lane) - 52 - unitExponent));
}

// Lane digits are an exact sum in fixed point that each lane has for itself: sum word[k] * 2^(52k - 1075), k <
// laneWords, of finite binary64 numbers. Words are signed. A number is added to two neighbouring words, to each at
// most 2^52 in magnitude: a number's 53 bits, moved by up to 51 places, are the lower 52 bits and what is above. Word
// k of a warp's lanes lie side by side in shared memory, so that lanes never meet, neither at an address nor in a
// bank, whatever the exponents are.
static const u32 laneBits = 52;
static const u32 laneWords = 41;                         // the last exponent field, 2046, begins in word 39
static const u32 mostInLane = 2047;                      // numbers: 2047 * 2^52 < 2^63
static const u32 laneBytes = 8 * 32 * laneWords;         // of a warp
static const u32 laneUnit = (u32)(-1075 - unitExponent); // where word 0 begins among the digits

MP_DEVICE i64 *laneDigits() {
	MP_SHARED(unsigned char, shared);
	return (i64 *)(shared + blockDim.x / 32 * 4 * digitCount + threadIdx.x / 32 * laneBytes) + (threadIdx.x & 31);
}

// addToLane adds a finite x to the lane's digits.
MP_DEVICE void addToLane(i64 *words, double x) {
	u32 field;
	i64 m = (i64)significand(x, field);
	u32 k = field * 2521 >> 17, shift = field - laneBits * k; // field / 52 for all fields, in fewer instructions
	if (bitsOf(x) >> 63) m = -m;
	i64 low = (i64)((u64)m << shift & ((1ull << laneBits) - 1)), high = m >> (laneBits - shift);
	i64 *p = words + 32 * k, a = p[0], b = p[32];
	p[0] = a + low;
	p[32] = b + high;
}

MP_CALLED void clearLanes() {
	i64 *words = laneDigits();
#pragma unroll 4
	for (u32 k = 0; k < laneWords; k++) words[32 * k] = 0;
}

// Additions to a digit of the warp by emptyLanes: it adds an integer every 26 bits, each of five digits, that is 80
// bits.
static const u32 laneAdditions = 4;

// emptyLanes adds the digits of all lanes to the warp's and makes them zero. Lane i adds word i, then word i + 32: its
// 32 parts, beginning with its own, so that lanes read different banks.
MP_CALLED void emptyLanes(u32 first) {
	u32 lane = threadIdx.x & 31;
	i64 *words = laneDigits() - lane;
	warpSync(allLanes);
	for (u32 k = lane; k < laneWords; k += 32) {
		i64 low = 0, high = 0; // sums of 32 halves
#pragma unroll 4
		for (u32 i = 0; i < 32; i++) {
			i64 *p = words + 32 * k + (i + lane) % 32, w = *p;
			*p = 0;
			low += w & 0x3ffffff;
			high += w >> 26;
		}
		addSigned(first, (u64)low, laneUnit + laneBits * k);
		addSigned(first, (u64)high, laneUnit + laneBits * k + 26);
	}
	warpSync(allLanes);
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

static const i32 headroom = 4;     // binades between the largest term seen and the limit
// turns without bins after two in a row, or the first, with terms that do not fit there
static const u32 directTurns = 63;

// A warp's way of summing: bins, lane digits, and the warp's digits where both of them end.
template <u32 L> struct WarpSum {
	Bins<L> bins;
	u32 first;     // place of the warp's digits in the shared memory
	u32 additions; // to one of them, at most
	u32 inLane;    // numbers in a lane's digits, at most; beyond mostInLane while those are not cleared
	u32 direct;    // turns to come that use no bins
	bool misfits;  // whether the last turn with bins, or none yet, had terms that do not fit
	i64 *words;    // the lane's digits
	u64 *total;    // the device's digits

	MP_MEMBER WarpSum(u64 *t)
		: first(threadIdx.x / 32 * digitCount), additions(0), inLane(~0u), direct(0), misfits(true),
		  words(laneDigits()), total(t) {
		MP_SHARED(u32, digits);
		for (u32 i = threadIdx.x & 31; i < digitCount; i += 32) digits[first + i] = 0;
		warpSync(allLanes);
		bins.start(leastLimit);
		bins.limit = 0; // the first terms raise it
	}

	// useBins tells whether this turn uses bins.
	MP_MEMBER bool useBins() {
		if (!direct) return true;
		direct--;
		return false;
	}
	// fitted notes, and returns, whether bins took a turn's terms completely.
	MP_MEMBER bool fitted(bool all) {
		if (!all && misfits) direct = directTurns;
		misfits = !all;
		return all;
	}

	// empty moves the bins' content to the digits.
	MP_MEMBER void empty() {
		if (bins.count) {
			reserve(L);
			emptyBins(first, bins);
		}
		bins.empty();
	}

	// raise makes the limit greater than the magnitudes of which the lanes give the high words, below that of
	// 2^mostLimit. The limit is 2^least at least.
	MP_MEMBER void raise(u32 magnitude, i32 least) {
		u32 most = warpMax(magnitude);
		if (most < bins.limit) return;
		empty();
		i32 m = (i32)(most >> 20) - 1023 + 1 + headroom;
		bins.start(m < least ? least : m > mostLimit ? mostLimit : m);
	}

	// makeRoom empties the bins if they cannot take so many more numbers.
	MP_MEMBER void makeRoom(u32 numbers) {
		if (bins.count + numbers > mostBinned) empty();
		bins.count += numbers;
	}

	// makeLaneRoom empties the lane digits if they cannot take so many more numbers.
	MP_MEMBER void makeLaneRoom(u32 numbers) {
		if (inLane == ~0u) {
			clearLanes();
			inLane = 0;
		} else if (inLane + numbers > mostInLane) {
			reserve(laneAdditions);
			emptyLanes(first);
			inLane = 0;
		}
		inLane += numbers;
	}

	// reserve makes sure that so many additions to a digit can follow.
	MP_MEMBER void reserve(u32 more) {
		if (additions + more > mostAdditions) spill();
		additions += more;
	}

	// spill moves the warp's digits to the device's.
	MP_MEMBER void spill() {
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

	// flush adds the digits of all warps of the block to the device's.
	MP_MEMBER void flush() {
		MP_SHARED(u32, digits);
		empty();
		if (inLane != ~0u) {
			reserve(laneAdditions);
			emptyLanes(first);
		}
		blockSync();
		for (u32 i = threadIdx.x; i < digitCount; i += blockDim.x) {
			i64 d = 0;
			for (u32 w = 0; w < blockDim.x / 32; w++) d += (i32)digits[w * digitCount + i];
			if (d) atomicAdd64(total + i, (u64)d);
		}
	}
};

#endif
