// One header for three compilers, so that a kernel is written once:
//
//   clang -x cuda -nocudainc   device code only, to PTX, without a CUDA toolkit: what the program embeds
//   nvcc                       the same with NVIDIA's compiler and headers: for comparison and for the profiler
//   any C++ compiler           host code behind the emulator of emulator/: for tests without a GPU
//
// Kernels use the names of this header and no others: warp and block operations below, MP_DEVICE for functions,
// MP_KERNEL for kernels, MP_SHARED for the dynamic shared memory of a block.
#ifndef MPBENCH_PORTABLE_CUH
#define MPBENCH_PORTABLE_CUH

typedef unsigned char u8;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef int i32;
typedef long long i64;

#if defined(__NVCC__)

#define MP_SHARED(type, name)                                   \
	extern __shared__ __align__(16) unsigned char mp_shared[]; \
	type *name = (type *)mp_shared

#elif defined(__CUDA__)

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __restrict__ __restrict
struct uint3 {
	unsigned x, y, z;
};
struct dim3 {
	unsigned x, y, z;
};
#include <__clang_cuda_builtin_vars.h> // threadIdx and the like; part of clang
struct __attribute__((aligned(16))) uint4 {
	unsigned x, y, z, w;
};
struct __attribute__((aligned(8))) uint2 {
	unsigned x, y;
};
struct __attribute__((aligned(16))) ulonglong2 {
	unsigned long long x, y;
};

#define MP_SHARED(type, name)                                                      \
	extern __shared__ __attribute__((aligned(16))) unsigned char mp_shared[];     \
	type *name = (type *)mp_shared

#else

#include "emulator/emulator.h"

#endif

#define MP_DEVICE static __device__ __forceinline__
#define MP_FUNCTION static __device__ __attribute__((noinline)) // for what is long and called from several kernels

// MP_KERNEL(name, threads) begins the definition of a kernel of at most so many threads a block, and, if a number of
// blocks follows, of at least so many blocks a multiprocessor; MP_REGISTER(name) after the definition makes it known
// to the emulator. MP_INLINE is for functions without a name.
#define MP_KERNEL(name, ...) extern "C" __global__ void __launch_bounds__(__VA_ARGS__) name
#define MP_INLINE __attribute__((always_inline))
#if !defined(MP_EMULATOR)
#define MP_REGISTER(name)
#endif

#if !defined(MP_EMULATOR)

static const u32 allLanes = 0xffffffffu;

#if defined(__NVCC__)

MP_DEVICE u32 mulHigh(u32 a, u32 b) { return __umulhi(a, b); }
MP_DEVICE u64 mulHigh(u64 a, u64 b) { return __umul64hi(a, b); }
MP_DEVICE u32 shuffle(u32 lanes, u32 v, u32 source) { return __shfl_sync(lanes, v, source); }
MP_DEVICE u32 shuffleXor(u32 lanes, u32 v, u32 distance) { return __shfl_xor_sync(lanes, v, distance); }
MP_DEVICE u32 ballot(u32 lanes, bool predicate) { return __ballot_sync(lanes, predicate); }
MP_DEVICE void warpSync(u32 lanes) { __syncwarp(lanes); }
MP_DEVICE void blockSync() { __syncthreads(); }
MP_DEVICE void deviceFence() { __threadfence(); }
MP_DEVICE u32 atomicAdd32(u32 *p, u32 v) { return atomicAdd(p, v); }
MP_DEVICE void atomicMin32(i32 *p, i32 v) { atomicMin(p, v); }
MP_DEVICE void atomicMax32(i32 *p, i32 v) { atomicMax(p, v); }
MP_DEVICE u64 atomicAdd64(u64 *p, u64 v) { return atomicAdd(p, v); }

#else

MP_DEVICE u32 mulHigh(u32 a, u32 b) { return __nvvm_mulhi_ui(a, b); }
MP_DEVICE u64 mulHigh(u64 a, u64 b) { return __nvvm_mulhi_ull(a, b); }
MP_DEVICE u32 shuffle(u32 lanes, u32 v, u32 source) {
	return (u32)__nvvm_shfl_sync_idx_i32(lanes, (int)v, source, 31);
}
MP_DEVICE u32 shuffleXor(u32 lanes, u32 v, u32 distance) {
	return (u32)__nvvm_shfl_sync_bfly_i32(lanes, (int)v, distance, 31);
}
MP_DEVICE u32 ballot(u32 lanes, bool predicate) { return __nvvm_vote_ballot_sync(lanes, predicate); }
MP_DEVICE void warpSync(u32 lanes) { __nvvm_bar_warp_sync(lanes); }
MP_DEVICE void blockSync() { __syncthreads(); }
MP_DEVICE void deviceFence() { __nvvm_membar_gl(); }
MP_DEVICE void atomicMin32(i32 *p, i32 v) { __nvvm_atom_min_gen_i(p, v); }
MP_DEVICE void atomicMax32(i32 *p, i32 v) { __nvvm_atom_max_gen_i(p, v); }
MP_DEVICE u32 atomicAdd32(u32 *p, u32 v) { return (u32)__nvvm_atom_add_gen_i((int *)p, (int)v); }
MP_DEVICE u64 atomicAdd64(u64 *p, u64 v) { return (u64)__nvvm_atom_add_gen_ll((i64 *)p, (i64)v); }

