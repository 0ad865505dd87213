// Products of short factors without residues: y = alpha*A*x + beta*y from signed limbs, exact, rounded once.
//
// A factor of up to 28*L bits is L limbs of 28 bits, all with its sign, in planes like residues; the number of moduli
// for a product of two is twice as large, so that these planes are half as many bytes. sumLimbs adds, for each of the
// 2L-1 pairs of limbs' weights, the products of limbs in 64-bit words; roundLimbs makes of a row's words its result,
// without reconstruction. Sums are integers: no result depends on how the work is divided.
#include "round_rows.cuh"

struct LimbPlanes {
	// limb k of element (i, j): a[(k*rows + i)*ld + j], signed, 0 for j from columns to ld; ld a multiple of 16
	const u32 *a;
	const u32 *x;      // x[k*xStride + j], 0 likewise; xStride a multiple of 4
	u64 *sums;         // sums[i*words + q]: word q of row i is added to, signed, worth 2^(28q); words = 2L+1
	u64 xStride;
	u32 rows, ld;
	u32 rowWarps;      // warps of a row and part, 1, 2, 4 or 8
	u32 parts;         // of a row's columns
	u32 partColumns;   // a multiple of 16
	u32 prepareBlocks; // the first blocks, eight warps each
};

// FloatRows is a matrix of binary64 numbers as it is: element (i, j) is a[i*rowStride + j], and an integer below
// 2^(28L) in magnitude times 2^low[i]; infinities and NaN count as 0.
struct FloatRows {
	const double *a;
	const i32 *low;
	i64 rowStride;
	u32 columns;
};

static const u32 columnsAtOnce = 4; // neighbouring columns that a lane reads at once

MP_DEVICE void readColumns(i32 (&v)[columnsAtOnce], const u32 *p) {
	uint4 w = *(const uint4 *)p;
	v[0] = (i32)w.x;
	v[1] = (i32)w.y;
	v[2] = (i32)w.z;
	v[3] = (i32)w.w;
}

// carry brings the words but the last to 28 bits.
template <u32 W> MP_DEVICE void carry(i64 (&s)[W]) {
#pragma unroll
	for (u32 q = 0; q + 1 < W; q++) {
		s[q + 1] += s[q] >> limbBits;
		s[q] &= limbMask;
	}
}

// of a word of a warp's lanes in shared memory: lanes that read different words read different banks
static const u32 lanePitch = 33;

// addWords adds a warp's words to those of a row. own is shared memory of lanePitch words for each.
template <u32 W> MP_DEVICE void addWords(const LimbPlanes &p, u32 row, i64 (&s)[W], i64 *own) {
	u32 lane = threadIdx.x % 32;
	carry(s);
#pragma unroll
	for (u32 q = 0; q < W; q++) own[q * lanePitch + lane] = s[q];
	warpSync(allLanes);
	if (lane >= W) return;
	i64 sum = 0;
#pragma unroll 8
	for (u32 i = 0; i < 32; i++) sum += own[lane * lanePitch + i];
	atomicAdd64(p.sums + (u64)row * W + lane, (u64)sum);
}

// Part is what a warp adds up: 32*columnsAtOnce columns of a row at a time, from first on in steps, below to.
struct Part {
	u32 warp, lane, row, first, step, to;
};

// takePart sets the part of this thread's warp, of so many columns, or does what the first blocks are for. It returns
// whether there is anything to add up.
MP_DEVICE bool takePart(Part &t, const LimbPlanes &p, u32 columns, const Rounding &f, u32 *shared) {
	if (blockIdx.x < p.prepareBlocks) {
		prepareBlock(f, shared);
		return false;
	}
	t.lane = threadIdx.x % 32;
	t.warp = threadIdx.x / 32;
	u32 group = ((blockIdx.x - p.prepareBlocks) * 8 + t.warp) / p.rowWarps;
	u32 from = group % p.parts * p.partColumns;
	t.row = group / p.parts;
	t.to = from + p.partColumns < columns ? from + p.partColumns : columns;
	t.first = from + t.warp % p.rowWarps * 32 * columnsAtOnce;
	t.step = p.rowWarps * 32 * columnsAtOnce;
	return t.row < p.rows;
}

