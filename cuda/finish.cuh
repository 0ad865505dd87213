// The end of an exact sum of products: its residues become an integer, which is multiplied by alpha, added to beta*y and rounded once. One warp
// does it for one row.
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
	u32 unitAlpha;                              // alpha is 1 or -1, times a power of two: productLimbs = moduli
};

// rowLimbs is the shared memory of a row in 32-bit words: coefficients or alpha*S; S; y; beta*y; the window.
MP_DEVICE u32 rowLimbs(const Finish &f) {
	u32 first = f.productLimbs > f.moduli + 1 ? f.productLimbs : f.moduli + 1;
	return first + f.moduli + f.yLimbs + f.addendLimbs + f.windowLimbs;
}

// crtPart adds sum over k of c_k * crt[k][q] for k from from to to, of limbs q0 + lane + 32*i, i < COUNT, to z.
template <int COUNT> MP_DEVICE void crtPart(u32 *z, const Finish &f, const u32 *c, u32 from, u32 to, u32 q0, u32 lane) {
	u64 s[COUNT];
	const u32 *row = f.crt + (u64)from * f.lanes + q0 + lane;
#pragma unroll
	for (int i = 0; i < COUNT; i++) s[i] = 0;
#pragma unroll 8
	for (u32 k = from; k < to; k++, row += f.lanes) {
		u32 ck = c[k];
#pragma unroll
		for (int i = 0; i < COUNT; i++)
			if (q0 + 32 * i + lane < f.lanes) s[i] += (u64)ck * row[32 * i];
	}
	addWide(z, f.moduli, s, q0 + lane);
}

// reconstruct sets z to S in two's complement.
MP_DEVICE void reconstruct(u32 *z, const Finish &f, const u32 *c, u32 lane) {
	const u32 lazyTerms = 248;
	u32 n = f.moduli;
	clear(z, n, lane);
	for (u32 from = 0; from <= n; from += lazyTerms) {
		u32 to = from + lazyTerms < n + 1 ? from + lazyTerms : n + 1;
		for (u32 q0 = 0; q0 < n; q0 += 128) {
			if (n - q0 <= 32)
				crtPart<1>(z, f, c, from, to, q0, lane);
			else if (n - q0 <= 64)
				crtPart<2>(z, f, c, from, to, q0, lane);
			else
				crtPart<4>(z, f, c, from, to, q0, lane);
		}
		normalize(z, n, 0, lane);
	}
}

