// The operations of tensor.cuh on the host: what a warp does together, it does when all lanes have come.
#pragma once
#include "emulator.h"

typedef unsigned char *SharedAddress;

static inline SharedAddress sharedAddress(void *p) { return (SharedAddress)p; }
static inline void copyAsync(SharedAddress to, const void *from) { emulator::beginCopy(to, from); }
static inline void commitCopies() { emulator::commitGroup(); }
template <int N> static inline void waitCopies() { emulator::waitGroups(N); }

namespace emulator {

struct MatrixRows {
	unsigned *to;
	const unsigned char *from;
};

static inline void loadRows(void *const *lanes) {
	for (unsigned lane = 0; lane < 32; lane++)
		for (unsigned i = 0; i < 4; i++)
			memcpy(((MatrixRows *)lanes[lane])->to + i, ((MatrixRows *)lanes[8 * i + lane / 4])->from + lane % 4 * 4, 4);
}

struct ByteOperands {
	int *d;
	const unsigned *a, *b;
};

// byteOf is byte k of a row of a left operand, or of a column of a right one, which has half the registers.
static inline unsigned byteOf(void *const *lanes, unsigned line, unsigned k, bool right) {
	const ByteOperands *o = (const ByteOperands *)lanes[line % 8 * 4 + k % 16 / 4];
	return (right ? o->b[k / 16] : o->a[line / 8 + k / 16 * 2]) >> k % 4 * 8 & 255;
}

template <class B> static inline void multiplyBytes(void *const *lanes) {
	int a[16][32], b[8][32], any[8];
	for (unsigned j = 0; j < 8; j++) {
		any[j] = 0;
		for (unsigned k = 0; k < 32; k++) any[j] |= b[j][k] = (B)byteOf(lanes, j, k, true);
	}
	for (unsigned i = 0; i < 16; i++) {
		int anyOfRow = 0;
		for (unsigned k = 0; k < 32; k++) anyOfRow |= a[i][k] = (signed char)byteOf(lanes, i, k, false);
		for (unsigned j = 0; anyOfRow && j < 8; j++) {
			unsigned sum = 0;
			for (unsigned k = 0; any[j] && k < 32; k++) sum += (unsigned)(a[i][k] * b[j][k]);
			int *d = ((ByteOperands *)lanes[i % 8 * 4 + j / 2])->d + i / 8 * 2 + j % 2;
			*d = (int)((unsigned)*d + sum);
		}
	}
}

} // namespace emulator

static inline void loadMatrices(unsigned *r, SharedAddress from) {
	emulator::MatrixRows own = {r, from};
	emulator::jointly(&own, emulator::loadRows);
}
static inline void multiplyAdd(int *d, const unsigned *a, const unsigned *b) {
	emulator::ByteOperands own = {d, a, b};
	emulator::jointly(&own, emulator::multiplyBytes<signed char>);
}
static inline void multiplyAddUnsigned(int *d, const unsigned *a, const unsigned *b, const int *c) {
	for (int i = 0; i < 4; i++) d[i] = c[i];
	emulator::ByteOperands own = {d, a, b};
	emulator::jointly(&own, emulator::multiplyBytes<unsigned char>);
}

static inline void storeVector(uint4 *p, uint4 v) { *p = v; }

static inline int multiplyAddHigh(int a, int b, int c) { return (int)((long long)a * b >> 32) + c; }
static inline int multiplyAddLow(int a, int b, int c) { return a * b + c; }

static inline unsigned permuteBytes(unsigned low, unsigned high, unsigned selector) {
	unsigned long long v = (unsigned long long)high << 32 | low;
	unsigned r = 0;
	for (unsigned i = 0; i < 4; i++) r |= (unsigned)(v >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
	return r;
}

static inline unsigned funnelLeft(unsigned low, unsigned high, unsigned bits) {
	return (unsigned)(((unsigned long long)high << 32 | low) << bits >> 32);
}
static inline unsigned funnelRight(unsigned low, unsigned high, unsigned bits) {
	return (unsigned)(((unsigned long long)high << 32 | low) >> bits);
}
