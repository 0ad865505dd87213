// The end of an exact sum of products: its residues become an integer, which is multiplied by alpha, added to beta*y
// and rounded once.
//
// What does not depend on the sums is prepared while they are added: alpha times the table of reconstruction, so that
// the sum of its rows is alpha*S at once, and beta*y. After that one warp rounds a row, or a block some rows together,
// with one read of the table.
#ifndef MPBENCH_ROUND_ROWS_CUH
#define MPBENCH_ROUND_ROWS_CUH

#include "limbs.cuh"

// Finish says what to do with the sums S_i, of which the residues modulo m_k = 2^28 - delta[k] are known:
//
//	y_i = alpha * S_i * 2^rowExp_i + beta * y_i,  rounded to nearest even at p bits.
//
// alpha and beta are integers of 28-bit limbs times powers of two; betaLimbs = 0 says that there is no y. Numbers y_i
// and results are packed: words of 64 bits, least significant first, of an integer W < 2^(64*width), and exponents =
// 2*exponent + sign; a result has its bit p - 1 set unless it is zero.
//
// Reconstruction: with c_k = S mod m_k * weight[k] mod m_k, S = sum c_k*(M/m_k) - rank*M, rank = round(sum c_k/m_k).
// Row k of crt holds M/m_k, row n holds 2^(28n) - M, in n limbs, each row of so many lanes. The sum of rows is S
// modulo 2^(28n) in two's complement. In table, of productLimbs limbs a row, L, these are alpha*M/m_k and 2^(28L) -
// alpha*M: the sum is alpha*S modulo 2^(28L).
//
// The exact sum of the two terms needs as many bits as their exponents are apart. It is formed in a window of
// windowLimbs limbs whose top is above both. What lies below the window's end is replaced by one unit of its sign
// in the lowest limb: that part belongs to the smaller term, the larger is wholly inside and exceeds it by more
// than p bits, so every rounding comes out the same. This needs windowLimbs >= (max(28*productLimbs,
// 28*addendLimbs) + p + 60) / 28 + 2.
//
// Where factors were truncated, alpha * S_i * 2^rowExp_i is less than 2^errorExp_i from the true one. Ziv's test
// (certainRounding) says whether the result is the true one's; uncertain_i is 1 if not, else 0.
struct Rounding {
	const u32 *delta, *weight, *crt;
	const double *reciprocal; // 1/m_k
	const i64 *rowExp;
	const u32 *alpha, *beta;
	const u64 *yWords;
	const i64 *yExponents;
	u64 *out;
	i64 *outExponents;
	i64 alphaExp, betaExp;
	u32 moduli, lanes;
	u32 alphaLimbs, betaLimbs, yLimbs;
	u32 alphaNegative, betaNegative;
	u32 yWidth, outWidth; // words of a number
	u32 precision;
	u32 productLimbs, addendLimbs, windowLimbs; // alpha*S, beta*y, the window
	// alpha is 1 or -1, times a power of two: productLimbs = moduli, and there is no table
	u32 unitAlpha;
	u32 rows;
	u32 limbSums; // 1: sums are not residues but words of 28 bits, as limb_products.cu makes them, moduli of them
	u32 *table;   // made by prepare
	u32 *addend; // made by prepare: beta*y of each row, addendLimbs limbs
	const i64 *errorExp; // exactRow for sums that are exact; null if all are
	u32 *uncertain;      // null likewise
};

static const i64 exactRow = -0x7fffffffffffffffll - 1;

// rowLimbs is the shared memory of a row in 32-bit words: coefficients; alpha*S; the window.
MP_DEVICE u32 rowLimbs(const Rounding &f) { return f.moduli + 1 + f.productLimbs + f.windowLimbs; }

