// Scans: pkg/primer/primergpu. y_i is the combination of x_0 to x_i (inclusive), or of those before x_i (exclusive).
//
// A tile is what a block of 8 warps scans: each warp 4 rows, one after the other, each lane of a row a pack of
// 16 bytes.
// The grouping is that of primer.scanTiles: packs from left to right; the packs of a row by 5 steps of the doubling of
// Kogge and Stone, in which a lane takes what the lane 1, 2, 4, 8, 16 before it has; rows, and warps, from left to
// right; y_i is ((tiles before o (warps before o rows before)) o lanes before) o the pack up to i.
//
// Operations that do not round are scanned in one pass: D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with
// Decoupled Look-back", NVIDIA 2016. In a scan that rounds, tiles are combined in a fixed order, too: the totals of
// all tiles are scanned first, as an array of their own.
#ifndef MPBENCH_SCAN_CUH
#define MPBENCH_SCAN_CUH

#include "primer.cuh"

// Prefixes are a scan. state and count are of scanLookback: words of 64 bits, and a
// number that is 0 before and after; epoch is greater in every launch with the same state.
struct Prefixes {
	const u8 *x;
	u8 *y;
	const u8 *before; // of scanWithin: the combination of the tiles before each, null for none
	u64 *state;
	u32 *count;
	u64 n;
	u32 operation, exclusive, epoch;
	i32 unit; // of scanExact
};

static const u32 scanWarps = 8;

// Plain combines elements as they are. A scheme says what elements become, how that is combined, and how many rows of
// a tile a warp has.
template <class T, class Operation> struct Plain : Operation {
	typedef T Value;
	static const u32 rows = 4;
	static __device__ T from(const Prefixes &, T x) { return x; }
	static __device__ T to(const Prefixes &, T x) { return x; }
};

template <class V> MP_DEVICE V shuffleValue(V v, u32 source) { return shuffleElement(v, source); }
template <class V> MP_DEVICE V shuffleValueXor(V v, u32 distance) { return shuffleElementXor(v, distance); }

// Tile is what a thread has of one.
template <class T, class O> struct Tile {
	typedef typename O::Value Value;
	Value x[O::rows][Pack<T>::size]; // combined from left to right in each pack
	Value lanes[O::rows];            // the lanes before, of each row
	Value rows[O::rows];             // the warps and rows before
	Value total;                     // of the tile

	// load reads the tile of that number, and scans it. Shared memory: an element a warp.
	__device__ void load(const Prefixes &p, u64 tile) {
		MP_SHARED(Value, data);
		u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
		Value before = O::identity();
		for (u32 r = 0; r < O::rows; r++) {
			read(p, packOf(tile, r), x[r]);
			for (u32 k = 1; k < Pack<T>::size; k++) x[r][k] = O::combine(x[r][k - 1], x[r][k]);
			Value v = x[r][Pack<T>::size - 1];
			for (u32 d = 1; d < 32; d *= 2) {
				Value other = shuffleValue(v, (lane - d) & 31);
				if (lane >= d) v = O::combine(other, v);
			}
			Value left = shuffleValue(v, (lane - 1) & 31);
			lanes[r] = lane ? left : O::identity();
			rows[r] = before;
			before = O::combine(before, shuffleValue(v, 31));
		}
		if (lane == 0) data[warp] = before;
		blockSync();
		Value warps = O::identity();
		total = O::identity();
		for (u32 w = 0; w < scanWarps; w++) {
			if (w == warp) warps = total;
			total = O::combine(total, data[w]);
		}
		for (u32 r = 0; r < O::rows; r++) rows[r] = O::combine(warps, rows[r]);
	}

	// store writes the tile's results, with the combination of the tiles before.
	__device__ void store(const Prefixes &p, u64 tile, Value tiles) const {
		for (u32 r = 0; r < O::rows; r++) {
			Value before = O::combine(O::combine(tiles, rows[r]), lanes[r]);
			Pack<T> y;
			for (u32 k = 0; k < Pack<T>::size; k++) {
				Value v = before;
				if (!p.exclusive)
					v = O::combine(before, x[r][k]);
				else if (k)
					v = O::combine(before, x[r][k - 1]);
				y.v[k] = O::to(p, v);
			}
			write(p, packOf(tile, r), y);
		}
	}

	static __device__ u64 packOf(u64 tile, u32 row) {
		u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
		return ((tile * scanWarps + warp) * O::rows + row) * 32 + lane;
	}

	static __device__ void read(const Prefixes &p, u64 i, Value *v) {
		if ((i + 1) * Pack<T>::size <= p.n) {
			Pack<T> x = loadPack((const T *)p.x, i);
			for (u32 k = 0; k < Pack<T>::size; k++) v[k] = O::from(p, x.v[k]);
			return;
		}
		for (u32 k = 0; k < Pack<T>::size; k++) {
			u64 at = i * Pack<T>::size + k;
			v[k] = at < p.n ? O::from(p, ((const T *)p.x)[at]) : O::identity();
		}
	}

	static __device__ void write(const Prefixes &p, u64 i, Pack<T> v) {
		if ((i + 1) * Pack<T>::size <= p.n) {
			storePack((T *)p.y, i, v);
			return;
		}
		for (u32 k = 0; k < Pack<T>::size; k++)
			if (i * Pack<T>::size + k < p.n) ((T *)p.y)[i * Pack<T>::size + k] = v.v[k];
	}
};

