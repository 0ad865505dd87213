// Products of matrices of residues on tensor cores: C = A*B modulo many small moduli at once, one launch.
//
// A modulus up to 256 is one product of matrices of bytes. A greater one has elements a0 + 128*a1, whose digits and
// their sum are three planes of bytes, and takes three products, P0 = A0*B0, P1 = A1*B1, P2 = (A0+A1)*(B0+B1), one
// after the other into the same sums (Karatsuba and Horner):
//
//	C/128 = P2 + 127*(P1 - P0/128)  mod m.
//
// The factor 128 that is left is one of B's residues. Sums are int32: a product adds less than 2^14 in
// magnitude, and what is carried in is below 2^26, so that 65536 terms fit between reductions. Results are
// exact whatever the launch.
//
// Tiles: a block computes BM x BN entries of one modulus, a warp WM x WN. Stages of 128 terms arrive by copies
// that run beside the products, and fragments of the next 32 terms are loaded before the present ones are
// multiplied. Piece x, of 16 bytes, of row r of a stage lies at x ^ (r % 8): the eight rows that loadMatrices
// reads at once are in different banks.
#include "tensor.cuh"

struct ByteProducts {
	const u8 *a, *b; // plane k of A: a[k*aStride + i*terms + j]; of B, column by column: b[k*bStride + j*terms + i]
	u8 *c;           // plane k of C: c[k*cStride + i*columns + j]
	const ByteModulus *moduli;
	u64 aStride, bStride, cStride;
	u32 rows, columns; // multiples of BM and BN
	u32 terms;         // a multiple of 128
	u32 turns;         // stages between reductions, at most 512
};

static const u32 stageTerms = 128, piece = 16;

// tileOf numbers tiles so that neighbours share rows and columns: eight rows of tiles, column by column.
MP_DEVICE void tileOf(u32 tile, u32 down, u32 across, u32 *row, u32 *column) {
	u32 first = tile / (8 * across) * 8, height = down - first < 8 ? down - first : 8, rest = tile % (8 * across);
	*row = first + rest % height;
	*column = rest / height;
}

// Loader copies stages, all threads together: a thread copies a piece of every (threads/8)-th row.
struct Loader {
	const u8 *a, *b;
	u64 rowStep, aJump, bJump; // of (threads/8) rows; from the end of a plane to the next one
	SharedAddress to;
	u32 stage, step, steps;
};

template <int BM, int BN, int THREADS, int STAGES> MP_DEVICE void loadStage(Loader &l) {
	const u32 rows = THREADS / 8;
	SharedAddress to = l.to + l.stage * ((BM + BN) * stageTerms);
#pragma unroll
	for (u32 i = 0; i < BM / rows; i++) copyAsync(to + i * rows * stageTerms, l.a + i * l.rowStep);
#pragma unroll
	for (u32 i = 0; i < BN / rows; i++) copyAsync(to + (BM + i * rows) * stageTerms, l.b + i * l.rowStep);
	l.stage = l.stage + 1 == STAGES ? 0 : l.stage + 1;
	l.a += stageTerms;
	l.b += stageTerms;
	if (++l.step == l.steps) {
		l.step = 0;
		l.a += l.aJump;
		l.b += l.bJump;
	}
}

// Fragments of a warp's rows and columns for 32 terms.
template <int MT, int NT> struct Fragments {
	u32 a[MT][4], b[NT][2];
};

template <int MT, int NT>
MP_DEVICE void loadFragments(Fragments<MT, NT> &f, SharedAddress a, SharedAddress b, u32 terms32, u32 lane) {
	u32 atA = ((2 * terms32 + lane / 16) ^ lane % 8) * piece, atB = ((2 * terms32 + lane / 8 % 2) ^ lane % 8) * piece;
#pragma unroll
	for (u32 i = 0; i < MT; i++) loadMatrices(f.a[i], a + i * 16 * stageTerms + atA);
#pragma unroll
	for (u32 j = 0; j < NT; j += 2) loadMatrices(f.b[j], b + j * 8 * stageTerms + atB);
}

// reduceSums brings sums modulo m and multiplies them by a factor, at most 2^13 in magnitude.
template <int MT, int NT> MP_DEVICE void reduceSums(i32 (&sums)[MT][NT][4], const ByteModulus &m, i32 factor) {
#pragma unroll
	for (u32 i = 0; i < MT; i++)
#pragma unroll
		for (u32 j = 0; j < NT; j++)
#pragma unroll
			for (u32 r = 0; r < 4; r++) sums[i][j][r] = balanced(sums[i][j][r], m.m, m.magic, m.shift) * factor;
}

// storeTile writes a plane of the tile: bytes of the sums, the low ones, or rounded ones of those above. It
// goes through shared memory, so that a row is written in pieces of 16 bytes.
template <int BM, int BN, int WM, int WN, int THREADS>
MP_DEVICE void storeTile(u8 *c, u32 columns, unsigned char *shared, const i32 (&sums)[WM / 16][WN / 8][4], u32 row,
                         u32 column, bool upper) {
	const u32 pitch = BN + piece;
	u32 lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
	blockSync();
#pragma unroll
	for (u32 i = 0; i < WM / 16; i++)
#pragma unroll
		for (u32 j = 0; j < WN / 8; j++)
#pragma unroll
			for (u32 r = 0; r < 2; r++) {
				i32 x = sums[i][j][2 * r], y = sums[i][j][2 * r + 1];
				if (upper) {
					x = (x + 128) >> 8;
					y = (y + 128) >> 8;
				}
				unsigned char *to = shared + (row + i * 16 + 8 * r + g) * pitch + column + j * 8 + 2 * t;
				*(unsigned short *)to = (unsigned short)((x & 255) | (y & 255) << 8);
			}
	blockSync();
	for (u32 q = threadIdx.x; q < BM * BN / piece; q += THREADS) {
		u32 r = q / (BN / piece), x = q % (BN / piece) * piece;
		storeVector((uint4 *)(c + (u64)r * columns + x), *(const uint4 *)(shared + r * pitch + x));
	}
}

