// Exact sums of long numbers in packed words, as the Go type deferred.Packed holds them: number i is (-1)^neg * W * 2^exp with W in
// `width` 32-bit words from words[i*width] on, least significant first, and heads[i] = 2*exp + neg.
//
// A launch adds what the numbers have in a window of up to 32 * G * D bits from 2^low on. A group of G lanes works on one number:
// lane l owns the digits l, l + G, ... of the window, shifts the number's words to their places by a funnel shift of two neighbours, and
// adds them to accumulators of its own. What lies outside the window is left out: the caller's windows cover all bits, each once.
#include "portable.cuh"

// A place that no window reaches: for heads beyond the numbers and far away.
static const i32 nowhere = 1 << 28;

// placeOf returns 2*shift + neg of a number, shift = exp - low.
MP_DEVICE u32 placeOf(i64 head, i64 low) {
	i64 shift = (head >> 1) - low;
	if (shift > nowhere || shift < -nowhere) return 2u * nowhere;
	return (u32)shift * 2 + (u32)(head & 1);
}

// funnelLeft returns the upper 32 bits of (high*2^32 + low) * 2^shift, shift < 32.
MP_DEVICE u32 funnelLeft(u32 low, u32 high, u32 shift) {
#if defined(MP_EMULATOR)
	return (u32)(((u64)high << 32 | low) << shift >> 32);
#elif defined(__NVCC__)
	return __funnelshift_l(low, high, shift);
#else
	u32 result;
	asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));
	return result;
#endif
}

// wordAt returns word j of a number, 0 beyond its ends. The load has no branch around it, so that many are under way at once.
MP_DEVICE u32 wordAt(const u32 *__restrict__ w, u32 j, u32 width) {
	u32 v = w[j < width ? j : 0];
	return j < width ? v : 0;
}

// sumPacked adds to total[0 ... count-1], count <= G*D, the sums of the digits in the window of n < 2^31 numbers. A negative
// number's digit d is added as 2^32 - 1 - d, also where that digit is 0, and the 2^32 - 1 are subtracted in the end.
// Shared memory: 8 * G * D bytes a warp; blocks are whole warps.
template <u32 G, u32 D> MP_DEVICE void sumPacked(u64 *total, const u32 *__restrict__ words, const i64 *__restrict__ heads, u64 n, u32 width, i64 low, u32 count) {
	MP_SHARED(u64, partial);
	const u32 together = 32 / G; // numbers of a warp at a time
	const u32 unroll = D >= 4 ? 2 : D >= 2 ? 4 : 8;
	u32 lane = threadIdx.x & 31, digit = lane & (G - 1), group = lane / G;
	u64 sum[D];
	u32 negative = 0; // minus the negative numbers of the group
#pragma unroll
	for (u32 d = 0; d < D; d++) sum[d] = 0;
	u64 stride = (u64)gridDim.x * blockDim.x, start = (u64)blockIdx.x * blockDim.x + (threadIdx.x & ~31u);
	i64 head = start + lane < n ? heads[start + lane] : 0;
	for (u64 i = start; i < n; i += stride) { // 32 numbers
		u32 place = i + lane < n ? placeOf(head, low) : 2u * nowhere;
		if (i + stride + lane < n) head = heads[i + stride + lane]; // in time for the next ones
#pragma unroll unroll
		for (u32 k = 0; k < G; k++) {
			u32 number = k * together + group, t = shuffle(allLanes, place, number);
			i32 shift = (i32)t >> 1;
			u32 flip = 0 - (t & 1);
			u64 at = i + number < n ? i + number : n - 1;
			const u32 *w = words + at * width;
			u32 j = digit - (u32)(shift >> 5); // the word that comes to the digit, if it is one
#pragma unroll
			for (u32 d = 0; d < D; d++, j += G) sum[d] += funnelLeft(wordAt(w, j - 1, width), wordAt(w, j, width), (u32)shift & 31) ^ flip;
			negative += flip;
		}
	}
#pragma unroll
	for (u32 d = 0; d < D; d++) {
		sum[d] -= (u64)(0 - negative) * 0xffffffffu;
#pragma unroll
		for (u32 m = G; m < 32; m *= 2) sum[d] += shuffleXor(allLanes, sum[d], m);
		if (lane < G) partial[threadIdx.x / 32 * G * D + G * d + lane] = sum[d];
	}
	blockSync();
	for (u32 i = threadIdx.x; i < count; i += blockDim.x) {
		u64 s = 0;
		for (u32 w = 0; w < blockDim.x / 32; w++) s += partial[w * G * D + i];
		if (s) atomicAdd64(total + i, s);
	}
}

#define MP_SUM_PACKED(name, G, D)                                                                                                          \
	MP_KERNEL(name, 1024)(u64 *total, const u32 *__restrict__ words, const i64 *__restrict__ heads, u64 n, u32 width, i64 low, u32 count) { \
		sumPacked<G, D>(total, words, heads, n, width, low, count);                                                                       \
	}                                                                                                                                  \
	MP_REGISTER(name)

MP_SUM_PACKED(sumPacked8, 8, 1);
MP_SUM_PACKED(sumPacked16, 16, 1);
MP_SUM_PACKED(sumPacked32, 32, 1);
MP_SUM_PACKED(sumPacked64, 32, 2);
MP_SUM_PACKED(sumPacked96, 32, 3);
MP_SUM_PACKED(sumPacked128, 32, 4);
MP_SUM_PACKED(sumPacked256, 32, 8);
