// Unevaluated sums of floating-point numbers: pkg/multifloat/network, whose results these are bit for bit, and the
// kernels of pkg/multifloat/multifloatgpu. See there for the errors and the order of additions.
#ifndef MPBENCH_MULTIFLOAT_CUH
#define MPBENCH_MULTIFLOAT_CUH

#include "portable.cuh"

MP_DEVICE double fusedMulAdd(double x, double y, double z) { return __builtin_fma(x, y, z); }
MP_DEVICE float fusedMulAdd(float x, float y, float z) { return __builtin_fmaf(x, y, z); }

// twoSum sets s + e = x + y exactly, s rounded.
template <class T> MP_DEVICE void twoSum(T x, T y, T &s, T &e) {
	s = x + y;
	T z = s - x;
	e = (x - (s - z)) + (y - z);
}

// fastTwoSum is twoSum for |x| >= |y| or x = 0.
template <class T> MP_DEVICE void fastTwoSum(T x, T y, T &s, T &e) {
	s = x + y;
	e = y - (s - x);
}

// twoProduct sets p + e = x * y exactly, p rounded.
template <class T> MP_DEVICE void twoProduct(T x, T y, T &p, T &e) {
	p = x * y;
	e = fusedMulAdd(x, y, -p);
}

// DoubleWord is numbers of two components: AccurateDWPlusDW and DWTimesDW2 of Joldes, Muller and Popescu 2017,
// https://doi.org/10.1145/3121432.
struct DoubleWord {
	typedef double T;
	static const int K = 2;

	MP_DEVICE void add(const T *x, const T *y, T *z) {
		T s, e, t, g;
		twoSum(x[0], y[0], s, e);
		twoSum(x[1], y[1], t, g);
		fastTwoSum(s, e + t, s, e);
		fastTwoSum(s, g + e, z[0], z[1]);
	}

	MP_DEVICE void mul(const T *x, const T *y, T *z) {
		T p, e;
		twoProduct(x[0], y[0], p, e);
		fastTwoSum(p, e + fusedMulAdd(x[0], y[1], x[1] * y[0]), z[0], z[1]);
	}
};

// MixedWord is numbers of two components, of which the second one is a binary32: AddMixed and MulMixed.
struct MixedWord {
	typedef double T;
	static const int K = 2;

	MP_DEVICE void join(T s, float low, T *z) {
		T e;
		fastTwoSum(s, (T)low, z[0], e);
		z[1] = (T)(float)e;
	}

	MP_DEVICE void add(const T *x, const T *y, T *z) {
		T s, e;
		twoSum(x[0], y[0], s, e);
		join(s, ((float)x[1] + (float)y[1]) + (float)e, z);
	}

	MP_DEVICE void mul(const T *x, const T *y, T *z) {
		T p, e;
		twoProduct(x[0], y[0], p, e);
		join(p, ((float)x[0] * (float)y[1] + (float)x[1] * (float)y[0]) + (float)e, z);
	}
};

