// Package lanes has the loops of float64 sums and dot products that vector registers run: term i belongs to lane
// i mod [Count], and every lane adds its own terms in turn. What becomes of the lanes is up to the caller.
//
// Each loop is in plain Go (*_generic.go) and, for AVX2 and AVX-512, in assembly that _asm generates. They give the
// same bits, as every lane does the same operations in the same order.
package lanes

// Count is the number of lanes.
const Count = 16

// Lane has one number for each lane.
type Lane [Count]float64
