// Floating-point numbers in the order of additions of sums of several, and binary32 numbers in binary64:
// pkg/multifloat/multifloatgpu.
#include "tiles.cuh"

MP_MULTIFLOAT(64x1, (Levels<double, 1, 0, 0>));
MP_MULTIFLOAT(32x1, (Levels<float, 1, 0, 0>));
MP_MULTIFLOAT(Float32, (Levels<double, 1, 0, 0>, Widened));

MP_TILES(64x1, (Levels<double, 1, 0, 0>), 4, 4);
MP_TILES(32x1, (Levels<float, 1, 0, 0>), 4, 4);
