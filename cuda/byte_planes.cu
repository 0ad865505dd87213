// Numbers to planes of bytes: what byte_products.cu multiplies.
//
// Element (i, j) is number i*rowStride + j*columnStride of the source. It becomes the integer X = truncate(x *
// 2^-low[i]), |X| < 2^(32*words-8), and that its residues, times a factor of each modulus: a byte, or two
// digits and their sum (ByteModulus). Plane k of it is planes[k*planeStride + i*pitch + j], 0 beyond the
// source's rows and columns.
//
// The conversion is a product of bytes too. All bytes u_b of |X| but the uppermost, which is 0, are complemented
// where X is negative, and the uppermost is then 1: X = sum u_b * 256^b + u_top * (1 - 256^top), so that no carry
// passes from word to word, and a residue is the sum of u_b times constants. A warp converts 64 elements of a row:
// with entry 8c+j in column c of product j, a lane gets 16 neighbours, which it stores at once. 128 bytes add up
// to less than 2^22 - 2^15; a longer integer is reduced in between.
#include "tensor.cuh"

// ByteResidue is a modulus with what reduces sums x of bytes times weights, 0 <= |x| < 2^22 - 2^15, of a modulus up
// to 256 (bytemod.Remainder). Sums begin as the int32 with the bits of the float32 B, a multiple of m near 1.5*2^23,
// so that its bits stay those of F = B + x; the low bits of Q = F/m + rounder, 2^23 <= Q < 2^24, are then a quotient,
// and the low byte of bits(F) - m*bits(Q) is x mod m, in [-m/2 - 1, m/2 + 1]; with `again` added, it is a start.
struct ByteResidue {
	ByteModulus modulus;
	float inverse, rounder;
	i32 start, again;
	u32 used, pad; // 0: a row of zeros, to fill a tile
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
	u32 words, steps;        // of an integer: words of 32 bits, steps of 8 words
	u32 byteTiles, digitTiles;
	u32 tileRows;            // rows of a block
};

static const u32 group = 64, threads = 128, loads = 4;

// Word w of element e of a row lies at w*wordPitch + placeOf(e) in shared memory, the next row rowWords(words) on, words
// rounded up to a multiple of 4. Neither 32 elements of a row, nor 4 of eight rows share a bank, nor do the 4 words of
// 4 elements that eight lanes read at once: those are lanes (g, t) with words t of elements 8g on.
static const u32 wordPitch = 68;
MP_DEVICE u32 placeOf(u32 e) { return (e & 35) | (e & 12) << 1 | (e >> 2 & 4); }
MP_DEVICE u32 rowWords(u32 words) { return (wordPitch * ((words + 3) / 4 * 4) + 31) / 32 * 32 + 4; }

// Element is a number as it was read: (-1)^negative * integer * 2^shift, the integer's lowest word first.
struct Element {
	u64 first;
	i64 field; // packed: 2*exponent + sign
	const u64 *words;
	i32 low;
};

MP_DEVICE Element elementAt(const ByteConversion &c, u32 i, u32 j) {
	Element x = {0, 0, nullptr, 0}; // 0, without further words
	if (i >= c.rows || j >= c.columns) return x;
	i64 at = i * c.rowStride + j * c.columnStride;
	x.words = c.source + at * (c.width ? c.width : 1);
	if (c.width) x.field = c.exponents[at];
	x.first = x.words[0];
	x.low = c.low[i];
	return x;
}

// writeWord sets a word, unless it is outside the integer.
MP_DEVICE void writeWord(u32 *to, u32 words, u32 w, u32 v) {
	if (w < words) to[w * wordPitch] = v;
}

// writeInteger writes the words of X, a wordPitch apart. Infinities and NaN count as 0.
MP_DEVICE void writeInteger(u32 *to, const ByteConversion &c, Element x) {
	i64 shift = (x.field >> 1) - x.low;
	u32 width = x.words ? c.width : 1, flip = x.field & 1 ? ~0u : 0;
	if (!c.width) {
		i32 field = (i32)(x.first >> 52 & 0x7ff), normal = field > 0;
		flip = x.first >> 63 ? ~0u : 0;
		shift += field - normal - 1074;
		x.first = field == 0x7ff ? 0 : (x.first & (1ull << 52) - 1) | (u64)normal << 52;
		width = 1;
	}
	i64 least = -64 * (i64)width - 32, most = 32 * (i64)c.words;
	i32 distance = (i32)(shift < least ? least : shift > most ? most : shift), first = distance >> 5;
	u32 bits = (u32)distance & 31, previous = 0;
	for (u32 k = 0; k < width; k++) {
		u64 v = k ? x.words[k] : x.first;
		writeWord(to, c.words, (u32)first + 2 * k, funnelLeft(previous, (u32)v, bits) ^ flip);
		writeWord(to, c.words, (u32)first + 2 * k + 1, funnelLeft((u32)v, (u32)(v >> 32), bits) ^ flip);
		previous = (u32)(v >> 32);
	}
	writeWord(to, c.words, (u32)first + 2 * width, funnelLeft(previous, 0, bits) ^ flip);
	i32 beyond = first + 2 * (i32)width + 1;
	for (i32 w = 0; w < first && w < (i32)c.words; w++) to[w * wordPitch] = flip;
	for (i32 w = beyond > 0 ? beyond : 0; w < (i32)c.words; w++) to[w * wordPitch] = flip;
	to[(c.words - 1) * wordPitch] ^= flip & 0xfe000000u;
}

