// The end of an exact sum of products: its residues become an integer, which is multiplied by alpha, added to beta*y and rounded once.
#ifndef MPBENCH_FINISH_CUH
#define MPBENCH_FINISH_CUH

#include "limbs.cuh"

// Finish says what to do with the sums S_i, of which the residues modulo m_k = 2^28 - delta[k] are known:
//
//	y_i = alpha * S_i * 2^rowExp_i + beta * y_i,  rounded to nearest even at p bits.
//
// alpha and beta are integers of 28-bit limbs times powers of two; betaLimbs = 0 says that there is no y. Numbers y_i and results are
// packed: words of 64 bits, least significant first, of an integer W < 2^(64*width), and heads = 2*exponent + sign; a
// result has its bit p - 1 set unless it is zero.
//
// Reconstruction: with c_k = S mod m_k * weight[k] mod m_k, S = sum c_k*(M/m_k) - rank*M, rank = round(sum c_k/m_k). Row k of crt holds
// M/m_k, row n holds 2^(28n) - M, in n limbs, each row of so many lanes. The sum of rows is S modulo 2^(28n) in two's complement.
//
// The exact sum of the two terms needs as many bits as their exponents are apart. It is formed in a window of windowLimbs limbs whose top
// is above both. What lies below the window's end is replaced by one unit of its sign in the lowest limb: that part belongs to the
// smaller term, the larger is wholly inside and exceeds it by more than p bits, so every rounding comes out the same. This needs
// windowLimbs >= (max(28*productLimbs, 28*addendLimbs) + p + 60) / 28 + 2.
struct Finish {
	const u32 *delta, *weight, *crt;
	const double *reciprocal; // 1/m_k
	const i64 *rowExp;
	const u32 *alpha, *beta;
	const u64 *yWords;
	const i64 *yHeads;
	u64 *out;
	i64 *outHeads;
	i64 alphaExp, betaExp;
	u32 moduli, lanes;
	u32 alphaLimbs, betaLimbs, yLimbs;
	u32 alphaNegative, betaNegative;
	u32 yWidth, outWidth; // words of a number
	u32 precision;
	u32 productLimbs, addendLimbs, windowLimbs; // alpha*S, beta*y, the window
	u32 unitAlpha;                              // alpha is 1 or -1: productLimbs = moduli
};

// A row's shared memory, in 64-bit words: product, addend, and small, where first the coefficients (or y) and S lie, then the window.
MP_DEVICE u32 max32(u32 a, u32 b) { return a > b ? a : b; }
MP_DEVICE u32 smallWords(const Finish &f) { return (max32(max32(f.moduli + 1, f.yLimbs) + f.moduli, f.windowLimbs) + 1) / 2; }
MP_DEVICE u32 rowWords(const Finish &f) { return f.productLimbs + f.addendLimbs + smallWords(f); }

static const u32 lazyTerms = 248; // products of 28-bit numbers that are added to a limb before it is carried

// crtSums sets the products' first moduli limbs of all rows to S in two's complement. RB rows share a read of the table.
template <int RB> MP_DEVICE void crtSums(const Finish &f, u64 *shared, u32 rows, u32 pitch) {
	u32 n = f.moduli, lane = threadIdx.x % 32, warp = threadIdx.x / 32, small = f.productLimbs + f.addendLimbs;
	u32 items = n * ((rows + RB - 1) / RB);
	for (u32 from = 0; from <= n; from += lazyTerms) {
		u32 to = from + lazyTerms < n + 1 ? from + lazyTerms : n + 1;
		for (u32 item = threadIdx.x; item < items; item += blockDim.x) {
			u32 q = item % n, r0 = item / n * RB;
			u64 s[RB];
			const u32 *c[RB];
#pragma unroll
			for (int b = 0; b < RB; b++) {
				u32 r = r0 + b < rows ? r0 + b : rows - 1;
				s[b] = from ? shared[r * pitch + q] : 0;
				c[b] = (const u32 *)(shared + r * pitch + small);
			}
#pragma unroll 4
			for (u32 k = from; k < to; k++) {
				u32 t = f.crt[(u64)k * f.lanes + q];
#pragma unroll
				for (int b = 0; b < RB; b++) s[b] += (u64)c[b][k] * t;
			}
#pragma unroll
			for (int b = 0; b < RB; b++)
				if (r0 + b < rows) shared[(r0 + b) * pitch + q] = s[b];
		}
		blockSync();
		for (u32 r = warp; r < rows; r += blockDim.x / 32) carry((i64 *)(shared + r * pitch), n, lane);
		blockSync();
	}
}

