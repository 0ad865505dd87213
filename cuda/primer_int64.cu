// Reductions and scans of int64: pkg/primer/primergpu.
#include "reduce_ladder.cuh"
#include "scan.cuh"

MP_REDUCE_LADDER(i64, Int64);
MP_SCANS(i64, Int64);
