// Scans: pkg/primer/primergpu. y_i is the combination of x_0 to x_i (inclusive), or of those before x_i (exclusive).
//
// A tile is what a block scans: each warp some rows, one after the other, each lane of a row a pack of 16 bytes.
// The grouping is that of primer.scanGrouped: the elements of a pack from left to right; the packs of a row by 5 steps
// of the doubling of Kogge and Stone, in which a lane takes what the lane 1, 2, 4, 8, 16 before it has; rows, and
// warps, from left to right.
//
// Tiles are combined in one pass, as in D. Merrill, M. Garland, "Single-pass Parallel Prefix Scan with Decoupled
// Look-back", NVIDIA 2016: a block tells others the total of its tile, and looks for what is before it. Here what it
// looks for does not depend on who comes first, so that scans that round have the same bits each time: 256 tiles are
// a group; a block combines those before it in its group, and all groups before, which the last block of each tells.
#ifndef MPBENCH_SCAN_CUH
#define MPBENCH_SCAN_CUH

#include "primer.cuh"

// Prefixes are a scan. state has words of 64 bits for each tile and group (Known), and count is 0 before and
// after; epoch is greater in every launch with the same state.
struct Prefixes {
	const u8 *x;
	u8 *y;
	u64 *state;
	u32 *count;
	u64 n;
	u32 operation, exclusive, epoch;
	i32 unit; // of exact scans
};

static const u32 scanWarps = 8;                 // of a block
static const u32 scanRows = 8, scanRowsWide = 4; // of a warp; where values have 16 bytes

// Plain combines elements as they are. A scheme says what elements become, and how that is combined.
template <class T, class Operation> struct Plain : Operation {
	typedef T Value;
	static __device__ T nothing() { return Operation::identity(); } // an element that changes nothing
	static __device__ T from(const Prefixes &, T x) { return x; }
	static __device__ T to(const Prefixes &, T x) { return x; }
};

template <class V> MP_DEVICE V shuffleValue(V v, u32 source) { return shuffleElement(v, source); }
template <class V> MP_DEVICE V shuffleValueXor(V v, u32 distance) { return shuffleElementXor(v, distance); }

// each calls f(0), ..., f(n-1): arrays that f indexes are in registers, as if it were written out.
template <u32 n> struct Times {
	template <class F> static __device__ __forceinline__ void call(F f) {
		Times<n - 1>::call(f);
		f(n - 1);
	}
};
template <> struct Times<0> {
	template <class F> static __device__ __forceinline__ void call(F) {}
};
template <u32 n, class F> MP_DEVICE void each(F f) { Times<n>::call(f); }

// Tile is what a thread has of one.
template <class T, class O, u32 rows> struct Tile {
	typedef typename O::Value Value;
	static const u32 pack = Pack<T>::size;
	Pack<T> x[rows];
	Value before[rows]; // each pack, in the tile
	Value total;        // of the tile

	// load reads the tile of that number, and scans it. data is shared: a value for each warp.
	__device__ __forceinline__ void load(const Prefixes &p, u64 tile, Value *data) {
		u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
		if (isWhole(p, tile))
			each<rows>([&](u32 r) MP_INLINE { x[r] = loadPack((const T *)p.x, packOf(tile, r)); });
		else
			each<rows>([&](u32 r) MP_INLINE { x[r] = read(p, packOf(tile, r)); });
		Value above = O::identity(); // the rows of the warp before
		each<rows>([&](u32 r) MP_INLINE {
			Value v = O::from(p, x[r].v[0]);
			each<pack - 1>([&](u32 k) MP_INLINE { v = O::combine(v, O::from(p, x[r].v[k + 1])); });
#pragma unroll
			for (u32 d = 1; d < 32; d *= 2) {
				Value other = shuffleValue(v, (lane - d) & 31);
				if (lane >= d) v = O::combine(other, v);
			}
			Value left = shuffleValue(v, (lane - 1) & 31);
			before[r] = O::combine(above, lane ? left : O::identity());
			above = O::combine(above, shuffleValue(v, 31));
		});
		if (lane == 0) data[warp] = above;
		blockSync();
		Value left = O::identity(); // the warps before
		total = O::identity();
#pragma unroll
		for (u32 w = 0; w < scanWarps; w++) {
			if (w == warp) left = total;
			total = O::combine(total, data[w]);
		}
		each<rows>([&](u32 r) MP_INLINE { before[r] = O::combine(left, before[r]); });
	}

	// store writes the tile's results, with the combination of the tiles before.
	__device__ __forceinline__ void store(const Prefixes &p, u64 tile, Value tiles) const {
		bool whole = isWhole(p, tile);
		each<rows>([&](u32 r) MP_INLINE {
			Value v = O::combine(tiles, before[r]);
			Pack<T> y;
			each<pack>([&](u32 k) MP_INLINE {
				Value next = O::combine(v, O::from(p, x[r].v[k]));
				y.v[k] = O::to(p, p.exclusive ? v : next);
				v = next;
			});
			if (whole)
				storePack((T *)p.y, packOf(tile, r), y);
			else
				write(p, packOf(tile, r), y);
		});
	}

	static __device__ bool isWhole(const Prefixes &p, u64 tile) {
		return (tile + 1) * (scanWarps * rows * 32 * pack) <= p.n;
	}

	static __device__ u64 packOf(u64 tile, u32 row) {
		u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
		return ((tile * scanWarps + warp) * rows + row) * 32 + lane;
	}

	static __device__ __forceinline__ Pack<T> read(const Prefixes &p, u64 i) {
		Pack<T> x;
		each<pack>([&](u32 k) MP_INLINE {
			u64 at = i * pack + k;
			x.v[k] = at < p.n ? ((const T *)p.x)[at] : O::nothing();
		});
		return x;
	}

	static __device__ __forceinline__ void write(const Prefixes &p, u64 i, Pack<T> y) {
		each<pack>([&](u32 k) MP_INLINE {
			if (i * pack + k < p.n) ((T *)p.y)[i * pack + k] = y.v[k];
		});
	}
};

