// Numbers to planes of bytes: what byte_products.cu multiplies.
//
// Element (i, j) is number i*rowStride + j*columnStride of the source. It becomes the integer X = truncate(x *
// 2^-low[i]), |X| < 2^(64*words-8), and that its residues, times a factor of each modulus: a byte, or two
// digits and their sum (ByteModulus). Plane k of it is planes[k*planeStride + placeInPlane(i, j, pitch)], 0
// beyond the source's rows and columns.
//
// The conversion is a product of bytes too. All bytes u_b of |X| but the uppermost, which is 0, are complemented
// where X is negative, and the uppermost is then 1: X = sum u_b * 256^b + u_top * (1 - 256^top), so that no carry
// passes from word to word, and a residue is the sum of u_b times constants. A warp converts 64 elements of a row:
// with entry 8c+j in column c of product j, a lane gets 16 neighbours, which it stores at once. 128 bytes add up
// to less than 2^22 - 2^15; a longer integer is reduced in between.
#include "tensor.cuh"

// ByteResidue is a modulus m with what reduces sums x of bytes times weights.
//
// m <= 256 (bytemod.Remainder): |x| < 2^22 - 2^15. Sums begin as the int32 with the bits of the float32 B, a
// multiple of m near 1.5*2^23, so that its bits stay those of F = B + x; the low bits of Q = F/m + rounder, 2^23 <=
// Q < 2^24, are then a quotient, and the low byte of bits(F) - m*bits(Q) is x mod m, in [-m/2 - 1, m/2 + 1].
//
// Two digits: sums begin as 64 + 128*64 and a multiple of m that makes them nonnegative. floor(sum/m) by the
// modulus' magic is right, or 1 too small for multiples of m, so that the remainder is in [0, m] and has the two
// digits plus 64.
//
// `again`, added to a remainder, makes a start of it.
struct ByteResidue {
	i32 m;
	u32 plane; // the first one; ~0 for a row of zeros, which fills a tile
	i32 start, again;
	float inverse, rounder;
	u32 magic, shift; // floor(x/m) = x*magic >> (32 + shift)
};

struct ByteConversion {
	const u64 *source;    // float64 numbers, or words of packed numbers
	const i64 *exponents; // packed: 2*exponent + sign
	const i32 *low;
	u8 *planes;
	const uint4 *weights;        // fragments of rows of weights: [tile][step of 32 bytes][lane]
	const ByteResidue *residues; // 16 for each tile of bytes, then 8 for each tile of digits
	i64 rowStride, columnStride;
	u64 planeStride;
	u32 rows, columns;       // of the source
	u32 paddedRows, pitch;   // of a plane; pitch is a multiple of 128
	u32 width;               // packed: words of a number; float64: 0
	u32 words, steps;        // of an integer: words of 64 bits, steps of 4 words
	u32 byteTiles, digitTiles;
	u32 rowBits;             // a block has 2^rowBits rows, up to 8
};

static const u32 group = 64, threads = 128, loads = 4;

// Word w of element e of a row lies at w*wordPitch + e in shared memory, the next row rowWords(words) on. Neither
// 16 elements of a row, nor 2 of eight rows share a bank, nor do words t of elements 8g on that eight lanes (g, t)
// read at once.
static const u32 wordPitch = 66;
MP_DEVICE u32 rowWords(u32 words) { return (wordPitch * words + 13) / 16 * 16 + 2; }

// Element is a number as it was read: its words, lowest first, and of packed numbers 2*exponent + sign.
struct Element {
	u64 first;
	i64 field;
	const u64 *words; // null for 0
	i32 low;
};

MP_DEVICE Element elementAt(const ByteConversion &c, u32 i, u32 j) {
	Element x = {0, 0, nullptr, 0};
	if (i >= c.rows || j >= c.columns) return x;
	i64 at = i * c.rowStride + j * c.columnStride;
	x.words = c.source + at * (c.width ? c.width : 1);
	for (u32 k = 4; k < c.width; k += 4) prefetch(x.words + k);
	if (c.width) x.field = c.exponents[at];
	x.first = x.words[0];
	x.low = c.low[i];
	return x;
}

