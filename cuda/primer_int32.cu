// Reductions and scans of int32: pkg/primer/primergpu.
#include "reduce_ladder.cuh"
#include "scan.cuh"

MP_REDUCE_LADDER(i32, Int32);
MP_SCANS(i32, Int32);
