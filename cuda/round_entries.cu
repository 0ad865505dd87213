// The end of an exact product of matrices: residues become integers, which are multiplied by alpha, added to
// beta*C and rounded once (round_rows.cuh does this for few sums, a warp each; here a lane has an entry).
//
// The residues r_k of entry (i, j) have the factor (M/m_k)^-1, as B's do, so the sum S has
//
//	alpha*S = sum r_k * (alpha*M/m_k) - rank * (alpha*M),  rank = round(sum / (alpha*M)),
//
// alpha being an integer here. The first sum is a product on tensor cores: residues of 32 entries times
// balanced digits in base 256 of alpha*M/m_k. Of two digits of a residue, the upper one has its plane and 256
// times the weight. The sums of digits begin as those of K*alpha*M, which makes all of them, and the rank, K more,
// nonnegative. As |S| < 64/129 M, the quotient of the uppermost words, in binary64, rounds to the rank.
//
// The exact sum of alpha*S and beta*C needs as many bits as their exponents are apart; it is formed in a
// window, as in round_rows.cuh. Integers of a lane are words of 32 bits in shared memory.
#include "tensor.cuh"

struct EntryRounding {
	const u8 *residues; // plane k of the product: residues[k*planeStride + i*pitch + j]
	const uint4 *table;    // fragments of digits: [chunk of 32 digits][step of 32 planes][16 columns of 2][lane]
	const i32 *starts;     // what sums of digits begin as: [chunk][lane%4][digit], at least 0 with any residues added
	const uint4 *negative; // -alpha*M modulo 2^(32*words), its words
	const i32 *rowLow, *columnLow; // S is worth 2^(rowLow[i] + columnLow[j])
	// 2*bits + truncated of rows of A and columns of B (see entryError); null where nothing is truncated
	const i32 *rowBits, *columnBits;
	u32 *uncertain; // bit j%32 of word i*ceil(columns/32) + j/32: truncation leaves the rounding open; null likewise
	const u64 *source; // C, as in byte_planes.cu
	const i64 *exponents;
	const u32 *beta; // words of an integer
	u64 *out;        // entry (i, j): words (i*outColumns + j)*outWidth, least significant first
	i64 *outExponents; // 2*exponent + sign; the words have their bit precision-1 set, or are 0
	u64 planeStride;
	i64 rowStride, columnStride; // of C
	i64 alphaExp, betaExp;       // alpha and beta are integers times 2^alphaExp, 2^betaExp
	double inverse;              // 2^(32*rankWord) / (alpha*M)
	u32 pitch, planes, steps, chunks;
	u32 words; // of a sum of residues times weights: a multiple of 4
	u32 rows, columns, outColumns;
	u32 rankWord;
	u32 alphaBits; // |alpha's integer| <= 2^alphaBits
	u32 termBits;  // terms of a sum <= 2^termBits
	u32 alphaNegative, betaNegative;
	u32 betaWords; // 0: there is no C
	u32 width;     // of numbers of C: words of 64 bits, 0 for float64
	u32 addendWords, windowWords;
	u32 outWidth, precision;
	u32 scratch, scratchEnd; // words of a lane: before and after those of alpha*S
};

static const u32 lanes = 32, wordsOfChunk = 8;

// Words of a lane are so many words apart, so that the words that sumDigits stores at once are in different banks.
static const u32 wordPitch = 36;

// Integer is a lane's integer: word i is v[wordPitch*i].
struct Integer {
	u32 *v;
	u32 words;
};

MP_DEVICE u32 wordAt(const Integer &x, i32 i) { return (u32)i < x.words ? x.v[i * (i32)wordPitch] : 0; }

// bitsFrom returns 32 bits from bit at on; bits beyond the ends are 0.
MP_DEVICE u32 bitsFrom(const Integer &x, i32 at) {
	return funnelRight(wordAt(x, at >> 5), wordAt(x, (at >> 5) + 1), (u32)at & 31);
}

MP_DEVICE u32 bitLengthOf(const Integer &x) {
	for (u32 i = x.words; i > 0; i--) {
		u32 v = x.v[(i - 1) * wordPitch];
		if (v) return 32 * i - leadingZeros(v);
	}
	return 0;
}

