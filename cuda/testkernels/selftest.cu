// Kernels that test the way from Go to a device and back: launches, arguments, shared memory, barriers, faults.
#include "round_rows.cuh"

// empty does nothing: what a launch costs.
MP_KERNEL(empty, 1024)() {}
MP_REGISTER(empty);

// arguments writes each of its parameters to out, as 64-bit words.
struct ArgumentPair {
	u32 a;
	u64 b;
};
MP_KERNEL(arguments, 32)(u64 *out, u32 small, u64 large, i32 negative, double real, ArgumentPair pair) {
	if (threadIdx.x == 0) {
		out[0] = small;
		out[1] = large;
		out[2] = (u64)(i64)negative;
		out[3] = bitsOf(real);
		out[4] = pair.a;
		out[5] = pair.b;
	}
}
MP_REGISTER(arguments);

// blockSum adds n words modulo 2^64, exactly: each block its own part, with a shared-memory tree; one atomic addition
// a block. *sum starts at 0. Shared memory: 8 bytes a thread. blockDim.x is a power of two.
MP_KERNEL(blockSum, 1024)(u64 *sum, const u64 *__restrict__ x, u64 n) {
	MP_SHARED(u64, partial);
	u64 s = 0;
	for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) s += x[i];
	partial[threadIdx.x] = s;
	for (u32 half = blockDim.x / 2; half >= 1; half /= 2) {
		blockSync();
		if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
	}
	if (threadIdx.x == 0) atomicAdd64(sum, partial[0]);
}
MP_REGISTER(blockSum);

// warpSum writes the sum of the lane numbers' squares, found with shuffles, and the ballot of the odd lanes.
MP_KERNEL(warpSum, 32)(u64 *out) {
	u64 s = (u64)threadIdx.x * threadIdx.x;
	for (u32 d = 16; d; d /= 2) s += shuffleXor(allLanes, s, d);
	u32 odd = ballot(allLanes, threadIdx.x & 1);
	u32 last = shuffle(allLanes, threadIdx.x, 31u);
	if (threadIdx.x == 0) {
		out[0] = s;
		out[1] = odd;
		out[2] = last;
	}
}
MP_REGISTER(warpSum);

// certainRoundings writes certainRounding of windows of n limbs, one a block.
struct Roundings {
	const u32 *windows;
	const u32 *precision;
	const i64 *error;
	u32 *certain;
	u32 n;
};
MP_KERNEL(certainRoundings, 32)(Roundings r) {
	const u32 *window = r.windows + (u64)blockIdx.x * r.n;
	u32 bits = bitLength(window, r.n, threadIdx.x);
	bool certain = certainRounding(window, r.n, bits, r.precision[blockIdx.x], r.error[blockIdx.x], threadIdx.x);
	if (threadIdx.x == 0) r.certain[blockIdx.x] = certain;
}
MP_REGISTER(certainRoundings);

// fault writes to an address that no allocation holds.
MP_KERNEL(fault, 32)(u64 *out, u64 offset) { out[offset] = 1; }
MP_REGISTER(fault);

// divergent lets half of the threads of a block miss a barrier: undefined on a GPU, an error in the emulator. Never
// launched on a GPU.
MP_KERNEL(divergent, 1024)(u32 *out) {
	if (threadIdx.x < blockDim.x / 2) blockSync();
	out[threadIdx.x] = 1;
}
MP_REGISTER(divergent);

// copyWords copies n 16-byte words: bytes read + bytes written over its time is the device's copy bandwidth.
MP_KERNEL(copyWords, 1024)(uint4 *__restrict__ to, const uint4 *__restrict__ from, u64 n) {
	for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) to[i] = from[i];
}
MP_REGISTER(copyWords);

// spin lets one thread compute for a while: a step is some 5 cycles. What is launched meanwhile waits on the device,
// so that events behind it measure the device's time alone. *out is the result, which nobody needs.
MP_KERNEL(spin, 32)(u64 *out, u64 steps) {
	u64 x = 1;
	for (u64 i = 0; i < steps; i++) x = x * 6364136223846793005ull + 1442695040888963407ull;
	*out = x;
}
MP_REGISTER(spin);
