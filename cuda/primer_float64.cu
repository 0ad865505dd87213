// Reductions and scans of float64: pkg/primer/primergpu.
#include "reduce_ladder.cuh"
#include "scan.cuh"

MP_REDUCE_LADDER(double, Float64);
MP_SCANS(double, Float64);
MP_EXACT_SCANS(double, Float64);