// reconstruct sets the integers z to alpha*S in two's complement, given the coefficients c of the rows.
template <int ROWS>
MP_DEVICE void reconstruct(u32 *z, u32 pitch, const Rounding &f, const u32 *c, u32 t, u32 threads) {
	const u32 lazyTerms = 248;
	u32 n = f.moduli, limbs = f.productLimbs, stride = f.unitAlpha ? f.lanes : limbs;
	const u32 *__restrict__ table = f.unitAlpha ? f.crt : f.table;
	clear<ROWS>(z, pitch, limbs, t, threads);
	for (u32 from = 0; from <= n; from += lazyTerms) {
		u32 to = from + lazyTerms < n + 1 ? from + lazyTerms : n + 1;
		for (u32 q0 = 0; q0 < limbs; q0 += threads) {
			u32 q = q0 + t;
			u64 s[ROWS];
#pragma unroll
			for (u32 r = 0; r < ROWS; r++) s[r] = 0;
			if (q < limbs) {
				const u32 *__restrict__ row = table + (u64)from * stride + q;
#pragma unroll 8
				for (u32 k = from; k < to; k++, row += stride) {
					u32 limb = *row;
#pragma unroll
					for (u32 r = 0; r < ROWS; r++) s[r] += (u64)c[r * pitch + k] * limb;
				}
			}
			addWide<ROWS>(z, pitch, limbs, s, q);
		}
		normalizeRows<ROWS>(z, pitch, limbs, t);
	}
}

// prefetchTable brings the table to the first-level cache, by a block; a read brings 32 bytes. It pays where reads
// follow one another slowly: for single warps, and for a single block.
MP_DEVICE void prefetchTable(const Rounding &f) {
	u32 words = (f.moduli + 1) * (f.unitAlpha ? f.lanes : f.productLimbs);
	const u32 *table = f.unitAlpha ? f.crt : f.table;
	for (u32 i = threadIdx.x * 8; i < words; i += blockDim.x * 8) prefetch(table + i);
}

// What a lane needs for a row and its first coefficients that no kernel before has written: it can be read before
// waitForPrevious. exponent is that of y_i.
struct Known {
	i64 rowExp, exponent;
	u32 delta, weight;
	double reciprocal;
};

MP_DEVICE Known readKnown(const Rounding &f, u64 row, u32 k) {
	Known n = {f.rowExp[row], f.betaLimbs ? f.yExponents[row] : 0, 0, 0, 0};
	if (k < f.moduli) {
		n.delta = f.delta[k];
		n.weight = f.weight[k];
		n.reciprocal = f.reciprocal[k];
	}
	return n;
}

// coefficient returns c_k, sets c[k] to it, and the row's sum to 0 if clear.
MP_DEVICE u32 coefficient(u32 *c, u64 *sums, bool clear, u32 k, u32 delta, u32 weight) {
	u32 x = mulMod(fold(loadFresh(sums + k), delta), weight, delta);
	if (clear) sums[k] = 0;
	c[k] = x;
	return x;
}

// coefficients sets c_0 ... c_(n-1) and rank from the row's sums, which it sets to 0 if clear. first is readKnown of
// the lane, if known.
MP_DEVICE void coefficients(u32 *c, const Rounding &f, bool known, const Known &first, u64 *sums, bool clear,
                            u32 lane) {
	double s = 0;
	u32 k = lane;
	if (known) {
		if (k < f.moduli) s = coefficient(c, sums, clear, k, first.delta, first.weight) * first.reciprocal;
		k += 32;
	}
	for (; k < f.moduli; k += 32) s += coefficient(c, sums, clear, k, f.delta[k], f.weight[k]) * f.reciprocal[k];
	for (u32 d = 16; d; d /= 2) s += doubleOf(shuffleXor(allLanes, bitsOf(s), d));
	if (lane == 0) c[f.moduli] = (u32)(s + 0.5); // an error of n*2^-52 * n/2 is far from 0.2
	warpSync(allLanes);
}

// unpack sets limbs to those of the words.
MP_DEVICE void unpack(u32 *limbs, u32 n, const u64 *words, u32 width, u32 lane) {
	for (u32 i = lane; i < n; i += 32) {
		u32 at = i * limbBits / 64, shift = i * limbBits % 64;
		u64 w = words[at] >> shift;
		if (shift > 64 - limbBits && at + 1 < width) w |= words[at + 1] << (64 - shift);
		limbs[i] = (u32)w & limbMask;
	}
	warpSync(allLanes);
}

