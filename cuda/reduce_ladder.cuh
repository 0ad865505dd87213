// Reductions as they are taught, from partial sums in global memory to what is as fast as memory: package
// pkg/primer/primergpu.
//
// The first kernels are those of the page on which the ladder stands, with n that need not be a multiple of the block:
// elements beyond n are the operation's identity. M. Harris, "Optimizing Parallel Reduction in CUDA", NVIDIA 2007, has
// the next ones; warp shuffles came with compute capability 3.0.
#ifndef MPBENCH_REDUCE_LADDER_CUH
#define MPBENCH_REDUCE_LADDER_CUH

#include "primer.cuh"

// Reduction: block b of blocks combines its part of the n elements of x into out[b]. blockDim.x is a power of two. The
// grid may have any shape, and more blocks.
struct Reduction {
	const u8 *x;
	u8 *out;
	u8 *work;   // of reduceGlobal: an element for every thread
	u32 *count; // of reduceVector: 0 before and after
	u64 n, blocks;
	u32 operation, unused;
};

// elementOf returns element i, or the identity beyond the end.
template <class T, class O> MP_DEVICE T elementOf(const Reduction &r, u64 i) {
	return i < r.n ? ((const T *)r.x)[i] : O::identity();
}

// interleaved combines neighbours, then neighbours of these, and so on: in step s thread t with t mod 2s = 0 takes
// data[t + s]. Of every warp some threads work and some do not, until 2s is 32 times as large.
template <class T, class O> MP_DEVICE void interleaved(T *data) {
	u32 t = threadIdx.x;
	for (u32 s = 1; s < blockDim.x; s *= 2) {
		if (t % (2 * s) == 0) data[t] = O::combine(data[t], data[t + s]);
		blockSync();
	}
}

// reduceGlobal keeps partial results in global memory.
template <class T> MP_DEVICE void reduceGlobal(const Reduction &r) {
	withOperation<T>(r.operation, [&](auto o) {
		typedef decltype(o) O;
		u64 b = blockNumber();
		if (b >= r.blocks) return;
		T *data = (T *)r.work + b * blockDim.x;
		data[threadIdx.x] = elementOf<T, O>(r, b * blockDim.x + threadIdx.x);
		blockSync();
		interleaved<T, O>(data);
		if (threadIdx.x == 0) ((T *)r.out)[b] = data[0];
	});
}

// inShared copies a block's part to shared memory, each thread perThread elements combined, has it combined there, and
// writes the result. Shared memory: an element a thread.
template <class T, class O, class F> MP_DEVICE void inShared(const Reduction &r, u32 perThread, F combine) {
	MP_SHARED(T, data);
	u64 b = blockNumber();
	if (b >= r.blocks) return;
	u64 i = b * perThread * blockDim.x + threadIdx.x;
	T v = elementOf<T, O>(r, i);
	if (perThread == 2) v = O::combine(v, elementOf<T, O>(r, i + blockDim.x));
	data[threadIdx.x] = v;
	blockSync();
	combine(data);
	if (threadIdx.x == 0) ((T *)r.out)[b] = data[0];
}

// reduceDivergent is reduceGlobal in shared memory.
template <class T> MP_DEVICE void reduceDivergent(const Reduction &r) {
	withOperation<T>(r.operation, [&](auto o) {
		typedef decltype(o) O;
		inShared<T, O>(r, 1, [](T *data) { interleaved<T, O>(data); });
	});
}

// reduceStrided does the same additions by the first threads, so that at most one warp diverges. Its threads use words
// that are 2s apart, of which up to 32 lie in one bank.
template <class T> MP_DEVICE void reduceStrided(const Reduction &r) {
	withOperation<T>(r.operation, [&](auto o) {
		typedef decltype(o) O;
		inShared<T, O>(r, 1, [](T *data) {
			for (u32 s = 1; s < blockDim.x; s *= 2) {
				u32 i = 2 * s * threadIdx.x;
				if (i < blockDim.x) data[i] = O::combine(data[i], data[i + s]);
				blockSync();
			}
		});
	});
}

// halves adds the upper half of the data to the lower one, and so on: neighbouring threads use neighbouring words.
template <class T, class O> MP_DEVICE void halves(T *data) {
	for (u32 s = blockDim.x / 2; s > 0; s /= 2) {
		if (threadIdx.x < s) data[threadIdx.x] = O::combine(data[threadIdx.x], data[threadIdx.x + s]);
		blockSync();
	}
}

// reduceSequential has neither divergent warps, but for the last one, nor conflicts.
template <class T> MP_DEVICE void reduceSequential(const Reduction &r) {
	withOperation<T>(r.operation, [&](auto o) {
		typedef decltype(o) O;
		inShared<T, O>(r, 1, [](T *data) { halves<T, O>(data); });
	});
}

