// The operations of hopper.cuh on the host. A block has no other block of its cluster beside it, so that it copies
// for itself what the other one would.
#pragma once
#include "tensor.h"

static inline void beginBarrier(SharedAddress barrier, unsigned arrivals) { emulator::beginFlag(barrier, arrivals); }
static inline void arriveExpecting(SharedAddress barrier, unsigned bytes) { emulator::arriveFlag(barrier, bytes); }
static inline void waitPhase(SharedAddress barrier, unsigned parity) { emulator::waitFlag(barrier, parity); }
static inline void copyBlock(SharedAddress to, const unsigned char *from, unsigned bytes, SharedAddress barrier) {
	emulator::copyFlagged(to, from, bytes, barrier);
}
static inline void copyHalf(SharedAddress to, const unsigned char *from, unsigned bytes, SharedAddress barrier,
                            unsigned) {
	emulator::copyFlagged(to, from, bytes, barrier);
}

static const unsigned clusterBlocks = 1;
static inline void arriveInBoth(SharedAddress barrier) {
	emulator::warpBarrier(allLanes);
	if (emulator::laneIndex() == 0) emulator::arriveFlag(barrier, 0);
}
static inline void syncCluster() { emulator::blockBarrier(); }
template <int N> static inline void keepRegisters() {}
template <int N> static inline void giveRegisters() {}

struct WideSums {
	int sums[128];
};
static inline void beginSums(WideSums &) {}
template <int I> static inline int sumOf(WideSums &s) { return s.sums[I]; }
template <int I> static inline void setSum(WideSums &s, int x) { s.sums[I] = x; }

static inline unsigned lowAddress(SharedAddress a) { return (unsigned)(uintptr_t)a; }
static inline SharedAddress alignedBy1024(SharedAddress a) {
	return (SharedAddress)(((uintptr_t)a + 1023) & ~(uintptr_t)1023);
}

namespace emulator {

struct WideOperands {
	int *sums;
	unsigned long long rows, columns;
	unsigned warp, add;
};

// lineOf reads 32 bytes of a line of an operand: its start address, the distance of groups of eight lines, and
// pieces that are exchanged as the address says. A block's shared memory has less than 2^18 bytes.
static inline void lineOf(signed char *to, unsigned long long operand, unsigned line) {
	uintptr_t base = (uintptr_t)sharedMemory, start = (base & ~(uintptr_t)0x3ffff) | (operand & 0x3fff) << 4;
	if (start < base) start += 0x40000;
	if (operand >> 62 != 1 || start % 128 > 96) abort();
	uintptr_t at = start + line / 8 * ((operand >> 32 & 0x3fff) << 4) + line % 8 * 128;
	for (unsigned half = 0; half < 32; half += 16) {
		uintptr_t p = at + half;
		memcpy(to + half, (const void *)(p ^ (p >> 7 & 7) << 4), 16);
	}
}

static inline bool anyOf(const signed char (&line)[32]) {
	for (signed char x : line)
		if (x) return true;
	return false;
}

// multiplyWideBytes computes a warp's 16 rows: those of the other warps of the group take the same operands.
static inline void multiplyWideBytes(void *const *lanes) {
	const WideOperands &o = *(const WideOperands *)lanes[0];
	signed char a[16][32], b[32];
	bool any[16], some = false;
	for (unsigned i = 0; i < 16; i++) {
		lineOf(a[i], o.rows, 16 * o.warp + i);
		some |= any[i] = anyOf(a[i]);
	}
	for (unsigned lane = 0; !o.add && lane < 32; lane++) memset(((WideOperands *)lanes[lane])->sums, 0, 128 * sizeof(int));
	for (unsigned j = 0; some && j < 256; j++) {
		lineOf(b, o.columns, j);
		if (!anyOf(b)) continue;
		for (unsigned i = 0; i < 16; i++) {
			int sum = 0;
			for (unsigned k = 0; any[i] && k < 32; k++) sum += a[i][k] * b[k];
			int *d = ((WideOperands *)lanes[i % 8 * 4 + j % 8 / 2])->sums + j / 8 * 4 + i / 8 * 2 + j % 2;
			*d = (int)((unsigned)*d + (unsigned)sum);
		}
	}
}

} // namespace emulator

static inline void multiplyWide(WideSums &sums, unsigned long long rows, unsigned long long columns, unsigned add) {
	emulator::WideOperands own = {sums.sums, rows, columns, threadIdx.x / 32 % 4, add};
	emulator::jointly(&own, emulator::multiplyWideBytes);
}
static inline void beginWide() {}
static inline void commitWide() {}
template <int N> static inline void waitWide() {}
