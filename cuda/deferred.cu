// The deferred engine's products: y = alpha*A*x + beta*y from residue planes, exact, rounded once.
//
// sumProducts and sumProductsFew add the products of residues, in 64-bit words that hold 256 of them; their first
// blocks prepare what rounding needs beside the sums. finish, roundRows2 and roundRows4 make of a row's sums its
// result (round_rows.cuh). The bytes of A bound the time: 4 for each modulus and element. Sums are integers: no result
// depends on how the work is divided.
#include "round_rows.cuh"

struct Planes {
	// residue of element (i, j) modulo m_k: a[(k*rows + i)*ld + j], 0 for j from columns to ld; ld a multiple of 16
	const u32 *a;
	const u32 *x;     // x[k*xStride + j], 0 likewise; xStride a multiple of 4
	const u32 *delta; // m_k = 2^28 - delta[k]
	u64 *sums;        // sums[i*moduli + k]: set, or added to; by sumProductsFew always added to
	u64 xStride;
	u32 rows, ld, moduli;
	u32 blockRows;    // rows of a block
	u32 partColumns;  // columns of a block, a multiple of 16
	u32 clear;        // roundRows sets the sums to 0 after having read them
	u32 prepareBlocks; // the first blocks of sumProducts and sumProductsFew, eight warps each
	u32 add;          // to the sums, which are less than 2^28 for each time and never reach 2^64
};

static const u32 lazyProducts = 256; // of residues below 2^28, and one residue more, fit 64 bits
static const u32 chunk = 512;        // columns that a warp reads at once: four times 16 bytes a lane

// readChunk reads the columns from j on, zeros from end on. The usual case has no conditions, so that all reads are
// under way together.
MP_DEVICE void readChunk(uint4 (&v)[4], const u32 *row, u32 j, u32 end) {
	if (j + 3 * 128 < end) {
#pragma unroll
		for (u32 u = 0; u < 4; u++) v[u] = loadStream((const uint4 *)(row + j + 128 * u));
		return;
	}
#pragma unroll
	for (u32 u = 0; u < 4; u++) {
		v[u].x = v[u].y = v[u].z = v[u].w = 0;
		if (j + 128 * u < end) v[u] = loadStream((const uint4 *)(row + j + 128 * u));
	}
}

MP_DEVICE u64 addProducts(u64 s, const uint4 (&v)[4], const u32 *__restrict__ x, u32 j, u32 end) {
#pragma unroll
	for (u32 u = 0; u < 4; u++) {
		if (j + 128 * u >= end) break;
		uint4 w = *(const uint4 *)(x + j + 128 * u);
		s += (u64)v[u].x * w.x;
		s += (u64)v[u].y * w.y;
		s += (u64)v[u].z * w.z;
		s += (u64)v[u].w * w.w;
	}
	return s;
}

MP_DEVICE void setSum(const Planes &p, u32 row, u32 k, u32 sum) {
	u64 *to = p.sums + (u64)row * p.moduli + k;
	*to = p.add ? *to + sum : sum;
}

// sumProducts: a block takes blockRows rows modulo one m_k, each warp a row at a time. The next chunk is read before
// the present one is used, also from one row to the next. Blocks of 256 threads; grid prepareBlocks + moduli *
// ceil(rows/blockRows), moduli first.
MP_KERNEL(sumProducts, 256)(Planes p, Rounding f) {
	MP_SHARED(u32, shared);
	if (blockIdx.x < p.prepareBlocks) {
		prepareBlock(f, shared);
		return;
	}
	u32 index = blockIdx.x - p.prepareBlocks, k = index % p.moduli, first = index / p.moduli * p.blockRows;
	u32 lane = threadIdx.x % 32, row = first + threadIdx.x / 32;
	u32 end = first + p.blockRows < p.rows ? first + p.blockRows : p.rows;
	if (row >= end) return;
	u32 delta = p.delta[k], j = lane * 4, ld = p.ld;
	const u32 *a = p.a + ((u64)k * p.rows + row) * ld, *x = p.x + k * p.xStride;
	u64 s = 0;
	u32 count = 0;
	uint4 now[4], next[4];
	readChunk(now, a, j, ld);
	for (;;) {
		u32 nextRow = row, nextJ = j + chunk;
		const u32 *nextA = a;
		if (nextJ - lane * 4 >= ld) {
			nextRow = row + 8;
			nextJ = lane * 4;
			nextA = a + 8 * (u64)ld;
		}
		if (nextRow < end) readChunk(next, nextA, nextJ, ld);
		s = addProducts(s, now, x, j, ld);
		count += 16;
		if (nextRow != row) {
			u32 sum = laneSum(fold(s, delta), delta);
			if (lane == 0) setSum(p, row, k, sum);
			s = 0;
			count = 0;
			if (nextRow >= end) return;
		} else if (count == lazyProducts) {
			s = fold(s, delta);
			count = 0;
		}
		row = nextRow;
		j = nextJ;
		a = nextA;
#pragma unroll
		for (int u = 0; u < 4; u++) now[u] = next[u];
	}
}
MP_REGISTER(sumProducts);

