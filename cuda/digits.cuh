// Exact sums of binary64 numbers and of their products in fixed point.
//
// A number is sum digit[i] * 2^(16i - 2148): every binary64 number, and every product of two, is a multiple of 2^-2148
// and less than 2^2048. A warp has such a number of its own in shared memory, in signed words of 32 bits, which hold
// 2^15 - 1 additions to a digit; a device has one in signed words of 64 bits, followed by the numbers of positive
// infinities, negative infinities and NaN among the terms. All of it is integer addition, so that the order of terms,
// of warps and of launches changes no bit.
//
// Terms do not get there one by one, as far as possible: see warp_sum.cuh.
#ifndef MPBENCH_DIGITS_CUH
#define MPBENCH_DIGITS_CUH

#include "group.cuh"

static const u32 digitBits = 16;
static const u32 digitCount = 264; // of 16 bits: 4224 bits
static const i32 unitExponent = -2148;
static const u32 mostAdditions = 32767; // to one digit of a warp: 32767 * (2^16 - 1) < 2^31

// Places of the numbers of special terms behind the digits.
static const u32 positiveInfinities = digitCount, negativeInfinities = digitCount + 1, notNumbers = digitCount + 2;

// magnitudeWord returns the high word of |x|, which orders magnitudes to a factor of 2.
MP_DEVICE u32 magnitudeWord(double x) { return (u32)(bitsOf(x) >> 32) & 0x7fffffffu; }

// fusedMultiplyAdd returns x*y + z rounded once: the only place where a product and a sum are fused.
MP_DEVICE double fusedMultiplyAdd(double x, double y, double z) { return __builtin_fma(x, y, z); }

// addDigit adds (-1)^negative * d, d < 2^16, to digit i of the shared memory.
MP_DEVICE void addDigit(u32 i, u32 d, bool negative) {
	MP_SHARED(u32, digits);
	if (d) atomicAdd32(digits + i, negative ? 0u - d : d);
}

// addInteger adds (-1)^negative * m * 2^(position - 2148) to the number whose digits begin at `first`: at most one
// addition to each of five digits.
MP_DEVICE void addInteger(u32 first, u64 m, u32 position, bool negative) {
	u32 i = first + position / digitBits, shift = position % digitBits;
	addDigit(i, (u32)(m << shift) & 0xffff, negative);
	addDigit(i + 1, (u32)(m >> (16 - shift)) & 0xffff, negative);
	addDigit(i + 2, (u32)(m >> (32 - shift)) & 0xffff, negative);
	addDigit(i + 3, (u32)(m >> (48 - shift)) & 0xffff, negative);
	addDigit(i + 4, (u32)(m >> 1 >> (63 - shift)), negative); // a shift by 64 gives 0
}

// addSigned is addInteger for an integer in two's complement, above -2^63.
MP_DEVICE void addSigned(u32 first, u64 m, u32 position) {
	bool negative = m >> 63;
	if (m) addInteger(first, negative ? 0 - m : m, position, negative);
}

// countSpecial counts an infinity or NaN.
MP_DEVICE void countSpecial(u64 *total, double x) {
	u32 place = x > 0 ? positiveInfinities : x < 0 ? negativeInfinities : notNumbers;
	atomicAdd64(total + place, 1);
}

// significand splits a finite number: |x| = m * 2^(field - 1075).
MP_DEVICE u64 significand(double x, u32 &field) {
	u64 bits = bitsOf(x);
	u32 f = (u32)(bits >> 52) & 0x7ff;
	u64 fraction = bits & 0xfffffffffffffull;
	field = f ? f : 1;
	return f ? fraction | 1ull << 52 : fraction;
}

// addTerm adds x, which may be anything, to the warp's digits.
MP_CALLED void addTerm(u32 first, u64 *total, double x) {
	if (magnitudeWord(x) >= 0x7ff00000u) {
		countSpecial(total, x);
		return;
	}
	u32 field;
	u64 m = significand(x, field);
	if (m) addInteger(first, m, field - 1075 - unitExponent, bitsOf(x) >> 63);
}

// addProduct adds x*y, which may be anything, to the warp's digits: at most one addition to each of eight digits.
MP_CALLED void addProduct(u32 first, u64 *total, double x, double y) {
	if (magnitudeWord(x) >= 0x7ff00000u || magnitudeWord(y) >= 0x7ff00000u) {
		countSpecial(total, x * y);
		return;
	}
	u32 fx, fy;
	u64 mx = significand(x, fx), my = significand(y, fy);
	u64 low = mx * my, high = mulHigh(mx, my); // below 2^106
	u32 position = fx + fy - 2 * 1075 - unitExponent;
	bool negative = (bitsOf(x) ^ bitsOf(y)) >> 63;
	u32 i = first + position / digitBits, shift = position % digitBits;
	u64 top = high << shift | low >> 1 >> (63 - shift); // below 2^57
	low <<= shift;
#pragma unroll
	for (u32 k = 0; k < 4; k++) {
		addDigit(i + k, (u32)(low >> 16 * k) & 0xffff, negative);
		addDigit(i + 4 + k, (u32)(top >> 16 * k) & 0xffff, negative);
	}
}

#endif
