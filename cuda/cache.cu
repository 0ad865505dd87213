// What empties the caches before a kernel is timed.
#include "portable.cuh"

// evict reads n 16-byte words, so that nothing else is left in the caches. It writes nothing that matters: sink[0]
// only if the words' sum modulo 2^32 is the given number, which keeps the reads.
MP_KERNEL(evict, 1024)(u32 *sink, const uint4 *__restrict__ x, u64 n, u32 number) {
	u32 s = 0;
	for (u64 i = (u64)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (u64)gridDim.x * blockDim.x) {
		uint4 v = x[i];
		s += v.x + v.y + v.z + v.w;
	}
	if (s == number && number != 0) sink[0] = s;
}
MP_REGISTER(evict);