// multiply sets limbs of all rows, z, to a*x: a of aLimbs limbs in device memory, x of xLimbs limbs in each row's shared memory.
MP_DEVICE void multiply(u64 *z, u32 limbs, const u32 *a, u32 aLimbs, const u32 *x, u32 xLimbs, u32 rows, u32 pitch) {
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	for (u32 from = 0; from < aLimbs; from += lazyTerms) {
		u32 to = from + lazyTerms < aLimbs ? from + lazyTerms : aLimbs;
		for (u32 item = threadIdx.x; item < limbs * rows; item += blockDim.x) {
			u32 q = item % limbs, r = item / limbs;
			const u32 *digits = x + 2 * r * pitch;
			u64 s = from ? z[r * pitch + q] : 0;
			u32 low = q >= xLimbs ? q - xLimbs + 1 : 0, high = q + 1 < to ? q + 1 : to;
			low = low > from ? low : from;
#pragma unroll 4
			for (u32 i = low; i < high; i++) s += (u64)a[i] * digits[q - i];
			z[r * pitch + q] = s;
		}
		blockSync();
		for (u32 r = warp; r < rows; r += blockDim.x / 32) carry((i64 *)(z + r * pitch), limbs, lane);
		blockSync();
	}
}

// shiftedLimb returns limb j of the integer of n limbs times 2^(28*limbs + bits).
MP_DEVICE i32 shiftedLimb(const u64 *v, u32 n, i64 limbs, u32 bits, u32 j) {
	i64 at = (i64)j - limbs;
	u32 high = at >= 0 && at < (i64)n ? (u32)v[at] : 0, low = at >= 1 && at <= (i64)n ? (u32)v[at - 1] : 0;
	return (i32)((high << bits & limbMask) | (u32)((u64)low >> (limbBits - bits)));
}

// A term of the sum: digits, exponent, sign.
struct Term {
	const u64 *v;
	u32 limbs;
	i64 exp;
	bool negative;
	u32 bits; // 0 for zero
};

// addTerm adds a term to the window, whose limb 1 is worth 2^base. What lies below that becomes a unit of limb 0.
MP_DEVICE void addTerm(i32 *window, u32 limbs, i64 base, const Term &t, u32 lane) {
	if (!t.bits) return;
	i64 shift = t.exp - base + (i64)limbBits; // of the window's lowest bit
	i64 whole = shift >= 0 ? shift / limbBits : -((-shift + limbBits - 1) / (i64)limbBits);
	u32 bits = (u32)(shift - whole * (i64)limbBits);
	for (u32 j = 1 + lane; j < limbs; j += 32) {
		i32 limb = shiftedLimb(t.v, t.limbs, whole, bits, j);
		window[j] += t.negative ? -limb : limb;
	}
	i64 below = base - t.exp; // bits that are lost
	if (below > 0) {
		u32 cut = below < (i64)t.bits ? (u32)below : t.bits;
		if (anyBelow(t.v, t.limbs, cut, lane) && lane == 0) window[0] += t.negative ? -1 : 1;
	}
	warpSync(allLanes);
}

// roundWindow writes the window's integer, times 2^exp, rounded to nearest even at p bits.
MP_DEVICE void roundWindow(const Finish &f, i32 *window, i64 exp, u64 row, u32 lane) {
	u32 n = f.windowLimbs, words = 2 * f.outWidth, p = f.precision;
	bool negative = magnitude(window, n, lane);
	u32 bits = bitLength(window, n, lane);
	i32 shift = (i32)bits - (i32)p;
	bool up = false;
	if (shift > 0) {
		bool odd = bitsAt(window, n, shift) & 1, half = bitsAt(window, n, shift - 1) & 1;
		bool rest = anyBelow(window, n, (u32)shift - 1, lane);
		up = half && (odd || rest);
	}
	u32 *out = (u32 *)(f.out + row * f.outWidth);
	bool carried = up;
	for (u32 base = 0; base < words; base += 32) {
		u32 j = base + lane;
		u32 w = bits && j < words && 32 * j < p ? bitsAt(window, n, shift + (i32)(32 * j)) : 0;
		u32 ones = ballot(allLanes, w == 0xffffffffu), below = (1u << lane) - 1;
		if (carried && (ones & below) == below) w++;
		if (j < words) out[j] = w;
		carried = carried && ones == 0xffffffffu;
	}
	warpSync(allLanes);
	if (lane == 0) {
		i64 e = exp + shift;
		// 2^p, which has p + 1 bits, is 2^(p-1) * 2.
		bool overflow = up && (p % 32 ? out[p / 32] >> p % 32 & 1 : (p / 32 < words ? out[p / 32] : 0) != 0);
		if (up && p == 64 * f.outWidth) { // bit p has no place: all words are 0 then
			overflow = true;
			for (u32 j = 0; j < words; j++) overflow = overflow && out[j] == 0;
		}
		if (overflow) {
			if (p / 32 < words) out[p / 32] = 0;
			out[(p - 1) / 32] = 1u << (p - 1) % 32;
			e++;
		}
		f.outHeads[row] = bits ? 2 * e + (negative ? 1 : 0) : 0;
	}
}