// byteProducts: grid moduli * (rows/BM) * (columns/BN), the first modulus first. Shared memory: STAGES *
// (BM+BN) * 128 bytes.
template <int BM, int BN, int WM, int WN, int STAGES> MP_DEVICE void byteProducts(const ByteProducts &p) {
	MP_SHARED(unsigned char, shared);
	const u32 MT = WM / 16, NT = WN / 8, down = BM / WM, THREADS = BM / WM * (BN / WN) * 32;
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = warp % down * WM, column = warp / down * WN;
	u32 tilesDown = p.rows / BM, tilesAcross = p.columns / BN, tiles = tilesDown * tilesAcross, tileRow, tileColumn;
	tileOf(blockIdx.x % tiles, tilesDown, tilesAcross, &tileRow, &tileColumn);
	const ByteModulus m = p.moduli[blockIdx.x / tiles];

	u32 loadRow = threadIdx.x / 8, loadPiece = threadIdx.x % 8, steps = p.terms / stageTerms;
	Loader l = {p.a + m.in * p.aStride + (u64)(tileRow * BM + loadRow) * p.terms + loadPiece * piece,
	            p.b + m.in * p.bStride + (u64)(tileColumn * BN + loadRow) * p.terms + loadPiece * piece,
	            (u64)(THREADS / 8) * p.terms, p.aStride - p.terms, p.bStride - p.terms,
	            sharedAddress(shared) + (loadRow * stageTerms + (loadPiece ^ loadRow % 8) * piece), 0, 0, steps};
	u32 left = m.passes * steps; // stages to be loaded
#pragma unroll
	for (u32 s = 0; s < STAGES - 1; s++) {
		if (left) {
			loadStage<BM, BN, THREADS, STAGES>(l);
			left--;
		}
		commitCopies();
	}

	i32 sums[MT][NT][4];
#pragma unroll
	for (u32 i = 0; i < MT; i++)
#pragma unroll
		for (u32 j = 0; j < NT; j++)
#pragma unroll
			for (u32 r = 0; r < 4; r++) sums[i][j][r] = 0;

	SharedAddress a = sharedAddress(shared) + (row + lane % 16) * stageTerms;
	SharedAddress b = sharedAddress(shared) + (BM + column + lane % 8 + lane / 16 * 8) * stageTerms;
	Fragments<MT, NT> f[2];
	u32 stage = 0; // in bytes
	waitCopies<STAGES - 2>();
	blockSync();
	loadFragments(f[0], a, b, 0, lane);
	for (u32 pass = 0; pass < m.passes; pass++) {
		if (pass) reduceSums(sums, m, pass == 1 ? m.gamma : 127);
		u32 turn = 0;
#pragma unroll 1
		for (u32 step = 0; step < steps; step++) {
#pragma unroll
			for (u32 k = 0; k < stageTerms / 32; k++) {
				if (k == stageTerms / 32 - 1) { // all fragments of the stage are loaded
					stage = stage == (STAGES - 1) * (BM + BN) * stageTerms ? 0 : stage + (BM + BN) * stageTerms;
					waitCopies<STAGES - 2>();
					blockSync();
				}
				loadFragments(f[(k + 1) % 2], a + stage, b + stage, (k + 1) % (stageTerms / 32), lane);
				if (k == 0) {
					if (left) {
						loadStage<BM, BN, THREADS, STAGES>(l);
						left--;
					}
					commitCopies();
				}
#pragma unroll
				for (u32 i = 0; i < MT; i++)
#pragma unroll
					for (u32 j = 0; j < NT; j++) multiplyAdd(sums[i][j], f[k % 2].a[i], f[k % 2].b[j]);
			}
			if (++turn == p.turns) {
				reduceSums(sums, m, 1);
				turn = 0;
			}
		}
	}
	waitCopies<0>();
	reduceSums(sums, m, 1);
	u8 *c = p.c + m.out * p.cStride + (u64)tileRow * BM * p.columns + tileColumn * BN;
	storeTile<BM, BN, WM, WN, THREADS>(c, p.columns, shared, sums, row, column, false);
	if (m.passes > 1) storeTile<BM, BN, WM, WN, THREADS>(c + p.cStride, p.columns, shared, sums, row, column, true);
}

// byteProducts128 and byteProducts64: tiles of 128 x 128 and 64 x 64, of 128 threads. Two blocks of the first fit a
// multiprocessor; the second is for small matrices.
MP_KERNEL(byteProducts128, 128)(ByteProducts p) { byteProducts<128, 128, 64, 64, 3>(p); }
MP_REGISTER(byteProducts128);
MP_KERNEL(byteProducts64, 128)(ByteProducts p) { byteProducts<64, 64, 32, 32, 3>(p); }
MP_REGISTER(byteProducts64);
