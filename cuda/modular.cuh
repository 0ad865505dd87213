// Residues modulo m = 2^28 - delta, 0 < delta < 2^16: the moduli of the deferred engine.
#ifndef MPBENCH_MODULAR_CUH
#define MPBENCH_MODULAR_CUH

#include "portable.cuh"

static const u32 limbBits = 28;
static const u32 limbMask = (1u << limbBits) - 1;

// fold returns x mod m for any x: 2^28 = delta modulo m, so what exceeds 28 bits is worth delta each.
// 64 -> 53 -> 42 -> 30 bits, then less than 5m.
MP_DEVICE u32 fold(u64 x, u32 delta) {
	x = (x >> limbBits) * delta + (x & limbMask);
	x = (x >> limbBits) * delta + (x & limbMask);
	u32 y = (u32)(x >> limbBits) * delta + (u32)(x & limbMask);
	u32 z = (y >> limbBits) * delta + (y & limbMask); // less than 2^28 + 2^18
	u32 m = (1u << limbBits) - delta;
	return z >= m ? z - m : z;
}

// mulMod returns a*b mod m for a, b < 2^28.
MP_DEVICE u32 mulMod(u32 a, u32 b, u32 delta) { return fold((u64)a * b, delta); }

// laneSum returns the sum of the residues v < m of all 32 lanes mod m, in every lane.
MP_DEVICE u32 laneSum(u32 v, u32 delta) {
	for (u32 d = 16; d >= 2; d /= 2) v += shuffleXor(allLanes, v, d); // 16 residues are below 2^32
	return fold((u64)v + shuffleXor(allLanes, v, 1u), delta);
}

#endif