// writeInteger writes the words of X, a wordPitch apart. Infinities and NaN count as 0.
MP_DEVICE void writeInteger(u64 *to, const ByteConversion &c, Element x) {
	i64 shift = (x.field >> 1) - x.low;
	u32 width = x.words ? c.width : 1, flip = x.field & 1 ? ~0u : 0;
	if (!c.width) {
		i32 field = (i32)(x.first >> 52 & 0x7ff), normal = field > 0;
		flip = x.first >> 63 ? ~0u : 0;
		shift += field - normal - 1074;
		x.first = field == 0x7ff ? 0 : (x.first & (1ull << 52) - 1) | (u64)normal << 52;
		width = 1;
	}
	i64 least = -64 * (i64)width - 64, most = 64 * (i64)c.words;
	i32 distance = (i32)(shift < least ? least : shift > most ? most : shift), first = distance >> 6;
	u32 bits = (u32)distance & 31, low = 0, high = 0; // of the word before
	bool half = distance & 32;
	u64 v = x.first, fill = (u64)flip << 32 | flip;
#pragma unroll 1
	for (i32 k = 0; k <= (i32)width; k++) {
		u64 next = k + 1 < (i32)width ? x.words[k + 1] : 0;
		u32 a = half ? low : high, b = half ? high : (u32)v, d = half ? (u32)v : (u32)(v >> 32);
		u64 shifted = funnelLeft(a, b, bits) | (u64)funnelLeft(b, d, bits) << 32;
		if ((u32)(first + k) < c.words) to[(first + k) * (i32)wordPitch] = shifted ^ fill;
		low = (u32)v;
		high = (u32)(v >> 32);
		v = next;
	}
#pragma unroll 1
	for (i32 w = 0; w < first && w < (i32)c.words; w++) to[w * wordPitch] = fill;
	i32 beyond = first + (i32)width + 1;
#pragma unroll 1
	for (i32 w = beyond > 0 ? beyond : 0; w < (i32)c.words; w++) to[w * wordPitch] = fill;
	if (flip) to[(c.words - 1) * wordPitch] ^= 0xfeull << 56;
}

// Operand is what a lane (g, t) holds of 64 elements for a step: word t of element 8g+j, in column g of product j.
struct Operand {
	u32 b[8][2];
};

// loadOperand reads step s of an integer; words beyond the last one have the weight 0.
MP_DEVICE void loadOperand(Operand &x, const u64 *row, u32 words, u32 s) {
	u32 lane = threadIdx.x % 32, w = 4 * s + lane % 4;
	const uint4 *from = (const uint4 *)(row + (w < words ? w : words - 1) * wordPitch + lane / 4 * 8);
#pragma unroll
	for (u32 j = 0; j < 8; j += 2) {
		uint4 v = from[j / 2];
		x.b[j][0] = v.x;
		x.b[j][1] = v.y;
		x.b[j + 1][0] = v.z;
		x.b[j + 1][1] = v.w;
	}
}

// Row is a row of 64 elements: HELD steps of its integers in registers if that is all, or 0.
template <u32 HELD> struct Row {
	const u64 *words;
	Operand held[HELD ? HELD : 1];
};

// addProducts adds four products, from j0 on, of a tile of weights with a row's steps from step `from` on, up to 4,
// to start.
template <u32 HELD>
MP_DEVICE void addProducts(i32 (&sums)[4][4], i32 (&start)[4][4], const ByteConversion &c, const Row<HELD> &row,
                           u32 tile, u32 from, u32 j0) {
	const uint4 *weights = c.weights + tile * c.steps * 32 + threadIdx.x % 32;
#pragma unroll
	for (u32 k = 0; k < (HELD ? HELD : 4); k++) {
		if (!HELD && from + k >= c.steps) break;
		uint4 w = weights[(from + k) * 32];
		u32 a[4] = {w.x, w.y, w.z, w.w};
		Operand loaded;
		if (!HELD) loadOperand(loaded, row.words, c.words, from + k);
#pragma unroll
		for (u32 j = 0; j < 4; j++)
			multiplyAddUnsigned(sums[j], a, HELD ? row.held[k].b[j0 + j] : loaded.b[j0 + j], k ? sums[j] : start[j]);
	}
}

// store16 stores a lane's 16 neighbours: those of columns 2t and 2t+1 of the eight products.
MP_DEVICE void store16(u8 *to, const u32 (&x)[4]) { storeVector((uint4 *)to, uint4{x[0], x[1], x[2], x[3]}); }

// byteTile sets 16 planes of residues, from four products at a time.
template <u32 HELD> MP_DEVICE void byteTile(const ByteConversion &c, const Row<HELD> &row, u32 tile, u8 *out) {
	u32 g = threadIdx.x % 32 / 4, packed[2][4];
	const ByteResidue r[2] = {c.residues[tile * 16 + g], c.residues[tile * 16 + g + 8]};
#pragma unroll
	for (u32 part = 0; part < 2; part++) {
		i32 sums[4][4], start[4][4];
#pragma unroll
		for (u32 j = 0; j < 4; j++)
#pragma unroll
			for (u32 k = 0; k < 4; k++) start[j][k] = r[k / 2].start;
		for (u32 s = 0; s < c.steps; s += 4) {
			addProducts(sums, start, c, row, tile, s, 4 * part);
#pragma unroll
			for (u32 j = 0; j < 4; j++)
#pragma unroll
				for (u32 k = 0; k < 4; k++) {
					float q = __builtin_fmaf(castBits<float>(sums[j][k]), r[k / 2].inverse, r[k / 2].rounder);
					sums[j][k] -= castBits<i32>(q) * r[k / 2].m;
					if (!HELD) start[j][k] = sums[j][k] + r[k / 2].again;
				}
			if (HELD) break;
		}
#pragma unroll
		for (u32 k = 0; k < 4; k++)
			packed[k / 2][k % 2 * 2 + part] =
			    packBytes((u32)sums[0][k], (u32)sums[1][k], (u32)sums[2][k], (u32)sums[3][k]);
	}
#pragma unroll
	for (u32 h = 0; h < 2; h++)
		if (r[h].plane != ~0u) store16(out + r[h].plane * c.planeStride, packed[h]);
}

