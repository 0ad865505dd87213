// Exact sums and dot products of binary64 numbers. Rounding is left to the host: the result is digits in fixed point, see digits.cuh.
//
// Blocks are whole warps; shared memory: 4 * digitCount bytes a warp. total has digitCount + 3 words, to which is added. Any
// grid gives the same result.
#include "digits.cuh"

// loadPairs reads U pairs of numbers, each stride after the last: all of them, or zeros beyond the end. The first case has no branch between
// its loads, so that all are under way at once.
template <u32 U> MP_DEVICE void loadPairs(double *v, const ulonglong2 *__restrict__ x, u64 i, u64 stride, u64 pairs, bool all) {
	ulonglong2 w[U];
	if (all) {
#pragma unroll
		for (u32 u = 0; u < U; u++) w[u] = x[i + u * stride];
	} else {
#pragma unroll
		for (u32 u = 0; u < U; u++) {
			w[u].x = w[u].y = 0;
			if (i + u * stride < pairs) w[u] = x[i + u * stride];
		}
	}
#pragma unroll
	for (u32 u = 0; u < U; u++) {
		v[2 * u] = doubleOf(w[u].x);
		v[2 * u + 1] = doubleOf(w[u].y);
	}
}

// sumFloat64 adds the n numbers at x, whose address is a multiple of 16.
MP_KERNEL(sumFloat64, 1024)(u64 *total, const ulonglong2 *__restrict__ x, u64 n) {
	const u32 loads = 4, terms = 2 * loads;
	WarpSum<3> sum(total);
	u32 lane = threadIdx.x & 31;
	u64 pairs = n / 2, stride = (u64)gridDim.x * blockDim.x, start = (u64)blockIdx.x * blockDim.x + (threadIdx.x & ~31u);
	if (start == 0 && lane == 0 && n % 2) {
		addTerm(sum.first, total, ((const double *)x)[n - 1]);
	}
	sum.reserve(1);
	for (u64 i = start; i < pairs; i += loads * stride) { // the same number of times in all lanes
		double v[terms];
		loadPairs<loads>(v, x, i + lane, stride, pairs, i + (loads - 1) * stride + 31 < pairs);
		u32 largest = 0;
#pragma unroll
		for (u32 j = 0; j < terms; j++) {
			u32 w = magnitudeWord(v[j]);
			largest = w > largest ? w : largest;
		}
		bool rare = ballot(allLanes, largest >= sum.bins.limit) != 0;
		if (rare) {
			u32 usable = 0;
#pragma unroll
			for (u32 j = 0; j < terms; j++) {
				u32 w = magnitudeWord(v[j]);
				if (w < largestBinned && w > usable) usable = w;
			}
			sum.raise(usable, leastLimit);
			sum.reserve(32 * terms);
#pragma unroll
			for (u32 j = 0; j < terms; j++)
				if (magnitudeWord(v[j]) >= sum.bins.limit) {
					addTerm(sum.first, total, v[j]);
					v[j] = 0;
				}
		}
		sum.makeRoom(terms);
		u64 left = 0;
#pragma unroll
		for (u32 j = 0; j < terms; j++) {
			v[j] = sum.bins.add(v[j]);
			left |= bitsOf(v[j]);
		}
		if (ballot(allLanes, left << 1 != 0)) {
			sum.reserve(32 * terms);
#pragma unroll
			for (u32 j = 0; j < terms; j++)
				if (bitsOf(v[j]) << 1) addTerm(sum.first, total, v[j]);
		}
	}
	sum.finish();
}
MP_REGISTER(sumFloat64);

// A product's error is a number, and the product's high part and it are the product exactly, if the high part is at least 2^-968 or a
// factor is 0.
static const u32 leastProduct = (u32)(1023 - 968) << 20;
static const i32 leastProductLimit = -960;

// dotFloat64 adds the n products x[i]*y[i]; both addresses are multiples of 16. A product enters the bins as p + e with p =
// fl(x*y) and e = fma(x, y, -p), the latter from the second level on, as |e| <= 2^-53 |p|.
MP_KERNEL(dotFloat64, 1024)(u64 *total, const ulonglong2 *__restrict__ x, const ulonglong2 *__restrict__ y, u64 n) {
	const u32 loads = 2, terms = 2 * loads;
	WarpSum<4> sum(total);
	sum.bins.limit = leastProduct;
	u32 lane = threadIdx.x & 31;
	u64 pairs = n / 2, stride = (u64)gridDim.x * blockDim.x, start = (u64)blockIdx.x * blockDim.x + (threadIdx.x & ~31u);
	if (start == 0 && lane == 0 && n % 2) {
		addProduct(sum.first, total, ((const double *)x)[n - 1], ((const double *)y)[n - 1]);
	}
	sum.reserve(1);
	for (u64 i = start; i < pairs; i += loads * stride) {
		double a[terms], b[terms], p[terms], e[terms];
		bool all = i + (loads - 1) * stride + 31 < pairs;
		loadPairs<loads>(a, x, i + lane, stride, pairs, all);
		loadPairs<loads>(b, y, i + lane, stride, pairs, all);
		bool outside = false;
#pragma unroll
		for (u32 j = 0; j < terms; j++) {
			p[j] = a[j] * b[j];
			e[j] = fusedMultiplyAdd(a[j], b[j], -p[j]);
			outside |= magnitudeWord(p[j]) - leastProduct >= sum.bins.limit - leastProduct;
		}
		bool rare = ballot(allLanes, outside) != 0;
		if (rare) {
			u32 usable = leastProduct;
#pragma unroll
			for (u32 j = 0; j < terms; j++) {
				u32 w = magnitudeWord(p[j]);
				if (w < largestBinned && w > usable) usable = w;
			}
			sum.raise(usable, leastProductLimit);
			sum.reserve(32 * terms);
#pragma unroll
			for (u32 j = 0; j < terms; j++) {
				u32 w = magnitudeWord(p[j]);
				if (w >= leastProduct && w < sum.bins.limit) continue;
				if (w >= sum.bins.limit || (bitsOf(a[j]) << 1 && bitsOf(b[j]) << 1)) addProduct(sum.first, total, a[j], b[j]);
				p[j] = e[j] = 0;
			}
		}
		sum.makeRoom(2 * terms);
		u64 left = 0;
#pragma unroll
		for (u32 j = 0; j < terms; j++) {
			p[j] = sum.bins.add(p[j]);
			e[j] = sum.bins.add(e[j], 1);
			left |= bitsOf(p[j]) | bitsOf(e[j]);
		}
		if (ballot(allLanes, left << 1 != 0)) {
			sum.reserve(64 * terms);
#pragma unroll
			for (u32 j = 0; j < terms; j++) {
				if (bitsOf(p[j]) << 1) addTerm(sum.first, total, p[j]);
				if (bitsOf(e[j]) << 1) addTerm(sum.first, total, e[j]);
			}
		}
	}
	sum.finish();
}
MP_REGISTER(dotFloat64);