// anyBit reports whether one of the bits below bit at is set.
MP_DEVICE bool anyBit(const Integer &x, u32 at) {
	u32 whole = at / 32, found = 0;
	for (u32 i = 0; i < whole && i < x.words && !found; i++) found = x.v[i * wordPitch];
	if (whole < x.words) found |= x.v[whole * wordPitch] & ((1u << at % 32) - 1);
	return found != 0;
}

// absolute makes an integer in two's complement its magnitude, and reports whether it was negative.
MP_DEVICE bool absolute(const Integer &x) {
	if (!(x.v[(x.words - 1) * wordPitch] >> 31)) return false;
	u64 carry = 1;
#pragma unroll 4
	for (u32 i = 0; i < x.words; i++) {
		carry += ~x.v[i * wordPitch];
		x.v[i * wordPitch] = (u32)carry;
		carry >>= 32;
	}
	return true;
}

// ResidueStep is what a lane (g, t) holds of a step of 32 planes of 32 entries: a[e/2][e%2 + 2*h] has planes 16h +
// 4t to + 3 of entry 4g + e.
struct ResidueStep {
	u32 a[2][4];
};

// loadStep loads four planes of four entries twice, and transposes their bytes.
MP_DEVICE void loadStep(ResidueStep &o, const EntryRounding &f, const u8 *residues, u32 s) {
	u32 lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
#pragma unroll
	for (u32 h = 0; h < 2; h++) {
		u32 x[4];
#pragma unroll
		for (u32 i = 0; i < 4; i++) {
			u32 plane = 32 * s + 16 * h + 4 * t + i;
			x[i] = plane < f.planes ? *(const u32 *)(residues + plane * f.planeStride + 4 * g) : 0;
		}
		u32 low0 = permuteBytes(x[0], x[1], 0x5140), low1 = permuteBytes(x[2], x[3], 0x5140);
		u32 high0 = permuteBytes(x[0], x[1], 0x7362), high1 = permuteBytes(x[2], x[3], 0x7362);
		o.a[0][2 * h] = permuteBytes(low0, low1, 0x5410);
		o.a[0][2 * h + 1] = permuteBytes(low0, low1, 0x7632);
		o.a[1][2 * h] = permuteBytes(high0, high1, 0x5410);
		o.a[1][2 * h + 1] = permuteBytes(high0, high1, 0x7632);
	}
}

// sumDigits adds up the digits. Lane (g, t) gets digits 8t to 8t+7 of a chunk of four entries, 4g to 4g+3,
// which make two words and a carry into the one above: words[x*wordPitch + entry], carries[(x/2)*wordPitch + entry].
// All digits are below 2^24 (bytemod.Reconstruction), d + 256*e below 2^32. Up to HELD steps of residues are in
// registers, loaded all at once; with HELD 0 they lie in scratch, each lane's own.
template <u32 HELD>
MP_DEVICE void sumDigits(const EntryRounding &f, const u8 *residues, ResidueStep *scratch, u32 *words, u32 *carries) {
	u32 lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
	ResidueStep held[HELD ? HELD : 1];
#pragma unroll
	for (u32 s = 0; s < HELD; s++) loadStep(held[s], f, residues, s);
	for (u32 s = 0; !HELD && s < f.steps; s++) loadStep(scratch[s * lanes + lane], f, residues, s);
	for (u32 q = 0; q < f.chunks; q++) {
		const i32 *start = f.starts + (q * 4 + t) * 8;
		i32 sums[2][4][4];
#pragma unroll
		for (u32 h = 0; h < 2; h++)
#pragma unroll
			for (u32 n = 0; n < 4; n++)
#pragma unroll
				for (u32 r = 0; r < 4; r++) sums[h][n][r] = start[2 * n + r % 2];
#pragma unroll HELD ? HELD : 1
		for (u32 s = 0; s < (HELD ? HELD : f.steps); s++) {
			if (s >= f.steps) break;
			const ResidueStep x = HELD ? held[s] : scratch[s * lanes + lane];
#pragma unroll
			for (u32 n = 0; n < 4; n += 2) {
				uint4 w = f.table[((q * f.steps + s) * 2 + n / 2) * lanes + lane];
				u32 b[2][2] = {{w.x, w.y}, {w.z, w.w}};
#pragma unroll
				for (u32 h = 0; h < 2; h++) {
					multiplyAdd(sums[h][n], x.a[h], b[0]);
					multiplyAdd(sums[h][n + 1], x.a[h], b[1]);
				}
			}
		}
		u32 first[4], second[4], carry[4];
#pragma unroll
		for (u32 e = 0; e < 4; e++) {
			u32 d[4];
#pragma unroll
			for (u32 n = 0; n < 4; n++)
				d[n] = (u32)sums[e / 2][n][2 * (e % 2)] + ((u32)sums[e / 2][n][2 * (e % 2) + 1] << 8);
			u64 v = d[0] + ((u64)d[1] << 16), u = d[2] + ((u64)d[3] << 16) + (v >> 32);
			first[e] = (u32)v;
			second[e] = (u32)u;
			carry[e] = (u32)(u >> 32);
		}
		u32 pair = 4 * q + t;
		*(uint4 *)(words + 2 * pair * wordPitch + 4 * g) = uint4{first[0], first[1], first[2], first[3]};
		*(uint4 *)(words + (2 * pair + 1) * wordPitch + 4 * g) = uint4{second[0], second[1], second[2], second[3]};
		*(uint4 *)(carries + pair * wordPitch + 4 * g) = uint4{carry[0], carry[1], carry[2], carry[3]};
	}
}