// digitTile sets the planes of eight moduli of two digits: rows g and g+8 of weights are the digits of those of g.
// Digits plus 64 are nonnegative, so that four are added in a word.
template <u32 HELD> MP_DEVICE void digitTile(const ByteConversion &c, const Row<HELD> &row, u32 tile, u8 *out) {
	u32 g = threadIdx.x % 32 / 4, low[4], high[4], both[4];
	const ByteResidue r = c.residues[c.byteTiles * 16 + (tile - c.byteTiles) * 8 + g];
#pragma unroll
	for (u32 part = 0; part < 2; part++) {
		u32 x[2][4];
		i32 start[4][4];
#pragma unroll
		for (u32 j = 0; j < 4; j++) {
			start[j][0] = start[j][1] = r.start;
			start[j][2] = start[j][3] = 0;
		}
		for (u32 s = 0; s < c.steps; s += 4) {
			i32 sums[4][4];
			addProducts(sums, start, c, row, tile, s, 4 * part);
#pragma unroll
			for (u32 j = 0; j < 4; j++)
#pragma unroll
				for (u32 k = 0; k < 2; k++) {
					u32 sum = (u32)(sums[j][k] + 128 * sums[j][2 + k]);
					x[k][j] = sum - (mulHigh(sum, r.magic) >> r.shift) * (u32)r.m;
					if (!HELD) start[j][k] = (i32)x[k][j] + r.again;
				}
			if (HELD) break;
		}
#pragma unroll
		for (u32 k = 0; k < 2; k++) {
			u32 l = packBytes(x[k][0], x[k][1], x[k][2], x[k][3]) & 0x7f7f7f7fu;
			u32 h = packBytes(x[k][0] >> 7, x[k][1] >> 7, x[k][2] >> 7, x[k][3] >> 7), q = 2 * k + part;
			low[q] = (l + 0x40404040u) ^ 0x80808080u;
			high[q] = (h + 0x40404040u) ^ 0x80808080u;
			both[q] = (l + h) ^ 0x80808080u;
		}
	}
	if (r.plane == ~0u) return;
	out += r.plane * c.planeStride;
	store16(out, low);
	store16(out + c.planeStride, high);
	store16(out + 2 * c.planeStride, both);
}

// convertPlanes: a block converts 64 elements of some rows, which it reads along the dimension whose stride is 1.
// Blocks of 128 threads; grid (pitch/64) * (paddedRows/rows of a block). Shared memory: rowWords(words) words a row.
template <u32 HELD> MP_DEVICE void convertPlanes(const ByteConversion &c) {
	MP_SHARED(u64, shared);
	u32 rows = 1u << c.rowBits, rowStep = rowWords(c.words);
	u32 across = c.pitch / group, i0 = blockIdx.x / across * rows, j0 = blockIdx.x % across * group;
	bool columns = c.rowStride == 1;
	Element x[loads];
	u32 r[loads], e[loads];
#pragma unroll
	for (u32 k = 0; k < loads; k++) {
		u32 q = threadIdx.x + threads * k;
		r[k] = columns ? q & (rows - 1) : q / group;
		e[k] = columns ? q >> c.rowBits : q % group;
		if (r[k] < rows && e[k] < group) x[k] = elementAt(c, i0 + r[k], j0 + e[k]);
	}
#pragma unroll
	for (u32 k = 0; k < loads; k++)
		if (r[k] < rows && e[k] < group) writeInteger(shared + r[k] * rowStep + e[k], c, x[k]);
	blockSync();
	for (u32 w = threadIdx.x / 32; w < rows; w += threads / 32) {
		u8 *out = c.planes + placeInPlane(i0 + w, j0 + threadIdx.x % 4 * 16, c.pitch);
		Row<HELD> row;
		row.words = shared + w * rowStep;
#pragma unroll
		for (u32 s = 0; s < HELD; s++) loadOperand(row.held[s], row.words, c.words, s);
		for (u32 tile = 0; tile < c.byteTiles; tile++) byteTile(c, row, tile, out);
		for (u32 tile = c.byteTiles; tile < c.byteTiles + c.digitTiles; tile++) digitTile(c, row, tile, out);
	}
}

// bytePlanes1 and 2: integers of one and two steps, 4 words each.
MP_KERNEL(bytePlanes, 128)(ByteConversion c) { convertPlanes<0>(c); }
MP_REGISTER(bytePlanes);
MP_KERNEL(bytePlanes1, 128, 6)(ByteConversion c) { convertPlanes<1>(c); }
MP_REGISTER(bytePlanes1);
MP_KERNEL(bytePlanes2, 128, 4)(ByteConversion c) { convertPlanes<2>(c); }
MP_REGISTER(bytePlanes2);