MP_DEVICE bool hasTable(const Rounding &f) { return !f.unitAlpha && !f.limbSums; }

// prepareItems is how many warps prepare has work for.
MP_DEVICE u32 prepareItems(const Rounding &f) { return (hasTable(f) ? f.moduli + 1 : 0) + (f.betaLimbs ? f.rows : 0); }

// prepare makes a row of the table, or beta*y of a row of y, by one warp with so many words of shared memory:
// productLimbs, and yLimbs + addendLimbs.
MP_DEVICE void prepare(const Rounding &f, u32 item, u32 *shared, u32 lane) {
	u32 n = f.moduli, limbs = f.productLimbs;
	if (hasTable(f)) {
		if (item <= n) {
			multiply(shared, limbs, f.alpha, f.alphaLimbs, f.crt + (u64)item * f.lanes, n, lane);
			if (item == n) { // 2^(28L) - alpha*M = alpha*(2^(28n) - M) - alpha*2^(28n) modulo 2^(28L)
				for (u32 i = n + lane; i < limbs; i += 32) shared[i] += limbMask - f.alpha[i - n] + (i == n ? 1 : 0);
				warpSync(allLanes);
				normalize(shared, limbs, 0, lane);
			}
			for (u32 i = lane; i < limbs; i += 32) f.table[(u64)item * limbs + i] = shared[i];
			return;
		}
		item -= n + 1;
	}
	u32 *product = shared + f.yLimbs;
	unpack(shared, f.yLimbs, f.yWords + (u64)item * f.yWidth, f.yWidth, lane);
	multiply(product, f.addendLimbs, f.beta, f.betaLimbs, shared, f.yLimbs, lane);
	for (u32 i = lane; i < f.addendLimbs; i += 32) f.addend[(u64)item * f.addendLimbs + i] = product[i];
}

// prepareBlock does the work of the first blocks of sums, eight warps each. Shared memory: for each warp productLimbs,
// or yLimbs + addendLimbs, words of 32 bits, whichever is more.
MP_DEVICE void prepareBlock(const Rounding &f, u32 *shared) {
	u32 warp = threadIdx.x / 32, item = blockIdx.x * 8 + warp;
	u32 table = hasTable(f) ? f.productLimbs : 0, y = f.yLimbs + f.addendLimbs;
	if (item < prepareItems(f)) prepare(f, item, shared + warp * (table > y ? table : y), threadIdx.x % 32);
}

// A term of the last sum: (-1)^negative * v * 2^exp, v of so many limbs and bits; no bits for zero.
struct Term {
	const u32 *v;
	u32 limbs, bits;
	i64 exp;
	bool negative;
};

// A term's place in a window whose limb 1 is worth 2^base.
struct Placement {
	i32 whole; // limbs by which the term is shifted
	u32 bits;
	bool cut; // bits are lost below limb 1
};

MP_DEVICE Placement place(const Term &t, i64 base, u32 lane) {
	Placement p;
	i64 distance = t.exp - base, lowest = -(i64)(limbBits * (t.limbs + 1)); // a term that is lost altogether
	i32 shift = (i32)(distance > lowest ? distance : lowest) + (i32)limbBits;
	p.whole = shift >= 0 ? shift / (i32)limbBits : -((-shift + (i32)limbBits - 1) / (i32)limbBits);
	p.bits = (u32)(shift - p.whole * (i32)limbBits);
	p.cut = false;
	if (t.bits && distance < 0) p.cut = anyBelow(t.v, t.limbs, -distance < (i64)t.bits ? (u32)-distance : t.bits, lane);
	return p;
}

MP_DEVICE u32 windowLimb(const Term &t, const Placement &p, u32 j) {
	if (j == 0) return p.cut;
	u32 at = j - (u32)p.whole; // beyond limbs if negative
	u32 high = at < t.limbs ? t.v[at] : 0, low = at - 1 < t.limbs ? t.v[at - 1] : 0;
	return t.bits ? (high << p.bits & limbMask) | low >> (limbBits - p.bits) : 0;
}

