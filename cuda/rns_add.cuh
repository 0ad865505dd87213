// Addition, as pkg/rns/add.go specifies it. The residues of the result may be those of an operand.
//
// add decides by intervals alone where they suffice, so that one pass over the residues adds and collects what
// rounding needs, and a second one rounds; what intervals cannot decide goes to addExactly. Both give the same number.
#ifndef MPBENCH_RNS_ADD_CUH
#define MPBENCH_RNS_ADD_CUH

#include "rns_round.cuh"

// Alignment says by how many bits X is shifted up and Y down; down < 0: y is dropped.
struct Alignment {
	i64 up, down;
};

// align needs the operand x with the exponent that is not smaller.
template <class G> MP_DEVICE Alignment align(Context<G> &c, const Number &x, const Number &y) {
	const Base &b = c.b;
	i64 d = x.exp - y.exp;
	if (x.v.exp + d <= -2) return {d, 0}; // X*2^d < M/4
	i32 length = bitLength(c, x.digits, x.v);
	if (b.blas && !isWide(c, y.digits, y.v)) {
		if (length + d > b.dropBits) return {0, -1};
		return {d, 0};
	}
	i64 room = b.log2M - 1 - length;
	i64 up = d < room ? d : room;
	return {up, d - up};
}

// scaleDown returns y / 2^k, k >= 1, cut to an integer, with residues in scratch.shift.
template <class G> MP_DEVICE Number scaleDown(Context<G> &c, Number y, i64 k) {
	const Base &b = c.b;
	if (k >= bitBounds(y.v, b.mantissa, b.log2M).most) return cleared(c, c.scratch.shift);
	scaleAlone(b.self, c.group, c.scratch, c.scratch.shift, y.digits, y.v, (i32)k, false);
	y.digits = c.scratch.shift;
	y.exp += k;
	y.v = evaluate(c, y.digits);
	return y;
}

// combine sets z to X*2^up + Y, or to X*2^up - Y, and returns it with neg for X*2^up < Y; y may be zero.
template <class G>
MP_DEVICE Number combine(Context<G> &c, Digits z, const Number &x, i32 up, const Number &y, bool minus) {
	const Base &b = c.b;
	c.forEach([&](u32 i) {
		const Residue r = b.residues[i];
		u32 digit = y.digits[i];
		if (minus) digit = negated(digit, r.modulus);
		z[i] = reduceOnce(mulPowerAny(b, x.digits[i], up, i, r) + digit, r.modulus);
	});
	Number sum = {z, false, 0, shifted(x.v, up)};
	if (isZero(y)) return sum;
	int side = minus ? order(sum.v, y.v) : 1;
	if (!minus) {
		sum.v = sumOf(sum.v, y.v);
	} else if (side > 0) {
		sum.v = differenceOf(sum.v, y.v);
	} else if (side < 0) {
		sum.v = differenceOf(y.v, sum.v);
		sum.neg = true;
	} else {
		Signed s = evaluateSigned(c, [&](u32 i, const Residue &) { return z[i]; });
		sum.neg = s.negative;
		sum.v = s.v;
	}
	if (sum.neg) c.forEach([&](u32 i) { z[i] = negated(z[i], b.residues[i].modulus); });
	if (!isZero(sum) && !tight(sum.v)) sum.v = evaluate(c, z);
	return sum;
}

// addExactly adds nonzero x and y, where x's exponent is not smaller, whatever their intervals can tell.
template <class G> MP_CALLED Number addExactly(const Base *self, G group, Scratch s, Digits z, Number x, Number y) {
	Context<G> c(*self, group, s);
	Alignment a = align(c, x, y);
	if (a.down < 0) {
		x = copied(c, z, x);
		c.group.settle();
		return x;
	}
	i64 exp = y.exp + a.down;
	bool yNeg = y.neg;
	if (a.down > 0) y = scaleDown(c, y, a.down);
	Number sum = combine(c, z, x, (i32)a.up, y, x.neg != yNeg);
	if (isZero(sum)) {
		sum = zeroNumber(z);
	} else {
		sum.exp = exp;
		sum.neg = x.neg != sum.neg;
		sum = roundExactly(self, c.group, s, sum);
	}
	c.group.settle();
	return sum;
}

// shiftUp sets z to X*2^k, below M.
template <class G> MP_CALLED void shiftUp(const Base *self, G group, Digits z, Digits x, i32 k) {
	const Base &b = *self;
	forEach(group, b.stride, [&](u32 i) { z[i] = mulPowerAny(b, x[i], k, i, b.residues[i]); });
}

// add returns x + y with residues in z.
template <class G> MP_DEVICE Number add(Context<G> &c, Digits z, Number x, Number y) {
	const Base &b = c.b;
	if (isZero(y)) return copied(c, z, x);
	if (isZero(x)) return copied(c, z, y);
	if (x.exp < y.exp) {
		Number t = x;
		x = y, y = t;
	}
	i64 d = x.exp - y.exp;
	if (x.v.exp + d > -2) return addExactly(b.self, c.group, c.scratch, z, x, y);

	bool minus = x.neg != y.neg;
	Interval v = shifted(x.v, d);
	int side = minus ? order(v, y.v) : 1;
	if (side == 0) return addExactly(b.self, c.group, c.scratch, z, x, y);
	v = !minus ? sumOf(v, y.v) : side > 0 ? differenceOf(v, y.v) : differenceOf(y.v, v);
	Scaling s = roundingOf(b, v);
	if (!tight(v) || !s.sure || s.k > 31) return addExactly(b.self, c.group, c.scratch, z, x, y);

	u32 up = (u32)d;
	if (up >= b.direct) {
		shiftUp(b.self, c.group, c.scratch.shift, x.digits, (i32)up);
		x.digits = c.scratch.shift;
		up = 0;
	}
	bool negateX = side < 0, negateY = minus && side > 0;
	LowSum sum = {0, 0};
	c.forEach([&](u32 i) {
		const Residue r = b.residues[i];
		u32 left = mulPowerDirect(x.digits[i], up, r), right = y.digits[i];
		left = negateX ? r.modulus - left : left;
		right = negateY ? r.modulus - right : right;
		u32 digit = reduceOnce(left + right, r.modulus);
		z[i] = digit;
		sum.add(digit, r);
	});
	Number result = {z, (x.neg != (side < 0)), y.exp, v};
	if (s.k == 0) return result;
	c.group.sum(sum.rank, sum.low);
	u32 low = lowBits(b, sum, v), k = (u32)s.k, mask = (1u << k) - 1, R = low & mask;
	u32 one = b.nearest && roundsUp(low, k, false);
	c.forEach([&](u32 i) { z[i] = cutOff(z[i], R, k, mask, one, b.residues[i]); });
	result.exp += s.k;
	result.v = widened(shifted(v, -s.k), b.unit);
	if (!tight(result.v)) return roundExactly(b.self, c.group, c.scratch, result);
	return result;
}

#endif
