// Numbers to residue planes: what the deferred engine's products read.
//
// Element (i, j), row i of rows and column j of columns, is number i*rowStride + j*columnStride of the source. It
// becomes the integer truncate(x * 2^-low[i*lowStep]), less than 2^(28*moduli), and that its residues modulo the m_k =
// 2^28 - delta[k]:
//
//	planes[(k*rows + i)*ld + j],  0 for j from columns to ld
//
// With limbs, plane k has, in place of residues, limb k of the integer's magnitude, 28 bits, with its sign; moduli is
// the number of limbs. With select, row i is row select[i] of the source. A residue is a sum of limbs of 28 bits times
// powers[h*lanes + k] = 2^(28h) mod m_k.
#include "modular.cuh"

struct Conversion {
	const u64 *source; // float64 numbers, or words of packed numbers
	const i64 *exponents;  // packed: 2*exponent + sign
	const i32 *low;
	u32 *planes;
	const u32 *delta, *powers;
	i64 rowStride, columnStride;
	u64 planeStride; // rows * ld of the whole matrix: rows may be a part
	u32 rows, columns, ld;
	u32 moduli, lanes, lowStep;
	u32 width; // packed: words of a number
	u32 limbs; // 1: planes of limbs
	const u32 *select; // null: all rows
};

MP_DEVICE i64 sourceRow(const Conversion &c, u32 i) { return c.select ? c.select[i] : i; }

// Parts of a float64 number: |x| = significand * 2^exponent. Infinities and NaN count as 0.
struct Parts {
	u64 significand;
	i32 exponent;
	bool negative;
};

MP_DEVICE Parts split(u64 word) {
	i32 field = (i32)(word >> 52 & 0x7ff), normal = field > 0;
	Parts p;
	p.significand = field == 0x7ff ? 0 : (word & (1ull << 52) - 1) | (u64)normal << 52;
	p.exponent = field - normal - 1074;
	p.negative = word >> 63;
	return p;
}

MP_DEVICE u32 negateMod(u32 r, u32 delta, bool negative) { return negative && r ? (1u << limbBits) - delta - r : r; }

// planesOfFloat64 converts tiles of 32 x 32 elements, read along the dimension whose stride is 1. Elements too large
// for the moduli become anything. Blocks of 256 threads; grid (tiles of ld, tiles of rows).
MP_KERNEL(planesOfFloat64, 256)(Conversion c) {
	__shared__ u64 tile[32][33];
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, i0 = blockIdx.y * 32, j0 = blockIdx.x * 32;
	bool across = c.rowStride == 1; // lanes read along a column
	for (u32 t = warp; t < 32; t += 8) {
		u32 r = across ? lane : t, s = across ? t : lane;
		bool inside = i0 + r < c.rows && j0 + s < c.columns;
		tile[r][s] = inside ? c.source[sourceRow(c, i0 + r) * c.rowStride + (i64)(j0 + s) * c.columnStride] : 0;
	}
	blockSync();
	if (j0 + lane >= c.ld) return;
	for (u32 r = warp; r < 32 && i0 + r < c.rows; r += 8) {
		Parts x = split(tile[r][lane]);
		i32 shift = x.exponent - c.low[(i0 + r) * c.lowStep];
		if (shift < 0) {
			x.significand = shift > -64 ? x.significand >> -shift : 0;
			shift = 0;
		}
		if (!x.significand) shift = 0;
		u32 h = (u32)shift / limbBits < c.moduli ? (u32)shift / limbBits : c.moduli - 1, bits = (u32)shift % limbBits;
		u64 low = x.significand << bits, high = bits ? x.significand >> (64 - bits) : 0; // 80 bits
		u32 l0 = (u32)low & limbMask, l1 = (u32)(low >> limbBits) & limbMask;
		u32 l2 = (u32)(low >> 2 * limbBits | high << (64 - 2 * limbBits)) & limbMask;
		const u32 *power = c.powers + (u64)h * c.lanes;
		u32 *out = c.planes + (u64)(i0 + r) * c.ld + j0 + lane;
		for (u32 k = 0; c.limbs && k < c.moduli; k++) {
			u32 limb = k == h ? l0 : k == h + 1 ? l1 : k == h + 2 ? l2 : 0;
			out[k * c.planeStride] = x.negative ? 0 - limb : limb;
		}
		for (u32 k = 0; !c.limbs && k < c.moduli; k++) {
			u64 s = (u64)l0 * power[k] + (u64)l1 * power[c.lanes + k] + (u64)l2 * power[2 * c.lanes + k];
			out[k * c.planeStride] = negateMod(fold(s, c.delta[k]), c.delta[k], x.negative);
		}
	}
}
MP_REGISTER(planesOfFloat64);

