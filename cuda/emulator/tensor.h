// The operations of tensor.cuh on the host. Lanes give each other the addresses of their operands.
#pragma once
#include "emulator.h"

typedef unsigned char *SharedAddress;

static inline SharedAddress sharedAddress(void *p) { return (SharedAddress)p; }
static inline void copyAsync(SharedAddress to, const void *from) { memcpy(to, from, 16); }
static inline void commitCopies() {}
template <int N> static inline void waitCopies() {}

static inline void loadMatrices(unsigned *r, SharedAddress from) {
	const unsigned long long *rows = emulator::exchange(allLanes, (unsigned long long)(uintptr_t)from);
	unsigned lane = emulator::laneIndex();
	for (unsigned i = 0; i < 4; i++) memcpy(r + i, (const char *)(uintptr_t)rows[8 * i + lane / 4] + lane % 4 * 4, 4);
	emulator::warpBarrier(allLanes); // nobody overwrites what others still read
}

namespace emulator {

struct ByteOperands {
	unsigned a[4], b[2];
};

// multiplyBytes: sum over k of bytes k of row i of A, signed, and of column j of B.
template <class B> static inline void multiplyBytes(int *d, const unsigned *a, const unsigned *b) {
	ByteOperands own = {{a[0], a[1], a[2], a[3]}, {b[0], b[1]}};
	const unsigned long long *given = exchange(allLanes, (unsigned long long)(uintptr_t)&own);
	unsigned lane = laneIndex();
	for (unsigned i = 0; i < 4; i++) {
		unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2, sum = 0;
		for (unsigned word = 0; word < 8; word++) {
			unsigned x = ((const ByteOperands *)(uintptr_t)given[row % 8 * 4 + word % 4])->a[row / 8 + word / 4 * 2];
			unsigned y = ((const ByteOperands *)(uintptr_t)given[column * 4 + word % 4])->b[word / 4];
			for (unsigned k = 0; x && y && k < 32; k += 8) sum += (int)(signed char)(x >> k) * (int)(B)(y >> k);
		}
		d[i] = (int)((unsigned)d[i] + sum);
	}
	warpBarrier(allLanes); // the operands have been read
}

} // namespace emulator

static inline void multiplyAdd(int *d, const unsigned *a, const unsigned *b) {
	emulator::multiplyBytes<signed char>(d, a, b);
}
static inline void multiplyAddUnsigned(int *d, const unsigned *a, const unsigned *b) {
	emulator::multiplyBytes<unsigned char>(d, a, b);
}

static inline unsigned permuteBytes(unsigned low, unsigned high, unsigned selector) {
	unsigned long long v = (unsigned long long)high << 32 | low;
	unsigned r = 0;
	for (unsigned i = 0; i < 4; i++) r |= (unsigned)(v >> (selector >> 4 * i & 7) * 8 & 255) << 8 * i;
	return r;
}
