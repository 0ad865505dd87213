// Floating-point numbers in the order of additions of sums of several: pkg/multifloat/multifloatgpu.
#include "multifloat.cuh"

MP_MULTIFLOAT(64x1, (Levels<double, 1, 0, 0>));
MP_MULTIFLOAT(32x1, (Levels<float, 1, 0, 0>));