// addTerms sets the window to |s + t| and returns whether the sum is negative.
MP_DEVICE bool addTerms(u32 *window, u32 n, i64 base, const Term &s, const Term &t, u32 lane) {
	Placement ps = place(s, base, lane), pt = place(t, base, lane);
	bool differ = s.bits && t.bits && s.negative != t.negative;
	u32 flip = differ ? limbMask : 0; // the second term in two's complement
	for (u32 j = lane; j < n; j += 32) window[j] = windowLimb(s, ps, j) + (windowLimb(t, pt, j) ^ flip);
	warpSync(allLanes);
	normalize(window, n, differ, lane);
	bool negative = s.bits ? s.negative : t.negative;
	return differ && magnitude(window, n, lane) ? !negative : negative;
}

// certainRounding reports whether every number less than 2^error units from the window's integer W, of so many bits,
// has the same sign and rounds to the same number of p bits as W does. What was cut, less than 2^28 units, need not be
// in error. False is no proof of the contrary.
//
// With s = bits - p, W rounds at 2^s, and between 2^(bits-1) and 2^bits the ties are the odd multiples of 2^(s-1). Let
// e be one more than the greater of error and 28: the true number is less than 2^e from W. If e <= s - 3, it is
// positive, as W >= 2^(bits-1) > 2^e; it is no tie below 2^(bits-1), where the first is 2^(s-2) away, nor above
// 2^bits, where the first is 2^s away. So there is no tie between it and W if W mod 2^s is at least 2^e from 2^(s-1),
// for which it suffices that floor(W mod 2^s / 2^e), of s - e >= 3 bits, is neither 100...0 nor 011...1.
MP_DEVICE bool certainRounding(const u32 *window, u32 n, u32 bits, u32 p, i64 error, u32 lane) {
	i64 shift = (i64)bits - p, e = (error > (i64)limbBits ? error : (i64)limbBits) + 1;
	if (e > shift - 3) return false;
	bool half = bitsAt(window, n, (i32)shift - 1) & 1;
	return !equalBits(window, (u32)e, (u32)shift - 1, !half, lane);
}

// roundWindow writes the integer of n limbs in window, times 2^exp, rounded to nearest even at p bits.
MP_DEVICE void roundWindow(const Rounding &f, const u32 *window, u32 n, bool negative, i64 exp, u64 row, u32 lane) {
	u32 words = 2 * f.outWidth, p = f.precision;
	u32 bits = bitLength(window, n, lane);
	i32 shift = (i32)bits - (i32)p;
	if (f.errorExp) {
		i64 error = f.errorExp[row];
		bool certain = error == exactRow || certainRounding(window, n, bits, p, error - exp, lane);
		if (lane == 0) f.uncertain[row] = !certain;
	}
	bool up = false;
	if (shift > 0) {
		u32 last = bitsAt(window, n, shift - 1); // the bit after the last one, and that one
		up = last & 1 && (last & 2 || anyBelow(window, n, (u32)shift - 1, lane));
	}
	u32 *out = (u32 *)(f.out + row * f.outWidth);
	bool carried = up; // into the next 32 words
	for (u32 base = 0; base < words; base += 32) {
		u32 j = base + lane, room = 32 * j < p ? p - 32 * j : 0;
		u32 full = room >= 32 ? 0xffffffffu : (1u << room) - 1; // the word with all of the p bits set that it holds
		u32 w = bits && room ? bitsAt(window, n, shift + (i32)(32 * j)) : 0;
		u32 ones = ballot(allLanes, w == full), below = (1u << lane) - 1;
		if (carried && (ones & below) == below) w = (w + 1) & full;
		if (j < words) out[j] = w;
		carried = carried && ones == 0xffffffffu;
	}
	warpSync(allLanes);
	if (lane == 0) {
		if (carried) out[(p - 1) / 32] = 1u << (p - 1) % 32; // 2^p = 2^(p-1) * 2
		f.outExponents[row] = bits ? 2 * (exp + shift + carried) + negative : 0;
	}
}

