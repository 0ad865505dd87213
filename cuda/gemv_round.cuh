// Rounding of products of significands with their residues in registers: R for each of the G lanes of a group. The
// constants of the residues' moduli stay in registers too, from one number to the next, so that cutting off bits reads
// no memory.
//
// 62 bits go at a time: as rns_round.cuh, with X mod 2^64 = sum c_i * (M/m_i) - rank * M from one pass and two exact
// divisions by 2^31. For R < 2^31 and q = (R - x)/m mod 2^31 the sum q*m + x - R is a multiple of 2^31, so that its
// quotient is floor(q*m / 2^31) + (x > R).
#ifndef MPBENCH_GEMV_ROUND_CUH
#define MPBENCH_GEMV_ROUND_CUH

#include "rns.cuh"

template <u32 G> struct GroupOf {
	typedef Warp<G> type;
};
template <> struct GroupOf<1> {
	typedef Thread type;
};

// Held are the residues lane, lane + G, ... of a number, and what cutting off bits needs of their moduli. Those beyond
// the last residue count nothing.
template <u32 G, u32 R> struct Held {
	u32 digit[R];
	u32 modulus[R], inverse[R], weight[R], weightScaled[R], rank[R]; // inverse: 2/m mod 2^32
	u64 low[R];                                                      // M/m mod 2^64

	// loadModuli takes the constants of a base with M mod 2^64 = lowM.
	MP_MEMBER void loadModuli(const Base &b, u32 lane, u64 lowM) {
#pragma unroll
		for (u32 k = 0; k < R; k++) {
			u32 i = lane + k * G;
			modulus[k] = inverse[k] = weight[k] = weightScaled[k] = rank[k] = 0;
			low[k] = 0;
			if (i < b.stride) {
				const Residue r = b.residues[i];
				modulus[k] = r.modulus, inverse[k] = 2 * r.inverse;
				weight[k] = r.weight, weightScaled[k] = r.weightScaled;
				rank[k] = r.rank;
				u64 inverse64 = r.inverse * (2 - (u64)r.modulus * r.inverse); // Newton's step from 32 to 64 bits
				if (r.rank) low[k] = lowM * inverse64;
			}
		}
	}
	MP_MEMBER void load(Digits x, u32 lane, u32 stride) {
#pragma unroll
		for (u32 k = 0; k < R; k++) digit[k] = lane + k * G < stride ? x[lane + k * G] : 0;
	}
	MP_MEMBER void store(Digits z, u32 lane, u32 stride) const {
#pragma unroll
		for (u32 k = 0; k < R; k++)
			if (lane + k * G < stride) z[lane + k * G] = digit[k];
	}
	// sum returns this lane's part of sum c_i * (M/m_i) mod 2^64, and of sum c_i/m_i in units of 2^-rankBits.
	MP_MEMBER u64 sum(u64 &fractions) const {
		u64 lows = 0;
		fractions = 0;
#pragma unroll
		for (u32 k = 0; k < R; k++) {
			u32 c = mulLazy(digit[k], weight[k], weightScaled[k], modulus[k]);
			fractions += (u64)c * rank[k];
			lows += c * low[k];
		}
		return lows;
	}
	// cutWord replaces X by (X - R) / 2^31 for R = X mod 2^31.
	MP_MEMBER void cutWord(u32 R31) {
#pragma unroll
		for (u32 k = 0; k < R; k++) {
			u32 x = digit[k];
			digit[k] = mulHigh((R31 - x) * inverse[k], modulus[k]) + (x > R31);
		}
	}
	// cutPart replaces X by (X - part) / 2^step + up for part = X mod 2^step, step <= 31.
	MP_MEMBER void cutPart(u32 part, u32 step, u32 up) {
		u32 mask = (1u << step) - 1;
#pragma unroll
		for (u32 k = 0; k < R; k++) {
			u32 q = ((part - digit[k]) * inverse[k]) >> 1 & mask;
			u32 z = (u32)(((u64)q * modulus[k] + digit[k] - part) >> step);
			digit[k] = reduceOnce(z + up, modulus[k]);
		}
	}
};

// Fractions are added over the lanes with so many bits after the point: each lane's part is too small by less than
// 2^-fractionBits then, which for 32 lanes is far from the 1/2 that would matter (see rns_round.cuh).
static const u32 fractionBits = 16;

// lowWords returns X mod 2^64 for the held residues of an X with the interval v.
template <u32 G, u32 R, class C> MP_DEVICE u64 lowWords(C &c, const Held<G, R> &h, Interval v, u64 lowM) {
	u64 fractions, lows = h.sum(fractions);
	u32 sum = (u32)(fractions >> (c.b.rankBits - fractionBits));
	c.group.sum(lows, sum);
	i32 shift = 64 - (i32)fractionBits - v.exp; // v.exp <= 1
	u32 part = shift < 64 ? (u32)(v.up >> shift) : 0;
	u32 rank = (sum - part + (1u << (fractionBits - 1))) >> fractionBits;
	return lows - rank * lowM;
}

// roundHeld scales z's significand down by 2^k, k >= 1, rounding as the base does: roundTo of rns_round.cuh.
template <u32 G, u32 R, class C> MP_DEVICE Number roundHeld(C &c, Held<G, R> &h, Number z, i32 k, u64 lowM) {
	const Base &b = c.b;
	const u32 mask = (1u << 31) - 1;
	u32 lane = c.group.lane();
	Interval v = z.v;
	bool rest = false;
	i32 left = k;
	u64 low;
	h.load(z.digits, lane, b.stride);
	for (;;) {
		low = lowWords(c, h, v, lowM);
		if (left <= 31) break;
		u32 word = (u32)low & mask;
		h.cutWord(word);
		rest |= word != 0;
		low >>= 31;
		left -= 31;
		if (left <= 31) break;
		word = (u32)low & mask;
		h.cutWord(word);
		rest |= word != 0;
		left -= 31;
		v.exp -= 62;
	}
	u32 part = (u32)low & ((1u << left) - 1);
	h.cutPart(part, (u32)left, b.nearest && roundsUp((u32)low, (u32)left, rest));
	h.store(z.digits, lane, b.stride);
	z.exp += k;
	z.v = widened(shifted(z.v, -k), b.unit);
	return z;
}

#endif
