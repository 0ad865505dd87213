// Exact sums of long numbers in packed words, as the Go type deferred.Packed holds them: number i is (-1)^neg * W *
// 2^exp with W in `width` 64-bit words from words[i*stride] on, least significant first, and exponents[i] = 2*exp +
// neg.
//
// A launch adds what the numbers have in a window of up to 32 * G * D bits from 2^low on. What lies outside the window
// is left out: the caller's windows cover all bits, each once.
//
// A warp takes a tile of T consecutive numbers at a time. Their words go through registers to rows of shared memory;
// the next tile is read while this one is used, from addresses that do not depend on exponents. Zeros between the rows
// stand for what a number has beyond its ends. Then a group of G lanes works on one number: lane l owns the digits D*l
// ... D*l + D-1 of the window, takes the D + 1 words of 32 bits around them, shifts these to their places, and adds
// them to accumulators of its own.
#include "portable.cuh"

// A place that no window reaches: for exponents beyond the numbers and far away.
static const i32 nowhere = 1 << 28;

// Steps of a warp that are under way together, each with 32 / G numbers.
static const u32 steps = 2;

// placeOf returns 2*shift + neg of a number, shift = exp - low.
MP_DEVICE u32 placeOf(i64 exponent, i64 low) {
	i64 shift = (exponent >> 1) - low;
	if (shift > nowhere || shift < -nowhere) return 2u * nowhere;
	return (u32)shift * 2 + (u32)(exponent & 1);
}

// funnelLeft returns the upper 32 bits of (high*2^32 + low) * 2^(shift mod 32).
MP_DEVICE u32 funnelLeft(u32 low, u32 high, u32 shift) {
#if defined(MP_EMULATOR)
	return (u32)(((u64)high << 32 | low) << (shift & 31) >> 32);
#elif defined(__NVCC__)
	return __funnelshift_l(low, high, shift);
#else
	u32 result;
	asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(result) : "r"(low), "r"(high), "r"(shift));
	return result;
#endif
}

struct PackedNumbers {
	const u64 *words;
	const i64 *exponents;
	i64 low;
	u32 n;      // the numbers, below 2^31
	u32 stride; // words from one number to the next
	u32 width;  // words of a number, at most 32 * R; a tile of several numbers needs width = stride
	u32 tile;   // T, at most 32, n and 32 * R / width; there are rows for the next multiple of steps * 32 / G
	u32 row;    // from one row to the next in 32-bit words: even and at least 2*width + D + 1
	// shared memory of a warp in 32-bit words: even, and enough for the rows, zeros before them, and G * D sums of 64
	// bits
	u32 area;
	u32 count;  // digits of the window, at most G * D
};

// addTile adds the digits of the T numbers of a tile, whose words lie in rows from w on, and returns minus the
// negative ones among those of the group. A negative number's digit d is added as 2^32 - 1 - d, also where that digit
// is 0.
template <u32 G, u32 D> MP_DEVICE u32 addTile(u64 (&sum)[D], const u32 *w, u32 place, const PackedNumbers &p) {
	const u32 together = 32 / G; // numbers of a warp at a step
	u32 lane = threadIdx.x & 31, group = lane / G, negative = 0;
	i32 first = (i32)(lane % G * D) - 1, end = (i32)(2 * p.width);
	w += group * p.row;
	for (u32 k = 0; k < p.tile; k += together * steps) {
#pragma unroll
		for (u32 s = 0; s < steps; s++) {
			u32 t = shuffle(allLanes, place, k + s * together + group), flip = 0 - (t & 1);
			i32 j = first - ((i32)t >> 6); // the first word that comes to the digits
			j = j < -(i32)(D + 1) ? -(i32)(D + 1) : j;
			j = j > end ? end : j;
			const u32 *x = w + j;
			u32 low = x[0];
#pragma unroll
			for (u32 d = 0; d < D; d++) {
				u32 high = x[d + 1];
				sum[d] += funnelLeft(low, high, t >> 1) ^ flip;
				low = high;
			}
			negative += flip;
			w += together * p.row;
		}
	}
	return negative;
}