// scanTotals writes the total of each tile to y, a tile a block.
template <class T> MP_DEVICE void scanTotals(const Prefixes &p) {
	withOperation<T>(p.operation, [&](auto o) {
		Tile<T, Plain<T, decltype(o)>> tile;
		tile.load(p, blockIdx.x);
		if (threadIdx.x == 0) ((T *)p.y)[blockIdx.x] = tile.total;
	});
}

// scanWithin scans each tile, a tile a block, with what comes before.
template <class T> MP_DEVICE void scanWithin(const Prefixes &p) {
	withOperation<T>(p.operation, [&](auto o) {
		typedef Plain<T, decltype(o)> O;
		Tile<T, O> tile;
		tile.load(p, blockIdx.x);
		tile.store(p, blockIdx.x, p.before ? ((const T *)p.before)[blockIdx.x] : O::identity());
	});
}

// Known is what other blocks know of a tile: nothing, its total, or the combination with all tiles before. It lies in
// words of 64 bits that have 32 bits of a value each, and say in the others what it is, and of which launch: so no
// fence is needed between the value and the news that it is there.
template <class Value> struct Known {
	static const u32 words = sizeof(Value) / 4;
	struct Words {
		u32 v[words];
	};
	enum What { total = 1, combination = 2 };

	static __device__ void tell(const Prefixes &p, u64 tile, u32 what, Value value) {
		Words w = castBits<Words>(value);
		volatile u64 *to = (volatile u64 *)p.state + tile * words;
		for (u32 k = 0; k < words; k++) to[k] = (u64)(4 * p.epoch + what) << 32 | w.v[k];
	}

	// ask waits until something is known.
	static __device__ u32 ask(const Prefixes &p, u64 tile, Value &value) {
		for (;;) {
			Words w;
			u32 first = 0;
			bool same = true;
			for (u32 k = 0; k < words; k++) {
				u64 word = loadFresh(p.state + tile * words + k);
				if (k == 0) first = (u32)(word >> 32);
				same = same && (u32)(word >> 32) == first;
				w.v[k] = (u32)word;
			}
			if (same && first / 4 == p.epoch) {
				value = castBits<Value>(w);
				return first % 4;
			}
		}
	}
};

// lookBack scans in one pass, for operations whose order does not matter. A block takes the next tile, tells its
// total, and looks back: 32 tiles at a time, until one knows the combination of all tiles up to it. Blocks that have
// earlier tiles are running or over, so that nobody waits for ever. Shared memory: 10 values.
template <class T, class O> MP_DEVICE void lookBack(const Prefixes &p) {
	typedef typename O::Value Value;
	MP_SHARED(Value, data);
	volatile u32 *number = (volatile u32 *)(data + scanWarps);
	if (threadIdx.x == 0) {
		*number = atomicAdd32(p.count, 1);
		if (*number == gridDim.x - 1) *p.count = 0;
	}
	blockSync();
	u64 t = *number;
	Tile<T, O> tile;
	tile.load(p, t);
	if (threadIdx.x < 32) {
		Value before = O::identity();
		if (t > 0) {
			if (threadIdx.x == 0) Known<Value>::tell(p, t, Known<Value>::total, tile.total);
			for (u64 end = t; end > 0;) { // tiles before it are to be asked
				Value value = O::identity();
				u32 what = Known<Value>::combination;
				if (threadIdx.x < end) what = Known<Value>::ask(p, end - 1 - threadIdx.x, value);
				u32 whole = ballot(allLanes, what == Known<Value>::combination);
				u32 last = whole ? (u32)trailingZeros((u64)whole) : 31; // that is needed
				if (threadIdx.x > last) value = O::identity();
				for (u32 d = 16; d; d /= 2) value = O::combine(value, shuffleValueXor(value, d));
				before = O::combine(value, before);
				end = whole || end <= 32 ? 0 : end - 32;
			}
		}
		if (threadIdx.x == 0) {
			Known<Value>::tell(p, t, Known<Value>::combination, O::combine(before, tile.total));
			data[scanWarps + 1] = before;
		}
	}
	blockSync();
	tile.store(p, t, data[scanWarps + 1]);
}