// roundTerms adds alpha*S, in sum with its sign, and beta*y of a row and writes the result: the last step. rowExp and
// exponent are the row's and that of y_i.
MP_DEVICE void roundTerms(const Rounding &f, i64 rowExp, i64 exponent, const u32 *sum, bool negativeSum, u32 *window,
                          u64 row, u32 lane) {
	Term s = {sum, f.productLimbs, 0, rowExp + f.alphaExp, negativeSum != (f.alphaNegative != 0)};
	const u32 *total = sum;
	u32 n = f.productLimbs;
	i64 exp = s.exp;
	bool negative = s.negative;
	if (f.betaLimbs) {
		s.bits = bitLength(sum, n, lane);
		Term b = {f.addend + row * f.addendLimbs, f.addendLimbs, 0, f.betaExp + (exponent >> 1),
		          (exponent & 1) != (i64)f.betaNegative};
		b.bits = bitLength(b.v, f.addendLimbs, lane);
		// base: as low as the lower term, but the top bit stays inside, with a bit for the sum's carry and one for its sign.
		i64 base = !b.bits || (s.bits && s.exp < b.exp) ? s.exp : b.exp;
		i64 top = s.exp + s.bits;
		if (b.bits && (!s.bits || b.exp + (i64)b.bits > top)) top = b.exp + b.bits;
		i64 room = (i64)limbBits * (f.windowLimbs - 1) - 2;
		if (top - base > room) base = top - room;
		total = window;
		n = f.windowLimbs;
		exp = base - (i64)limbBits;
		negative = addTerms(window, n, base, s, b, lane);
	}
	roundWindow(f, total, n, negative, exp, row, lane);
}

// roundRow rounds a row by one warp with rowLimbs(f) words of shared memory. known is readKnown of the row and lane.
// If clear, it sets the row's sums to 0 after having read them.
MP_DEVICE void roundRow(const Rounding &f, const Known &known, u64 *sums, bool clearSums, u64 row, u32 *shared) {
	u32 lane = threadIdx.x % 32;
	u32 *c = shared, *sum = c + f.moduli + 1, *window = sum + f.productLimbs;
	coefficients(c, f, true, known, sums + row * f.moduli, clearSums, lane);
	reconstruct<1>(sum, 0, f, c, lane, 32);
	bool negative = magnitude(sum, f.productLimbs, lane);
	roundTerms(f, known.rowExp, known.exponent, sum, negative, window, row, lane);
}

// roundTogether rounds rows first to first + ROWS - 1 by a block of at least 32*ROWS threads with ROWS*rowLimbs(f)
// words of shared memory.
template <int ROWS>
MP_DEVICE void roundTogether(const Rounding &f, u64 *sums, bool clearSums, u32 first, u32 *shared) {
	u32 t = threadIdx.x, lane = t % 32, warp = t / 32, pitch = rowLimbs(f), row = first + warp;
	bool inside = warp < ROWS && row < f.rows;
	waitForPrevious();
	if (gridDim.x == 1) prefetchTable(f);
	u32 *c = shared, *sums0 = c + f.moduli + 1, mine = (warp < ROWS ? warp : 0) * pitch;
	if (inside) {
		coefficients(c + mine, f, false, Known{0, 0, 0, 0, 0}, sums + (u64)row * f.moduli, clearSums, lane);
	} else if (warp < ROWS) { // beyond the last row: zeros
		for (u32 i = lane; i <= f.moduli; i += 32) c[mine + i] = 0;
	}
	blockSync();
	reconstruct<ROWS>(sums0, pitch, f, c, t, blockDim.x);
	if (!inside) return;
	bool negative = magnitude(sums0 + mine, f.productLimbs, lane);
	roundTerms(f, f.rowExp[row], f.betaLimbs ? f.yExponents[row] : 0, sums0 + mine, negative,
	           sums0 + mine + f.productLimbs, row, lane);
}

#endif