// Levels is numbers of K components, with so many guard levels and passes of carries.
template <class Float, int Components, int Guard, int Carries> struct Levels {
	typedef Float T;
	static const int K = Components, levels = K + Guard;

	// addTerms adds neighbours among N terms until one sum is left in t[0]; e gets the N-1 errors, unless it is the
	// last level.
	template <int N, bool Last> MP_DEVICE void addTerms(T *t, T *e) {
		if constexpr (N > 1) {
#pragma unroll
			for (int i = 0; i < N / 2; i++) {
				if (Last)
					t[i] = t[2 * i] + t[2 * i + 1];
				else
					twoSum(t[2 * i], t[2 * i + 1], t[i], e[i]);
			}
			if (N % 2) t[N / 2] = t[N - 1];
			addTerms<(N + 1) / 2, Last>(t, e + (Last ? 0 : N / 2));
		}
	}

	// carry adds what has gathered in a component to the one above.
	MP_DEVICE void carry(T *t, T *z) {
#pragma unroll
		for (int pass = 0; pass < Carries; pass++) {
#pragma unroll
			for (int i = levels - 1; i > pass; i--) twoSum(t[i - 1], t[i], t[i - 1], t[i]);
		}
#pragma unroll
		for (int i = 0; i < K; i++) z[i] = t[i];
	}

	// addLevels adds the components of level I and E errors of the level above, and goes on below.
	template <int I, int E> MP_DEVICE void addLevels(const T *x, const T *y, T *t, const T *errors) {
		if constexpr (I < levels) {
			const int own = I < K ? 2 : 0, N = own + E;
			T terms[N], lost[N];
			if (I < K) terms[0] = x[I], terms[1] = y[I];
#pragma unroll
			for (int i = 0; i < E; i++) terms[own + i] = errors[i];
			addTerms<N, I == levels - 1>(terms, lost);
			t[I] = terms[0];
			addLevels<I + 1, N - 1>(x, y, t, lost);
		}
	}

	// mulLevels adds the products of level I and E errors of the level above, and goes on below.
	template <int I, int E> MP_DEVICE void mulLevels(const T *x, const T *y, T *t, const T *errors) {
		if constexpr (I < levels) {
			const bool last = I == levels - 1;
			const int first = I < K ? 0 : I - K + 1, products = I < K ? I + 1 : K - first;
			const int own = last ? 1 : products, N = own + E, next = products + N - 1;
			T terms[N], lost[next];
#pragma unroll
			for (int j = 0; j < products; j++) {
				if (!last)
					twoProduct(x[first + j], y[I - first - j], terms[j], lost[j]);
				else if (j == 0)
					terms[0] = x[first] * y[I - first];
				else
					terms[0] = fusedMulAdd(x[first + j], y[I - first - j], terms[0]);
			}
#pragma unroll
			for (int i = 0; i < E; i++) terms[own + i] = errors[i];
			addTerms<N, last>(terms, lost + products);
			t[I] = terms[0];
			mulLevels<I + 1, next>(x, y, t, lost);
		}
	}

	MP_DEVICE void add(const T *x, const T *y, T *z) {
		T t[levels], none[1];
		addLevels<0, 0>(x, y, t, none);
		carry(t, z);
	}

	MP_DEVICE void mul(const T *x, const T *y, T *z) {
		T t[levels], none[1];
		mulLevels<0, 0>(x, y, t, none);
		carry(t, z);
	}
};

// ComponentPlanes is a vector: the components k of all numbers lie side by side from p + k*stride on.
struct ComponentPlanes {
	u8 *p;
	u64 stride;
};

// Constant is one number; the components are binary64, also where they hold binary32.
struct Constant {
	u64 c0, c1, c2, c3, c4, c5, c6, c7;
};

// Planes is how components are stored as they are. Of all ways to store them, fetch reads what is stored, without
// operations on it, and expand makes the number of that; what is stored of 0 is 0. Part is the type of the components
// of a sparse matrix, which lie in planes.
template <class T, int K> struct Planes {
	typedef T Part;

	MP_DEVICE void fetch(T *z, ComponentPlanes v, u64 i) {
#pragma unroll
		for (int k = 0; k < K; k++) z[k] = ((const T *)(v.p + k * v.stride))[i];
	}

	MP_DEVICE void expand(T *z) {}

	MP_DEVICE void store(ComponentPlanes v, u64 i, const T *z) {
#pragma unroll
		for (int k = 0; k < K; k++) ((T *)(v.p + k * v.stride))[i] = z[k];
	}
};

// LowSingle is a second component that is stored as a binary32; LowHalf as the upper half of a binary64, rounded to
// nearest, ties to even.
struct LowSingle {
	MP_DEVICE double expand(u32 low) { return (double)__builtin_bit_cast(float, low); }
	MP_DEVICE u32 cut(double low) { return __builtin_bit_cast(u32, (float)low); }
};

