package rnsgpu

import (
	"context"
	"math/bits"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
)

// group is who does the additions of reduce1 and reduce2: one thread, or the threads of one block with a residue each.
type group struct {
	parallel bool
	scratch  *Scratch
	state    *Vector // the sum so far, or the stack of partial sums
	terms    int
	chunk    int // terms of a launch, even; 0 for as many as take a fraction of a second
}

// name returns the kernel's name and shape.
func (g *group) name(kernel string, b *Base) (string, gpu.Launch) {
	switch {
	case !g.parallel:
		return kernel + "Serial", gpu.Launch{}
	case b.Base().Len() <= 32:
		return kernel + "Warp", gpu.Launch{Block: gpu.Dim{X: 32}}
	}
	return kernel + "Block", gpu.Launch{Block: gpu.Dim{X: b.BlockThreads()}, Shared: PartialBytes}
}

// inChunks calls launch for ranges of terms, each beginning with an even number, and looks at ctx between them.
func (g *group) inChunks(ctx context.Context, s *sumEngine, launch func(first, end int) error) error {
	chunk := g.chunk
	if chunk == 0 { // a thread takes some 4 µs for an addition of 8 residues, 20 µs for one of 114
		chunk = max(2, (1<<21/(s.base.Base().Stride()+8))&^1)
	}
	for first := 0; first < g.terms; first += chunk {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := launch(first, min(first+chunk, g.terms)); err != nil {
			return err
		}
		if first+chunk < g.terms {
			if err := s.device.Sync(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *group) reserve(s *sumEngine, n, numbers int) error {
	g.terms = n
	if err := replaceScratch(s.base, &g.scratch, 1); err != nil {
		return err
	}
	return replaceVector(s.base, &g.state, numbers)
}

func (g *group) results() (*Vector, int)              { return g.state, 1 }
func (g *group) describe(method.Config, *method.Info) {}
func (g *group) free() {
	g.scratch.Free()
	g.state.Free()
	g.scratch, g.state = nil, nil
}

// recursive is recursive summation on a device, Reduce1 of the 2018 paper.
type recursive struct {
	group
	kernel *gpu.Kernel[cuda.Reduce1Args]
	shape  gpu.Launch
}

// NewRecursiveSum returns the constructor of Reduce1 by one thread, or in parallel by the threads of a block.
func NewRecursiveSum(parallel bool) method.New {
	return newSum(func(method.Config) sumOrder { return &recursive{group: group{parallel: parallel}} })
}

func (d *recursive) reserve(s *sumEngine, n int) (err error) {
	name, shape := d.name("reduce1", s.base)
	d.shape = shape
	if d.kernel, err = gpu.KernelOf[cuda.Reduce1Args](s.device, "reduce_orders", name); err != nil {
		return err
	}
	return d.group.reserve(s, n, 1)
}

func (d *recursive) launch(ctx context.Context, s *sumEngine) error {
	p := cuda.Reduce1Args{Base: s.base.Parameter(), Memory: d.scratch.Parameter(), Sum: d.state.Parameter()}
	return d.inChunks(ctx, s, func(first, end int) error {
		p.Terms = cuda.Terms{X: s.terms.Parameter(), First: uint64(first), End: uint64(end)}
		return d.kernel.Launch(d.shape, p)
	})
}

// pairwise is pairwise summation on a device, Reduce2 of the 2018 paper.
type pairwise struct {
	group
	kernel *gpu.Kernel[cuda.Reduce2Args]
	shape  gpu.Launch
}

// NewPairwiseSum returns the constructor of Reduce2 by one thread, or in parallel by the threads of a block.
func NewPairwiseSum(parallel bool) method.New {
	return newSum(func(method.Config) sumOrder { return &pairwise{group: group{parallel: parallel}} })
}

func (d *pairwise) reserve(s *sumEngine, n int) (err error) {
	name, shape := d.name("reduce2", s.base)
	d.shape = shape
	if d.kernel, err = gpu.KernelOf[cuda.Reduce2Args](s.device, "reduce_orders", name); err != nil {
		return err
	}
	return d.group.reserve(s, n, bits.Len(uint(n))+1)
}

func (d *pairwise) launch(ctx context.Context, s *sumEngine) error {
	p := cuda.Reduce2Args{Base: s.base.Parameter(), Memory: d.scratch.Parameter(), Slots: d.state.Parameter(),
		N: uint64(d.terms)}
	return d.inChunks(ctx, s, func(first, end int) error {
		p.Terms = cuda.Terms{X: s.terms.Parameter(), First: uint64(first), End: uint64(end)}
		return d.kernel.Launch(d.shape, p)
	})
}

// PartialBytes is the shared memory that a group of a whole block needs, sizeof(Block::Partial) of cuda/group.cuh.
const PartialBytes = 2 * 32 * (8 + 4)

// BlockThreads returns the threads of a block that works on one number: one a residue, in whole warps, at most 1024.
func (b *Base) BlockThreads() int { return min((b.base.Stride()+31)/32*32, 1024) }