// sumLimbs: rowWarps warps take a part of a row's columns. Every product of limbs is less than 2^56 in magnitude, and
// a word takes at most L of a column, so that 120/L columns are less than 2^63 - 2^57. Blocks of 256 threads; grid
// prepareBlocks + ceil(rows*parts*rowWarps / 8). Shared memory: 8 * 8 * lanePitch * (2L+1) bytes, or what prepareBlock
// takes.
template <u32 L> MP_DEVICE void sumLimbs(const LimbPlanes &p, const Rounding &f) {
	MP_SHARED(u32, shared);
	const u32 C = columnsAtOnce, words = 2 * L + 1, mostTurns = 120 / (L * C);
	Part t;
	if (!takePart(t, p, p.ld, f, shared)) return;
	const u32 *a = p.a + (u64)t.row * p.ld, *x = p.x;
	u64 plane = (u64)p.rows * p.ld;
	i64 s[words];
#pragma unroll
	for (u32 q = 0; q < words; q++) s[q] = 0;
	u32 turns = 0;
	for (u32 j = t.first + t.lane * C; j < t.to; j += t.step) {
		i32 v[L][C], w[L][C];
#pragma unroll
		for (u32 k = 0; k < L; k++) readColumns(v[k], a + k * plane + j);
#pragma unroll
		for (u32 k = 0; k < L; k++) readColumns(w[k], x + k * p.xStride + j);
#pragma unroll
		for (u32 i = 0; i < L; i++)
#pragma unroll
			for (u32 k = 0; k < L; k++)
#pragma unroll
				for (u32 c = 0; c < C; c++) s[i + k] += (i64)v[i][c] * w[k][c];
		if (++turns == mostTurns) {
			carry(s);
			turns = 0;
		}
	}
	addWords(p, t.row, s, (i64 *)shared + t.warp * words * lanePitch);
}

// limbsOf sets limbs to those of an integer v < 2^(28L) in magnitude, each at most 2^27 but for the first, and that at
// most 2^28: what v + c with c = 1.5 * 2^(52+28k) is rounded to is a multiple of 2^(28k), and the lower half of that
// has the multiple in two's complement.
template <u32 L> MP_DEVICE void limbsOf(i32 (&limbs)[L], double v) {
#pragma unroll
	for (u32 k = L - 1; k < L; k--) {
		double c = doubleOf(((u64)(1023 + 52 + limbBits * k) << 52) | 1ull << 51), t = v + c;
		limbs[k] = (i32)(u32)bitsOf(t);
		v -= t - c;
	}
}

// sumFloats is sumLimbs of numbers that become limbs on their way. Scaling by halves of the exponent neither overflows
// nor rounds: elements are multiples of 2^low below 2^(low+112).
template <u32 L> MP_DEVICE void sumFloats(const LimbPlanes &p, const FloatRows &m, const Rounding &f) {
	MP_SHARED(u32, shared);
	const u32 C = columnsAtOnce, words = 2 * L + 1, mostTurns = 120 / (L * C);
	Part t;
	if (!takePart(t, p, m.columns, f, shared)) return;
	const double *a = m.a + (i64)t.row * m.rowStride;
	i32 exponent = -m.low[t.row];
	double scale = powerOfTwo(exponent / 2), rest = powerOfTwo(exponent - exponent / 2);
	i64 s[words];
#pragma unroll
	for (u32 q = 0; q < words; q++) s[q] = 0;
	u32 turns = 0;
	for (u32 base = t.first; base < t.to; base += t.step) {
		double x[C];
		i32 w[L][C];
#pragma unroll
		for (u32 c = 0; c < C; c++) {
			u32 j = base + 32 * c + t.lane;
			x[c] = j < t.to ? a[j] : 0;
#pragma unroll
			for (u32 k = 0; k < L; k++) w[k][c] = j < t.to ? (i32)p.x[k * p.xStride + j] : 0;
		}
#pragma unroll
		for (u32 c = 0; c < C; c++) {
			i32 v[L];
			limbsOf<L>(v, (bitsOf(x[c]) >> 52 & 0x7ff) == 0x7ff ? 0 : x[c] * scale * rest);
#pragma unroll
			for (u32 i = 0; i < L; i++)
#pragma unroll
				for (u32 k = 0; k < L; k++) s[i + k] += (i64)v[i] * w[k][c];
		}
		if (++turns == mostTurns) {
			carry(s);
			turns = 0;
		}
	}
	addWords(p, t.row, s, (i64 *)shared + t.warp * words * lanePitch);
}