struct LowHalf {
	MP_DEVICE double expand(u32 low) { return doubleOf((u64)low << 32); }
	MP_DEVICE u32 cut(double low) {
		u64 b = bitsOf(low);
		return (u32)((b + 0x7fffffff + (b >> 32 & 1)) >> 32);
	}
};

// Packed is a double and 32 bits of what is below it: multifloat.Packing.
template <class Low> struct Packed {
	typedef double Part;

	MP_DEVICE void fetch(double *z, ComponentPlanes v, u64 i) {
		z[0] = ((const double *)v.p)[i];
		z[1] = doubleOf((u64)((const u32 *)(v.p + v.stride))[i] << 32);
	}

	MP_DEVICE void expand(double *z) { z[1] = Low::expand((u32)(bitsOf(z[1]) >> 32)); }

	MP_DEVICE void store(ComponentPlanes v, u64 i, const double *z) {
		u32 bits = Low::cut(z[1]);
		double rest = Low::expand(bits), high = z[0], sum = high + rest;
		bool same = sum == high;
		((double *)v.p)[i] = same ? high : sum;
		((u32 *)(v.p + v.stride))[i] = same ? bits : Low::cut(rest - (sum - high));
	}
};

// Widened is binary32 numbers that are read as binary64 ones.
struct Widened {
	typedef float Part;

	MP_DEVICE void fetch(double *z, ComponentPlanes v, u64 i) { z[0] = doubleOf(((const u32 *)v.p)[i]); }
	MP_DEVICE void expand(double *z) { z[0] = (double)__builtin_bit_cast(float, (u32)bitsOf(z[0])); }
	MP_DEVICE void store(ComponentPlanes v, u64 i, const double *z) { ((float *)v.p)[i] = (float)z[0]; }
};