#endif

// loadStream reads 16 bytes that are not needed again, storeStream writes them. loadFresh reads a word that other
// blocks of the same launch have written. loadRelaxed reads a word, or two, that others write meanwhile, and
// storeRelaxed writes it for them, each word at once.
#if defined(__NVCC__)
MP_DEVICE uint4 loadStream(const uint4 *p) { return __ldcs(p); }
#else
MP_DEVICE uint4 loadStream(const uint4 *p) {
	uint4 v;
	asm("ld.global.cs.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w) : "l"(p));
	return v;
}
#endif
MP_DEVICE void storeStream(uint4 *p, uint4 v) {
	asm volatile("st.global.cs.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w)
	             : "memory");
}
MP_DEVICE u64 loadFresh(const u64 *p) { return *(const volatile u64 *)p; }
MP_DEVICE u64 loadRelaxed(const u64 *p) {
	u64 v;
	asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(v) : "l"(p) : "memory");
	return v;
}
MP_DEVICE ulonglong2 loadRelaxed(const ulonglong2 *p) {
	ulonglong2 v;
	asm volatile("ld.relaxed.gpu.global.v2.u64 {%0, %1}, [%2];" : "=l"(v.x), "=l"(v.y) : "l"(p) : "memory");
	return v;
}
MP_DEVICE void storeRelaxed(u64 *p, u64 v) {
	asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(p), "l"(v) : "memory");
}

MP_DEVICE u64 shuffle(u32 lanes, u64 v, u32 source) {
	return (u64)shuffle(lanes, (u32)(v >> 32), source) << 32 | shuffle(lanes, (u32)v, source);
}
MP_DEVICE u64 shuffleXor(u32 lanes, u64 v, u32 distance) {
	return (u64)shuffleXor(lanes, (u32)(v >> 32), distance) << 32 | shuffleXor(lanes, (u32)v, distance);
}
// prefetch brings the sector of 32 bytes that p points into to the first-level cache.
MP_DEVICE void prefetch(const void *p) { asm volatile("prefetch.L1 [%0];" ::"l"(p)); }

// letNextBegin lets the next kernel of the stream begin, if it is launched to begin early, as soon as all blocks of
// this one have called it or ended. waitForPrevious waits, in a kernel that has begun early, until the one before has
// ended and what it wrote is seen. On devices before compute capability 9.0 kernels never begin early.
#if __CUDA_ARCH__ >= 900
MP_DEVICE void letNextBegin() { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
MP_DEVICE void waitForPrevious() { asm volatile("griddepcontrol.wait;" ::: "memory"); }
#else
MP_DEVICE void letNextBegin() {}
MP_DEVICE void waitForPrevious() {}
#endif

MP_DEVICE u32 leadingZeros(u32 x) { return x ? __builtin_clz(x) : 32; }
MP_DEVICE u32 leadingZeros(u64 x) { return x ? __builtin_clzll(x) : 64; }
MP_DEVICE u32 trailingZeros(u64 x) { return x ? __builtin_ctzll(x) : 64; }

#endif // !MP_EMULATOR

// The double with the same bits as a float64's binary representation, and back.
MP_DEVICE u64 bitsOf(double x) {
	union {
		double d;
		u64 u;
	} v;
	v.d = x;
	return v.u;
}
MP_DEVICE double doubleOf(u64 x) {
	union {
		double d;
		u64 u;
	} v;
	v.u = x;
	return v.d;
}

// castBits returns what has the same bits.
template <class To, class From> MP_DEVICE To castBits(From x) {
	static_assert(sizeof(To) == sizeof(From), "sizes differ");
	union {
		From from;
		To to;
	} v;
	v.from = x;
	return v.to;
}

// powerOfTwo returns 2^e for -1022 <= e <= 1023.
MP_DEVICE double powerOfTwo(i32 e) { return doubleOf((u64)(e + 1023) << 52); }

#endif