// reconstruct makes x the magnitude of alpha*S, given the sums of digits, and reports whether it was negative. The
// quotient leaves out carries from below rankWord, less than 2^(32*rankWord+18).
MP_DEVICE bool reconstruct(const EntryRounding &f, const Integer &x, const u32 *carries) {
	double sum = 0, unit = f.inverse;
	u64 c = 0;
	for (u32 i = f.rankWord; i < x.words; i++) {
		c += x.v[i * wordPitch];
		if (i > 0 && i % 2 == 0) c += carries[(i / 2 - 1) * wordPitch];
		sum += (double)(u32)c * unit;
		c >>= 32;
		unit *= 0x1p32;
	}
	u32 rank = (u32)(sum + 0.5);
	c = 0;
	for (u32 i = 0; i < x.words; i += 4) {
		uint4 m = f.negative[i / 4];
		u32 v[4] = {m.x, m.y, m.z, m.w};
		u32 carried[2] = {i ? carries[(i / 2 - 1) * wordPitch] : 0, carries[i / 2 * wordPitch]};
#pragma unroll
		for (u32 k = 0; k < 4; k++) {
			c += (u64)rank * v[k] + x.v[(i + k) * wordPitch];
			if (k % 2 == 0) c += carried[k / 2];
			x.v[(i + k) * wordPitch] = (u32)c;
			c >>= 32;
		}
	}
	return absolute(x);
}

// Summand is (-1)^negative * x * 2^exp, x of so many bits; 0 bits for zero.
struct Summand {
	Integer x;
	u32 bits;
	i64 exp;
	bool negative;
};

// Shifted is where a term is in a window whose word 1 is worth 2^base.
struct Shifted {
	i32 whole; // words by which the term is shifted
	u32 bits;
	bool cut; // bits are lost below word 1
};

MP_DEVICE Shifted place(const Summand &t, i64 base) {
	i64 distance = t.exp - base, lowest = -(i64)(32 * (t.x.words + 1)); // of a term that is lost altogether
	i32 shift = (i32)(distance > lowest ? distance : lowest) + 32;
	bool cut = t.bits && distance < 0 && anyBit(t.x, -distance < (i64)t.bits ? (u32)-distance : t.bits);
	return Shifted{shift >> 5, (u32)shift & 31, cut};
}

MP_DEVICE u32 windowWord(const Summand &t, const Shifted &p, u32 i) {
	if (i == 0) return p.cut;
	if (!t.bits) return 0;
	return funnelLeft(wordAt(t.x, (i32)i - p.whole - 1), wordAt(t.x, (i32)i - p.whole), p.bits);
}

// addTerms sets the window to |s + t| and reports whether the sum is negative.
MP_DEVICE bool addTerms(const Integer &window, i64 base, const Summand &s, const Summand &t) {
	Shifted ps = place(s, base), pt = place(t, base);
	bool differ = s.bits && t.bits && s.negative != t.negative;
	u32 flip = differ ? ~0u : 0; // the second term in two's complement
	u64 carry = differ;
	for (u32 i = 0; i < window.words; i++) {
		carry += (u64)windowWord(s, ps, i) + (windowWord(t, pt, i) ^ flip);
		window.v[i * wordPitch] = (u32)carry;
		carry >>= 32;
	}
	bool negative = s.bits ? s.negative : t.negative;
	return differ && absolute(window) ? !negative : negative;
}

