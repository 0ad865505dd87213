// Sums of 7 floating-point numbers: pkg/multifloat/multifloatgpu.
#include "multifloat.cuh"

MP_MULTIFLOAT(64x7, (Levels<double, 7, 1, 6>));
MP_MULTIFLOAT(32x7, (Levels<float, 7, 1, 6>));