// Operand is what a lane holds of 64 elements for a step: column g of product j has element 8g+j.
struct Operand {
	u32 b[8][2];
};

// loadOperand reads step s of an integer; what lies beyond its words, in steps of 4, is 0, or has the weight 0.
MP_DEVICE void loadOperand(Operand &x, const u32 *row, u32 words, u32 s) {
	u32 lane = threadIdx.x % 32;
#pragma unroll
	for (u32 h = 0; h < 2; h++) {
		uint4 v[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
		if (8 * s + 4 * h < words) {
			const u32 *at = row + (8 * s + 4 * h + lane % 4) * wordPitch + placeOf(lane / 4 * 8);
			v[0] = *(const uint4 *)at;
			v[1] = *(const uint4 *)(at + 8);
		}
#pragma unroll
		for (u32 q = 0; q < 2; q++) {
			x.b[4 * q][h] = v[q].x;
			x.b[4 * q + 1][h] = v[q].y;
			x.b[4 * q + 2][h] = v[q].z;
			x.b[4 * q + 3][h] = v[q].w;
		}
	}
}

// Row is a row of 64 elements: HELD steps of its integers in registers if that is all, or 0.
template <u32 HELD> struct Row {
	const u32 *words;
	Operand held[HELD ? HELD : 1];
};

// addProducts adds the products of a tile of weights with a row's steps from step `from` on, up to 4, to start.
template <u32 HELD>
MP_DEVICE void addProducts(i32 (&sums)[8][4], i32 (&start)[8][4], const ByteConversion &c, const Row<HELD> &row,
                           u32 tile, u32 from) {
	const uint4 *weights = c.weights + tile * c.steps * 32 + threadIdx.x % 32;
#pragma unroll
	for (u32 k = 0; k < (HELD ? HELD : 4); k++) {
		if (!HELD && from + k >= c.steps) break;
		uint4 w = weights[(from + k) * 32];
		u32 a[4] = {w.x, w.y, w.z, w.w};
		Operand loaded;
		if (!HELD) loadOperand(loaded, row.words, c.words, from + k);
#pragma unroll
		for (u32 j = 0; j < 8; j++)
			multiplyAddUnsigned(sums[j], a, HELD ? row.held[k].b[j] : loaded.b[j], k ? sums[j] : start[j]);
	}
}

// store16 stores a lane's 16 neighbours: those of columns 2t and 2t+1 of the eight products.
MP_DEVICE void store16(u8 *to, const u32 (&x)[4]) { storeVector((uint4 *)to, uint4{x[0], x[1], x[2], x[3]}); }

MP_DEVICE u32 packLow(const i32 (&x)[8], u32 from) {
	return packBytes((u32)x[from], (u32)x[from + 1], (u32)x[from + 2], (u32)x[from + 3]);
}

// byteTile sets 16 planes of residues.
template <u32 HELD> MP_DEVICE void byteTile(const ByteConversion &c, const Row<HELD> &row, u32 tile, u8 *out) {
	u32 g = threadIdx.x % 32 / 4;
	const ByteResidue r[2] = {c.residues[tile * 16 + g], c.residues[tile * 16 + g + 8]};
	i32 sums[8][4], start[8][4];
#pragma unroll
	for (u32 j = 0; j < 8; j++)
#pragma unroll
		for (u32 k = 0; k < 4; k++) start[j][k] = r[k / 2].start;
	for (u32 s = 0; s < c.steps; s += 4) {
		addProducts(sums, start, c, row, tile, s);
#pragma unroll
		for (u32 j = 0; j < 8; j++)
#pragma unroll
			for (u32 k = 0; k < 4; k++) {
				float q = __builtin_fmaf(castBits<float>(sums[j][k]), r[k / 2].inverse, r[k / 2].rounder);
				sums[j][k] -= castBits<i32>(q) * r[k / 2].modulus.m;
				if (!HELD) start[j][k] = sums[j][k] + r[k / 2].again;
			}
		if (HELD) break;
	}
#pragma unroll
	for (u32 h = 0; h < 2; h++) {
		i32 x[2][8];
#pragma unroll
		for (u32 j = 0; j < 8; j++) {
			x[0][j] = sums[j][2 * h];
			x[1][j] = sums[j][2 * h + 1];
		}
		u32 packed[4] = {packLow(x[0], 0), packLow(x[0], 4), packLow(x[1], 0), packLow(x[1], 4)};
		if (r[h].used) store16(out + r[h].modulus.in * c.planeStride, packed);
	}
}

// digitTile sets the planes of eight moduli of two digits: rows g and g+8 of weights are the digits of those of g. A
// residue plus 64 + 128*64 has the digits plus 64, nonnegative, so that four are added in a word.
template <u32 HELD> MP_DEVICE void digitTile(const ByteConversion &c, const Row<HELD> &row, u32 tile, u8 *out) {
	const i32 bias = 64 + 128 * 64;
	u32 g = threadIdx.x % 32 / 4;
	const ByteResidue r = c.residues[c.byteTiles * 16 + (tile - c.byteTiles) * 8 + g];
	const ByteModulus &m = r.modulus;
	i64 half = ((i64)1 << (31 + m.shift)) - (i64)bias * m.magic;
	i32 x[2][8], start[8][4];
#pragma unroll
	for (u32 j = 0; j < 8; j++) {
		start[j][0] = start[j][1] = bias;
		start[j][2] = start[j][3] = 0;
	}
	for (u32 s = 0; s < c.steps; s += 4) {
		i32 sums[8][4];
		addProducts(sums, start, c, row, tile, s);
#pragma unroll
		for (u32 j = 0; j < 8; j++)
#pragma unroll
			for (u32 k = 0; k < 2; k++) {
				i32 sum = sums[j][k] + 128 * sums[j][2 + k];
				x[k][j] = sum - ((i32)(((i64)sum * m.magic + half) >> 32) >> m.shift) * m.m;
				if (!HELD) start[j][k] = x[k][j];
			}
		if (HELD) break;
	}
	if (!r.used) return;
	u32 low[4], high[4], both[4];
#pragma unroll
	for (u32 q = 0; q < 4; q++) {
		i32 upper[8];
#pragma unroll
		for (u32 j = 0; j < 8; j++) upper[j] = x[q / 2][j] >> 7;
		u32 l = packLow(x[q / 2], q % 2 * 4) & 0x7f7f7f7fu, h = packLow(upper, q % 2 * 4);
		low[q] = (l + 0x40404040u) ^ 0x80808080u;
		high[q] = (h + 0x40404040u) ^ 0x80808080u;
		both[q] = (l + h) ^ 0x80808080u;
	}
	out += m.in * c.planeStride;
	store16(out, low);
	store16(out + c.planeStride, high);
	store16(out + 2 * c.planeStride, both);
}

// bytePlanes: a block converts tileRows rows, up to 8, of 64 elements, which it reads along the dimension whose stride
// is 1. Blocks of 128 threads; grid (pitch/64) * (paddedRows/tileRows). Shared memory: tileRows * rowWords(words) words.
template <u32 HELD> MP_DEVICE void convertPlanes(const ByteConversion &c) {
	MP_SHARED(u32, shared);
	u32 across = c.pitch / group, i0 = blockIdx.x / across * c.tileRows, j0 = blockIdx.x % across * group;
	u32 rowStep = rowWords(c.words);
	bool columns = c.rowStride == 1;
	Element x[loads];
#pragma unroll
	for (u32 k = 0; k < loads; k++) {
		u32 q = threadIdx.x + threads * k, r = columns ? q % c.tileRows : q / group, e = columns ? q / c.tileRows : q % group;
		if (r < c.tileRows && e < group) x[k] = elementAt(c, i0 + r, j0 + e);
	}
#pragma unroll
	for (u32 k = 0; k < loads; k++) {
		u32 q = threadIdx.x + threads * k, r = columns ? q % c.tileRows : q / group, e = columns ? q / c.tileRows : q % group;
		if (r < c.tileRows && e < group) writeInteger(shared + r * rowStep + placeOf(e), c, x[k]);
	}
	blockSync();
	for (u32 r = threadIdx.x / 32; r < c.tileRows; r += threads / 32) {
		u8 *out = c.planes + (u64)(i0 + r) * c.pitch + j0 + threadIdx.x % 4 * 16;
		Row<HELD> row;
		row.words = shared + r * rowStep;
#pragma unroll
		for (u32 s = 0; s < HELD; s++) loadOperand(row.held[s], row.words, c.words, s);
		for (u32 tile = 0; tile < c.byteTiles; tile++) byteTile(c, row, tile, out);
		for (u32 tile = c.byteTiles; tile < c.byteTiles + c.digitTiles; tile++) digitTile(c, row, tile, out);
	}
}

// bytePlanes1 and 2: integers of one and two steps, 8 words each.
MP_KERNEL(bytePlanes, 128)(ByteConversion c) { convertPlanes<0>(c); }
MP_REGISTER(bytePlanes);
MP_KERNEL(bytePlanes1, 128)(ByteConversion c) { convertPlanes<1>(c); }
MP_REGISTER(bytePlanes1);
MP_KERNEL(bytePlanes2, 128)(ByteConversion c) { convertPlanes<2>(c); }
MP_REGISTER(bytePlanes2);