// addend returns beta*C of an entry, in memory x.
MP_DEVICE Summand addend(const EntryRounding &f, const Integer &x, u32 row, u32 column) {
	i64 at = row * f.rowStride + column * f.columnStride, exp = 0;
	u64 number = 0;
	bool negative = false;
	if (f.width) {
		exp = f.exponents[at] >> 1;
		negative = f.exponents[at] & 1;
	} else {
		u64 word = f.source[at];
		i32 field = (i32)(word >> 52 & 0x7ff), normal = field > 0;
		if (field != 0x7ff) number = (word & (1ull << 52) - 1) | (u64)normal << 52;
		exp = field - normal - 1074;
		negative = word >> 63;
	}
	u32 words = f.addendWords - f.betaWords;
	for (u32 i = 0; i < x.words; i++) x.v[i * wordPitch] = 0;
	for (u32 k = 0; k < words; k++) {
		u64 w = f.width ? f.source[at * f.width + k / 2] : number, carry = 0, word = (u32)(w >> k % 2 * 32);
		for (u32 i = 0; i < f.betaWords; i++) {
			carry += x.v[(k + i) * wordPitch] + word * f.beta[i];
			x.v[(k + i) * wordPitch] = (u32)carry;
			carry >>= 32;
		}
		x.v[(k + f.betaWords) * wordPitch] = (u32)carry;
	}
	return Summand{x, bitLengthOf(x), f.betaExp + exp, negative != (f.betaNegative != 0)};
}

// entryError returns e with |alpha*S - what it stands for| < 2^e, or -1 for 0. What is left out of K products
// a*b is less than K*2^bits(B_j) where row i is truncated, plus K*2^bits(A_i) where column j is; nothing where
// one of them is zero (deferred.GemmPlan).
MP_DEVICE i32 entryError(const EntryRounding &f, u32 row, u32 column) {
	if (!f.rowBits) return -1;
	i32 a = f.rowBits[row], b = f.columnBits[column], bits = -1;
	if (a < 2 || b < 2) return -1;
	if (a & 1) bits = b >> 1;
	if (b & 1) bits = a & 1 ? ((a >> 1 > bits ? a >> 1 : bits) + 1) : a >> 1;
	return bits < 0 ? -1 : bits + (i32)(f.termBits + f.alphaBits);
}

// certainRounding reports whether every number less than 2^error units from the integer, of so many bits,
// rounds to the same number; the proof is in round_rows.cuh.
MP_DEVICE bool certainRounding(const Integer &x, u32 bits, u32 precision, i64 error) {
	i64 shift = (i64)bits - precision, e = (error > 32 ? error : 32) + 1; // word 0 of a window tells of cut bits alone
	if (e > shift - 3) return false;
	bool half = bitsFrom(x, (i32)shift - 1) & 1;
	for (i32 at = (i32)e; at < (i32)shift - 1; at += 32) {
		u32 count = (u32)shift - 1 - (u32)at, mask = count < 32 ? (1u << count) - 1 : 0xffffffffu;
		if ((bitsFrom(x, at) ^ (half ? 0 : 0xffffffffu)) & mask) return true;
	}
	return false;
}

// Rounded is an integer times 2^exp that is to be rounded; 0 bits for zero.
struct Rounded {
	Integer x;
	u32 bits;
	i64 exp;
	bool negative, certain;
};

// roundEntry rounds to nearest even, and returns the exponent of the result, whose words it sets.
MP_DEVICE i64 roundEntry(const EntryRounding &f, const Rounded &r, u64 *out) {
	i32 p = (i32)f.precision, shift = (i32)r.bits - p, word = shift >> 5;
	bool carry = false;
	if (shift > 0) {
		u32 last = bitsFrom(r.x, shift - 1); // the bit after the last one, and that one
		carry = last & 1 && (last & 2 || anyBit(r.x, (u32)shift - 1));
	}
	u32 below = wordAt(r.x, word);
	for (i32 h = 0; h < (i32)f.outWidth; h++) {
		u64 full = p - 64 * h >= 64 ? ~0ull : (1ull << (p - 64 * h)) - 1;
		u32 middle = wordAt(r.x, word + 2 * h + 1), above = wordAt(r.x, word + 2 * h + 2);
		u64 w = funnelRight(below, middle, (u32)shift & 31) | (u64)funnelRight(middle, above, (u32)shift & 31) << 32;
		below = above;
		w = (r.bits ? w & full : 0) + carry;
		carry = carry && (w & full) == 0;
		out[h] = w & full;
	}
	if (carry) out[(p - 1) / 64] = 1ull << (p - 1) % 64; // 2^p = 2^(p-1) * 2
	return r.bits ? 2 * (r.exp + shift + carry) + r.negative : 0;
}

