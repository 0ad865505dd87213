package deferredgpu

import (
	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
)

// NewResidueMatrix is NewMatrix with residues also where limbs take less time.
func NewResidueMatrix(d *gpu.Device, plan *deferred.Plan, a *Numbers, l numbers.Layout) (*Matrix, error) {
	return newMatrix(d, plan, a, l, nil, 0)
}
