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
// multiplied. On devices of compute capability 9.0 two blocks together compute 256 x 256 entries (wide_products.cuh).
#include "hopper.cuh"

struct ByteProducts {
	const u8 *a, *b; // plane k of A: a[k*aStride + placeInPlane(i, j, terms)]; of B, column by column
	u8 *c;           // plane k of C: c[k*cStride + i*columns + j]
	const ByteModulus *moduli;
	u64 aStride, bStride, cStride;
	u32 rows, columns; // multiples of BM and BN
	u32 terms;         // a multiple of 128
	u32 turns;         // stages between reductions, at most 512
	u32 count;         // moduli
};

// tileOf numbers tiles so that neighbours share rows and columns: eight rows of tiles, column by column.
MP_DEVICE void tileOf(u32 tile, u32 down, u32 across, u32 *row, u32 *column) {
	u32 first = tile / (8 * across) * 8, height = down - first < 8 ? down - first : 8, rest = tile % (8 * across);
	*row = first + rest % height;
	*column = rest / height;
}

// Loader copies stages, all threads together.
struct Loader {
	const u8 *a, *b;
	u64 rowStep, aJump, bJump; // from a block to that of the next rows; from the end of a plane to the next one
	SharedAddress to;
	u32 stage, step, steps;
};

template <int BLOCKS, int THREADS> MP_DEVICE void copyBlocks(SharedAddress to, const u8 *from, u64 rowStep) {
	const u32 turn = THREADS * piece;
#pragma unroll
	for (u32 i = 0; i < BLOCKS; i++)
#pragma unroll
		for (u32 at = 0; at < blockBytes; at += turn) copyAsync(to + i * blockBytes + at, from + i * rowStep + at);
}

template <int BM, int BN, int THREADS, int STAGES> MP_DEVICE void loadStage(Loader &l) {
	SharedAddress to = l.to + l.stage * ((BM + BN) * stageTerms);
	copyBlocks<BM / blockRows, THREADS>(to, l.a, l.rowStep);
	copyBlocks<BN / blockRows, THREADS>(to + BM * stageTerms, l.b, l.rowStep);
	l.stage = l.stage + 1 == STAGES ? 0 : l.stage + 1;
	l.a += blockBytes;
	l.b += blockBytes;
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

// storeTile writes a plane of a warp's part of the tile: bytes of the sums, the low ones, or rounded ones of those
// above. row and column are lines of the tile; a lane has NT*2 neighbours of a row.
template <int MT, int NT>
MP_DEVICE void storeTile(u8 *c, u32 columns, const i32 (&sums)[MT][NT][4], u32 row, u32 column, bool upper) {
	u32 lane = threadIdx.x % 32;
	c += rowOfLine(column + lane % 4 * 2);
#pragma unroll
	for (u32 i = 0; i < MT; i++)
#pragma unroll
		for (u32 r = 0; r < 2; r++) {
			u32 words[NT / 2];
#pragma unroll
			for (u32 w = 0; w < NT / 2; w++) {
				u32 x[4];
#pragma unroll
				for (u32 k = 0; k < 4; k++) {
					i32 s = sums[i][2 * w + k / 2][2 * r + k % 2];
					x[k] = upper ? upperByte(s) : (u32)s;
				}
				words[w] = packBytes(x[0], x[1], x[2], x[3]);
			}
			u8 *to = c + (u64)rowOfLine(row + i * 16 + 8 * r + lane / 4) * columns;
			if constexpr (NT == 8)
				storeVector((uint4 *)to, uint4{words[0], words[1], words[2], words[3]});
			else
				*(uint2 *)to = uint2{words[0], words[1]};
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

	u32 steps = p.terms / stageTerms;
	u64 rowStep = (u64)blockRows * p.terms;
	Loader l = {p.a + m.in * p.aStride + (u64)tileRow * BM * p.terms + threadIdx.x * piece,
	            p.b + m.in * p.bStride + (u64)tileColumn * BN * p.terms + threadIdx.x * piece,
	            rowStep,
	            p.aStride - rowStep,
	            p.bStride - rowStep,
	            sharedAddress(shared) + threadIdx.x * piece,
	            0,
	            0,
	            steps};
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
	storeTile<MT, NT>(c, p.columns, sums, row, column, false);
	if (m.passes > 1) storeTile<MT, NT>(c + p.cStride, p.columns, sums, row, column, true);
}

// byteProducts128 and byteProducts64: tiles of 128 x 128 and 64 x 64, of 128 threads. Two blocks of the first fit a
// multiprocessor; the second is for small matrices.
MP_KERNEL(byteProducts128, 128)(ByteProducts p) { byteProducts<128, 128, 64, 64, 3>(p); }
MP_REGISTER(byteProducts128);
MP_KERNEL(byteProducts64, 128)(ByteProducts p) { byteProducts<64, 64, 32, 32, 3>(p); }
MP_REGISTER(byteProducts64);

#if defined(MP_HOPPER)
#include "wide_products.cuh"
#endif
