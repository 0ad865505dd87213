// Sums of 8 floating-point numbers: pkg/multifloat/multifloatgpu.
#include "multifloat.cuh"

MP_MULTIFLOAT(64x8, (Levels<double, 8, 1, 7>));
MP_MULTIFLOAT(32x8, (Levels<float, 8, 1, 7>));