// sumProductsFew is for few long rows: a block takes part of the columns of a row modulo one m_k, all its warps, and
// adds to the sum. Blocks of 256 threads; grid prepareBlocks + moduli * ceil(ld/partColumns) * rows, moduli first.
MP_KERNEL(sumProductsFew, 256)(Planes p, Rounding f) {
	MP_SHARED(u32, shared);
	__shared__ u32 partial[8];
	letNextBegin();
	if (blockIdx.x < p.prepareBlocks) {
		prepareBlock(f, shared);
		return;
	}
	u32 index = blockIdx.x - p.prepareBlocks, k = index % p.moduli, rest = index / p.moduli;
	u32 parts = (p.ld + p.partColumns - 1) / p.partColumns;
	u32 row = rest / parts, from = rest % parts * p.partColumns;
	u32 to = from + p.partColumns < p.ld ? from + p.partColumns : p.ld;
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, delta = p.delta[k];
	const u32 *a = p.a + ((u64)k * p.rows + row) * p.ld, *x = p.x + k * p.xStride;
	u64 s = 0;
	u32 count = 0;
	for (u32 j = from + warp * chunk + lane * 4; j < to; j += 8 * chunk) {
		uint4 v[4], w[4];
		readChunk(v, a, j, to);
		readChunk(w, x, j, to);
#pragma unroll
		for (int u = 0; u < 4; u++) {
			s += (u64)v[u].x * w[u].x;
			s += (u64)v[u].y * w[u].y;
			s += (u64)v[u].z * w[u].z;
			s += (u64)v[u].w * w[u].w;
		}
		count += 16;
		if (count == lazyProducts) {
			s = fold(s, delta);
			count = 0;
		}
	}
	u32 sum = laneSum(fold(s, delta), delta);
	if (lane == 0) partial[warp] = sum;
	blockSync();
	if (threadIdx.x == 0) {
		u64 total = 0;
		for (int i = 0; i < 8; i++) total += partial[i];
		atomicAdd64(p.sums + (u64)row * p.moduli + k, total);
	}
}
MP_REGISTER(sumProductsFew);

// roundRows: a warp rounds a row, four rows a block of 128 threads. For few moduli. Shared memory: 4*rowLimbs words of
// 32 bits.
MP_KERNEL(roundRows, 128)(Planes p, Rounding f) {
	MP_SHARED(u32, shared);
	u32 warp = threadIdx.x / 32, row = blockIdx.x * 4 + warp;
	bool inside = row < p.rows;
	Known known = readKnown(f, inside ? row : 0, threadIdx.x % 32);
	waitForPrevious();
	prefetchTable(f);
	if (inside) roundRow(f, known, p.sums, p.clear, row, shared + warp * rowLimbs(f));
}
MP_REGISTER(roundRows);

// roundRows2 and roundRows4: a block rounds two or four rows together. For many moduli. Blocks of up to 256 threads,
// best one for each limb of alpha*S. Shared memory: 2*rowLimbs or 4*rowLimbs words of 32 bits.
MP_KERNEL(roundRows2, 256)(Planes p, Rounding f) {
	MP_SHARED(u32, shared);
	roundTogether<2>(f, p.sums, p.clear, blockIdx.x * 2, shared);
}
MP_REGISTER(roundRows2);
MP_KERNEL(roundRows4, 256)(Planes p, Rounding f) {
	MP_SHARED(u32, shared);
	roundTogether<4>(f, p.sums, p.clear, blockIdx.x * 4, shared);
}
MP_REGISTER(roundRows4);
