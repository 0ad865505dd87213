// The end of an exact product of matrices: residues become integers, which are multiplied by alpha, added to
// beta*C and rounded once (round_rows.cuh does this for few sums, a warp each; here a lane has an entry).
//
// The residues r_k of entry (i, j) have the factor (M/m_k)^-1, as B's do, so the sum S has
//
//	alpha*S = sum r_k * (alpha*M/m_k) - rank * (alpha*M),  rank = round(sum / (alpha*M)),
//
// alpha being an integer here. The first sum is a product on tensor cores: residues of 32 entries times
// balanced digits in base 256 of alpha*M/m_k. Of two digits of a residue, the upper one has its plane and 256
// times the weight. As |S| < 64/129 M, the quotient from the three uppermost limbs, in binary64, rounds to the
// rank.
//
// The exact sum of alpha*S and beta*C needs as many bits as their exponents are apart; it is formed in a
// window, as in round_rows.cuh. Integers of a lane are limbs of 28 bits in shared memory.
#include "tensor.cuh"

struct EntryRounding {
	const u8 *residues; // plane k of the product: residues[k*planeStride + i*pitch + j]
	const uint2 *table; // fragments of digits: [chunk of 28 digits][step of 32 planes][8 columns of 4][lane]
	const u32 *product; // alpha*M in limbs
	const i32 *rowLow, *columnLow; // S is worth 2^(rowLow[i] + columnLow[j])
	// 2*bits + truncated of rows of A and columns of B (see entryError); null where nothing is truncated
	const i32 *rowBits, *columnBits;
	u32 *uncertain; // bit j%32 of word i*ceil(columns/32) + j/32: truncation leaves the rounding open; null likewise
	const u64 *source; // C, as in byte_planes.cu
	const i64 *exponents;
	const u32 *beta; // limbs of an integer
	u64 *out;        // entry (i, j): words (i*outColumns + j)*outWidth, least significant first
	i64 *outExponents; // 2*exponent + sign; the words have their bit precision-1 set, or are 0
	u64 planeStride;
	i64 rowStride, columnStride; // of C
	i64 alphaExp, betaExp;       // alpha and beta are integers times 2^alphaExp, 2^betaExp
	double inverse;              // 2^(28*rankLimb) / (alpha*M)
	u32 pitch, planes, steps, chunks;
	u32 rows, columns, outColumns;
	u32 rankLimb;
	u32 alphaBits; // |alpha's integer| <= 2^alphaBits
	u32 termBits;  // terms of a sum <= 2^termBits
	u32 alphaNegative, betaNegative;
	u32 betaLimbs; // 0: there is no C
	u32 width;     // of numbers of C: words of 64 bits, 0 for float64
	u32 addendLimbs, windowLimbs;
	u32 outWidth, precision;
	u32 scratch, scratchEnd; // limbs of a lane: before and after those of alpha*S
};

static const u32 limbBits = 28, limbMask = (1u << limbBits) - 1, lanes = 32, limbsOfChunk = 8;

// Limbs of a lane are so many words apart, so that the limbs that sumDigits stores at once are in different banks.
static const u32 limbPitch = 36;

// Integer is a lane's integer: limb i is v[limbPitch*i].
struct Integer {
	u32 *v;
	u32 limbs;
};

MP_DEVICE u32 limbAt(const Integer &x, i32 i) { return i >= 0 && i < (i32)x.limbs ? x.v[i * (i32)limbPitch] : 0; }

// bitsFrom returns 32 bits from bit at on; bits beyond the ends are 0.
MP_DEVICE u32 bitsFrom(const Integer &x, i32 at) {
	i32 limb = at >= 0 ? at / (i32)limbBits : -((-at + (i32)limbBits - 1) / (i32)limbBits);
	u64 v = (u64)limbAt(x, limb) | (u64)limbAt(x, limb + 1) << limbBits | (u64)limbAt(x, limb + 2) << 2 * limbBits;
	return (u32)(v >> (at - limb * (i32)limbBits));
}

MP_DEVICE u32 bitLengthOf(const Integer &x) {
	for (u32 i = x.limbs; i > 0; i--) {
		u32 v = x.v[(i - 1) * limbPitch];
		if (v) return i * limbBits - (leadingZeros(v) - (32 - limbBits));
	}
	return 0;
}

// anyBit reports whether one of the bits below bit at is set.
MP_DEVICE bool anyBit(const Integer &x, u32 at) {
	u32 whole = at / limbBits, found = 0;
	for (u32 i = 0; i < whole && i < x.limbs; i++) found |= x.v[i * limbPitch];
	if (whole < x.limbs) found |= x.v[whole * limbPitch] & ((1u << at % limbBits) - 1);
	return found != 0;
}

