// Numbers to planes of bytes: what byte_products.cu multiplies.
//
// Element (i, j) is number i*rowStride + j*columnStride of the source. It becomes the integer X = truncate(x *
// 2^-low[i]), |X| < 2^(32*words-1), and that its residues, times a factor of each modulus: a byte, or two
// digits and their sum (ByteModulus). Plane k of it is planes[k*planeStride + placeInPlane(i, j, pitch)], 0
// beyond the source's rows and columns.
//
// The conversion is a product of bytes too. X + 2^(32*words-1) has unsigned bytes u_b, and a residue is the sum
// of u_b * (256^b mod m) plus a start, -2^(32*words-1) mod m. A warp converts 64 elements of a row: with entry
// 8c+j in column c of product j, a lane gets 16 neighbours, which it stores at once. 128 bytes add up to less
// than 2^22; a longer integer is reduced in between.
#include "tensor.cuh"

struct ByteResidue {
	ByteModulus modulus;
	float inverse, value; // 1/m, m
	i32 start;
	u32 used; // 0: a row of zeros, to fill a tile
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

static const u32 group = 64; // elements of a warp

// Word w of element e of row r of a block lies at r*(words of all + 1) + w*groupPitch + placeOf(e) in shared memory:
// neither 32 elements of a row, nor 4 of eight rows, nor the 4 words of 8 elements that a product takes share a bank.
static const u32 groupPitch = 72;
MP_DEVICE u32 placeOf(u32 e) { return e % 8 * 8 + e / 8 + (e & 4); }

// Element is a number as an integer times 2^shift; width is 0 for a binary64 significand.
struct Element {
	u64 significand;
	const u64 *words;
	u32 width;
	i64 shift;
	bool negative;
};

// wordAt returns 32 bits of the integer from bit at on.
MP_DEVICE u32 wordAt(const Element &x, i64 at) {
	if (x.width == 0) return (u32)(at >= 64 || at <= -32 ? 0 : at >= 0 ? x.significand >> at : x.significand << -at);
	if (at >= (i64)(64 * x.width) || at <= -32) return 0;
	if (at < 0) return (u32)(x.words[0] << -at);
	u32 w = (u32)(at / 64), bit = (u32)(at % 64);
	u64 v = x.words[w] >> bit;
	if (bit > 32 && w + 1 < x.width) v |= x.words[w + 1] << (64 - bit);
	return (u32)v;
}

// elementAt reads a number; infinities and NaN count as 0.
MP_DEVICE Element elementAt(const ByteConversion &c, u32 i, u32 j) {
	i64 at = i * c.rowStride + j * c.columnStride;
	Element x = {0, c.source + at * c.width, c.width, -(i64)c.low[i], false};
	if (c.width) {
		x.shift += c.exponents[at] >> 1;
		x.negative = c.exponents[at] & 1;
		return x;
	}
	u64 word = c.source[at];
	i32 field = (i32)(word >> 52 & 0x7ff), normal = field > 0;
	if (field != 0x7ff) x.significand = (word & (1ull << 52) - 1) | (u64)normal << 52;
	x.shift += field - normal - 1074;
	x.negative = word >> 63;
	return x;
}

// writeInteger writes the words of X + 2^(32*words-1), a groupPitch apart, and zeros to the end of the last step.
MP_DEVICE void writeInteger(u32 *to, const ByteConversion &c, u32 i, u32 j) {
	Element x = {0, nullptr, 0, 0, false};
	if (i < c.rows && j < c.columns) x = elementAt(c, i, j);
	u32 flip = x.negative ? 0xffffffffu : 0, carry = x.negative;
	for (u32 w = 0; w < 8 * c.steps; w++) {
		u32 v = w < c.words ? (wordAt(x, 32 * (i64)w - x.shift) ^ flip) : 0;
		if (w < c.words) {
			v += carry;
			carry = carry && v == 0;
			if (w + 1 == c.words) v ^= 0x80000000u;
		}
		to[w * groupPitch] = v;
	}
}

// A float64 integer below 2^22 in magnitude and this number is the integer's int32 plus the number's bits.
static const float magic = 12582912.0f; // 1.5 * 2^23
static const i32 magicBits = 0x4b400000;

// reduceMagic reduces magicBits + x, |x| < 2^22, to magicBits + r, r = x - m*rint(x/m): the product with 1/m is
// off by less than 2^22/m * 2^-24 < 0.5/m, so that the quotient is right.
MP_DEVICE i32 reduceMagic(i32 x, const ByteResidue &r) {
	float f = castBits<float>(x), q = __builtin_fmaf(f - magic, r.inverse, magic) - magic;
	return castBits<i32>(__builtin_fmaf(-q, r.value, f));
}

// addProducts adds the products of the rows of weights from step from on, up to 4 steps, with the warp's elements.
MP_DEVICE void addProducts(i32 (&sums)[8][4], const ByteConversion &c, const u32 *words, u32 tile, u32 from) {
	u32 lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
	for (u32 s = from; s < c.steps && s < from + 4; s++) {
		uint4 w = c.weights[(tile * c.steps + s) * 32 + lane];
		u32 a[4] = {w.x, w.y, w.z, w.w};
		const u32 *column = words + (8 * s + t) * groupPitch + g;
#pragma unroll
		for (u32 j = 0; j < 8; j++) {
			u32 b[2] = {column[placeOf(j)], column[4 * groupPitch + placeOf(j)]};
			multiplyAddUnsigned(sums[j], a, b);
		}
	}
}

// store16 stores the low bytes of a lane's 16 neighbours: those of columns 2t and 2t+1 of the eight products.
MP_DEVICE void store16(u8 *to, const i32 (&x)[2][8]) {
	uint4 v;
	v.x = packBytes((u32)x[0][0], (u32)x[0][1], (u32)x[0][2], (u32)x[0][3]);
	v.y = packBytes((u32)x[0][4], (u32)x[0][5], (u32)x[0][6], (u32)x[0][7]);
	v.z = packBytes((u32)x[1][0], (u32)x[1][1], (u32)x[1][2], (u32)x[1][3]);
	v.w = packBytes((u32)x[1][4], (u32)x[1][5], (u32)x[1][6], (u32)x[1][7]);
	storeVector((uint4 *)to, v);
}

// byteTile sets 16 planes of residues.
MP_DEVICE void byteTile(const ByteConversion &c, const u32 *words, u32 tile, u8 *out) {
	u32 g = threadIdx.x % 32 / 4;
	const ByteResidue r[2] = {c.residues[tile * 16 + g], c.residues[tile * 16 + g + 8]};
	i32 sums[8][4];
#pragma unroll
	for (u32 j = 0; j < 8; j++)
#pragma unroll
		for (u32 k = 0; k < 4; k++) sums[j][k] = magicBits + r[k / 2].start;
	for (u32 s = 0; s < c.steps; s += 4) {
		addProducts(sums, c, words, tile, s);
#pragma unroll
		for (u32 j = 0; j < 8; j++)
#pragma unroll
			for (u32 k = 0; k < 4; k++) sums[j][k] = reduceMagic(sums[j][k], r[k / 2]);
	}
#pragma unroll
	for (u32 h = 0; h < 2; h++) {
		i32 x[2][8];
#pragma unroll
		for (u32 j = 0; j < 8; j++) {
			x[0][j] = sums[j][2 * h];
			x[1][j] = sums[j][2 * h + 1];
		}
		if (r[h].used) store16(out + r[h].modulus.in * c.planeStride, x);
	}
}

// digitTile sets the planes of eight moduli of two digits: rows g and g+8 of weights are the digits of those of g.
MP_DEVICE void digitTile(const ByteConversion &c, const u32 *words, u32 tile, u8 *out) {
	u32 g = threadIdx.x % 32 / 4;
	const ByteResidue r = c.residues[c.byteTiles * 16 + (tile - c.byteTiles) * 8 + g];
	i32 x[2][8];
#pragma unroll
	for (u32 j = 0; j < 8; j++) x[0][j] = x[1][j] = r.start;
	for (u32 s = 0; s < c.steps; s += 4) {
		i32 sums[8][4];
#pragma unroll
		for (u32 j = 0; j < 8; j++) {
			sums[j][0] = x[0][j];
			sums[j][1] = x[1][j];
			sums[j][2] = sums[j][3] = 0;
		}
		addProducts(sums, c, words, tile, s);
#pragma unroll
		for (u32 j = 0; j < 8; j++)
#pragma unroll
			for (u32 k = 0; k < 2; k++)
				x[k][j] = balanced(sums[j][k] + 128 * sums[j][2 + k], r.modulus.m, r.modulus.magic, r.modulus.shift);
	}
	if (!r.used) return;
	i32 high[2][8];
#pragma unroll
	for (u32 k = 0; k < 2; k++)
#pragma unroll
		for (u32 j = 0; j < 8; j++) {
			high[k][j] = (x[k][j] + 64) >> 7;
			x[k][j] -= 128 * high[k][j];
		}
	out += r.modulus.in * c.planeStride;
	store16(out, x);
	store16(out + c.planeStride, high);
#pragma unroll
	for (u32 k = 0; k < 2; k++)
#pragma unroll
		for (u32 j = 0; j < 8; j++) x[k][j] += high[k][j];
	store16(out + 2 * c.planeStride, x);
}

// bytePlanes: a block converts tileRows rows of 64 elements, which it reads along the dimension whose stride is 1.
// Blocks of 128 threads; grid (pitch/64) * (paddedRows/tileRows). Shared memory: tileRows * (steps * 8 * 72 + 1) words.
MP_KERNEL(bytePlanes, 128)(ByteConversion c) {
	MP_SHARED(u32, words);
	u32 across = c.pitch / group, i0 = blockIdx.x / across * c.tileRows, j0 = blockIdx.x % across * group;
	u32 rowWords = c.steps * 8 * groupPitch + 1;
	for (u32 q = threadIdx.x; q < c.tileRows * group; q += 128) {
		u32 r = c.rowStride == 1 ? q % c.tileRows : q / group, e = c.rowStride == 1 ? q / c.tileRows : q % group;
		writeInteger(words + r * rowWords + placeOf(e), c, i0 + r, j0 + e);
	}
	blockSync();
	for (u32 r = threadIdx.x / 32; r < c.tileRows; r += 4) {
		u8 *out = c.planes + placeInPlane(i0 + r, j0 + threadIdx.x % 4 * 16, c.pitch);
		for (u32 tile = 0; tile < c.byteTiles; tile++) byteTile(c, words + r * rowWords, tile, out);
		for (u32 tile = c.byteTiles; tile < c.byteTiles + c.digitTiles; tile++)
			digitTile(c, words + r * rowWords, tile, out);
	}
}
MP_REGISTER(bytePlanes);