// reduceFirstAdd combines two elements when it loads them: half of the threads of reduceSequential only load.
template <class T> MP_DEVICE void reduceFirstAdd(const Reduction &r) {
	withOperation<T>(r.operation, [&](auto o) {
		typedef decltype(o) O;
		inShared<T, O>(r, 2, [](T *data) { halves<T, O>(data); });
	});
}

template <class T, class O> MP_DEVICE T reduceWarp(T v) {
	for (u32 d = 16; d; d /= 2) v = O::combine(v, shuffleElementXor(v, d));
	return v;
}

// reduceBlock returns the combination of the values of all threads, to thread 0. Shared memory: an element a warp.
template <class T, class O> MP_DEVICE T reduceBlock(T v) {
	MP_SHARED(T, data);
	u32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
	v = reduceWarp<T, O>(v);
	if (lane == 0) data[warp] = v;
	blockSync();
	if (warp == 0) v = reduceWarp<T, O>(lane < blockDim.x / 32 ? data[lane] : O::identity());
	return v;
}

// reduceShuffle combines the elements of a warp in its registers. blockDim.x is 32 at least.
template <class T> MP_DEVICE void reduceShuffle(const Reduction &r) {
	withOperation<T>(r.operation, [&](auto o) {
		typedef decltype(o) O;
		u64 b = blockNumber();
		if (b >= r.blocks) return;
		u64 i = b * 2 * blockDim.x + threadIdx.x;
		T v = reduceBlock<T, O>(O::combine(elementOf<T, O>(r, i), elementOf<T, O>(r, i + blockDim.x)));
		if (threadIdx.x == 0) ((T *)r.out)[b] = v;
	});
}

// reduceVector has as many blocks as the device runs at a time, whose threads go through the array in steps of the
// grid and read 16 bytes at a time, four times in flight. The block that ends last combines the blocks' results, which
// are behind out[0]: there is no second launch. x is aligned to 16 bytes. Shared memory: 33 elements.
template <class T> MP_DEVICE void reduceVector(const Reduction &r) {
	withOperation<T>(r.operation, [&](auto o) {
		typedef decltype(o) O;
		MP_SHARED(T, data);
		u64 b = blockNumber();
		if (b >= r.blocks) return;
		const T *x = (const T *)r.x;
		u64 first = b * blockDim.x + threadIdx.x, step = r.blocks * blockDim.x, packs = r.n / Pack<T>::size;
		T sums[4 * Pack<T>::size];
		for (T &s : sums) s = O::identity();
		u64 i = first;
		for (; i + 3 * step < packs; i += 4 * step) {
			Pack<T> p[4];
			for (u32 k = 0; k < 4; k++) p[k] = loadPack(x, i + k * step);
			for (u32 k = 0; k < 4; k++)
				for (u32 j = 0; j < Pack<T>::size; j++)
					sums[k * Pack<T>::size + j] = O::combine(sums[k * Pack<T>::size + j], p[k].v[j]);
		}
		for (; i < packs; i += step) {
			Pack<T> p = loadPack(x, i);
			for (u32 j = 0; j < Pack<T>::size; j++) sums[j] = O::combine(sums[j], p.v[j]);
		}
		T v = elementOf<T, O>(r, packs * Pack<T>::size + first); // of the last ones that fill no 16 bytes
		for (T s : sums) v = O::combine(v, s);
		v = reduceBlock<T, O>(v);
		T *out = (T *)r.out;
		volatile u32 *last = (volatile u32 *)(data + 32);
		if (threadIdx.x == 0) {
			out[1 + b] = v;
			deviceFence();
			*last = atomicAdd32(r.count, 1) == r.blocks - 1;
		}
		blockSync();
		if (!*last) return;
		deviceFence();
		v = O::identity();
		for (u64 k = threadIdx.x; k < r.blocks; k += blockDim.x)
			v = O::combine(v, ((const volatile T *)out)[1 + k]);
		v = reduceBlock<T, O>(v);
		if (threadIdx.x == 0) {
			out[0] = v;
			*r.count = 0;
		}
	});
}

// MP_REDUCE_LADDER(T, suffix) defines the kernels for a type of elements, by the names of the functions and a suffix.
#define MP_REDUCE_LADDER(T, suffix)                   \
	MP_FOR_ELEMENT(reduceGlobal, Reduction, T, suffix);     \
	MP_FOR_ELEMENT(reduceDivergent, Reduction, T, suffix);  \
	MP_FOR_ELEMENT(reduceStrided, Reduction, T, suffix);    \
	MP_FOR_ELEMENT(reduceSequential, Reduction, T, suffix); \
	MP_FOR_ELEMENT(reduceFirstAdd, Reduction, T, suffix);   \
	MP_FOR_ELEMENT(reduceShuffle, Reduction, T, suffix);    \
	MP_FOR_ELEMENT(reduceVector, Reduction, T, suffix)

#endif
