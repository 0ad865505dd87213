// The deferred engine's products: y = alpha*A*x + beta*y from residue planes, exact, rounded once.
//
// A launch has one block for each modulus, group of rows and part of the columns. A block adds the products of its rows' residues with those of
// x, in 64-bit words that hold 256 of them. The block that is the last one of a group of rows finishes these rows (finish.cuh), so
// that one launch does everything, and finishing overlaps with what other groups still read.
//
// The bytes of A bound the time: 4 for each modulus and element. Sums are integers: no result depends on the order of blocks.
#include "finish.cuh"

struct Planes {
	const u32 *a;   // residue of element (i, j) modulo m_k: a[(k*rows + i)*ld + j], 0 for j from columns to ld; ld a multiple of 16
	const u32 *x;   // x[k*xStride + j], 0 likewise; xStride a multiple of 4
	const u32 *delta; // m_k = 2^28 - delta[k]
	u64 *sums;      // sums[i*moduli + k]: what is added to, or set if there is one part
	u32 *arrivals;  // of each group, 0 before and after
	u64 xStride;
	u32 rows, ld, moduli;
	u32 parts, partColumns; // partColumns a multiple of 16
	u32 group;              // rows of a block: what the kernel is made for, at most
	u32 finishRows;         // rows finished at a time, at most the block's warps; 0 leaves the sums
};

static const u32 lazyProducts = 256; // of residues below 2^28, and one residue more, fit 64 bits

// addProducts adds the products of RPW rows, each stride words after the other, with x, over the columns j, j + step, ... below to, four at each.
template <int RPW> MP_DEVICE void addProducts(u64 (&s)[RPW], const u32 *a, u64 stride, const u32 *x, u32 j, u32 to, u32 step, u32 delta) {
	const int unroll = 4;
	for (u32 count = 0; j < to; j += unroll * step) {
		uint4 v[unroll][RPW], w[unroll];
#pragma unroll
		for (int u = 0; u < unroll; u++) {
			u32 at = j + u * step;
			w[u].x = w[u].y = w[u].z = w[u].w = 0;
#pragma unroll
			for (int r = 0; r < RPW; r++) v[u][r] = w[u];
			if (at < to) {
#pragma unroll
				for (int r = 0; r < RPW; r++) v[u][r] = loadStream((const uint4 *)(a + r * stride + at));
				w[u] = *(const uint4 *)(x + at);
			}
		}
#pragma unroll
		for (int u = 0; u < unroll; u++) {
#pragma unroll
			for (int r = 0; r < RPW; r++) {
				s[r] += (u64)v[u][r].x * w[u].x;
				s[r] += (u64)v[u][r].y * w[u].y;
				s[r] += (u64)v[u][r].z * w[u].z;
				s[r] += (u64)v[u][r].w * w[u].w;
			}
		}
		count += 4 * unroll;
		if (count == lazyProducts) {
			count = 0;
#pragma unroll
			for (int r = 0; r < RPW; r++) s[r] = fold(s[r], delta);
		}
	}
}

// product is the kernel: WR warps of RPW rows each, times WC warps that share the columns.
template <int RPW, int WR, int WC> MP_DEVICE void product(const Planes &p, const Finish &f) {
	MP_SHARED(u32, shared);
	__shared__ u64 partial[WR * WC * RPW];
	__shared__ u32 last;
	u32 index = blockIdx.x, k = index % p.moduli;
	index /= p.moduli;
	u32 part = index % p.parts, group = index / p.parts;
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, column = warp % WC;
	u32 first = group * p.group, row = first + warp / WC * RPW, end = first + p.group < p.rows ? first + p.group : p.rows;
	u32 from = part * p.partColumns, to = from + p.partColumns < p.ld ? from + p.partColumns : p.ld;
	u32 delta = p.delta[k];

	u64 s[RPW];
#pragma unroll
	for (int r = 0; r < RPW; r++) s[r] = 0;
	const u32 *a = p.a + ((u64)k * p.rows + row) * p.ld, *x = p.x + k * p.xStride;
	u32 j = from + (column * 32 + lane) * 4, step = WC * 128;
	if (row + RPW <= end) {
		addProducts<RPW>(s, a, p.ld, x, j, to, step, delta);
	} else {
		for (int r = 0; r < RPW; r++) { // the last rows
			u64 one[1] = {0};
			if (row + r < end) addProducts<1>(one, a + (u64)r * p.ld, p.ld, x, j, to, step, delta);
#pragma unroll
			for (int q = 0; q < RPW; q++)
				if (q == r) s[q] = one[0];
		}
	}
#pragma unroll
	for (int r = 0; r < RPW; r++) {
		u32 sum = laneSum(fold(s[r], delta), delta);
		if (lane == 0) partial[warp * RPW + r] = sum;
	}
	blockSync();
	if (threadIdx.x < WR * RPW && first + threadIdx.x < end) {
		u64 sum = 0;
		for (int c = 0; c < WC; c++) sum += partial[(threadIdx.x / RPW * WC + c) * RPW + threadIdx.x % RPW];
		u64 *to = p.sums + (u64)(first + threadIdx.x) * p.moduli + k;
		if (p.parts > 1)
			atomicAdd64(to, sum);
		else
			*to = sum;
		deviceFence();
	}
	if (!p.finishRows) return;

	blockSync();
	if (threadIdx.x == 0) {
		last = atomicAdd32(&p.arrivals[group], 1) == p.moduli * p.parts - 1;
		if (last) p.arrivals[group] = 0;
		deviceFence();
	}
	blockSync();
	if (!last) return;
	finishRows(f, p.sums, p.parts > 1, first, end, p.finishRows, shared);
}

#define PRODUCT(name, rpw, wr, wc) \
	MP_KERNEL(name, wr * wc * 32)(Planes p, Finish f) { product<rpw, wr, wc>(p, f); } \
	MP_REGISTER(name)

PRODUCT(product1x8, 1, 8, 1);
PRODUCT(product2x4, 2, 4, 1);
PRODUCT(product2x8, 2, 8, 1);
PRODUCT(product4x4, 4, 4, 1);
PRODUCT(product1x1, 1, 1, 8); // few rows: eight warps on each

// finish finishes rows whose sums are there: p.group rows a block.
MP_KERNEL(finish, 256)(Planes p, Finish f) {
	MP_SHARED(u32, shared);
	u32 first = blockIdx.x * p.group;
	finishRows(f, p.sums, p.parts > 1, first, first + p.group < p.rows ? first + p.group : p.rows, p.finishRows, shared);
}
MP_REGISTER(finish);
