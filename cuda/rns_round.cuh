// Scaling by powers of two and rounding, as pkg/rns/scale.go and round.go specify them.
//
// The k <= 31 low bits R of X come from the Chinese remainder theorem modulo 2^32: X = sum c_i * M/m_i - rank * M.
// Then (X - R)/2^k is exact in every residue: with q = (R - x_i) * m_i^-1 mod 2^k it is (x_i - R + q*m_i) / 2^k, which
// lies in [0, m_i). More bits go in several steps.
//
// rank is the integer nearest to sum c_i/m_i - X/M, found in fixed point with rankBits bits after the point. The sum
// is too small by less than 2 * sum m_i of these units, as c_i < 2*m_i suffices, and X/M by a relative 2^-32: far from
// the 1/2 that would matter (pkg/rns/rnsgpu checks it for each base).
#ifndef MPBENCH_RNS_ROUND_CUH
#define MPBENCH_RNS_ROUND_CUH

#include "rns_evaluate.cuh"

// LowSum collects the sums over residues from which the low bits of X come.
struct LowSum {
	u64 rank;
	u32 low;
	// add takes the term of a residue.
	MP_MEMBER void add(u32 x, const Residue &r) {
		u32 c = mulLazy(x, r.weight, r.weightScaled, r.modulus);
		rank += (u64)c * r.rank;
		low += c * r.low;
	}
};

// lowBits returns X mod 2^32 for the complete sums of an X with the interval v.
MP_DEVICE u32 lowBits(const Base &b, const LowSum &s, Interval v) {
	i32 shift = 64 - (i32)b.rankBits - v.exp; // v.exp <= 1
	u64 part = shift < 64 ? v.up >> shift : 0;
	u64 rank = (s.rank - part + (1ull << (b.rankBits - 1))) >> b.rankBits;
	return s.low - (u32)rank * b.lowM;
}

// cutOff returns the residue of (X - R) / 2^k + up, k <= 31, mask = 2^k - 1, for up of 0 or 1.
MP_DEVICE u32 cutOff(u32 x, u32 R, u32 k, u32 mask, u32 up, const Residue &r) {
	u32 q = ((R - x) * r.inverse) & mask;
	u32 z = (u32)(((u64)q * r.modulus + x - R) >> k);
	return reduceOnce(z + up, r.modulus);
}

// roundsUp tells whether k low bits of a word of 32 make nearest rounding, ties to even, add one; rest: a lower bit
// was 1.
MP_DEVICE bool roundsUp(u32 low, u32 k, bool rest) {
	bool half = low >> (k - 1) & 1, odd = low >> k & 1;
	return half && (rest || odd || (low & ((1u << (k - 1)) - 1)) != 0);
}

// lowSumOf returns the sums for the residues x.
template <class G> MP_DEVICE LowSum lowSumOf(Context<G> &c, Digits x) {
	LowSum s = {0, 0};
	c.forEach([&](u32 i) { s.add(x[i], c.b.residues[i]); });
	c.group.sum(s.rank, s.low);
	return s;
}

// scaleAlone sets z to floor(X / 2^k), k >= 1, or to the nearest integer, ties to even, for X with residues x and the
// interval v.
template <class G>
MP_CALLED void scaleAlone(const Base *self, G group, Scratch s, Digits z, Digits x, Interval v, i32 k, bool nearest) {
	Context<G> c(*self, group, s);
	const Base &b = *self;
	bool rest = false;
	for (;;) {
		u32 step = k < 31 ? (u32)k : 31u, mask = (1u << step) - 1;
		u32 low = lowBits(b, lowSumOf(c, x), v), R = low & mask;
		u32 up = nearest && k <= 31 && roundsUp(low, step, rest);
		c.forEach([&](u32 i) { z[i] = cutOff(x[i], R, step, mask, up, b.residues[i]); });
		rest |= R != 0;
		k -= (i32)step;
		if (k == 0) break;
		v.exp -= (i32)step; // the quotient may be zero: then X/M is below 2^-64 or the interval's error, which rank allows
		x = z;
	}
	c.group.settle();
}

// roundTo scales z's significand down by 2^k, k >= 1, rounding as the base does.
template <class G> MP_CALLED Number roundTo(const Base *self, G group, Scratch s, Number z, i32 k) {
	Context<G> c(*self, group, s);
	scaleAlone(self, c.group, s, z.digits, z.digits, z.v, k, self->nearest);
	z.exp += k;
	z.v = widened(shifted(z.v, -k), self->unit);
	if (!tight(z.v)) z.v = evaluate(c, z.digits);
	c.group.settle();
	return z;
}

// roundExactly rounds z if it is wide, whatever its interval can tell. z is not zero.
template <class G> MP_CALLED Number roundExactly(const Base *self, G group, Scratch s, Number z) {
	Context<G> c(*self, group, s);
	if (!tight(z.v)) z.v = evaluate(c, z.digits);
	if (isWide(c, z.digits, z.v)) {
		i32 k = bitLength(c, z.digits, z.v) - self->precision;
		c.group.settle();
		return roundTo(self, c.group, s, z, k);
	}
	c.group.settle();
	return z;
}

// rounded rounds a nonzero z to the base's precision if it is wide.
template <class G> MP_DEVICE Number rounded(Context<G> &c, Number z) {
	Scaling s = roundingOf(c.b, z.v);
	if (!tight(z.v) || !s.sure) return roundExactly(c.b.self, c.group, c.scratch, z);
	return s.k > 0 ? roundTo(c.b.self, c.group, c.scratch, z, s.k) : z;
}

#endif