// absolute makes an integer in two's complement its magnitude, and reports whether it was negative.
MP_DEVICE bool absolute(const Integer &x) {
	bool negative = x.v[(x.limbs - 1) * limbPitch] >> (limbBits - 1) & 1;
	if (!negative) return false;
	u32 carry = 1;
	for (u32 i = 0; i < x.limbs; i++) {
		u32 v = (x.v[i * limbPitch] ^ limbMask) + carry;
		x.v[i * limbPitch] = v & limbMask;
		carry = v >> limbBits;
	}
	return true;
}

// loadResidues loads four planes of 32 entries by each lane, twice for each step, and transposes their bytes:
// word e of scratch[2*s + h] has planes 32s + 16h + 4t to + 3 of entry 4g + e. No other lane reads it.
MP_DEVICE void loadResidues(const EntryRounding &f, const u8 *residues, uint4 *scratch) {
	u32 lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
	for (u32 s = 0; s < 2 * f.steps; s++) {
		u32 x[4];
#pragma unroll
		for (u32 i = 0; i < 4; i++) {
			u32 plane = 16 * s + 4 * t + i;
			x[i] = plane < f.planes ? *(const u32 *)(residues + plane * f.planeStride + 4 * g) : 0;
		}
		u32 low0 = permuteBytes(x[0], x[1], 0x5140), low1 = permuteBytes(x[2], x[3], 0x5140);
		u32 high0 = permuteBytes(x[0], x[1], 0x7362), high1 = permuteBytes(x[2], x[3], 0x7362);
		uint4 v;
		v.x = permuteBytes(low0, low1, 0x5410);
		v.y = permuteBytes(low0, low1, 0x7632);
		v.z = permuteBytes(high0, high1, 0x5410);
		v.w = permuteBytes(high0, high1, 0x7632);
		scratch[s * lanes + lane] = v;
	}
}

// sumDigits adds up the digits. Lane (g, t) gets digits 7t to 7t+6 of a chunk of four entries, 4g to 4g+3,
// which make two limbs and a carry into the one above: limbs[x*limbPitch + entry], carries[(x/2)*limbPitch + entry].
MP_DEVICE void sumDigits(const EntryRounding &f, const uint4 *scratch, u32 *limbs, u32 *carries) {
	u32 lane = threadIdx.x % 32, g = lane / 4, t = lane % 4;
	for (u32 q = 0; q < f.chunks; q++) {
		i32 sums[2][4][4];
#pragma unroll
		for (u32 h = 0; h < 2; h++)
#pragma unroll
			for (u32 n = 0; n < 4; n++)
#pragma unroll
				for (u32 r = 0; r < 4; r++) sums[h][n][r] = 0;
		for (u32 s = 0; s < f.steps; s++) {
			uint4 low = scratch[2 * s * lanes + lane], high = scratch[(2 * s + 1) * lanes + lane];
			u32 a[2][4] = {{low.x, low.y, high.x, high.y}, {low.z, low.w, high.z, high.w}};
#pragma unroll
			for (u32 n = 0; n < 4; n++) {
				uint2 w = f.table[((q * f.steps + s) * 4 + n) * lanes + lane];
				u32 b[2] = {w.x, w.y};
				multiplyAdd(sums[0][n], a[0], b);
				multiplyAdd(sums[1][n], a[1], b);
			}
		}
		u32 first[4], second[4], carry[4];
#pragma unroll
		for (u32 e = 0; e < 4; e++) {
			i64 d[7];
#pragma unroll
			for (u32 i = 0; i < 7; i++) d[i] = sums[e / 2][i / 2][2 * (e % 2) + i % 2];
			i64 v = d[0] + d[1] * 0x100 + d[2] * 0x10000 + d[3] * 0x1000000;
			first[e] = (u32)v & limbMask;
			v = (v >> limbBits) + d[4] * 0x10 + d[5] * 0x1000 + d[6] * 0x100000;
			second[e] = (u32)v & limbMask;
			carry[e] = (u32)(v >> limbBits);
		}
		u32 pair = 4 * q + t;
		*(uint4 *)(limbs + 2 * pair * limbPitch + 4 * g) = uint4{first[0], first[1], first[2], first[3]};
		*(uint4 *)(limbs + (2 * pair + 1) * limbPitch + 4 * g) = uint4{second[0], second[1], second[2], second[3]};
		*(uint4 *)(carries + pair * limbPitch + 4 * g) = uint4{carry[0], carry[1], carry[2], carry[3]};
	}
}

