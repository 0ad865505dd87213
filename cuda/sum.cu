// Exact sums and dot products of binary64 numbers. Rounding is left to the host: the result is digits in fixed point,
// see digits.cuh.
//
// Blocks are whole warps; shared memory: 4 * digitCount + laneBytes a warp. total has digitCount + 3 words, to which
// is added. Any grid gives the same result. A turn is what a warp adds between two loads; those of the next turn are
// under way meanwhile.
#include "warp_sum.cuh"

static const u32 infinite = 0x7ff00000u; // the high word of infinities; NaN have greater ones

// loadPairs reads U pairs of numbers, each stride after the last: all of them, or zeros beyond the end. The first case
// has no branch between its loads, so that all are under way at once.
template <u32 U>
MP_DEVICE void loadPairs(ulonglong2 *w, const ulonglong2 *__restrict__ x, u64 i, u64 stride, u64 pairs, bool all) {
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
}

template <u32 U> MP_DEVICE void numbersOf(double *v, const ulonglong2 *w) {
#pragma unroll
	for (u32 u = 0; u < U; u++) {
		v[2 * u] = doubleOf(w[u].x);
		v[2 * u + 1] = doubleOf(w[u].y);
	}
}

// largestUsable returns the greatest high word of N numbers that bins can take, at least that given.
template <u32 N> MP_DEVICE u32 largestUsable(u32 usable, const double *v) {
#pragma unroll
	for (u32 j = 0; j < N; j++) {
		u32 w = magnitudeWord(v[j]);
		if (w < largestBinned && w > usable) usable = w;
	}
	return usable;
}

// addTerms adds N numbers of each lane: to the bins, where this turn uses them; what does not fit there, or
// everything, to the lane's digits; and what is too large for either, or infinite, or no number, to the warp's digits.
template <u32 N, u32 L> MP_DEVICE void addTerms(WarpSum<L> &sum, double *v) {
	bool bins = sum.useBins();
	u32 limit = bins ? sum.bins.limit : infinite, largest = 0;
#pragma unroll
	for (u32 j = 0; j < N; j++) {
		u32 w = magnitudeWord(v[j]);
		largest = w > largest ? w : largest;
	}
	if (ballot(allLanes, largest >= limit)) {
		if (bins) {
			sum.raise(largestUsable<N>(0, v), leastLimit);
			limit = sum.bins.limit;
		}
		sum.reserve(32 * N);
#pragma unroll
		for (u32 j = 0; j < N; j++)
			if (magnitudeWord(v[j]) >= limit) {
				addTerm(sum.first, sum.total, v[j]);
				v[j] = 0;
			}
		warpSync(allLanes); // go on together
	}
	if (bins) {
		sum.makeRoom(N);
		u64 left = 0;
#pragma unroll
		for (u32 j = 0; j < N; j++) {
			v[j] = sum.bins.add(v[j]);
			left |= bitsOf(v[j]);
		}
		if (sum.fitted(ballot(allLanes, left << 1 != 0) == 0)) return;
	}
	sum.makeLaneRoom(N);
#pragma unroll
	for (u32 j = 0; j < N; j++) addToLane(sum.words, v[j]);
}

// sumFloat64 adds the n numbers at x, whose address is a multiple of 16.
MP_KERNEL(sumFloat64, 640)(u64 *total, const ulonglong2 *__restrict__ x, u64 n) {
	const u32 loads = 4, terms = 2 * loads;
	u32 lane = threadIdx.x & 31;
	u64 pairs = n / 2, stride = (u64)gridDim.x * blockDim.x, start = (u64)blockIdx.x * blockDim.x + (threadIdx.x & ~31u);
	ulonglong2 next[loads];
	loadPairs<loads>(next, x, start + lane, stride, pairs, start + (loads - 1) * stride + 31 < pairs);
	WarpSum<3> sum(total);
	if (start == 0 && lane == 0 && n % 2) {
		addTerm(sum.first, total, ((const double *)x)[n - 1]);
	}
	warpSync(allLanes);
	sum.reserve(1);
	for (u64 i = start; i < pairs;) { // the same number of times in all lanes
		double v[terms];
		numbersOf<loads>(v, next);
		i += loads * stride;
		loadPairs<loads>(next, x, i + lane, stride, pairs, i + (loads - 1) * stride + 31 < pairs);
		addTerms<terms>(sum, v);
	}
	sum.flush();
}
MP_REGISTER(sumFloat64);

