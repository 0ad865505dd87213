// Products of bytes on tensor cores, and copies to shared memory beside other work: compute capability 8.0 and later.
#ifndef MPBENCH_TENSOR_CUH
#define MPBENCH_TENSOR_CUH

#include "portable.cuh"

#if defined(MP_EMULATOR)
#include "emulator/tensor.h"
#else

// SharedAddress is an address in shared memory; offsets in bytes are added to it.
typedef u32 SharedAddress;

MP_DEVICE SharedAddress sharedAddress(const void *p) {
	u32 a;
	asm("{ .reg .u64 t; cvta.to.shared.u64 t, %1; cvt.u32.u64 %0, t; }" : "=r"(a) : "l"(p));
	return a;
}

// copyAsync begins to copy 16 bytes from device memory, both addresses multiples of 16. commitCopies makes what the
// thread has begun since the last call a group; waitCopies<N> waits until all groups but the last N are there, for the
// thread itself: a barrier makes them the block's.
MP_DEVICE void copyAsync(SharedAddress to, const void *from) {
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}
MP_DEVICE void commitCopies() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> MP_DEVICE void waitCopies() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }

// loadMatrices loads four matrices of 8 rows of 16 bytes. Lanes 8i to 8i+7 have the addresses of the rows of matrix i;
// lane l gets bytes 4*(l%4) to 4*(l%4)+3 of row l/4 of each.
MP_DEVICE void loadMatrices(u32 *r, SharedAddress from) {
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
	             : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
	             : "r"(from)
	             : "memory");
}

// multiplyAdd adds A*B to D, by a warp: A has 16 rows and B 8 columns of 32 bytes, signed, D 16 x 8 int32. With
// g = l/4 and t = l%4, lane l has in a[r + 2h] bytes 16h+4t to 16h+4t+3 of row g+8r, in b[h] those of column g, and in
// d[2r + c] the entry in row g+8r and column 2t+c. multiplyAddUnsigned takes the bytes of B as unsigned, and sets D to
// C + A*B.
MP_DEVICE void multiplyAdd(i32 *d, const u32 *a, const u32 *b) {
	asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
	             "{%0, %1, %2, %3};"
	             : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
	             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
MP_DEVICE void multiplyAddUnsigned(i32 *d, const u32 *a, const u32 *b, const i32 *c) {
	asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
	             "{%10, %11, %12, %13};"
	             : "=r"(d[0]), "=r"(d[1]), "=r"(d[2]), "=r"(d[3])
	             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(c[0]), "r"(c[1]), "r"(c[2]),
	               "r"(c[3]));
}

// storeVector stores 16 bytes in device memory at once, which compilers split where they can.
MP_DEVICE void storeVector(uint4 *p, uint4 v) {
	asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w) : "memory");
}

// permuteBytes returns the bytes of high:low that the four digits of the selector name, the lowest first.
MP_DEVICE u32 permuteBytes(u32 low, u32 high, u32 selector) {
	u32 r;
	asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(selector));
	return r;
}

// multiplyAddHigh returns the upper word of a*b, plus c, multiplyAddLow the lower one: an instruction each, where
// compilers make two and three of C.
MP_DEVICE i32 multiplyAddHigh(i32 a, i32 b, i32 c) {
	i32 r;
	asm("mad.hi.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	return r;
}
MP_DEVICE i32 multiplyAddLow(i32 a, i32 b, i32 c) {
	i32 r;
	asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
	return r;
}

// funnelLeft returns the upper half of high:low shifted left by bits < 32, funnelRight the lower half shifted right.
MP_DEVICE u32 funnelLeft(u32 low, u32 high, u32 bits) {
	u32 r;
	asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(bits));
	return r;
}
MP_DEVICE u32 funnelRight(u32 low, u32 high, u32 bits) {
	u32 r;
	asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(low), "r"(high), "r"(bits));
	return r;
}

#endif

// packBytes returns the lowest bytes of four words, the first lowest.
MP_DEVICE u32 packBytes(u32 a, u32 b, u32 c, u32 d) {
	return permuteBytes(permuteBytes(a, b, 0x0040), permuteBytes(c, d, 0x0040), 0x5410);
}

// ByteModulus is a modulus m of products of bytes. m <= 256 has one residue, a byte; a greater one, at most 2^14, two
// digits a0 + 128*a1, in [-64, 64], and their sum (byte_products.cu).
struct ByteModulus {
	i32 m;
	i32 magic, shift; // round(x/m) is nearly (x*magic + 2^(31+shift)) >> (32+shift); magic < 2^31
	i32 gamma;        // -1/128 mod m, balanced; of digits
	u32 in;           // the first plane of the factors: one, or three of digits
	u32 out;          // the first plane of the product: one, or two of digits
	u32 passes;       // 1, or 3
	u32 pad;
};

// balanced returns x mod m, in [-m/2, m/2], at most m*2^-8 outside; for m = 256 in [-128, 127]. shift is at least 1.
MP_DEVICE i32 balanced(i32 x, i32 m, i32 magic, i32 shift) {
	return multiplyAddLow(multiplyAddHigh(x, magic, 1 << (shift - 1)) >> shift, -m, x);
}

// upperByte returns a number whose low byte is what x has above its own, rounded.
MP_DEVICE u32 upperByte(i32 x) { return (u32)((x + 128) >> 8); }

// Planes of the factors of byte_products.cu lie in blocks of 64 rows and 128 terms, those of the same rows one after
// the other. A block has the row 16t + 2j + b in line 8j + 2t + b (t < 4, j < 8, b < 2), so that a lane that has
// columns 2t and 2t+1 of eight products of eight columns has 16 neighbours. Piece x of a line, 16 bytes, lies at
// x ^ (line % 8): eight lines at the same terms are in different banks of shared memory, as wgmma wants it.
static const u32 blockRows = 64, stageTerms = 128, piece = 16, blockBytes = blockRows * stageTerms;

MP_DEVICE u64 placeInPlane(u32 row, u32 term, u32 terms) {
	u32 line = row / 2 % 8 * 8 + row / 16 % 4 * 2 + row % 2;
	return (u64)(row / blockRows) * blockRows * terms + term / stageTerms * blockBytes + line * stageTerms +
	       (term / piece ^ line) % 8 * piece + term % piece;
}

// rowOfLine is the inverse, of lines of all blocks.
MP_DEVICE u32 rowOfLine(u32 line) { return line / 64 * 64 + line / 2 % 4 * 16 + line / 8 % 8 * 2 + line % 2; }

#endif