// reconstruct makes x the magnitude of alpha*S, given the sums of digits, and reports whether it was negative.
MP_DEVICE bool reconstruct(const EntryRounding &f, const Integer &x, const u32 *carries) {
	i32 c = 0;
	for (u32 i = 0; i < x.limbs; i++) {
		c += (i32)x.v[i * limbPitch];
		if (i > 0 && i % 2 == 0) c += (i32)carries[(i / 2 - 1) * limbPitch];
		x.v[i * limbPitch] = (u32)c & limbMask;
		c >>= limbBits;
	}
	i32 top = (i32)(x.v[(x.limbs - 1) * limbPitch] << (32 - limbBits)) >> (32 - limbBits);
	double sum = top;
	for (u32 i = x.limbs - 1; i-- > f.rankLimb;) sum = sum * 0x1p28 + x.v[i * limbPitch];
	sum *= f.inverse;
	i64 rank = (i64)(sum + (sum < 0 ? -0.5 : 0.5)), rest = 0;
	for (u32 i = 0; i < x.limbs; i++) {
		rest += (i64)x.v[i * limbPitch] - rank * f.product[i];
		x.v[i * limbPitch] = (u32)rest & limbMask;
		rest >>= limbBits;
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

// Shifted is where a term is in a window whose limb 1 is worth 2^base.
struct Shifted {
	i32 whole; // limbs by which the term is shifted
	u32 bits;
	bool cut; // bits are lost below limb 1
};

MP_DEVICE Shifted place(const Summand &t, i64 base) {
	i64 distance = t.exp - base, lowest = -(i64)(limbBits * (t.x.limbs + 1)); // of a term that is lost altogether
	i32 shift = (i32)(distance > lowest ? distance : lowest) + (i32)limbBits;
	Shifted p;
	p.whole = shift >= 0 ? shift / (i32)limbBits : -((-shift + (i32)limbBits - 1) / (i32)limbBits);
	p.bits = (u32)(shift - p.whole * (i32)limbBits);
	p.cut = t.bits && distance < 0 && anyBit(t.x, -distance < (i64)t.bits ? (u32)-distance : t.bits);
	return p;
}

MP_DEVICE u32 windowLimb(const Summand &t, const Shifted &p, u32 i) {
	if (i == 0) return p.cut;
	if (!t.bits) return 0;
	u32 high = limbAt(t.x, (i32)i - p.whole), low = limbAt(t.x, (i32)i - p.whole - 1);
	return (high << p.bits & limbMask) | low >> (limbBits - p.bits);
}

// addTerms sets the window to |s + t| and reports whether the sum is negative.
MP_DEVICE bool addTerms(const Integer &window, i64 base, const Summand &s, const Summand &t) {
	Shifted ps = place(s, base), pt = place(t, base);
	bool differ = s.bits && t.bits && s.negative != t.negative;
	u32 flip = differ ? limbMask : 0, carry = differ; // the second term in two's complement
	for (u32 i = 0; i < window.limbs; i++) {
		carry += windowLimb(s, ps, i) + (windowLimb(t, pt, i) ^ flip);
		window.v[i * limbPitch] = carry & limbMask;
		carry >>= limbBits;
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
	u32 limbs = f.addendLimbs - f.betaLimbs;
	for (u32 i = 0; i < x.limbs; i++) x.v[i * limbPitch] = 0;
	for (u32 k = 0; k < limbs; k++) {
		u32 bit = k * limbBits, word = bit / 64, shift = bit % 64;
		u64 w = f.width ? f.source[at * f.width + word] : word ? 0 : number, limb = w >> shift;
		if (shift + limbBits > 64 && word + 1 < f.width) limb |= f.source[at * f.width + word + 1] << (64 - shift);
		limb &= limbMask;
		u64 carry = 0;
		for (u32 i = 0; limb && i < f.betaLimbs; i++) {
			carry += x.v[(k + i) * limbPitch] + limb * f.beta[i];
			x.v[(k + i) * limbPitch] = (u32)carry & limbMask;
			carry >>= limbBits;
		}
		if (limb) x.v[(k + f.betaLimbs) * limbPitch] = (u32)carry;
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
	i64 shift = (i64)bits - precision, e = (error > (i64)limbBits ? error : (i64)limbBits) + 1;
	if (e > shift - 3) return false;
	bool half = bitsFrom(x, (i32)shift - 1) & 1;
	for (i32 at = (i32)e; at < (i32)shift - 1; at += 32) {
		u32 count = (u32)shift - 1 - (u32)at, mask = count < 32 ? (1u << count) - 1 : 0xffffffffu;
		if ((bitsFrom(x, at) ^ (half ? 0 : 0xffffffffu)) & mask) return true;
	}
	return false;
}

// roundEntry writes an integer times 2^exp, rounded to nearest even.
MP_DEVICE void roundEntry(const EntryRounding &f, const Integer &x, u32 bits, bool negative, i64 exp, u64 entry) {
	i32 p = (i32)f.precision, shift = (i32)bits - p;
	bool carry = false;
	if (shift > 0) {
		u32 last = bitsFrom(x, shift - 1); // the bit after the last one, and that one
		carry = last & 1 && (last & 2 || anyBit(x, (u32)shift - 1));
	}
	u64 *out = f.out + entry * f.outWidth;
	for (i32 h = 0; h < (i32)f.outWidth; h++) {
		u64 full = p - 64 * h >= 64 ? ~0ull : (1ull << (p - 64 * h)) - 1;
		u64 w = bits ? (bitsFrom(x, shift + 64 * h) | (u64)bitsFrom(x, shift + 64 * h + 32) << 32) & full : 0;
		if (carry) {
			carry = w == full;
			w = (w + 1) & full;
		}
		out[h] = w;
	}
	if (carry) out[(p - 1) / 64] = 1ull << (p - 1) % 64; // 2^p = 2^(p-1) * 2
	f.outExponents[entry] = bits ? 2 * (exp + shift + carry) + negative : 0;
}

// finishEntry rounds an entry by a lane, and reports whether the result is certain.
MP_DEVICE bool finishEntry(const EntryRounding &f, const Integer &sum, const Integer &window, u32 *carries, u32 row,
                           u32 column) {
	bool negative = reconstruct(f, sum, carries) != (f.alphaNegative != 0);
	Summand s = {sum, bitLengthOf(sum), (i64)f.rowLow[row] + f.columnLow[column] + f.alphaExp, negative};
	Integer total = sum;
	u32 bits = s.bits;
	i64 exp = s.exp;
	if (f.betaLimbs) {
		Summand b = addend(f, Integer{carries, f.addendLimbs}, row, column);
		// base: as low as the lower term, but the top bit stays inside, with a bit for the sum's carry and one for
		// its sign
		i64 base = !b.bits || (s.bits && s.exp < b.exp) ? s.exp : b.exp, top = s.exp + s.bits;
		if (b.bits && (!s.bits || b.exp + (i64)b.bits > top)) top = b.exp + b.bits;
		i64 room = (i64)limbBits * (window.limbs - 1) - 2;
		if (top - base > room) base = top - room;
		total = window;
		exp = base - (i64)limbBits;
		negative = addTerms(window, base, s, b);
		bits = bitLengthOf(window);
	}
	i32 error = entryError(f, row, column);
	bool certain = error < 0 || certainRounding(total, bits, f.precision, error + s.exp - exp);
	roundEntry(f, total, bits, negative, exp, (u64)row * f.outColumns + column);
	return certain;
}

// roundEntries: a warp rounds 32 neighbours of a row. Blocks of up to 128 threads; grid enough for a warp each.
// Shared memory of a warp: limbPitch * (scratch + 8*chunks + scratchEnd) words; scratch is for residues, 8*steps
// limbs, and then the window; scratchEnd for carries, 4*chunks limbs, and then beta*C.
MP_KERNEL(roundEntries, 128)(EntryRounding f) {
	MP_SHARED(u32, shared);
	u32 lane = threadIdx.x % 32, across = (f.columns + 31) / 32;
	u32 item = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, row = item / across, column = item % across * 32;
	if (row >= f.rows) return;
	u32 limbs = limbsOfChunk * f.chunks;
	u32 *scratch = shared + threadIdx.x / 32 * limbPitch * (f.scratch + limbs + f.scratchEnd);
	u32 *sums = scratch + limbPitch * f.scratch, *carries = sums + limbPitch * limbs;
	loadResidues(f, f.residues + (u64)row * f.pitch + column, (uint4 *)scratch);
	sumDigits(f, (const uint4 *)scratch, sums, carries);
	warpSync(allLanes);
	bool open = false;
	if (column + lane < f.columns)
		open = !finishEntry(f, Integer{sums + lane, limbs}, Integer{scratch + lane, f.windowLimbs}, carries + lane, row,
		                    column + lane);
	u32 word = ballot(allLanes, open);
	if (f.uncertain && lane == 0) f.uncertain[item] = word;
}
MP_REGISTER(roundEntries);
