// Sums of 2 floating-point numbers: pkg/multifloat/multifloatgpu.
#include "tiles.cuh"

MP_MULTIFLOAT(DD, (DoubleWord));
MP_MULTIFLOAT(DS, (DoubleWord, Packed<LowSingle>));
MP_MULTIFLOAT(Native, (MixedWord, Packed<LowSingle>));
MP_MULTIFLOAT(DI, (DoubleWord, Packed<LowHalf>));
MP_MULTIFLOAT(Sloppy, (Levels<double, 2, 0, 1>));
MP_MULTIFLOAT(64x2, (Levels<double, 2, 1, 1>));
MP_MULTIFLOAT(32x2, (Levels<float, 2, 1, 1>));

MP_TILES(DD, (DoubleWord), 4, 4);
MP_TILES(DS, (DoubleWord, Packed<LowSingle>), 4, 4);
MP_TILES(Native, (MixedWord, Packed<LowSingle>), 4, 4);
MP_TILES(DI, (DoubleWord, Packed<LowHalf>), 4, 4);
MP_TILES(Sloppy, (Levels<double, 2, 0, 1>), 4, 4);
MP_TILES(64x2, (Levels<double, 2, 1, 1>), 4, 4);
MP_TILES(32x2, (Levels<float, 2, 1, 1>), 4, 4);
