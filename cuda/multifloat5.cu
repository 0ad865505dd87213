// Sums of 5 floating-point numbers: pkg/multifloat/multifloatgpu.
#include "multifloat.cuh"

MP_MULTIFLOAT(64x5, (Levels<double, 5, 1, 4>));
MP_MULTIFLOAT(32x5, (Levels<float, 5, 1, 4>));