// A product's error is a number, and the product's high part and it are the product exactly, if the high part is at
// least 2^-968 or a factor is 0.
static const u32 leastProduct = (u32)(1023 - 968) << 20;
static const i32 leastProductLimit = -960;

// addProducts adds N products x[j]*y[j] = p[j] + e[j] of each lane: to the bins, e from the second level on, as |e| <=
// 2^-53 |p|, or to the lane's digits, as addTerms does, and those that are not p + e to the warp's digits.
template <u32 N, u32 L>
MP_DEVICE void addProducts(WarpSum<L> &sum, const double *x, const double *y, double *p, double *e) {
	bool bins = sum.useBins(), outside = false;
	u32 limit = bins ? sum.bins.limit : infinite;
#pragma unroll
	for (u32 j = 0; j < N; j++) outside |= magnitudeWord(p[j]) - leastProduct >= limit - leastProduct;
	if (ballot(allLanes, outside)) {
		if (bins) {
			sum.raise(largestUsable<N>(leastProduct, p), leastProductLimit);
			limit = sum.bins.limit;
		}
		sum.reserve(32 * N);
#pragma unroll
		for (u32 j = 0; j < N; j++) {
			u32 w = magnitudeWord(p[j]);
			if (w >= leastProduct && w < limit) continue;
			if (w >= limit || (bitsOf(x[j]) << 1 && bitsOf(y[j]) << 1)) addProduct(sum.first, sum.total, x[j], y[j]);
			p[j] = e[j] = 0;
		}
		warpSync(allLanes); // go on together
	}
	if (bins) {
		sum.makeRoom(2 * N);
		u64 left = 0;
#pragma unroll
		for (u32 j = 0; j < N; j++) {
			p[j] = sum.bins.add(p[j]);
			e[j] = sum.bins.add(e[j], 1);
			left |= bitsOf(p[j]) | bitsOf(e[j]);
		}
		if (sum.fitted(ballot(allLanes, left << 1 != 0) == 0)) return;
	}
	sum.makeLaneRoom(2 * N);
#pragma unroll
	for (u32 j = 0; j < N; j++) {
		addToLane(sum.words, p[j]);
		addToLane(sum.words, e[j]);
	}
}

// dotFloat64 adds the n products x[i]*y[i]; both addresses are multiples of 16. A product is p + e with p = fl(x*y)
// and e = fma(x, y, -p).
MP_KERNEL(dotFloat64, 640)(u64 *total, const ulonglong2 *__restrict__ x, const ulonglong2 *__restrict__ y, u64 n) {
	const u32 loads = 2, terms = 2 * loads;
	u32 lane = threadIdx.x & 31;
	u64 pairs = n / 2, stride = (u64)gridDim.x * blockDim.x, start = (u64)blockIdx.x * blockDim.x + (threadIdx.x & ~31u);
	ulonglong2 nextX[loads], nextY[loads];
	bool all = start + (loads - 1) * stride + 31 < pairs;
	loadPairs<loads>(nextX, x, start + lane, stride, pairs, all);
	loadPairs<loads>(nextY, y, start + lane, stride, pairs, all);
	WarpSum<4> sum(total);
	sum.bins.limit = leastProduct;
	if (start == 0 && lane == 0 && n % 2) {
		addProduct(sum.first, total, ((const double *)x)[n - 1], ((const double *)y)[n - 1]);
	}
	warpSync(allLanes);
	sum.reserve(1);
	for (u64 i = start; i < pairs;) {
		double a[terms], b[terms], p[terms], e[terms];
		numbersOf<loads>(a, nextX);
		numbersOf<loads>(b, nextY);
		i += loads * stride;
		all = i + (loads - 1) * stride + 31 < pairs;
		loadPairs<loads>(nextX, x, i + lane, stride, pairs, all);
		loadPairs<loads>(nextY, y, i + lane, stride, pairs, all);
#pragma unroll
		for (u32 j = 0; j < terms; j++) {
			p[j] = a[j] * b[j];
			e[j] = fusedMultiplyAdd(a[j], b[j], -p[j]);
		}
		addProducts<terms>(sum, a, b, p, e);
	}
	sum.flush();
}
MP_REGISTER(dotFloat64);
