// Operations of reductions and scans, as pkg/primer has them: of integers modulo 2^w; minimum and maximum as in IEEE
// 754-2019; && and || of numbers that are not 0.
#ifndef MPBENCH_PRIMER_CUH
#define MPBENCH_PRIMER_CUH

#include "portable.cuh"

// What an element is: unsigned integers of its size, the greatest and the least number; what adds and multiplies.
template <class T> struct Element;
template <> struct Element<i32> {
	typedef u32 Bits;
	static const bool isInteger = true;
	static __device__ i32 greatest() { return 0x7fffffff; }
	static __device__ i32 least() { return -0x7fffffff - 1; }
	static __device__ i32 add(i32 a, i32 b) { return (i32)((u32)a + (u32)b); }
	static __device__ i32 multiply(i32 a, i32 b) { return (i32)((u32)a * (u32)b); }
};
template <> struct Element<i64> {
	typedef u64 Bits;
	static const bool isInteger = true;
	static __device__ i64 greatest() { return 0x7fffffffffffffffll; }
	static __device__ i64 least() { return -0x7fffffffffffffffll - 1; }
	static __device__ i64 add(i64 a, i64 b) { return (i64)((u64)a + (u64)b); }
	static __device__ i64 multiply(i64 a, i64 b) { return (i64)((u64)a * (u64)b); }
};
template <> struct Element<float> {
	typedef u32 Bits;
	static const bool isInteger = false;
	static __device__ float greatest() { return castBits<float>(0x7f800000u); }
	static __device__ float least() { return castBits<float>(0xff800000u); }
	static __device__ float add(float a, float b) { return a + b; }
	static __device__ float multiply(float a, float b) { return a * b; }
};
template <> struct Element<double> {
	typedef u64 Bits;
	static const bool isInteger = false;
	static __device__ double greatest() { return castBits<double>((u64)0x7ff0000000000000ull); }
	static __device__ double least() { return castBits<double>((u64)0xfff0000000000000ull); }
	static __device__ double add(double a, double b) { return a + b; }
	static __device__ double multiply(double a, double b) { return a * b; }
};

// isMinus tells whether the sign of a number is set, also of -0.
template <class T> MP_DEVICE bool isMinus(T a) {
	typedef typename Element<T>::Bits Bits;
	return castBits<Bits>(a) >> (8 * sizeof(T) - 1);
}

template <class T> struct Sum {
	static __device__ T identity() { return 0; }
	static __device__ T combine(T a, T b) { return Element<T>::add(a, b); }
};
template <class T> struct Product {
	static __device__ T identity() { return 1; }
	static __device__ T combine(T a, T b) { return Element<T>::multiply(a, b); }
};
template <class T> struct Minimum {
	static __device__ T identity() { return Element<T>::greatest(); }
	static __device__ T combine(T a, T b) {
		if (Element<T>::isInteger) return a < b ? a : b;
		if (a != a || b != b) return a != a ? a : b;
		return a < b || (a == b && isMinus(a)) ? a : b;
	}
};
template <class T> struct Maximum {
	static __device__ T identity() { return Element<T>::least(); }
	static __device__ T combine(T a, T b) {
		if (Element<T>::isInteger) return a > b ? a : b;
		if (a != a || b != b) return a != a ? a : b;
		return a > b || (a == b && !isMinus(a)) ? a : b;
	}
};
template <class T> struct And {
	static __device__ T identity() { return -1; }
	static __device__ T combine(T a, T b) { return a & b; }
};
template <class T> struct Or {
	static __device__ T identity() { return 0; }
	static __device__ T combine(T a, T b) { return a | b; }
};
template <class T> struct Xor {
	static __device__ T identity() { return 0; }
	static __device__ T combine(T a, T b) { return a ^ b; }
};
template <class T> struct All {
	static __device__ T identity() { return 1; }
	static __device__ T combine(T a, T b) { return a != 0 && b != 0; }
};
template <class T> struct Any {
	static __device__ T identity() { return 0; }
	static __device__ T combine(T a, T b) { return a != 0 || b != 0; }
};

// BitOperations calls what computes with the bits of integers.
template <class T, bool integer> struct BitOperations {
	template <class F> static __device__ void call(u32, F) {}
};
template <class T> struct BitOperations<T, true> {
	template <class F> static __device__ void call(u32 operation, F f) {
		switch (operation) {
		case 4: f(And<T>()); break;
		case 5: f(Or<T>()); break;
		case 6: f(Xor<T>()); break;
		}
	}
};

// withOperation calls f with an operation, by its number in pkg/primer: each has code of its own, and the choice is
// made once.
template <class T, class F> MP_DEVICE void withOperation(u32 operation, F f) {
	switch (operation) {
	case 0: f(Sum<T>()); break;
	case 1: f(Product<T>()); break;
	case 2: f(Minimum<T>()); break;
	case 3: f(Maximum<T>()); break;
	case 7: f(All<T>()); break;
	case 8: f(Any<T>()); break;
	default: BitOperations<T, Element<T>::isInteger>::call(operation, f);
	}
}

// shuffleElement returns the element of lane source.
template <class T> MP_DEVICE T shuffleElement(T v, u32 source) {
	typedef typename Element<T>::Bits Bits;
	return castBits<T>(shuffle(allLanes, castBits<Bits>(v), source));
}
template <class T> MP_DEVICE T shuffleElementXor(T v, u32 distance) {
	typedef typename Element<T>::Bits Bits;
	return castBits<T>(shuffleXor(allLanes, castBits<Bits>(v), distance));
}

// Pack are the elements of 16 bytes.
template <class T> struct Pack {
	static const u32 size = 16 / sizeof(T);
	T v[size];
};
template <class T> MP_DEVICE Pack<T> loadPack(const T *x, u64 i) {
	return castBits<Pack<T>>(loadStream((const uint4 *)x + i));
}
template <class T> MP_DEVICE void storePack(T *y, u64 i, Pack<T> p) {
	storeStream((uint4 *)y + i, castBits<uint4>(p));
}

// blockNumber numbers the blocks of a grid of one, two or three dimensions.
MP_DEVICE u64 blockNumber() { return ((u64)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x; }

// MP_FOR_ELEMENT(function, Argument, T, suffix) defines the kernel that calls function<T>(argument).
#define MP_FOR_ELEMENT(function, Argument, T, suffix)                              \
	MP_KERNEL(function##suffix, 1024)(Argument argument) { function<T>(argument); } \
	MP_REGISTER(function##suffix)

#endif