template <class T> MP_DEVICE void scanLookback(const Prefixes &p) {
	withOperation<T>(p.operation, [&](auto o) { lookBack<T, Plain<T, decltype(o)>>(p); });
}

// Wide is an integer of 128 bits in two's complement.
struct Wide {
	u64 lo, hi;
};
MP_DEVICE Wide shuffleValue(Wide v, u32 source) {
	return Wide{shuffle(allLanes, v.lo, source), shuffle(allLanes, v.hi, source)};
}
MP_DEVICE Wide shuffleValueXor(Wide v, u32 distance) {
	return Wide{shuffleXor(allLanes, v.lo, distance), shuffleXor(allLanes, v.hi, distance)};
}
MP_DEVICE Wide negative(Wide v) { return Wide{0 - v.lo, ~v.hi + (v.lo == 0)}; }

// Fixed are sums in units of 2^unit, of which all elements are multiples, with all sums below 2^126 of them: exact, as
// primer.fixed128, and rounded once.
template <class T> struct Fixed {
	typedef Wide Value;
	static const u32 rows = 1;
	static __device__ Wide identity() { return Wide{0, 0}; }
	static __device__ Wide combine(Wide a, Wide b) {
		u64 lo = a.lo + b.lo;
		return Wide{lo, a.hi + b.hi + (lo < a.lo)};
	}
	static __device__ Wide from(const Prefixes &p, T x) {
		u64 bits = bitsOf((double)x), m = bits & 0xfffffffffffffull;
		i32 e = (i32)(bits >> 52 & 0x7ff);
		if (e)
			m |= 1ull << 52;
		else
			e = 1;
		i32 shift = e - 1075 - p.unit;
		Wide v = {0, 0};
		if (m == 0) return v;
		if (shift < 0)
			v.lo = m >> -shift; // zeros
		else if (shift >= 64)
			v.hi = m << (shift - 64);
		else
			v = Wide{m << shift, shift ? m >> (64 - shift) : 0};
		return bits >> 63 ? negative(v) : v;
	}
	// to rounds to nearest, ties to even. The sum has no bits below those of subnormal numbers.
	static __device__ T to(const Prefixes &p, Wide v) {
		const i32 precision = sizeof(T) == 4 ? 24 : 53;
		bool minus = v.hi >> 63;
		if (minus) v = negative(v);
		i32 length = v.hi ? 128 - (i32)leadingZeros(v.hi) : 64 - (i32)leadingZeros(v.lo);
		i32 drop = length > precision ? length - precision : 0;
		u64 m = v.lo;
		if (drop >= 64)
			m = v.hi >> (drop - 64);
		else if (drop)
			m = v.lo >> drop | v.hi << (64 - drop);
		if (drop) {
			i32 at = (drop - 1) & 63; // of the half, in its word
			u64 word = drop > 64 ? v.hi : v.lo, below = word & ((1ull << at) - 1);
			if (drop > 64) below |= v.lo;
			if (word >> at & 1 && (below || m & 1)) m++;
		}
		double x = (double)m;
		i32 e = p.unit + drop;
		if (e < -1022) {
			x *= powerOfTwo(-900); // normal still
			e += 900;
		} else if (e > 900) {
			x *= powerOfTwo(900);
			e -= 900;
		}
		x *= powerOfTwo(e);
		return (T)(minus ? -x : x);
	}
};

template <class T> MP_DEVICE void scanExact(const Prefixes &p) { lookBack<T, Fixed<T>>(p); }

#define MP_SCANS(T, suffix)                        \
	MP_FOR_ELEMENT(scanTotals, Prefixes, T, suffix); \
	MP_FOR_ELEMENT(scanWithin, Prefixes, T, suffix); \
	MP_FOR_ELEMENT(scanLookback, Prefixes, T, suffix)

#endif