// Known is a value that one block tells others. It lies in words of 64 bits that have 32 bits of the value each, and
// in the others the launch: so no fence is needed between the value and the news that it is there.
template <class Value> struct Known {
	static const u32 words = sizeof(Value) / 4;
	struct Words {
		u32 v[words];
	};
	bool here;
	Value value;

	static __device__ void tell(const Prefixes &p, u64 i, Value value) {
		Words w = castBits<Words>(value);
		for (u32 k = 0; k < words; k++) storeRelaxed(p.state + i * words + k, (u64)p.epoch << 32 | w.v[k]);
	}

	// look looks for value i if it is not here.
	__device__ __forceinline__ void look(const Prefixes &p, u64 i) {
		if (here) return;
		u64 word[words];
		if (words == 1)
			word[0] = loadRelaxed(p.state + i);
		else
			each<words / 2>([&](u32 k) MP_INLINE {
				ulonglong2 pair = loadRelaxed((const ulonglong2 *)(p.state + i * words) + k);
				word[2 * k] = pair.x;
				word[2 * k + 1] = pair.y;
			});
		Words w;
		here = true;
		each<words>([&](u32 k) MP_INLINE {
			here = here && (u32)(word[k] >> 32) == p.epoch;
			w.v[k] = (u32)word[k];
		});
		if (here) value = castBits<Value>(w);
	}
};

// A group of tiles: each lane of a warp looks for so many of them.
static const u32 lookAt = 8, groupTiles = 32 * lookAt;

// beforeTile tells the total of tile t, and returns the combination of the tiles before: of all groups, and of those
// before it in its group. One warp calls it.
template <class O> MP_DEVICE typename O::Value beforeTile(const Prefixes &p, u64 t, typename O::Value total) {
	typedef typename O::Value Value;
	typedef Known<Value> K;
	u64 lane = threadIdx.x, group = t / groupTiles, groups = gridDim.x; // where the values of groups begin
	if (lane == 0) K::tell(p, t, total);
	K tiles[lookAt], all = {group == 0, O::identity()};
	each<lookAt>([&](u32 k) MP_INLINE { tiles[k] = K{32 * k + lane >= t % groupTiles, O::identity()}; });
	for (bool ready = false; !ready;) {
		all.look(p, groups + group - 1);
		ready = all.here;
		each<lookAt>([&](u32 k) MP_INLINE {
			tiles[k].look(p, group * groupTiles + 32 * k + lane);
			ready = ready && tiles[k].here;
		});
	}
	Value v = tiles[0].value;
	each<lookAt - 1>([&](u32 k) MP_INLINE { v = O::combine(v, tiles[k + 1].value); });
#pragma unroll
	for (u32 d = 16; d; d /= 2) v = O::combine(v, shuffleValueXor(v, d));
	v = O::combine(all.value, v);
	if (lane == 0 && t % groupTiles == groupTiles - 1) K::tell(p, groups + group, O::combine(v, total));
	return v;
}


