// Products of matrices in tiles, in orders of additions in which a group of lanes shares a sum: lane l adds the terms
// l, l + lanes, ... in turn, and then the lanes are added in a tree.
//
// Every lane has a tile of M x N sums in registers: it reads M + N factors for M*N products and additions, (1/M + 1/N)
// times the bytes of a number for each, of which groups next to each other in a block find half in the first-level
// cache. For a product and its addition these are, with the floating-point operations:
//
//	double-double, 4 x 4                     8 bytes    28
//	triple precision, 4 x 4                  6          28
//	Dot2, 4 x 4                              4          10
//	three and four components, 2 x 2        24, 32     169, 330
#ifndef MPBENCH_TILES_CUH
#define MPBENCH_TILES_CUH

#include "multifloat.cuh"

// Product is a problem: the products of the rows of x and the columns of y, n terms each, in segments of so many.
struct Product {
	ComponentPlanes x, y;
	u64 rows, columns, n, segment;
};

// Tile is the work of a block, Across groups side by side. F is what is added: factors of Factor components of type T,
// which fetch and expand make of what is stored, and sums of Sum components by Lanes lanes; addProduct adds a product
// to a sum, addLane sets a sum to that of two. M*N is a power of two, at most Lanes. Ahead is how many turns' factors
// are fetched before the first of them is added.
template <class F, int M, int N, int Across, int Ahead> struct Tile {
	typedef typename F::T T;
	static const int Count = M * N;
	static const u32 Down = 128 / F::Lanes / Across;

	static __device__ __forceinline__ u64 min(u64 a, u64 b) { return a < b ? a : b; }

	// addTurns adds the terms from, from + Lanes, ... of as many turns as are fetched ahead; terms beyond end are 0.
	MP_DEVICE void addTurns(T (*sum)[F::Sum], const Product &p, const u64 *row, const u64 *column, u64 from, u64 end) {
		T left[Ahead][M][F::Factor] = {}, right[Ahead][N][F::Factor] = {};
#pragma unroll
		for (int t = 0; t < Ahead; t++) {
			u64 i = from + F::Lanes * t + threadIdx.x % F::Lanes;
			if (i < end) {
#pragma unroll
				for (int m = 0; m < M; m++) F::fetch(left[t][m], p.x, row[m] + i);
#pragma unroll
				for (int j = 0; j < N; j++) F::fetch(right[t][j], p.y, column[j] + i);
			}
		}
#pragma unroll
		for (int t = 0; t < Ahead; t++) {
			if (from + F::Lanes * t >= end) break;
#pragma unroll
			for (int m = 0; m < M; m++) F::expand(left[t][m]);
#pragma unroll
			for (int j = 0; j < N; j++) F::expand(right[t][j]);
#pragma unroll
			for (int m = 0; m < M; m++) {
#pragma unroll
				for (int j = 0; j < N; j++) F::addProduct(sum[m * N + j], left[t][m], right[t][j]);
			}
		}
	}

	// addLanes adds lane l + Half to lane l, and so on. While it has several sums, a lane gives half of them away and
	// gets the others' of those that it keeps: in the end lane l has sum l*Count/Lanes.
	template <int Left, u32 Half> MP_DEVICE void addLanes(T (*sum)[F::Sum]) {
		if constexpr (Half > 0) {
			const bool upper = threadIdx.x & Half;
			const int kept = (Left + 1) / 2, away = Left / 2;
#pragma unroll
			for (int i = 0; i < kept; i++) {
				T low[F::Sum], high[F::Sum];
#pragma unroll
				for (int k = 0; k < F::Sum; k++) {
					T first = sum[i][k], second = sum[i + away][k], own = upper ? second : first;
					T other = (T)doubleOf(shuffleXor(allLanes, bitsOf((double)(upper ? first : second)), Half));
					low[k] = upper ? other : own;
					high[k] = upper ? own : other;
				}
				F::addLane(sum[i], low, high);
			}
			addLanes<kept, Half / 2>(sum);
		}
	}

	// addSegment returns what one segment of the terms adds up to, of the entry that the lane has.
	MP_DEVICE void addSegment(T *z, const Product &p, const u64 *row, const u64 *column, u64 from) {
		T sum[Count][F::Sum] = {};
		u64 end = min(p.n, from + p.segment);
		for (; from < end; from += F::Lanes * Ahead) addTurns(sum, p, row, column, from, end);
		addLanes<Count, F::Lanes / 2>(sum);
#pragma unroll
		for (int k = 0; k < F::Sum; k++) z[k] = sum[0][k];
	}

	// addSegments adds segments in pairs of neighbours until one is left: sums of 2^k of them wait for as many more.
	MP_DEVICE void addSegments(T *z, const Product &p, const u64 *row, const u64 *column, u64 first, u64 last) {
		T waiting[32][F::Sum];
		u32 depth = 0;
		for (u64 s = first; s < last; s++) {
			addSegment(z, p, row, column, s * p.segment);
			for (u64 done = s - first; done & 1; done /= 2) F::addLane(z, waiting[--depth], z);
			for (int k = 0; k < F::Sum; k++) waiting[depth][k] = z[k];
			depth++;
		}
		while (depth-- > 1) F::addLane(z, waiting[depth - 1], z);
	}

	// run gives the sums of parts of the segments, one of all or one each, to to.store(row, column, part, sum). Blocks go
	// down bands of the rows, so that those that run at a time share their factors in the second-level cache.
	template <class To> MP_DEVICE void run(const Product &p, u64 parts, const To &to) {
		const u64 band = 16;
		u64 down = (p.rows + Down * M - 1) / (Down * M), across = (p.columns + Across * N - 1) / (Across * N);
		u64 part = blockIdx.x / (down * across), at = blockIdx.x % (down * across);
		u64 first = at / (band * across) * band, height = min(band, down - first);
		at %= band * across;
		u32 group = threadIdx.x / F::Lanes, lane = threadIdx.x % F::Lanes;
		u64 top = ((first + at % height) * Down + group / Across) * M, side = (at / height * Across + group % Across) * N;
		u64 row[M], column[N];
#pragma unroll
		for (int m = 0; m < M; m++) row[m] = min(top + m, p.rows - 1) * p.n;
#pragma unroll
		for (int j = 0; j < N; j++) column[j] = min(side + j, p.columns - 1) * p.n;
		T sum[F::Sum] = {};
		u64 segments = parts > 1 ? 1 : (p.n + p.segment - 1) / p.segment;
		addSegments(sum, p, row, column, part * segments, (part + 1) * segments);
		u64 entry = lane * Count / F::Lanes;
		top += entry / N;
		side += entry % N;
		if (lane % (F::Lanes / Count) == 0 && top < p.rows && side < p.columns) to.store(top, side, part, sum);
	}
};

