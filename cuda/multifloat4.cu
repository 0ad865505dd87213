// Sums of 4 floating-point numbers: pkg/multifloat/multifloatgpu.
#include "tiles.cuh"

MP_MULTIFLOAT(64x4, (Levels<double, 4, 1, 3>));
MP_MULTIFLOAT(32x4, (Levels<float, 4, 1, 3>));

MP_TILES(64x4, (Levels<double, 4, 1, 3>), 2, 2);
MP_TILES(32x4, (Levels<float, 4, 1, 3>), 2, 2);