// sumPacked adds to total[0 ... count-1] the sums of the digits in the window. Blocks are whole warps, each with
// shared memory of its own.
template <u32 G, u32 D, u32 R> MP_DEVICE void sumPacked(u64 *total, const PackedNumbers &p) {
	MP_SHARED(u32, shared);
	u32 lane = threadIdx.x & 31, warps = gridDim.x * (blockDim.x / 32), i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
	u32 *area = shared + threadIdx.x / 32 * p.area, *rows = area + (p.row - 2 * p.width);
	u32 tiles = (p.n + p.tile - 1) / p.tile, last = p.tile * p.width - 1;
	u32 from[R], to[R]; // which words the lane brings to a tile, and where to; some come twice
#pragma unroll
	for (u32 u = 0; u < R; u++) {
		from[u] = lane + 32 * u < last ? lane + 32 * u : last;
		to[u] = from[u] / p.width * p.row + from[u] % p.width * 2;
	}
	u64 v[R];
	i64 exponent = 0;
	auto load = [&](u32 tile) { // the last tile begins where it is full
		u32 start = tile * p.tile < p.n - p.tile ? tile * p.tile : p.n - p.tile;
		const u64 *words = p.words + (u64)start * p.stride;
#pragma unroll
		for (u32 u = 0; u < R; u++) v[u] = words[from[u]];
		exponent = p.exponents[start + (lane < p.tile ? lane : 0)];
	};
	if (i < tiles) load(i);
	for (u32 k = lane; k < p.area; k += 32) area[k] = 0;
	u64 sum[D];
	u32 negative = 0;
#pragma unroll
	for (u32 d = 0; d < D; d++) sum[d] = 0;
	for (; i < tiles; i += warps) {
		u32 done = i * p.tile < p.n - p.tile ? 0 : i * p.tile - (p.n - p.tile); // numbers of the tile before
		u32 place = lane >= done && lane < p.tile ? placeOf(exponent, p.low) : 2u * nowhere;
		warpSync(allLanes);
#pragma unroll
		for (u32 u = 0; u < R; u++) *(u64 *)(rows + to[u]) = v[u];
		warpSync(allLanes);
		if (i + warps < tiles) load(i + warps);
		negative += addTile<G, D>(sum, rows, place, p);
	}
	warpSync(allLanes);
#pragma unroll
	for (u32 d = 0; d < D; d++) {
		sum[d] -= (u64)(0 - negative) * 0xffffffffu;
#pragma unroll
		for (u32 m = G; m < 32; m *= 2) sum[d] += shuffleXor(allLanes, sum[d], m);
		if (lane < G) ((u64 *)area)[lane * D + d] = sum[d];
	}
	blockSync();
	for (u32 d = threadIdx.x; d < p.count; d += blockDim.x) {
		u64 s = 0;
		for (u32 w = 0; w < blockDim.x / 32; w++) s += ((const u64 *)(shared + w * p.area))[d];
		if (s) atomicAdd64(total + d, s);
	}
}

// sumPackedC is for windows of up to C = G * D digits; a lane brings R words to a tile.
#define MP_SUM_PACKED(name, G, D, R)                                                               \
	MP_KERNEL(name, 1024)(u64 *total, PackedNumbers p) { sumPacked<G, D, R>(total, p); } \
	MP_REGISTER(name)

MP_SUM_PACKED(sumPacked4, 2, 2, 2);
MP_SUM_PACKED(sumPacked8, 4, 2, 4);
MP_SUM_PACKED(sumPacked16, 8, 2, 8);
MP_SUM_PACKED(sumPacked32, 16, 2, 8);
MP_SUM_PACKED(sumPacked64, 16, 4, 8);
MP_SUM_PACKED(sumPacked96, 32, 3, 8);
MP_SUM_PACKED(sumPacked128, 32, 4, 8);
MP_SUM_PACKED(sumPacked256, 32, 8, 4);
