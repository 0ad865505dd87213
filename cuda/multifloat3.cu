// Sums of 3 floating-point numbers: pkg/multifloat/multifloatgpu.
#include "tiles.cuh"

MP_MULTIFLOAT(64x3, (Levels<double, 3, 1, 2>));
MP_MULTIFLOAT(32x3, (Levels<float, 3, 1, 2>));

MP_TILES(64x3, (Levels<double, 3, 1, 2>), 2, 2);
MP_TILES(32x3, (Levels<float, 3, 1, 2>), 2, 2);
