// Numbers of words of 64 bits with one exponent and one sign, truncated or rounded at the last word: pkg/digits, whose
// results these are bit for bit. See there for the errors. A thread computes a number, of which a product takes W*W
// products of words and some ten instructions for each of them.
#include "portable.cuh"

// PositionalNumbers is a vector: the words of a number lie together, and heads are twice its exponent, and 1 more for
// negative numbers.
struct PositionalNumbers {
	u64 *words;
	i64 *heads;
};

// Positional computes with numbers of up to Most words.
template <int Most> struct Positional {
	// Number is the sum of words[i] * 2^(64*(exponent-i)), or its negative. The first word is not 0, unless all are.
	struct Number {
		u64 words[Most];
		i64 exponent;
		bool negative;
	};

	u32 words; // of a number
	bool nearest;

	__device__ __forceinline__ void load(Number &z, PositionalNumbers v, u64 i) const {
		for (u32 k = 0; k < words; k++) z.words[k] = v.words[i * words + k];
		z.exponent = v.heads[i] >> 1;
		z.negative = v.heads[i] & 1;
	}

	__device__ __forceinline__ void store(PositionalNumbers v, u64 i, const Number &x) const {
		for (u32 k = 0; k < words; k++) v.words[i * words + k] = x.words[k];
		v.heads[i] = x.exponent * 2 + x.negative;
	}

	__device__ __forceinline__ void clear(Number &z) const {
		for (u32 k = 0; k < words; k++) z.words[k] = 0;
		z.exponent = 0;
		z.negative = false;
	}

	// round sets z to count digits, of which the first has the given exponent.
	__device__ __forceinline__ void round(Number &z, const u64 *d, u32 count, i64 exponent, bool negative) const {
		u32 first = 0;
		while (first < count && d[first] == 0) first++;
		if (first == count) return clear(z);
		for (u32 k = 0; k < words; k++) z.words[k] = first + k < count ? d[first + k] : 0;
		z.exponent = exponent - first;
		z.negative = negative;
		if (nearest && first + words < count && d[first + words] >> 63) increase(z);
	}

	// increase adds a unit of the last word.
	__device__ __forceinline__ void increase(Number &z) const {
		for (u32 k = words; k-- > 0;) {
			if (++z.words[k] != 0) return;
		}
		z.words[0] = 1;
		z.exponent++;
	}

	// below tells whether |x| < |y|, neither of which is 0.
	__device__ __forceinline__ bool below(const Number &x, const Number &y) const {
		if (x.exponent != y.exponent) return x.exponent < y.exponent;
		u32 k = 0;
		while (k < words - 1 && x.words[k] == y.words[k]) k++;
		return x.words[k] < y.words[k];
	}

	// add sets z to x + y; z may be x or y.
	__device__ __forceinline__ void add(Number &z, const Number &x, const Number &y) const {
		if (y.words[0] == 0) {
			z = x;
		} else if (x.words[0] == 0) {
			z = y;
		} else if (below(x, y)) {
			addSmaller(z, y, x);
		} else {
			addSmaller(z, x, y);
		}
	}

	// addSmaller is add for |x| >= |y| > 0. y is cut at one word behind those of x, downwards where it is added, upwards
	// where it is subtracted.
	__device__ __forceinline__ void addSmaller(Number &z, const Number &x, const Number &y) const {
		u64 d[Most + 2]; // a carry, the words of x, and one more
		d[0] = d[words + 1] = 0;
		for (u32 k = 0; k < words; k++) d[1 + k] = x.words[k];
		u64 apart = (u64)(x.exponent - y.exponent);
		u32 kept = apart > words ? 0 : apart <= 1 ? words : words + 1 - (u32)apart; // words of y
		u32 at = kept == words ? 1 + (u32)apart + kept : words + 2;
		if (x.negative == y.negative) {
			u64 carry = 0;
			for (u32 k = kept; k > 0 || carry != 0;) {
				u64 v = k > 0 ? y.words[--k] : 0, s = d[--at] + v, sum = s + carry;
				carry = (s < v) + (sum < s);
				d[at] = sum;
			}
		} else {
			u64 borrow = 0;
			for (u32 k = kept; k < words; k++) borrow |= y.words[k] != 0;
			for (u32 k = kept; k > 0 || borrow != 0;) {
				u64 v = k > 0 ? y.words[--k] : 0, old = d[--at], rest = old - v;
				d[at] = rest - borrow;
				borrow = (old < v) + (rest < borrow);
			}
		}
		round(z, d, words + 2, x.exponent + 1, x.negative);
	}

	// mul sets z to x * y; z may be x or y.
	__device__ __forceinline__ void mul(Number &z, const Number &x, const Number &y) const {
		u64 d[2 * Most];
		for (u32 k = 0; k < 2 * words; k++) d[k] = 0;
		for (u32 i = words; i-- > 0;) {
			u64 carry = 0;
			for (u32 j = words; j-- > 0;) {
				u64 low = x.words[i] * y.words[j], high = mulHigh(x.words[i], y.words[j]);
				low += d[i + j + 1];
				high += low < d[i + j + 1]; // the product and two words are less than 2^128
				low += carry;
				carry = high + (low < carry);
				d[i + j + 1] = low;
			}
			d[i] = carry;
		}
		round(z, d, 2 * words, x.exponent + y.exponent + 1, x.negative != y.negative);
	}

	// dots sets z to the dot products of the rows of x and the columns of y, row by row, from the first term to the
	// last. Without y it adds the numbers, or magnitudes, of x; with starts the elements of the rows of a sparse matrix
	// times the numbers of y at these places.
	__device__ __forceinline__ void dots(PositionalNumbers z, PositionalNumbers x, PositionalNumbers y, u64 rows,
	                                     u64 columns, u64 n, const u64 *starts, const u32 *places,
	                                     bool magnitudes) const {
		for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < rows * columns; i += (u64)gridDim.x * blockDim.x) {
			u64 row = i / columns, column = i % columns;
			u64 from = starts ? starts[row] : row * n, end = starts ? starts[row + 1] : from + n;
			Number sum, term, factor;
			clear(sum);
			for (u64 k = from; k < end; k++) {
				load(term, x, k);
				if (magnitudes) term.negative = false;
				if (y.words) {
					load(factor, y, starts ? places[k] : column * n + (k - from));
					mul(term, term, factor);
				}
				add(sum, sum, term);
			}
			store(z, i, sum);
		}
	}

	// elements sets z_i = c*x_i, plus y_i if there is a y.
	__device__ __forceinline__ void elements(PositionalNumbers z, PositionalNumbers c, PositionalNumbers x,
	                                         PositionalNumbers y, u64 n) const {
		Number factor, sum, other;
		load(factor, c, 0);
		for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) {
			load(sum, x, i);
			mul(sum, factor, sum);
			if (y.words) {
				load(other, y, i);
				add(sum, sum, other);
			}
			store(z, i, sum);
		}
	}
};

#define MP_POSITIONAL(Most)                                                                                      \
	MP_KERNEL(positionalDots##Most, 128)                                                                         \
	(PositionalNumbers z, PositionalNumbers x, PositionalNumbers y, u64 rows, u64 columns, u64 n,                \
	 const u64 *starts, const u32 *places, u32 magnitudes, u32 words, u32 nearest) {                             \
		Positional<Most>{words, nearest != 0}.dots(z, x, y, rows, columns, n, starts, places, magnitudes != 0);  \
	}                                                                                                            \
	MP_REGISTER(positionalDots##Most);                                                                           \
	MP_KERNEL(positionalElements##Most, 128)                                                                     \
	(PositionalNumbers z, PositionalNumbers c, PositionalNumbers x, PositionalNumbers y, u64 n, u32 words,       \
	 u32 nearest) {                                                                                              \
		Positional<Most>{words, nearest != 0}.elements(z, c, x, y, n);                                           \
	}                                                                                                            \
	MP_REGISTER(positionalElements##Most)

MP_POSITIONAL(4);
MP_POSITIONAL(16);
MP_POSITIONAL(64);
MP_POSITIONAL(257);