// scanTile scans the next tile. Blocks that have earlier ones are running or over, so that nobody waits for ever.
// Shared memory: 2 values more than warps.
template <class T, class O, u32 rows> MP_DEVICE void scanTile(const Prefixes &p) {
	typedef typename O::Value Value;
	MP_SHARED(Value, data);
	volatile u32 *number = (volatile u32 *)(data + scanWarps + 1);
	if (threadIdx.x == 0) {
		*number = atomicAdd32(p.count, 1);
		if (*number == gridDim.x - 1) *p.count = 0;
	}
	blockSync();
	u64 t = *number;
	Tile<T, O, rows> tile;
	tile.load(p, t, data);
	if (threadIdx.x < 32) {
		Value before = beforeTile<O>(p, t, tile.total);
		if (threadIdx.x == 0) data[scanWarps] = before;
	}
	blockSync();
	tile.store(p, t, data[scanWarps]);
}

// scanTiles scans by any operation.
template <class T> MP_DEVICE void scanTiles(const Prefixes &p) {
	withOperation<T>(p.operation, [&](auto o) { scanTile<T, Plain<T, decltype(o)>, scanRows>(p); });
}

// Exact sums are in fixed point: in units of 2^unit, of which all elements are multiples; rounded once. Powers of two
// that a number is multiplied by are two factors, each of which a normal number: no product rounds, but where the
// result is infinite.
template <class T> struct Powers;
template <> struct Powers<float> {
	static __device__ float of(i32 e) { return castBits<float>((u32)(e + 127) << 23); }
};
template <> struct Powers<double> {
	static __device__ double of(i32 e) { return powerOfTwo(e); }
};
template <class T> MP_DEVICE T times(T x, i32 e) { return x * Powers<T>::of(e / 2) * Powers<T>::of(e - e / 2); }

// Fixed64 are sums below 2^62 units.
template <class T> struct Fixed64 : Sum<i64> {
	typedef i64 Value;
	static __device__ T nothing() { return 0; }
	static __device__ i64 from(const Prefixes &p, T x) { return (i64)times(x, -p.unit); }
	static __device__ T to(const Prefixes &p, i64 v) { return times((T)v, p.unit); }
};

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
MP_DEVICE Wide wideOf(unsigned __int128 v) { return Wide{(u64)v, (u64)(v >> 64)}; }
MP_DEVICE unsigned __int128 bitsOf(Wide v) { return (unsigned __int128)v.hi << 64 | v.lo; }
MP_DEVICE Wide negative(Wide v) { return wideOf(-bitsOf(v)); }

// Fixed128 are sums below 2^126 units, as primer.fixed128.
template <class T> struct Fixed128 {
	typedef Wide Value;
	static __device__ T nothing() { return 0; }
	static __device__ Wide identity() { return Wide{0, 0}; }
	static __device__ Wide combine(Wide a, Wide b) { return wideOf(bitsOf(a) + bitsOf(b)); }
	// from has the first and the last 63 bits, of the element's sign.
	static __device__ Wide from(const Prefixes &p, T x) {
		double v = times((double)x, -p.unit);
		i64 first = (i64)(v * powerOfTwo(-63));
		i64 last = (i64)(v - (double)first * powerOfTwo(63)); // exact
		return wideOf((unsigned __int128)((__int128)first << 63) + (unsigned __int128)(__int128)last);
	}
	// to rounds to nearest, ties to even: the first 64 bits of the magnitude, of which the last one tells whether there
	// are more, are rounded as the sum is.
	static __device__ T to(const Prefixes &p, Wide v) {
		bool minus = v.hi >> 63;
		if (minus) v = negative(v);
		i32 e = 0;
		if (v.hi) {
			u32 zeros = leadingZeros(v.hi);
			u64 below = v.lo << zeros;
			v.lo = v.hi << zeros | (zeros ? v.lo >> (64 - zeros) : 0) | (below != 0);
			e = 64 - (i32)zeros;
		}
		T x = times((T)v.lo * Powers<T>::of(e), p.unit);
		return minus ? -x : x;
	}
};

template <class T> MP_DEVICE void scanExact64(const Prefixes &p) { scanTile<T, Fixed64<T>, scanRows>(p); }
template <class T> MP_DEVICE void scanExact128(const Prefixes &p) { scanTile<T, Fixed128<T>, scanRowsWide>(p); }

// MP_SCAN defines a kernel, of which a multiprocessor has so many blocks at least.
#define MP_SCAN(function, blocks, T, suffix)                                                                   \
	MP_KERNEL(function##suffix, 32 * scanWarps, blocks)(Prefixes argument) { function<T>(argument); }           \
	MP_REGISTER(function##suffix)

#define MP_SCANS(T, suffix) MP_SCAN(scanTiles, 3, T, suffix)
#define MP_EXACT_SCANS(T, suffix)        \
	MP_SCAN(scanExact64, 2, T, suffix); \
	MP_SCAN(scanExact128, 3, T, suffix)

#endif