// Vectors has the loops of a scheme on vectors that are stored in some way.
template <class S, class Stored = Planes<typename S::T, S::K>> struct Vectors {
	typedef typename S::T T;
	static const int K = S::K;
	typedef Planes<T, K> Whole; // how sums of segments are stored
	typedef typename Stored::Part Part;

	MP_DEVICE void load(T *z, ComponentPlanes v, u64 i) {
		Stored::fetch(z, v, i);
		Stored::expand(z);
	}
	MP_DEVICE void store(ComponentPlanes v, u64 i, const T *z) { Stored::store(v, i, z); }

	// storeSum stores a sum as vectors are stored, or whole.
	MP_DEVICE void storeSum(ComponentPlanes v, u64 i, const T *z, bool asStored) {
		if (asStored)
			store(v, i, z);
		else
			Whole::store(v, i, z);
	}

	MP_DEVICE T fromLane(T v, u32 lane) { return (T)doubleOf(shuffle(allLanes, bitsOf((double)v), lane)); }

	// magnitude returns |x| of a number: the sign is that of the highest component that is not 0.
	MP_DEVICE void magnitude(T *x) {
		T sign = 0;
#pragma unroll
		for (int k = K - 1; k >= 0; k--) sign = x[k] != 0 ? x[k] : sign;
#pragma unroll
		for (int k = 0; k < K; k++) x[k] = sign < 0 ? -x[k] : x[k];
	}

	// Ahead is how many turns' numbers are read before the first of them is added.
	static const int Ahead = K == 1 ? 32 : K == 2 ? 16 : K <= 4 ? 8 : 2;

	// addTerms adds the terms from, from + 32, ... before end, of all turns that begin before end; terms beyond it are 0.
	// x is read from row on, y from column on. All are fetched before the first one is expanded: a conversion behind each
	// load, under the condition that guards it, would wait for the load.
	template <bool Products>
	MP_DEVICE void addTerms(T *sum, ComponentPlanes x, u64 row, ComponentPlanes y, u64 column, u64 from, u64 end,
	                        u64 magnitudes) {
		T term[Ahead][K], factor[Ahead][K];
		u32 lane = threadIdx.x % 32;
#pragma unroll
		for (int t = 0; t < Ahead; t++) {
			u64 i = from + 32 * t + lane;
#pragma unroll
			for (int k = 0; k < K; k++) term[t][k] = factor[t][k] = 0;
			if (i < end) {
				Stored::fetch(term[t], x, row + i);
				if (Products) Stored::fetch(factor[t], y, column + i);
			}
		}
#pragma unroll
		for (int t = 0; t < Ahead; t++) {
			if (from + 32 * t >= end) break;
			Stored::expand(term[t]);
			if (Products) Stored::expand(factor[t]);
			if (magnitudes) magnitude(term[t]);
			if (Products) S::mul(term[t], factor[t], term[t]);
			S::add(sum, term[t], sum);
		}
	}

	// sums adds, by a warp each, segments of the rows of x, or of their products with the columns of y: task t is a
	// segment of component t / segments. Lane l adds the numbers l, l + 32, ...; lanes are added in a tree. The sums are
	// stored as vectors are, or whole.
	template <bool Products>
	MP_DEVICE void sums(ComponentPlanes z, ComponentPlanes x, ComponentPlanes y, u64 columns, u64 n, u64 segments,
	                    u64 tasks, u64 magnitudes, bool asStored) {
		const u64 segment = 2048;
		u32 lane = threadIdx.x % 32, warps = blockDim.x / 32;
		for (u64 task = blockIdx.x * (u64)warps + threadIdx.x / 32; task < tasks; task += (u64)gridDim.x * warps) {
			u64 component = task / segments, row = component / columns * n, column = component % columns * n;
			u64 from = task % segments * segment, to = min(n, from + segment);
			T sum[K];
#pragma unroll
			for (int k = 0; k < K; k++) sum[k] = 0;
			for (; from < to; from += 32 * Ahead)
				addTerms<Products>(sum, x, row, y, column, from, to, magnitudes);
			for (u32 half = 16; half > 0; half /= 2) {
				T other[K];
#pragma unroll
				for (int k = 0; k < K; k++) other[k] = fromLane(sum[k], (lane + half) % 32);
				S::add(sum, other, sum);
			}
			if (lane == 0) storeSum(z, task, sum, asStored);
		}
	}

	static __device__ __forceinline__ u64 min(u64 a, u64 b) { return a < b ? a : b; }

	// pairs adds neighbours among up to 64 numbers of a row of x, by a warp each, until one is left: task t is a group
	// of row t / groups. The sums are stored as vectors are, or whole.
	MP_DEVICE void pairs(ComponentPlanes z, ComponentPlanes x, u64 n, u64 groups, u64 tasks, bool asStored) {
		u32 lane = threadIdx.x % 32, warps = blockDim.x / 32;
		for (u64 task = blockIdx.x * (u64)warps + threadIdx.x / 32; task < tasks; task += (u64)gridDim.x * warps) {
			u64 row = task / groups * n, from = task % groups * 64;
			u32 left = (u32)min(64, n - from);
			T sum[K], other[K];
#pragma unroll
			for (int k = 0; k < K; k++) sum[k] = 0, other[k] = 0;
			if (2 * lane < left) Whole::fetch(sum, x, row + from + 2 * lane);
			if (2 * lane + 1 < left) {
				Whole::fetch(other, x, row + from + 2 * lane + 1);
				S::add(sum, other, sum);
			}
			for (left = (left + 1) / 2; left > 1; left = (left + 1) / 2) {
				T even[K];
#pragma unroll
				for (int k = 0; k < K; k++) {
					even[k] = fromLane(sum[k], 2 * lane % 32);
					other[k] = fromLane(sum[k], (2 * lane + 1) % 32);
				}
				bool alone = 2 * lane + 1 >= left;
				S::add(even, other, sum);
#pragma unroll
				for (int k = 0; k < K; k++) sum[k] = alone ? even[k] : sum[k];
			}
			if (lane == 0) storeSum(z, task, sum, asStored);
		}
	}

	// addRow adds the products of a row of so many elements and x, from the first to the last. The elements of the rows
	// of a warp lie in the order in which they are added; those of this lane begin at element at.
	MP_DEVICE void addRow(T *sum, ComponentPlanes a, u64 parts, ComponentPlanes x, const u32 *columns, u64 at,
	                      u32 length) {
		const u8 *element = a.p + at * sizeof(Part);
		const u32 *column = columns + at;
		T term[K], factor[K];
		for (u32 j = 0;; j++) {
			u32 active = ballot(allLanes, j < length);
			if (!active) break;
			if (j < length) {
#pragma unroll
				for (int k = 0; k < K; k++) term[k] = k < parts ? *(const Part *)(element + k * a.stride) : 0;
				load(factor, x, *column);
				S::mul(term, factor, term);
				S::add(sum, term, sum);
			}
			u32 count = 32 - leadingZeros(active); // the first lanes
			element += count * sizeof(Part);
			column += count;
		}
	}

	// rows multiplies a sparse matrix by x: a lane adds the products of a row from the first to the last, a warp takes 32
	// rows, the longest first, whose elements lie in the order in which they are added (multifloat.Layout): lengths and
	// numbers of rows, 32 for each slice, of which ~0 is none. Warps take slices in turn, or the next one whose number is
	// at next, where their lengths differ much. Elements lie in planes, the parts beyond the first ones are 0.
	MP_DEVICE void rows(ComponentPlanes z, ComponentPlanes a, u64 parts, ComponentPlanes x, const u32 *columns,
	                    const u32 *lengths, const u32 *numbers, const u64 *starts, u64 slices, u32 *next) {
		u32 lane = threadIdx.x % 32, warps = blockDim.x / 32;
		u64 slice = next ? take(next) : blockIdx.x * (u64)warps + threadIdx.x / 32;
		while (slice < slices) {
			u32 length = lengths[32 * slice + lane], row = numbers[32 * slice + lane];
			T sum[K];
#pragma unroll
			for (int k = 0; k < K; k++) sum[k] = 0;
			addRow(sum, a, parts, x, columns, starts[slice] + lane, length);
			if (row != ~0u) store(z, row, sum);
			slice = next ? take(next) : slice + (u64)gridDim.x * warps;
		}
	}

	// triangle sets z to y plus the products of a matrix and z, whose elements are all below the diagonal, or all above
	// it: multifloat.NewTriangle. A warp takes the next slice, and waits until so many slices as before says are
	// computed: those of earlier levels. Warps that have them are running or over, so that nobody waits for ever.
	// counters[0] is how many slices are taken, counters[1] how many are computed.
	MP_DEVICE void triangle(ComponentPlanes z, ComponentPlanes y, ComponentPlanes a, u64 parts, const u32 *columns,
	                        const u32 *lengths, const u32 *numbers, const u64 *starts, const u32 *before, u64 slices,
	                        u64 *counters) {
		u32 lane = threadIdx.x % 32;
		for (u64 slice = take((u32 *)counters); slice < slices; slice = take((u32 *)counters)) {
			u32 length = lengths[32 * slice + lane], row = numbers[32 * slice + lane];
			u64 at = starts[slice] + lane;
			T sum[K];
#pragma unroll
			for (int k = 0; k < K; k++) sum[k] = 0;
			if (row != ~0u) load(sum, y, row);
			if (length > 0) prefetch(columns + at);
			u64 earlier = before[slice];
			while (ballot(allLanes, loadFresh(counters + 1) < earlier)) continue;
			deviceFence();
			addRow(sum, a, parts, z, columns, at, length);
			if (row != ~0u) store(z, row, sum);
			deviceFence();
			warpSync(allLanes);
			if (lane == 0) atomicAdd64(counters + 1, 1);
		}
	}

	// take returns the next number for a warp.
	MP_DEVICE u64 take(u32 *next) {
		u32 n = 0;
		if (threadIdx.x % 32 == 0) n = atomicAdd32(next, 1);
		return shuffle(allLanes, n, 0);
	}

	// elements sets z_i = x_i, times c if bit 0 of what is set, and then plus y_i if bit 1 is; bit 2 makes c y_i.
	MP_DEVICE void elements(ComponentPlanes z, Constant c, ComponentPlanes x, ComponentPlanes y, u64 n, u64 what) {
		u64 bits[8] = {c.c0, c.c1, c.c2, c.c3, c.c4, c.c5, c.c6, c.c7};
		T factor[K];
#pragma unroll
		for (int k = 0; k < K; k++) factor[k] = (T)doubleOf(bits[k]);
		for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) {
			T sum[K], other[K];
			load(sum, x, i);
			if (what & 4) load(factor, y, i);
			if (what & 1) S::mul(factor, sum, sum);
			if (what & 2) {
				load(other, y, i);
				S::add(sum, other, sum);
			}
			store(z, i, sum);
		}
	}
};

