// Rounding of products of significands with their residues in registers: R for each of the G lanes of a group. The constants of the
// residues' moduli stay in registers too, from one number to the next, so that a step of 31 bits reads no memory.
#ifndef MPBENCH_GEMV_ROUND_CUH
#define MPBENCH_GEMV_ROUND_CUH

#include "rns.cuh"

template <u32 G> struct GroupOf {
	typedef Warp<G> type;
};
template <> struct GroupOf<1> {
	typedef Thread type;
};

// Held are the residues lane, lane + G, ... of a number, and what cutting off bits needs of their moduli. Those beyond the last residue
// count nothing.
template <u32 G, u32 R> struct Held {
	u32 digit[R];
	u32 modulus[R], inverse[R], weight[R], weightScaled[R], rank[R], low[R];

	MP_MEMBER void loadModuli(const Base &b, u32 lane) {
#pragma unroll
		for (u32 k = 0; k < R; k++) {
			u32 i = lane + k * G;
			if (i < b.stride) {
				const Residue r = b.residues[i];
				modulus[k] = r.modulus, inverse[k] = r.inverse;
				weight[k] = r.weight, weightScaled[k] = r.weightScaled;
				rank[k] = r.rank, low[k] = r.low;
			} else {
				modulus[k] = inverse[k] = weight[k] = weightScaled[k] = rank[k] = low[k] = 0;
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
	// lowSum returns this lane's part of the sums of rns_round.cuh.
	MP_MEMBER LowSum lowSum() const {
		LowSum s = {0, 0};
#pragma unroll
		for (u32 k = 0; k < R; k++) {
			u32 c = mulLazy(digit[k], weight[k], weightScaled[k], modulus[k]);
			s.rank += (u64)c * rank[k];
			s.low += c * low[k];
		}
		return s;
	}
	// cut replaces X by (X - R) / 2^step + up.
	MP_MEMBER void cut(u32 low, u32 step, u32 up) {
		u32 mask = (1u << step) - 1;
#pragma unroll
		for (u32 k = 0; k < R; k++) {
			u32 q = ((low - digit[k]) * inverse[k]) & mask;
			digit[k] = (u32)(((u64)q * modulus[k] + digit[k] - low) >> step);
			if (up) digit[k] = reduceOnce(digit[k] + up, modulus[k]);
		}
	}
};

// roundHeld scales z's significand down by 2^k, k >= 1, rounding as the base does: roundTo of rns_round.cuh.
template <u32 G, u32 R, class C> MP_DEVICE Number roundHeld(C &c, Held<G, R> &h, Number z, i32 k) {
	const Base &b = c.b;
	u32 lane = c.group.lane();
	Interval v = z.v;
	bool rest = false;
	h.load(z.digits, lane, b.stride);
	for (i32 left = k; left > 0;) {
		u32 step = left < 31 ? (u32)left : 31u;
		LowSum s = h.lowSum();
		c.group.sum(s.rank, s.low);
		u32 low = lowBits(b, s, v), cut = low & ((1u << step) - 1);
		h.cut(cut, step, left <= 31 && b.nearest && roundsUp(low, step, rest));
		rest |= cut != 0;
		left -= (i32)step;
		v.exp -= (i32)step;
	}
	h.store(z.digits, lane, b.stride);
	z.exp += k;
	z.v = widened(shifted(z.v, -k), b.unit);
	return z;
}

#endif