// coefficients sets c_0 ... c_(n-1) and rank from the row's sums, which it sets to 0 if clear.
MP_DEVICE void coefficients(u32 *c, const Finish &f, u64 *sums, bool clear, u32 lane) {
	double s = 0;
	for (u32 k = lane; k < f.moduli; k += 32) {
		u32 delta = f.delta[k], x = mulMod(fold(loadFresh(sums + k), delta), f.weight[k], delta);
		if (clear) sums[k] = 0;
		c[k] = x;
		s += x * f.reciprocal[k];
	}
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

// A term of the last sum: (-1)^negative * v * 2^exp, v of so many limbs and bits; no bits for zero.
struct Term {
	const u32 *v;
	u32 limbs, bits;
	i64 exp;
	bool negative;
};

// windowLimb returns limb j of a term in a window whose limb 1 is worth 2^base.
struct Placement {
	i64 whole; // limbs by which the term is shifted
	u32 bits;
	bool cut; // bits are lost below limb 1
};

MP_DEVICE Placement place(const Term &t, i64 base, u32 lane) {
	Placement p;
	i64 shift = t.exp - base + (i64)limbBits;
	p.whole = shift >= 0 ? shift / limbBits : -((-shift + limbBits - 1) / (i64)limbBits);
	p.bits = (u32)(shift - p.whole * (i64)limbBits);
	i64 below = base - t.exp;
	p.cut = false;
	if (t.bits && below > 0) p.cut = anyBelow(t.v, t.limbs, below < (i64)t.bits ? (u32)below : t.bits, lane);
	return p;
}

MP_DEVICE u32 windowLimb(const Term &t, const Placement &p, u32 j) {
	if (j == 0) return p.cut;
	if (!t.bits) return 0;
	i64 at = (i64)j - p.whole;
	u32 high = at >= 0 && at < (i64)t.limbs ? t.v[at] : 0, low = at >= 1 && at <= (i64)t.limbs ? t.v[at - 1] : 0;
	return (high << p.bits & limbMask) | low >> (limbBits - p.bits);
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

// roundWindow writes the window's integer times 2^exp, rounded to nearest even at p bits.
MP_DEVICE void roundWindow(const Finish &f, const u32 *window, bool negative, i64 exp, u64 row, u32 lane) {
	u32 n = f.windowLimbs, words = 2 * f.outWidth, p = f.precision;
	u32 bits = bitLength(window, n, lane);
	i32 shift = (i32)bits - (i32)p;
	bool up = false;
	if (shift > 0) {
		bool odd = bitsAt(window, n, shift) & 1, half = bitsAt(window, n, shift - 1) & 1;
		up = half && (anyBelow(window, n, (u32)shift - 1, lane) || odd);
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
		f.outHeads[row] = bits ? 2 * (exp + shift + carried) + negative : 0;
	}
}

// finishRow finishes a row with rowLimbs(f) words of shared memory. If clear, it sets the row's sums to 0 after having read them.
MP_DEVICE void finishRow(const Finish &f, u64 *sums, bool clear, u64 row, u32 *shared, u32 lane) {
	u32 n = f.moduli;
	u32 *first = shared, *sum = first + (f.productLimbs > n + 1 ? f.productLimbs : n + 1), *y = sum + n, *addend = y + f.yLimbs,
	    *window = addend + f.addendLimbs;
	coefficients(first, f, sums, clear, lane);
	reconstruct(sum, f, first, lane);
	Term s = {sum, n, 0, f.rowExp[row] + f.alphaExp, magnitude(sum, n, lane) != (f.alphaNegative != 0)};
	if (!f.unitAlpha) {
		multiply(first, f.productLimbs, f.alpha, f.alphaLimbs, sum, n, lane);
		s.v = first;
		s.limbs = f.productLimbs;
	}
	s.bits = bitLength(s.v, s.limbs, lane);
	Term t = {addend, f.addendLimbs, 0, 0, false};
	if (f.betaLimbs) {
		i64 head = f.yHeads[row];
		t.exp = f.betaExp + (head >> 1);
		t.negative = (head & 1) != (i64)f.betaNegative;
		unpack(y, f.yLimbs, f.yWords + row * f.yWidth, f.yWidth, lane);
		multiply(addend, f.addendLimbs, f.beta, f.betaLimbs, y, f.yLimbs, lane);
		t.bits = bitLength(addend, f.addendLimbs, lane);
	}
	// base: as low as the lower term, but the top bit stays inside, with a bit for the sum's carry and one for its sign.
	i64 base = !t.bits || (s.bits && s.exp < t.exp) ? s.exp : t.exp;
	i64 top = s.exp + s.bits;
	if (t.bits && (!s.bits || t.exp + (i64)t.bits > top)) top = t.exp + t.bits;
	i64 room = (i64)limbBits * (f.windowLimbs - 1) - 2;
	if (top - base > room) base = top - room;
	bool negative = addTerms(window, f.windowLimbs, base, s, t, lane);
	roundWindow(f, window, negative, base - (i64)limbBits, row, lane);
}

// finishRows finishes rows first to end - 1 with the shared memory of atOnce rows, atOnce at most the block's warps. All threads of the block
// take part.
MP_FUNCTION void finishRows(const Finish &f, u64 *sums, bool clear, u32 first, u32 end, u32 atOnce, u32 *shared) {
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	if (warp >= atOnce) return;
	for (u32 row = first + warp; row < end; row += atOnce)
		finishRow(f, sums + (u64)row * f.moduli, clear, row, shared + warp * rowLimbs(f), lane);
}

#endif