// finishRows finishes rows first to first + count - 1 with the shared memory of so many rows. If clear, it sets the sums to 0 after
// having read them. All threads of the block take part.
MP_FUNCTION void finishRows(const Finish &f, u64 *sums, bool clear, u32 first, u32 count, u64 *shared) {
	u32 n = f.moduli, pitch = rowWords(f), small = f.productLimbs + f.addendLimbs;
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
	u32 digitsAt = max32(n + 1, f.yLimbs); // where S lies in small
	blockSync();
	for (u32 item = threadIdx.x; item < count * n; item += blockDim.x) {
		u32 r = item / n, k = item % n;
		u64 *sum = sums + (u64)(first + r) * n + k;
		u32 delta = f.delta[k];
		((u32 *)(shared + r * pitch + small))[k] = mulMod(fold(loadFresh(sum), delta), f.weight[k], delta);
		if (clear) *sum = 0;
	}
	blockSync();
	for (u32 r = warp; r < count; r += warps) { // rank: an error of n*2^-52 * n/2 is far from 0.2
		u32 *c = (u32 *)(shared + r * pitch + small);
		double s = 0;
		for (u32 k = lane; k < n; k += 32) s += c[k] * f.reciprocal[k];
		for (u32 d = 16; d; d /= 2) s += doubleOf(shuffleXor(allLanes, bitsOf(s), d));
		if (lane == 0) c[n] = (u32)(s + 0.5);
	}
	blockSync();
	if (count >= 4)
		crtSums<4>(f, shared, count, pitch);
	else
		crtSums<1>(f, shared, count, pitch);

	// From here on warp by warp, but for the products.
	u32 signs = 0; // of the rows of this warp
	for (u32 r = warp, q = 0; r < count; r += warps, q++) {
		i64 *s = (i64 *)(shared + r * pitch);
		if (magnitude(s, n, lane)) signs |= 1u << q;
		u32 *y = (u32 *)(s + small), *digits = y + digitsAt;
		if (!f.unitAlpha)
			for (u32 i = lane; i < n; i += 32) digits[i] = (u32)s[i];
		if (f.betaLimbs) {
			const u64 *words = f.yWords + (u64)(first + r) * f.yWidth;
			for (u32 i = lane; i < f.yLimbs; i += 32) {
				u32 at = i * limbBits / 64, shift = i * limbBits % 64;
				u64 w = words[at] >> shift;
				if (shift > 64 - limbBits && at + 1 < f.yWidth) w |= words[at + 1] << (64 - shift);
				y[i] = (u32)w & limbMask;
			}
		}
		warpSync(allLanes);
	}
	blockSync();
	if (!f.unitAlpha) multiply(shared, f.productLimbs, f.alpha, f.alphaLimbs, (u32 *)(shared + small) + digitsAt, n, count, pitch);
	if (f.betaLimbs) multiply(shared + f.productLimbs, f.addendLimbs, f.beta, f.betaLimbs, (u32 *)(shared + small), f.yLimbs, count, pitch);
	for (u32 r = warp, q = 0; r < count; r += warps, q++) {
		u64 *product = shared + r * pitch, *addend = product + f.productLimbs;
		i32 *window = (i32 *)(product + small);
		u64 row = first + r;
		Term s = {product, f.productLimbs, f.rowExp[row] + f.alphaExp, (signs >> q & 1) != f.alphaNegative, 0};
		Term t = {addend, f.addendLimbs, 0, false, 0};
		s.bits = bitLength((const i64 *)product, f.productLimbs, lane);
		if (f.betaLimbs) {
			i64 head = f.yHeads[row];
			t.exp = f.betaExp + (head >> 1);
			t.negative = (head & 1) != f.betaNegative;
			t.bits = bitLength((const i64 *)addend, f.addendLimbs, lane);
		}
		for (u32 j = lane; j < f.windowLimbs; j += 32) window[j] = 0;
		warpSync(allLanes);
		// base: as low as the lower term, but the top bit stays inside, with a bit for the sum's carry and one for its sign.
		i64 base = !t.bits || (s.bits && s.exp < t.exp) ? s.exp : t.exp;
		i64 top = s.exp + s.bits;
		if (t.bits && (!s.bits || t.exp + (i64)t.bits > top)) top = t.exp + t.bits;
		i64 room = (i64)limbBits * (f.windowLimbs - 1) - 2;
		if (top - base > room) base = top - room;
		addTerm(window, f.windowLimbs, base, s, lane);
		addTerm(window, f.windowLimbs, base, t, lane);
		carry(window, f.windowLimbs, lane);
		roundWindow(f, window, base - (i64)limbBits, row, lane);
	}
	blockSync();
}

#endif
