package deferredgpu

import (
	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
)

// This file has products of binary64 matrices that are not converted: 8 bytes an element are read, and become limbs
// in registers. They pay where a matrix is used for few products.

// fewUses is up to how many products of a matrix take less time in place than with a conversion before.
const fewUses = 8

// inPlaceVariant is what records call it.
const inPlaceVariant = "rows in place, limbs in registers"

// InPlace tells whether a plan's products can be computed from binary64 numbers where they are.
func InPlace(plan *deferred.Plan, a *Numbers, l numbers.Layout) bool {
	return a.width == 0 && l.ColStride == 1 && limbsFor(plan) > 0 && !plan.Truncated()
}

// NewMatrixInPlace is [NewMatrix] without planes, for what [InPlace] is true of: a must outlive it.
func NewMatrixInPlace(d *gpu.Device, plan *deferred.Plan, a *Numbers, l numbers.Layout) (*Matrix, error) {
	m := &Matrix{plan: plan, low: plan.Lows(), source: a, layout: l}
	low, err := uploadLows(d, m.low)
	m.planes = &planes{device: d, limbs: limbsFor(plan), rows: l.Rows, columns: l.Cols, ld: leadingDimension(l.Cols),
		lows: low}
	return m, err
}

// inPlace tells whether there are no planes.
func (a *Matrix) inPlace() bool { return a.planes.lows != nil }

// floatRows is the matrix for kernels.
func (a *Matrix) floatRows() cuda.FloatRows {
	return cuda.FloatRows{
		A: gpu.Pointer[float64](a.source.values.Pointer().At(a.layout.Offset)), Low: a.planes.lows.Pointer(),
		RowStride: int64(a.layout.RowStride), Columns: uint32(a.layout.Cols),
	}
}
