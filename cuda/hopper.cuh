// What tensor cores and copies of compute capability 9.0 have beyond tensor.cuh: products of 64 rows by 256 columns
// by a group of four warps, copies of blocks of bytes to shared memory, barriers that wait for them, and clusters of
// two blocks that read each other's copies. MP_HOPPER is defined where these are: on the emulator, and compiled for
// sm_90a.
#ifndef MPBENCH_HOPPER_CUH
#define MPBENCH_HOPPER_CUH

#include "tensor.cuh"

#if defined(MP_EMULATOR)
#define MP_HOPPER 1
#include "emulator/hopper.h"
#elif defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define MP_HOPPER 1

// A barrier, 8 bytes of shared memory, begins with so many arrivals to come. Its phase is complete when they have
// come and all bytes that it was told to expect; the next one then begins. waitPhase waits for the end of the phase
// of this parity, 0 for the first one: with 1 it goes on at once before that has ended.
MP_DEVICE void beginBarrier(SharedAddress barrier, u32 arrivals) {
	asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}
MP_DEVICE void arriveExpecting(SharedAddress barrier, u32 bytes) {
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}
MP_DEVICE void waitPhase(SharedAddress barrier, u32 parity) {
	u32 over;
	do {
		asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
		             : "=r"(over)
		             : "r"(barrier), "r"(parity)
		             : "memory");
	} while (!over);
}

// copyBlock copies bytes from device memory and counts them at the barrier. copyHalf is called by both blocks of a
// cluster, rank 0 and 1: each copies half of the bytes, to the same place of both.
MP_DEVICE void copyBlock(SharedAddress to, const u8 *from, u32 bytes, SharedAddress barrier) {
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
	             "l"(from), "r"(bytes), "r"(barrier)
	             : "memory");
}
MP_DEVICE void copyHalf(SharedAddress to, const u8 *from, u32 bytes, SharedAddress barrier, u32 rank) {
	u32 half = bytes / 2, at = rank * half;
	unsigned short both = 3;
	asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, "
	             "[%3], %4;" ::"r"(to + at),
	             "l"(from + at), "r"(half), "r"(barrier), "h"(both)
	             : "memory");
}

// arriveInBoth arrives at the barrier of both blocks of the cluster, once for the warp; a barrier's arrivals are
// clusterBlocks times those of a block. syncCluster is a barrier of all threads of both; before it, the barriers
// that a thread has begun are seen by the other block.
static const u32 clusterBlocks = 2;
MP_DEVICE void arriveInBoth(SharedAddress barrier) {
	u32 lane = threadIdx.x % 32;
	if (lane < clusterBlocks)
		asm volatile("{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1; "
		             "mbarrier.arrive.shared::cluster.b64 _, [a]; }" ::"r"(barrier),
		             "r"(lane)
		             : "memory");
	warpSync(allLanes);
}
MP_DEVICE void syncCluster() {
	asm volatile("fence.mbarrier_init.release.cluster;\n\t"
	             "barrier.cluster.arrive.release.aligned;\n\t"
	             "barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// keepRegisters<N> lets a thread of a group of four warps have N registers, giveRegisters<N> only so many.
template <int N> MP_DEVICE void keepRegisters() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N)); }
template <int N> MP_DEVICE void giveRegisters() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N)); }

// WideSums are a thread's 128 sums of a product of 64 rows and 256 columns: with g = lane/4 and t = lane%4, warp w
// of the group has in sum 4j + 2h + c the entry in row 16w + 8h + g and column 8j + 2t + c. They are registers that
// the compiler does not know, so that it neither copies nor spills them, and a kernel has one object at most.
struct WideSums {};
MP_DEVICE void beginSums(WideSums &) { asm volatile(".reg .s32 sum<128>;"); }
template <int I> MP_DEVICE i32 sumOf(WideSums &) {
	i32 x;
	asm volatile("mov.b32 %0, sum%1;" : "=r"(x) : "n"(I));
	return x;
}
template <int I> MP_DEVICE void setSum(WideSums &, i32 x) { asm volatile("mov.b32 sum%0, %1;" ::"n"(I), "r"(x)); }

#define MP_SUMS10(tens)                                                                           \
	"sum" #tens "0, sum" #tens "1, sum" #tens "2, sum" #tens "3, sum" #tens "4, sum" #tens "5, "   \
	"sum" #tens "6, sum" #tens "7, sum" #tens "8, sum" #tens "9, "
#define MP_SUMS                                                                                   \
	MP_SUMS10() MP_SUMS10(1) MP_SUMS10(2) MP_SUMS10(3) MP_SUMS10(4) MP_SUMS10(5) MP_SUMS10(6)      \
	MP_SUMS10(7) MP_SUMS10(8) MP_SUMS10(9) MP_SUMS10(10) MP_SUMS10(11)                             \
	"sum120, sum121, sum122, sum123, sum124, sum125, sum126, sum127"

// multiplyWide adds, or, without add, sets the product of 64 rows and 256 columns of 32 bytes, signed. It only
// begins: sums are not touched between beginWide and the wait. commitWide makes what has begun a group, waitWide<N>
// waits for all groups but the last N.
MP_DEVICE void multiplyWide(WideSums &, u64 rows, u64 columns, u32 add) {
	asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 {" MP_SUMS
	             "}, %0, %1, p; }" ::"l"(rows),
	             "l"(columns), "r"(add)
	             : "memory");
}
MP_DEVICE void beginWide() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
MP_DEVICE void commitWide() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> MP_DEVICE void waitWide() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }

MP_DEVICE u32 lowAddress(SharedAddress a) { return a; }
MP_DEVICE SharedAddress alignedBy1024(SharedAddress a) { return (a + 1023) & ~1023u; }

#endif

#if defined(MP_HOPPER)
// wideOperand describes lines of 128 bytes, in groups of 8 from a multiple of 1024 bytes on, whose pieces of 16
// bytes are exchanged as in placeInPlane; 2 more is the next 32 bytes of each.
MP_DEVICE u64 wideOperand(SharedAddress lines) {
	return (u64)((lowAddress(lines) & 0x3ffff) >> 4) | (u64)1 << 16 | (u64)(1024 >> 4) << 32 | (u64)1 << 62;
}
#endif

#endif
