// Multiplication, as pkg/rns/mul.go specifies it, and conversion from binary64.
#ifndef MPBENCH_RNS_MUL_CUH
#define MPBENCH_RNS_MUL_CUH

#include "rns_round.cuh"

// WideProduct is the product of two integers in 32-bit words, of which the next one comes with every call.
struct WideProduct {
	Digits x, y;
	i32 words;     // of each factor
	i32 column;    // number of the next word
	u64 low, high; // what is carried into it: low + high * 2^64
	MP_MEMBER u32 next() {
		i32 first = column < words ? 0 : column - words + 1, last = column < words ? column : words - 1;
		for (i32 i = first; i <= last; i++) {
			u64 term = (u64)x[(u32)i] * y[(u32)(column - i)];
			low += term;
			high += low < term;
		}
		u32 word = (u32)low;
		low = low >> 32 | high << 32;
		high >>= 32;
		column++;
		return word;
	}
};

// toWords writes X in so many 32-bit words, cutting off 31 bits at a time; it destroys the residues in x. v is the
// interval of X > 0.
template <class G> MP_DEVICE void toWords(Context<G> &c, Digits words, i32 count, Digits x, Interval v) {
	const Base &b = c.b;
	u64 pending = 0; // bits of X that make no whole word yet
	u32 bits = 0;
	for (i32 h = 0; h < count;) {
		u32 mask = (1u << 31) - 1, R = lowBits(b, lowSumOf(c, x), v) & mask;
		c.forEach([&](u32 i) { x[i] = cutOff(x[i], R, 31, mask, 0, b.residues[i]); });
		v.exp -= 31;
		pending |= (u64)R << bits;
		bits += 31;
		if (bits < 32) continue;
		if (c.group.lane() == 0) words[(u32)h] = (u32)pending;
		h++;
		pending >>= 32;
		bits -= 32;
	}
}

// mulExactly multiplies nonzero x and y of any width.
template <class G> MP_CALLED Number mulExactly(const Base *self, G group, Scratch s, Digits z, Number x, Number y) {
	Context<G> c(*self, group, s);
	const Base &b = *self;
	Number result = {z, x.neg != y.neg, x.exp + y.exp, {0, 1, 0}};
	if (!isWide(c, x.digits, x.v) && !isWide(c, y.digits, y.v)) {
		c.forEach([&](u32 i) { z[i] = reduceProduct((u64)x.digits[i] * y.digits[i], b.residues[i]); });
		result.v = productOf(x.v, y.v, b.mantissa, b.log2M);
		result = roundExactly(self, c.group, s, result);
		c.group.settle();
		return result;
	}
	i32 words = b.log2M / 32 + 1; // at most one for each residue
	c.forEach([&](u32 i) { s.shift[i] = x.digits[i]; });
	c.group.sync();
	toWords(c, s.coef, words, s.shift, x.v);
	c.forEach([&](u32 i) { s.shift[i] = y.digits[i]; });
	toWords(c, s.words, words, s.shift, y.v);
	c.group.sync();

	WideProduct all = {s.coef, s.words, words, 0, 0, 0};
	i32 length = 0;
	for (i32 h = 0; h < 2 * words; h++) {
		u32 word = all.next();
		if (word) length = 32 * h + 32 - (i32)leadingZeros(word);
	}
	i32 k = length - b.precision; // at least 1
	u32 part = (u32)k & 31;
	WideProduct product = {s.coef, s.words, words, 0, 0, 0};
	bool rest = false;
	u32 below = 0; // the word under the one that bit k lies in
	for (i32 h = 0; h < k / 32; h++) {
		rest |= below != 0;
		below = product.next();
	}
	u32 current = product.next(), half;
	if (part) {
		rest |= below != 0 || (current & ((1u << (part - 1)) - 1)) != 0;
		half = current >> (part - 1) & 1;
	} else {
		rest |= (below << 1) != 0;
		half = below >> 31;
	}
	u32 one = b.nearest && half && (rest || (current >> part & 1));
	c.forEach([&](u32 i) { z[i] = 0; });
	for (i32 h = 0; 32 * h < b.precision; h++) {
		u32 above = product.column < 2 * words ? product.next() : 0;
		u32 word = part ? current >> part | above << (32 - part) : current;
		u32 add = h == 0 ? one : 0;
		c.forEach([&](u32 i) {
			const Residue r = b.residues[i];
			Power w = b.powers[(u32)h * b.stride + i];
			u32 digit = reduceOnce(z[i] + reduceOnce(mulLazy(word, w.value, w.scaled, r.modulus), r.modulus), r.modulus);
			z[i] = reduceOnce(digit + add, r.modulus);
		});
		current = above;
	}
	c.group.sync(); // all lanes have read the words, which evaluate overwrites
	result.exp += k;
	result.v = evaluate(c, z);
	c.group.settle();
	return result;
}

// mul returns x * y with residues in z, which may be those of x or y.
template <class G> MP_DEVICE Number mul(Context<G> &c, Digits z, Number x, Number y) {
	const Base &b = c.b;
	if (isZero(x) || isZero(y)) return cleared(c, z);
	Interval limit = limitInterval(b);
	if (order(x.v, limit) >= 0 || order(y.v, limit) >= 0) return mulExactly(b.self, c.group, c.scratch, z, x, y);
	c.forEach([&](u32 i) { z[i] = reduceProduct((u64)x.digits[i] * y.digits[i], b.residues[i]); });
	Number result = {z, x.neg != y.neg, x.exp + y.exp, productOf(x.v, y.v, b.mantissa, b.log2M)};
	return rounded(c, result);
}

// fromDouble returns the finite number x, exactly, with residues in z: an odd significand of at most 53 bits, or zero.
template <class G> MP_DEVICE Number fromDouble(Context<G> &c, Digits z, double x) {
	const Base &b = c.b;
	u64 word = bitsOf(x), X = word & ((1ull << 52) - 1);
	i32 e = (i32)(word >> 52 & 0x7ff);
	if (e) X |= 1ull << 52;
	if (X == 0) return cleared(c, z);
	u32 zeros = trailingZeros(X), shift;
	X >>= zeros;
	c.forEach([&](u32 i) { z[i] = reduceProduct(X, b.residues[i]); });
	shift = leadingZeros(X);
	u64 lo = mulHigh(X << shift, b.inverse); // lo + 2 is an upper bound
	return {z, (word >> 63) != 0, (e ? e : 1) - 1075 + (i64)zeros, normalized({lo, lo + 2, 64 - b.log2M - (i32)shift})};
}

// fromResidues returns (-1)^neg * X * 2^exp for the X with residues z, rounded if it has more than log2M - 4 bits.
template <class G> MP_DEVICE Number fromResidues(Context<G> &c, Digits z, i64 exp, bool neg) {
	const Base &b = c.b;
	Number x = {z, neg, exp, evaluate(c, z)};
	if (isZero(x)) return zeroNumber(z);
	i32 length = bitLength(c, z, x.v);
	return length > b.log2M - 4 ? roundTo(b.self, c.group, c.scratch, x, length - b.precision) : x;
}

#endif
