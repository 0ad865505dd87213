// Reductions and scans of float32: pkg/primer/primergpu.
#include "reduce_ladder.cuh"
#include "scan.cuh"

MP_REDUCE_LADDER(float, Float32);
MP_SCANS(float, Float32);
MP_EXACT_SCANS(float, Float32);
