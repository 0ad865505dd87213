// Floating-point numbers in the order of additions of sums of several: pkg/multifloat/multifloatgpu.
#include "multifloat.cuh"

MP_MULTIFLOAT(64x1, (Levels<double, 1, 0, 0>));
MP_MULTIFLOAT(32x1, (Levels<float, 1, 0, 0>));

// Dot products in binary64 of vectors of binary32 numbers.
MP_KERNEL(multifloatDotsFloat32, 128)
(ComponentPlanes z, ComponentPlanes x, ComponentPlanes y, u64 columns, u64 n, u64 segments, u64 tasks, u64 asStored) {
	Vectors<Levels<double, 1, 0, 0>, Widened>::sums<true>(z, x, y, columns, n, segments, tasks, 0, asStored);
}
MP_REGISTER(multifloatDotsFloat32);