// finishEntry makes alpha*S + beta*C of an entry, by a lane.
MP_DEVICE Rounded finishEntry(const EntryRounding &f, const Integer &sum, const Integer &window, u32 *carries, u32 row,
                              u32 column) {
	bool negative = reconstruct(f, sum, carries) != (f.alphaNegative != 0);
	Summand s = {sum, bitLengthOf(sum), (i64)f.rowLow[row] + f.columnLow[column] + f.alphaExp, negative};
	Rounded r = {sum, s.bits, s.exp, negative, true};
	if (f.betaWords) {
		Summand b = addend(f, Integer{carries, f.addendWords}, row, column);
		// base: as low as the lower term, but the top bit stays inside, with a bit for the sum's carry and one for
		// its sign
		i64 base = !b.bits || (s.bits && s.exp < b.exp) ? s.exp : b.exp, top = s.exp + s.bits;
		if (b.bits && (!s.bits || b.exp + (i64)b.bits > top)) top = b.exp + b.bits;
		i64 room = 32 * (i64)(window.words - 1) - 2;
		if (top - base > room) base = top - room;
		r.x = window;
		r.exp = base - 32;
		r.negative = addTerms(window, base, s, b);
		r.bits = bitLengthOf(window);
	}
	i32 error = entryError(f, row, column);
	r.certain = error < 0 || certainRounding(r.x, r.bits, f.precision, error + s.exp - r.exp);
	return r;
}

// roundAll: a warp rounds 32 neighbours of a row. Blocks of up to 128 threads; grid enough for a warp each. Shared
// memory of a warp: wordPitch * (scratch + 8*chunks + scratchEnd) words; scratch is for residues, 8*steps words a
// lane, unless they are held, and then the window; scratchEnd for carries, 4*chunks, then beta*C, then the results'
// words, so that a warp stores neighbours.
template <u32 HELD> MP_DEVICE void roundAll(const EntryRounding &f) {
	MP_SHARED(u32, shared);
	u32 lane = threadIdx.x % 32, across = (f.columns + 31) / 32;
	u32 item = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, row = item / across, column = item % across * 32;
	if (row >= f.rows) return;
	u32 words = wordsOfChunk * f.chunks, count = f.columns - column < lanes ? f.columns - column : lanes;
	u32 *scratch = shared + threadIdx.x / 32 * wordPitch * (f.scratch + words + f.scratchEnd);
	u32 *sums = scratch + wordPitch * f.scratch, *end = sums + wordPitch * words;
	sumDigits<HELD>(f, f.residues + (u64)row * f.pitch + column, (ResidueStep *)scratch, sums, end);
	warpSync(allLanes);
	Rounded r = {};
	if (lane < count)
		r = finishEntry(f, Integer{sums + lane, f.words}, Integer{scratch + lane, f.windowWords}, end + lane, row,
		                column + lane);
	u32 open = ballot(allLanes, lane < count && !r.certain);
	if (f.uncertain && lane == 0) f.uncertain[item] = open;
	warpSync(allLanes);
	u64 *results = (u64 *)end, entry = (u64)row * f.outColumns + column;
	if (lane < count) f.outExponents[entry + lane] = roundEntry(f, r, results + lane * f.outWidth);
	warpSync(allLanes);
	for (u32 q = lane; q < count * f.outWidth; q += lanes) f.out[entry * f.outWidth + q] = results[q];
}

// roundEntries1, 2 and 4: up to so many steps of 32 planes.
MP_KERNEL(roundEntries, 128)(EntryRounding f) { roundAll<0>(f); }
MP_REGISTER(roundEntries);
MP_KERNEL(roundEntries1, 128)(EntryRounding f) { roundAll<1>(f); }
MP_REGISTER(roundEntries1);
MP_KERNEL(roundEntries2, 128, 6)(EntryRounding f) { roundAll<2>(f); }
MP_REGISTER(roundEntries2);
MP_KERNEL(roundEntries4, 128, 6)(EntryRounding f) { roundAll<4>(f); }
MP_REGISTER(roundEntries4);
