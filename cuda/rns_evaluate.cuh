// Interval evaluation and exact decisions: functions of the residues' values, as pkg/rns/eval.go and decide.go have
// them.
#ifndef MPBENCH_RNS_EVALUATE_CUH
#define MPBENCH_RNS_EVALUATE_CUH

#include "rns_base.cuh"

// fractionTerm returns floor(c * floor(2^96/m) / 2^32) modulo 2^64.
MP_DEVICE u64 fractionTerm(u32 c, const Fraction &f) {
	return c * ((u64)f.high << 32 | f.mid) + (((u64)c * f.low) >> 32);
}

// Refined says that a number over M, modulo 1 into [-1/2, 1/2), lies in [s, s + evalError] * 2^(-64-k).
struct Refined {
	i64 s;
	i32 k;
};

MP_DEVICE u64 magnitudeOf(i64 s) { return s < 0 ? 0 - (u64)s : (u64)s; }

// refine multiplies the number behind the coefficients in scratch.coef, whose fraction is frac, by powers of two until
// its fraction, read as a signed number, is large compared with evalError. The number is not zero. Each step keeps the
// magnitude below 2^-2.
template <class G> MP_DEVICE Refined refine(Context<G> &c, u64 frac) {
	const Base &b = c.b;
	Digits coef = c.scratch.coef;
	i32 k = 0;
	for (;;) {
		u64 size = magnitudeOf((i64)frac);
		if (size >= b.evalError << 32) return {(i64)frac, k};
		i32 step = (i32)leadingZeros(size + b.evalError) - 2;
		step = step < 31 ? step : 31;
		k += step;
		u64 sum = 0;
		u32 none = 0;
		c.forEach([&](u32 i) {
			u32 digit = mulPower(coef[i], (u32)step, b.residues[i]);
			coef[i] = digit;
			sum += fractionTerm(digit, b.fractions[i]);
		});
		c.group.sum(sum, none);
		frac = sum;
	}
}

// magnitude returns the interval of |t| for a refined t with |s| > evalError.
MP_DEVICE Interval magnitude(const Base &b, Refined t) {
	u64 size = magnitudeOf(t.s);
	if (t.s < 0) return normalized({size - b.evalError, size, -t.k});
	return normalized({size, size + b.evalError, -t.k});
}

// Evaluated is a fraction of a number whose coefficients are in scratch.coef.
struct Evaluated {
	u64 frac;
	bool nonzero;
};

// fractionOf sets the coefficients of the number with residues digit(i), and returns its fraction.
template <class G, class F> MP_DEVICE Evaluated fractionOf(Context<G> &c, F digit) {
	const Base &b = c.b;
	Digits coef = c.scratch.coef;
	u64 sum = 0;
	u32 count = 0;
	c.forEach([&](u32 i) {
		const Residue r = b.residues[i];
		u32 x = digit(i, r);
		count |= x != 0;
		x = reduceOnce(mulLazy(x, r.weight, r.weightScaled, r.modulus), r.modulus);
		coef[i] = x;
		sum += fractionTerm(x, b.fractions[i]);
	});
	c.group.sum(sum, count);
	return {sum, count != 0};
}

// evaluateAlone is evaluate, as a function that is called.
template <class G> MP_CALLED Interval evaluateAlone(const Base *self, G group, Scratch scratch, Digits x) {
	Context<G> c(*self, group, scratch);
	const Base &b = *self;
	Evaluated e = fractionOf(c, [&](u32 i, const Residue &) { return x[i]; });
	u64 up = e.frac + b.evalError;
	Interval v = {0, 0, 0};
	if (e.nonzero && up >= e.frac && e.frac >= b.evalError << 32) {
		v = normalized({e.frac, up, 0});
	} else if (e.nonzero) {
		Refined t = refine(c, e.frac);
		if (t.s > 0) {
			v = magnitude(b, t);
		} else {
			u64 below = 1; // X/M is near one: 1 - t, in units of 2^-63
			if (t.k < 62) below += magnitudeOf(t.s) >> (t.k + 1);
			v = {(1ull << 63) - below, 1ull << 63, 1};
		}
	}
	c.group.settle();
	return v;
}

// evaluate returns I(X/M) with a relative width of at most 2^-32, for every X in [0, M).
template <class G> MP_DEVICE Interval evaluate(Context<G> &c, Digits x) {
	return evaluateAlone(c.b.self, c.group, c.scratch, x);
}

// Signed is a number D with |D| <= M/4: whether it is negative, and I(|D|/M).
struct Signed {
	bool negative;
	Interval v;
};

// evaluateSigned reads residues digit(i) as those of a number D with |D| <= M/4.
template <class G, class F> MP_DEVICE Signed evaluateSigned(Context<G> &c, F digit) {
	Evaluated e = fractionOf(c, digit);
	if (!e.nonzero) return {false, {0, 0, 0}};
	Refined t = refine(c, e.frac);
	return {t.s < 0, magnitude(c.b, t)};
}

// longestBelow returns bits(X) for an X of at most bits.most and at least bits.least bits with residues x.
template <class G> MP_CALLED i32 longestBelow(const Base *self, G group, Scratch scratch, Digits x, BitBounds bits) {
	Context<G> c(*self, group, scratch);
	const Base &b = *self;
	for (; bits.most > bits.least; bits.most--) {
		i32 k = bits.most - 1; // is X < 2^k ?
		Signed difference = evaluateSigned(c, [&](u32 i, const Residue &r) {
			return reduceOnce(x[i] + r.modulus - mulPowerAny(b, 1, k, i, r), r.modulus);
		});
		if (!difference.negative) break;
	}
	c.group.settle();
	return bits.most;
}

// bitLength returns bits(X) = floor(log2 X) + 1 for X > 0 with residues x and interval v.
template <class G> MP_DEVICE i32 bitLength(Context<G> &c, Digits x, Interval v) {
	BitBounds bits = bitBounds(v, c.b.mantissa, c.b.log2M);
	return bits.least == bits.most ? bits.most : longestBelow(c.b.self, c.group, c.scratch, x, bits);
}

// exceedsLimit tells whether X > L for an X near L with residues x.
template <class G> MP_CALLED bool exceedsLimit(const Base *self, G group, Scratch scratch, Digits x) {
	Context<G> c(*self, group, scratch);
	const u32 *limit = self->limit;
	auto less = [&](u32 i, const Residue &r) { return reduceOnce(x[i] + r.modulus - limit[i], r.modulus); };
	Signed difference = evaluateSigned(c, less);
	c.group.settle();
	return !difference.negative && !isZero(difference.v);
}

// isWide tells whether X > L, for X > 0 with residues x and interval v.
template <class G> MP_DEVICE bool isWide(Context<G> &c, Digits x, Interval v) {
	int side = order(v, limitInterval(c.b));
	return side > 0 || (side == 0 && exceedsLimit(c.b.self, c.group, c.scratch, x));
}

// Scaling says by how many bits a significand is to be scaled down; sure is false where intervals cannot tell.
struct Scaling {
	i32 k;
	bool sure;
};

// roundingOf returns by how many bits rounding scales a significand with the interval v.
MP_DEVICE Scaling roundingOf(const Base &b, Interval v) {
	int side = order(v, limitInterval(b));
	BitBounds bits = bitBounds(v, b.mantissa, b.log2M);
	if (side <= 0) return {0, side < 0};
	return {bits.least - b.precision, bits.least == bits.most};
}

#endif
