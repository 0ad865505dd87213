// Sums of 6 floating-point numbers: pkg/multifloat/multifloatgpu.
#include "multifloat.cuh"

MP_MULTIFLOAT(64x6, (Levels<double, 6, 1, 5>));
MP_MULTIFLOAT(32x6, (Levels<float, 6, 1, 5>));
