// Groups of lanes that work on one number together: a thread alone, a part of a warp, or a block.
//
// Residue i of a number belongs to lane i mod size(), which alone reads and writes it; everything else about the
// number is the same in all lanes, so that all of them take the same decisions. Different groups of a warp may take
// different paths.
//
//   lane(), size()   this lane's number, the number of lanes
//   sum(a, b)        replaces a and b by their sums over all lanes, modulo 2^64 and 2^32, in all lanes
//   any(p)           whether p holds in a lane
//   sync()           makes what lanes wrote to memory visible to the others
//   settle()         to be called at the end of a function that got the group by value and used it
#ifndef MPBENCH_GROUP_CUH
#define MPBENCH_GROUP_CUH

#include "portable.cuh"

#define MP_MEMBER __device__ __forceinline__
// A function that is called rather than inlined: what is rare or long, so that kernels stay small. Its arguments go by
// value, because a caller's variable whose address is taken lies in memory.
#define MP_CALLED static __device__ __attribute__((noinline))

// Thread is a group of one lane.
struct Thread {
	static const u32 unroll = 4; // residues in flight at once; a divisor of 8
	MP_MEMBER u32 lane() const { return 0; }
	MP_MEMBER u32 size() const { return 1; }
	MP_MEMBER void sum(u64 &, u32 &) {}
	MP_MEMBER bool any(bool p) { return p; }
	MP_MEMBER void sync() {}
	MP_MEMBER void settle() {}
};

// Warp is a group of G consecutive lanes of a warp, the first of them a multiple of G; G is a power of two, 2 to 32.
// Blocks are one-dimensional, of whole groups.
template <u32 G> struct Warp {
	static const u32 unroll = 1;
	u32 lanes; // the mask of the group's lanes
	MP_MEMBER Warp() : lanes(G == 32 ? allLanes : ((1u << (G & 31)) - 1) << (threadIdx.x & 31 & ~(G - 1))) {}
	MP_MEMBER u32 lane() const { return threadIdx.x & (G - 1); }
	MP_MEMBER u32 size() const { return G; }
	MP_MEMBER void sum(u64 &a, u32 &b) {
#pragma unroll
		for (u32 d = G / 2; d; d /= 2) {
			a += shuffleXor(lanes, a, d);
			b += shuffleXor(lanes, b, d);
		}
	}
	MP_MEMBER bool any(bool p) { return (ballot(lanes, p) & lanes) != 0; }
	MP_MEMBER void sync() { warpSync(lanes); }
	MP_MEMBER void settle() {}
};

// Block is a group of all threads of a one-dimensional block of whole warps. Sums take turns with two areas of shared
// memory, so that each needs one barrier only.
struct Block {
	static const u32 unroll = 1;
	struct Partial {
		u64 a[2][32];
		u32 b[2][32];
	};
	Partial *partial; // in shared memory
	u32 turn;
	MP_MEMBER explicit Block(void *shared) : partial((Partial *)shared), turn(0) {}
	MP_MEMBER u32 lane() const { return threadIdx.x; }
	MP_MEMBER u32 size() const { return blockDim.x; }
	MP_MEMBER void sum(u64 &a, u32 &b) {
#pragma unroll
		for (u32 d = 16; d; d /= 2) {
			a += shuffleXor(allLanes, a, d);
			b += shuffleXor(allLanes, b, d);
		}
		if ((threadIdx.x & 31) == 0) {
			partial->a[turn][threadIdx.x / 32] = a;
			partial->b[turn][threadIdx.x / 32] = b;
		}
		blockSync();
		a = 0, b = 0;
		for (u32 w = 0; w < blockDim.x / 32; w++) {
			a += partial->a[turn][w];
			b += partial->b[turn][w];
		}
		turn ^= 1;
	}
	MP_MEMBER bool any(bool p) {
		u64 none = 0;
		u32 count = p;
		sum(none, count);
		return count != 0;
	}
	MP_MEMBER void sync() { blockSync(); }
	MP_MEMBER void settle() { blockSync(); }
};

// forEach calls f(i) for the residues i of this lane, of which there are count in all lanes, a multiple of 8.
template <class G, class F> MP_DEVICE void forEach(const G &group, u32 count, F f) {
	for (u32 first = group.lane(); first < count; first += group.size() * G::unroll) {
#pragma unroll
		for (u32 k = 0; k < G::unroll; k++) f(first + k * group.size());
	}
}

#endif
