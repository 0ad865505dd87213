// A base of residue number arithmetic as a device has it, and operations on single residues.
#ifndef MPBENCH_RNS_BASE_CUH
#define MPBENCH_RNS_BASE_CUH

#include "group.cuh"
#include "interval.cuh"

// Residue holds the constants of one modulus m < 2^31. Padding residues repeat modulus 0, with rank = low = 0.
struct __attribute__((aligned(16))) Residue {
	u32 modulus;
	u32 inverse;      // m^-1 mod 2^32
	u32 weight;       // (M/m)^-1 mod m
	u32 weightScaled; // floor(weight * 2^32 / m)
	u32 rank;         // floor(2^rankBits / m)
	u32 low;          // M/m mod 2^32
	u64 reciprocal;   // floor(2^64 / m)
};

// Fraction is floor(2^96 / m) in three half-words, 0 in padding.
struct __attribute__((aligned(16))) Fraction {
	u32 high, mid, low, unused;
};

// Power is a residue w with floor(w * 2^32 / m).
struct __attribute__((aligned(8))) Power {
	u32 value, scaled;
};

// Base is passed to kernels by value, so that its fields are operands in constant memory; functions that are called
// get self. parameters.go has it in Go.
struct Base {
	const Residue *residues; // stride of them
	const Fraction *fractions;
	const Power *powers; // powers[h*stride + i] = 2^(32h) mod m_i, for 32h up to log2M + 32
	const u32 *limit;    // L = floor(sqrt(M - 1)), above which a significand is wide
	const Base *self;    // this struct in device memory

	u64 mantissa;     // M = (mantissa + [0, 1)) * 2^(log2M - 63)
	u64 inverse;      // 1/M = (inverse + [0, 1)) * 2^(-log2M - 64)
	u64 limitLo;      // interval of L
	u64 limitUp;
	u64 evalError;    // the sum of fractions is too small by less than this
	u64 unit;         // max(1, 2^(65 - precision))
	i32 limitExp;
	i32 log2M;     // floor(log2 M)
	i32 precision; // bits of a rounded significand
	i32 dropBits;  // floor(log2(M - 4*floor(sqrt(M)) - 4)), for the alignment blas
	u32 stride;    // residues of a number, padded to a multiple of 8
	u32 direct;    // 2^k < m for k < direct and all m
	u32 rankBits;  // 32 to 62
	u32 lowM;      // M mod 2^32
	u32 nearest;   // rounding: 1 to nearest even, 0 truncate
	u32 blas;      // alignment: 1 blas, 0 2018
};

// Digits are the residues of a number: residue i at p[i*step].
struct Digits {
	u32 *p;
	u32 step;
	u32 unused; // structs without gaps stay in registers when they are copied
	MP_MEMBER u32 &operator[](u32 i) const { return p[i * step]; }
};

// Number is (-1)^neg * X * 2^exp. Zero has neg false, exp 0 and a zero interval.
struct Number {
	Digits digits;
	u64 neg; // 0 or 1
	i64 exp;
	Interval v;
};

MP_DEVICE bool isZero(const Number &x) { return isZero(x.v); }

// Scratch is memory of a group for what is rare: three numbers' residues each.
struct Scratch {
	Digits coef, shift, words;
};

// Context is what operations need: the base, the group of lanes, its scratch memory.
template <class G> struct Context {
	const Base &b;
	G group;
	Scratch scratch;
	MP_MEMBER Context(const Base &base, const G &g, const Scratch &s) : b(base), group(g), scratch(s) {}
	template <class F> MP_MEMBER void forEach(F f) const { ::forEach(group, b.stride, f); }
};

// reduceOnce returns x mod m for x < 2m < 2^32.
MP_DEVICE u32 reduceOnce(u32 x, u32 m) {
	u32 y = x - m; // wraps to a large number if x < m
	return y < x ? y : x;
}

// mulLazy returns a number congruent to x*w in [0, 2m) for w with scaled = floor(w * 2^32 / m), for any x.
MP_DEVICE u32 mulLazy(u32 x, u32 w, u32 scaled, u32 m) { return x * w - mulHigh(x, scaled) * m; }

// reduceProduct returns t mod m for t < 2^63.
MP_DEVICE u32 reduceProduct(u64 t, const Residue &r) {
	return reduceOnce((u32)t - (u32)mulHigh(t, r.reciprocal) * r.modulus, r.modulus);
}

// mulPower returns x * 2^k mod m for k < 32.
MP_DEVICE u32 mulPower(u32 x, u32 k, const Residue &r) { return reduceProduct((u64)x << k, r); }

// mulPowerDirect returns x * 2^k mod m for 2^k < m: then floor(2^(32+k) / m) is a shift of the reciprocal.
MP_DEVICE u32 mulPowerDirect(u32 x, u32 k, const Residue &r) {
	return reduceOnce(mulLazy(x, 1u << k, (u32)(r.reciprocal >> (32 - k)), r.modulus), r.modulus);
}

// mulPowerAny returns x * 2^k mod m_i for 0 <= k <= log2 M.
MP_DEVICE u32 mulPowerAny(const Base &b, u32 x, i32 k, u32 i, const Residue &r) {
	if (k >= 32) {
		Power w = b.powers[(u32)(k / 32) * b.stride + i];
		x = reduceOnce(mulLazy(x, w.value, w.scaled, r.modulus), r.modulus);
	}
	return mulPower(x, (u32)k & 31, r);
}

// negated returns -x mod m.
MP_DEVICE u32 negated(u32 x, u32 m) { return reduceOnce(m - x, m); }

MP_DEVICE Interval limitInterval(const Base &b) { return {b.limitLo, b.limitUp, b.limitExp}; }

MP_DEVICE Number zeroNumber(Digits d) { return {d, false, 0, {0, 0, 0}}; }

// copied returns x with its residues in z.
template <class G> MP_DEVICE Number copied(const Context<G> &c, Digits z, Number x) {
	if (z.p != x.digits.p) c.forEach([&](u32 i) { z[i] = x.digits[i]; });
	x.digits = z;
	return x;
}

// cleared returns zero with residues in z.
template <class G> MP_DEVICE Number cleared(const Context<G> &c, Digits z) {
	c.forEach([&](u32 i) { z[i] = 0; });
	return zeroNumber(z);
}

#endif