// MP_MULTIFLOAT(suffix, scheme) defines the kernels of a scheme, and how numbers are stored, in parentheses.
#define MP_UNPACK(...) __VA_ARGS__
#define MP_MULTIFLOAT(suffix, scheme)                                                                              \
	MP_KERNEL(multifloatSums##suffix, 128)                                                                         \
	(ComponentPlanes z, ComponentPlanes x, u64 n, u64 segments, u64 tasks, u64 magnitudes) {                       \
		Vectors<MP_UNPACK scheme>::sums<false>(z, x, x, 1, n, segments, tasks, magnitudes, segments == 1);         \
	}                                                                                                              \
	MP_REGISTER(multifloatSums##suffix);                                                                           \
	MP_KERNEL(multifloatDots##suffix, 128)                                                                         \
	(ComponentPlanes z, ComponentPlanes x, ComponentPlanes y, u64 columns, u64 n, u64 segments, u64 tasks,         \
	 u64 asStored) {                                                                                               \
		Vectors<MP_UNPACK scheme>::sums<true>(z, x, y, columns, n, segments, tasks, 0, asStored);                  \
	}                                                                                                              \
	MP_REGISTER(multifloatDots##suffix);                                                                           \
	MP_KERNEL(multifloatPairs##suffix, 128)                                                                        \
	(ComponentPlanes z, ComponentPlanes x, u64 n, u64 groups, u64 tasks, u64 asStored) {                           \
		Vectors<MP_UNPACK scheme>::pairs(z, x, n, groups, tasks, asStored);                                        \
	}                                                                                                              \
	MP_REGISTER(multifloatPairs##suffix);                                                                          \
	MP_KERNEL(multifloatRows##suffix, 128)                                                                         \
	(ComponentPlanes z, ComponentPlanes a, u64 parts, ComponentPlanes x, const u32 *columns, const u32 *lengths,   \
	 const u32 *numbers, const u64 *starts, u64 slices, u32 *next) {                                               \
		Vectors<MP_UNPACK scheme>::rows(z, a, parts, x, columns, lengths, numbers, starts, slices, next);          \
	}                                                                                                              \
	MP_REGISTER(multifloatRows##suffix);                                                                           \
	MP_KERNEL(multifloatTriangle##suffix, 128)                                                                     \
	(ComponentPlanes z, ComponentPlanes y, ComponentPlanes a, u64 parts, const u32 *columns, const u32 *lengths,   \
	 const u32 *numbers, const u64 *starts, const u32 *before, u64 slices, u64 *counters) {                        \
		Vectors<MP_UNPACK scheme>::triangle(z, y, a, parts, columns, lengths, numbers, starts, before, slices,     \
		                                    counters);                                                             \
	}                                                                                                              \
	MP_REGISTER(multifloatTriangle##suffix);                                                                       \
	MP_KERNEL(multifloatElements##suffix, 256)                                                                     \
	(ComponentPlanes z, Constant c, ComponentPlanes x, ComponentPlanes y, u64 n, u64 what) {                       \
		Vectors<MP_UNPACK scheme>::elements(z, c, x, y, n, what);                                                  \
	}                                                                                                              \
	MP_REGISTER(multifloatElements##suffix)

#endif
