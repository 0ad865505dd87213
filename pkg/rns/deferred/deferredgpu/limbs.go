package deferredgpu

import (
	"fmt"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/deferred"
)

// This file has products of short factors, which take less time as limbs than as residues (docs/design/gpu.md).

// mostLimbs is up to how many limbs there are kernels, which take less time than residues (BenchmarkLimbs).
const mostLimbs = 4

// PlanesOf returns how many words of 4 bytes an element takes on a device, and whether they are limbs, not residues.
func PlanesOf(plan *deferred.Plan) (words int, limbs bool) {
	if n := limbsFor(plan); n > 0 {
		return n, true
	}
	return plan.Moduli(), false
}

// limbsFor returns the limbs of the factors of a plan, or 0 if residues are better.
func limbsFor(plan *deferred.Plan) int {
	limbs := max(1, (max(plan.ABits(), plan.XBits())+limbBits-1)/limbBits)
	if limbs > mostLimbs {
		return 0
	}
	return limbs
}

// defaultLimbShape takes as many warps for a row, and as many parts of a row, as fill the device.
func (p *Product) defaultLimbShape() Shape {
	// All numbers were found by BenchmarkLimbs on an H200.
	a, processors := p.a.planes, max(p.device.Info().Multiprocessors, 1)
	s := Shape{RowWarps: 1, Early: true}
	const turn = 32 * 4 // columns that a warp reads at once
	for s.RowWarps < 8 && a.rows*s.RowWarps < 24*processors && s.RowWarps*turn < a.ld {
		s.RowWarps *= 2
	}
	if parts := 4 * processors / max(a.rows, 1); s.RowWarps == 8 && parts > 1 {
		s.PartColumns = leadingDimension(max(2*8*turn, (a.ld+parts-1)/parts))
	}
	return s
}

func (p *Product) setLimbShape(s Shape) error {
	a := p.a.planes
	sum := func() cuda.SumLimbsArgs { return cuda.SumLimbsArgs{P: p.limbs, F: p.rounding.Rounding} }
	round := func() cuda.RoundLimbsArgs { return cuda.RoundLimbsArgs(sum()) }
	var err error
	if p.a.inPlace() {
		p.add, err = workOf(p.device, "limb_products", fmt.Sprintf("sumFloats%d", a.limbs), func() cuda.SumFloatsArgs {
			return cuda.SumFloatsArgs{P: p.limbs, A: p.a.floatRows(), F: p.rounding.Rounding}
		})
	} else {
		p.add, err = workOf(p.device, "limb_products", fmt.Sprintf("sumLimbs%d", a.limbs), sum)
	}
	if err != nil {
		return err
	}
	if p.round, err = workOf(p.device, "limb_products", "roundLimbs", round); err != nil {
		return err
	}
	p.shape = s
	part := s.PartColumns
	if part == 0 || part > a.ld {
		part = max(a.ld, columnMultiple)
	}
	const warps = sumThreads / 32
	items, limbs := p.rounding.prepare()
	p.limbs = cuda.LimbPlanes{
		A: a.residues.Pointer(), X: p.x.planes.residues.Pointer(), Sums: p.sums.Pointer(), XStride: uint64(p.x.planes.ld),
		Rows: uint32(a.rows), Ld: uint32(a.ld),
		RowWarps: uint32(max(s.RowWarps, 1)), Parts: uint32((a.ld + part - 1) / part), PartColumns: uint32(part),
		PrepareBlocks: uint32((items + warps - 1) / warps),
	}
	blocks := (a.rows*int(p.limbs.Parts*p.limbs.RowWarps) + warps - 1) / warps
	p.addLaunch = gpu.Launch{Grid: gpu.Dim{X: int(p.limbs.PrepareBlocks) + blocks}, Block: gpu.Dim{X: sumThreads},
		Shared: max(4*warps*limbs, 8*warps*lanePitch*p.sumWords())}
	const rows = 4 // of a block of roundLimbs
	p.roundLaunch = gpu.Launch{Grid: gpu.Dim{X: (a.rows + rows - 1) / rows}, Block: gpu.Dim{X: 32 * rows},
		Shared: rows * 4 * p.rounding.rowLimbs()}
	return p.sums.Clear(nil)
}

// lanePitch is that of cuda/limb_products.cu.
const lanePitch = 33