#define SUM_LIMBS(L)                                                                                         \
	MP_KERNEL(sumLimbs##L, 256)(LimbPlanes p, Rounding f) { sumLimbs<L>(p, f); }                               \
	MP_REGISTER(sumLimbs##L);                                                                                  \
	MP_KERNEL(sumFloats##L, 256)(LimbPlanes p, FloatRows a, Rounding f) { sumFloats<L>(p, a, f); }             \
	MP_REGISTER(sumFloats##L)
SUM_LIMBS(1);
SUM_LIMBS(2);
SUM_LIMBS(3);
SUM_LIMBS(4);

// limbSum sets v, of n = words + 1 <= 32 limbs, to the row's sum in two's complement, and its words to 0. The sum of N
// < 2^32 products is less than 2^(56L+32), and v holds 56L+55 bits and a sign. A word got less than 2^28 from each
// lane that added to it, the last one less than N in all: words are less than 2^62 in magnitude. 2^62 is added to
// each, its three parts of 28 bits go to their limbs, and 2^62 * sum 2^(28q), 64 in each limb from the second on, is
// subtracted.
MP_DEVICE void limbSum(u32 *v, u32 n, u64 *sums, u32 lane) {
	u64 s = 0;
	if (lane < n - 1) {
		s = loadFresh(sums + lane) + (1ull << 62);
		sums[lane] = 0;
	}
	u32 middle = shuffle(allLanes, (u32)(s >> limbBits) & limbMask, (lane - 1) & 31);
	u32 upper = shuffle(allLanes, (u32)(s >> 2 * limbBits), (lane - 2) & 31);
	u32 limb = ((u32)s & limbMask) + (lane > 0 ? middle : 0) + (lane > 1 ? upper : 0);
	if (lane < n) v[lane] = limb + limbMask - (lane > 1 ? 64 : 0);
	warpSync(allLanes);
	normalize(v, n, 1, lane);
}

// roundLimbs: a warp rounds a row, four rows a block of 128 threads. Shared memory: 4*rowLimbs words of 32 bits.
MP_KERNEL(roundLimbs, 128)(LimbPlanes p, Rounding f) {
	MP_SHARED(u32, shared);
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = blockIdx.x * 4 + warp, n = f.moduli + 1;
	bool inside = row < p.rows;
	i64 rowExp = inside ? f.rowExp[row] : 0, exponent = inside && f.betaLimbs ? f.yExponents[row] : 0;
	waitForPrevious();
	if (!inside) return;
	u32 *sum = shared + warp * rowLimbs(f), *product = sum + n, *window = product + f.productLimbs;
	limbSum(sum, n, p.sums + (u64)row * f.moduli, lane);
	bool negative = magnitude(sum, n, lane);
	if (f.unitAlpha)
		product = sum;
	else
		multiply(product, f.productLimbs, f.alpha, f.alphaLimbs, sum, n, lane);
	roundTerms(f, rowExp, exponent, product, negative, window, row, lane);
}
MP_REGISTER(roundLimbs);