// planesOfPacked converts 32 elements of a row a block: their limbs, shifted to the row's alignment, lie in shared
// memory, then each warp takes moduli of its own. Blocks of 256 threads; grid (tiles of ld, rows). Shared memory: 32 *
// (8*width + 4*limbs) bytes, limbs = 64*width/28 + 2.
MP_KERNEL(planesOfPacked, 256)(Conversion c) {
	MP_SHARED(u64, words);
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.y, j0 = blockIdx.x * 32;
	u32 limbs = 64 * c.width / limbBits + 2;
	u32 *limb = (u32 *)(words + 32 * c.width); // [limb][element]
	i32 rowLow = c.low[i * c.lowStep];
	for (u32 t = warp; t < 32; t += 8) {
		bool inside = j0 + t < c.columns;
		u64 at = (u64)(sourceRow(c, i) * c.rowStride + (i64)(j0 + t) * c.columnStride);
		for (u32 w = lane; w < c.width; w += 32) words[t * c.width + w] = inside ? c.source[at * c.width + w] : 0;
	}
	i64 exponent = j0 + lane < c.columns
		? c.exponents[sourceRow(c, i) * c.rowStride + (i64)(j0 + lane) * c.columnStride] : 0;
	blockSync();
	i64 shift = (exponent >> 1) - rowLow;
	u32 h = shift > 0 ? (u32)(shift / limbBits) : 0;
	const u64 *own = words + lane * c.width;
	bool zero = true;
	for (u32 w = 0; w < c.width; w++) zero = zero && own[w] == 0;
	if (zero) h = 0;
	for (u32 l = warp; l < limbs; l += 8) {
		i64 at = (i64)(l + h) * limbBits - shift; // the limb's first bit among the words
		u64 v = 0;
		if (!zero && at > -64 && at < (i64)(64 * c.width)) {
			if (at < 0) {
				v = own[0] << -at;
			} else {
				u32 w = (u32)(at / 64), bit = (u32)(at % 64);
				v = own[w] >> bit;
				if (bit && w + 1 < c.width) v |= own[w + 1] << (64 - bit);
			}
		}
		limb[l * 32 + lane] = (u32)v & limbMask;
	}
	blockSync();
	if (j0 + lane >= c.ld) return;
	u32 count = limbs < c.moduli + 2 - h ? limbs : c.moduli + 2 - h; // aligned numbers have no limbs above
	u32 *out = c.planes + (u64)i * c.ld + j0 + lane;
	for (u32 k = warp; c.limbs && k < c.moduli; k += 8) {
		u32 v = k - h < limbs ? limb[(k - h) * 32 + lane] : 0; // k - h is great if negative
		out[k * c.planeStride] = exponent & 1 ? 0 - v : v;
	}
	for (u32 k = warp; !c.limbs && k < c.moduli; k += 8) {
		u64 s = 0;
		u32 delta = c.delta[k];
		for (u32 from = 0; from < count; from += 255) {
			u32 to = from + 255 < count ? from + 255 : count;
			for (u32 l = from; l < to; l++) s += (u64)limb[l * 32 + lane] * c.powers[(u64)(h + l) * c.lanes + k];
			s = fold(s, delta);
		}
		out[k * c.planeStride] = negateMod((u32)s, delta, exponent & 1);
	}
}
MP_REGISTER(planesOfPacked);

// extentsOfFloat64 finds the least and the greatest bit position (one more) of each row's finite numbers: low[i]
// begins as the greatest i32, top[i] as the least. *special is set to 1 if there is an infinity or NaN. Warps take
// tiles of 32 rows or 32 columns, along the dimension whose stride is 1. With xTop it takes products with numbers
// whose bit positions end at xTop[j], noTop for zero: top[i] is the greatest sum of two ends, and low means nothing.
// Blocks of 256 threads.
struct Extents {
	const u64 *source;
	i32 *low, *top;
	u32 *special;
	i64 rowStride, columnStride;
	u32 rows, columns;
	u32 span; // elements of a row that a lane or warp takes
	const i32 *xTop; // null: elements themselves
};

static const i32 noTop = -0x7fffffff - 1;

MP_KERNEL(extentsOfFloat64, 256)(Extents e) {
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	bool across = e.rowStride == 1; // a lane has a row; otherwise a warp
	u32 i = across ? blockIdx.x * 32 + lane : blockIdx.x * 8 + warp;
	u32 from = (across ? blockIdx.y * 8 + warp : blockIdx.y) * e.span;
	u32 to = from + e.span < e.columns ? from + e.span : e.columns;
	i32 low = 0x7fffffff, top = noTop;
	bool special = false;
	if (i < e.rows) {
		for (u32 j = across ? from : from + lane; j < to; j += across ? 1 : 32) {
			u64 word = e.source[(i64)i * e.rowStride + (i64)j * e.columnStride];
			special = special || (word >> 52 & 0x7ff) == 0x7ff;
			Parts x = split(word);
			if (!x.significand) continue;
			i32 least = x.exponent + (i32)trailingZeros(x.significand);
			i32 most = x.exponent + 64 - (i32)leadingZeros(x.significand);
			if (e.xTop) {
				i32 other = e.xTop[j];
				if (other == noTop) continue;
				most += other;
			}
			low = least < low ? least : low;
			top = most > top ? most : top;
		}
	}
	if (!across) {
		for (u32 d = 16; d; d /= 2) {
			i32 otherLow = (i32)shuffleXor(allLanes, (u32)low, d), otherTop = (i32)shuffleXor(allLanes, (u32)top, d);
			low = otherLow < low ? otherLow : low;
			top = otherTop > top ? otherTop : top;
		}
	}
	if (special) *e.special = 1;
	if (i < e.rows && top > noTop && (across || lane == 0)) {
		atomicMin32(&e.low[i], low);
		atomicMax32(&e.top[i], top);
	}
}
MP_REGISTER(extentsOfFloat64);