// SchemeTerms is products and sums of a scheme's numbers.
template <class S, class Stored = Planes<typename S::T, S::K>> struct SchemeTerms {
	typedef typename S::T T;
	static const int Factor = S::K, Sum = S::K, Lanes = 32;

	MP_DEVICE void fetch(T *z, ComponentPlanes v, u64 i) { Stored::fetch(z, v, i); }
	MP_DEVICE void expand(T *z) { Stored::expand(z); }
	MP_DEVICE void addLane(T *z, const T *x, const T *y) { S::add(x, y, z); }
	MP_DEVICE void addProduct(T *sum, const T *x, const T *y) {
		T term[S::K];
		S::mul(x, y, term);
		S::add(sum, term, sum);
	}
};

// SegmentSums stores sums of segments, as Vectors::sums does, or of all of them.
template <class V> struct SegmentSums {
	ComponentPlanes z;
	u64 columns, parts, asStored;

	__device__ __forceinline__ void store(u64 row, u64 column, u64 part, const typename V::T *sum) const {
		V::storeSum(z, (row * columns + column) * parts + part, sum, asStored);
	}
};

// MP_TILES(suffix, scheme, Side, Ahead) defines the kernels of products of matrices in tiles of Side x Side, and of a
// matrix and a vector in tiles of Side x 1 with so many turns fetched ahead, of the scheme's numbers.
#define MP_TILES_KERNEL(name, scheme, M, N, Across, Ahead)                                                         \
	MP_KERNEL(name, 128)                                                                                           \
	(ComponentPlanes z, ComponentPlanes x, ComponentPlanes y, u64 rows, u64 columns, u64 n, u64 parts,             \
	 u64 asStored) {                                                                                               \
		Tile<SchemeTerms<MP_UNPACK scheme>, M, N, Across, Ahead>::run(                                             \
			Product{x, y, rows, columns, n, 2048}, parts,                                                          \
			SegmentSums<Vectors<MP_UNPACK scheme>>{z, columns, parts, asStored});                                  \
	}                                                                                                              \
	MP_REGISTER(name)
#define MP_TILES(suffix, scheme, Side, Ahead)                              \
	MP_TILES_KERNEL(multifloatTiles##suffix, scheme, Side, Side, 2, 1);    \
	MP_TILES_KERNEL(multifloatTilesTall##suffix, scheme, Side, 1, 1, Ahead)

#endif
