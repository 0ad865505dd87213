// Runs kernels on the host: every CUDA thread of a block is a fiber, blocks follow one another.
//
// What it finds that a GPU may hide: a barrier or a warp operation that not all of its threads reach, a read of shared
// or device memory that nothing has written (both begin as 0xA5 bytes), an access beyond an allocation (guard pages,
// or AddressSanitizer), and, with MPBENCH_EMULATOR_ORDER=reverse, results that depend on the order of threads between
// barriers.
#pragma once
#define MP_EMULATOR 1

#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __shared__ static thread_local
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __restrict__ __restrict

struct uint3 {
	unsigned x, y, z;
};
struct dim3 {
	unsigned x, y, z;
};
struct alignas(8) uint2 {
	unsigned x, y;
};
struct alignas(16) uint4 {
	unsigned x, y, z, w;
};
struct alignas(16) ulonglong2 {
	unsigned long long x, y;
};

namespace emulator {

extern thread_local uint3 thread, block;
extern thread_local dim3 blockShape, gridShape;
extern thread_local unsigned char *sharedMemory;

// Waits until all threads of the block, or all lanes of the mask, are here.
void blockBarrier();
void warpBarrier(unsigned lanes);
unsigned laneIndex();
// exchange gives value to the lanes of the mask and returns the slots of all 32 lanes, valid until the lane's next
// warp operation.
const unsigned long long *exchange(unsigned lanes, unsigned long long value);
// beginCopy copies 16 bytes when they are waited for, not before: waitGroups makes those of all groups but the last
// ones, which commitGroup has ended.
void beginCopy(void *to, const void *from);
void commitGroup();
void waitGroups(unsigned but);
// A flag is 8 bytes of shared memory, whose phase is complete when so many threads have arrived and all bytes are
// there that they expect; copyFlagged copies them when the flag is waited for. waitFlag waits for the end of the phase
// of this parity, which is 0 for the first one.
void beginFlag(void *flag, unsigned arrivals);
void arriveFlag(void *flag, unsigned expectedBytes);
void waitFlag(void *flag, unsigned parity);
void copyFlagged(void *to, const void *from, unsigned bytes, void *flag);
// jointly calls f once, when all 32 lanes of a warp are here, with what each has given: operations of a whole warp.
void jointly(void *operands, void (*f)(void *const *lanes));

// A kernel as the driver needs it: its parameters' sizes and how to run it for one thread.
struct Kernel {
	const char *name;
	void (*body)(void (*)(), void **arguments);
	void (*function)();
	std::vector<unsigned> sizes;
};

void registerKernel(const Kernel &kernel);

template <class... A> struct Binding {
	template <size_t... I>
	static void call(void (*kernel)(A...), void **p, std::index_sequence<I...>) { kernel(*(A *)p[I]...); }
	static void body(void (*kernel)(), void **p) { call((void (*)(A...))kernel, p, std::index_sequence_for<A...>{}); }
};

struct Registration {
	template <class... A> Registration(const char *name, void (*kernel)(A...)) {
		registerKernel(Kernel{name, Binding<A...>::body, (void (*)())kernel, {(unsigned)sizeof(A)...}});
	}
};

} // namespace emulator

#define threadIdx emulator::thread
#define blockIdx emulator::block
#define blockDim emulator::blockShape
#define gridDim emulator::gridShape

#define MP_SHARED(type, name) type *name = (type *)emulator::sharedMemory
#define MP_REGISTER(name) static emulator::Registration mp_registration_##name(#name, name)

static const unsigned allLanes = 0xffffffffu;

static inline unsigned mulHigh(unsigned a, unsigned b) { return (unsigned)(((unsigned long long)a * b) >> 32); }
static inline unsigned long long mulHigh(unsigned long long a, unsigned long long b) {
	return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}
static inline unsigned shuffle(unsigned lanes, unsigned v, unsigned source) {
	return (unsigned)emulator::exchange(lanes, v)[source & 31];
}
static inline unsigned long long shuffle(unsigned lanes, unsigned long long v, unsigned source) {
	return emulator::exchange(lanes, v)[source & 31];
}
static inline unsigned shuffleXor(unsigned lanes, unsigned v, unsigned distance) {
	return (unsigned)emulator::exchange(lanes, v)[emulator::laneIndex() ^ distance];
}
static inline unsigned long long shuffleXor(unsigned lanes, unsigned long long v, unsigned distance) {
	return emulator::exchange(lanes, v)[emulator::laneIndex() ^ distance];
}
static inline unsigned ballot(unsigned lanes, bool predicate) {
	const unsigned long long *slots = emulator::exchange(lanes, predicate);
	unsigned result = 0;
	for (int i = 0; i < 32; i++)
		if (lanes >> i & 1 && slots[i]) result |= 1u << i;
	return result;
}
static inline void warpSync(unsigned lanes) { emulator::warpBarrier(lanes); }
static inline void blockSync() { emulator::blockBarrier(); }
static inline void deviceFence() {}
static inline uint4 loadStream(const uint4 *p) { return *p; }
static inline void storeStream(uint4 *p, uint4 v) { *p = v; }
static inline unsigned long long loadFresh(const unsigned long long *p) { return *p; }
static inline unsigned long long loadRelaxed(const unsigned long long *p) { return *p; }
static inline ulonglong2 loadRelaxed(const ulonglong2 *p) { return *p; }
static inline void storeRelaxed(unsigned long long *p, unsigned long long v) { *p = v; }
static inline unsigned atomicAdd32(unsigned *p, unsigned v) {
	unsigned old = *p;
	*p = old + v;
	return old;
}
static inline unsigned long long atomicAdd64(unsigned long long *p, unsigned long long v) {
	unsigned long long old = *p;
	*p = old + v;
	return old;
}
static inline void atomicMin32(int *p, int v) {
	if (v < *p) *p = v;
}
static inline void atomicMax32(int *p, int v) {
	if (v > *p) *p = v;
}
static inline void prefetch(const void *) {}
static inline void letNextBegin() {}
static inline void waitForPrevious() {}
static inline unsigned leadingZeros(unsigned x) { return x ? __builtin_clz(x) : 32; }
static inline unsigned leadingZeros(unsigned long long x) { return x ? __builtin_clzll(x) : 64; }
static inline unsigned trailingZeros(unsigned long long x) { return x ? __builtin_ctzll(x) : 64; }
