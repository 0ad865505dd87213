package rnsgpu

import (
	"context"
	"fmt"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/rns/rnsop"
)

// blocks is the block reduction on a device, Reduce3 of the 2018 paper: every addition by one thread, or, as the paper
// planned, by a group of threads with residues each.
type blocks struct {
	count, size int // blocks, and terms that one adds side by side
	parallel    bool

	kernel  *gpu.Kernel[cuda.ReduceArgs]
	shape   gpu.Launch
	scratch *Scratch
	slots   *gpu.Buffer[uint32] // residues of the partial sums that do not fit in shared memory
	sums    *Vector             // of the blocks that have terms
}

// NewBlockSum returns the constructor of Reduce3; in parallel, groups of threads do the additions.
func NewBlockSum(parallel bool) method.New {
	return newSum(func(c method.Config) sumOrder {
		return &blocks{count: c.Int("blocks"), size: c.Int("block-size"), parallel: parallel}
	})
}

// used is the number of blocks that have any of n terms; they are the first ones.
func (d *blocks) used(n int) int { return min(d.count, (n+2*d.size-1)/(2*d.size)) }

// lanes returns the threads that work on one number of n residues.
func (d *blocks) lanes(n int) int {
	if !d.parallel {
		return 1
	}
	return groupFor(n)
}

func (d *blocks) reserve(s *sumEngine, n int) (err error) {
	base := s.base.Base()
	lanes := d.lanes(base.Len())
	name := fmt.Sprintf("reduce3x%d", lanes)
	if d.kernel, err = gpu.KernelOf[cuda.ReduceArgs](s.device, "reduce_blocks", name); err != nil {
		return err
	}
	used := d.used(n)
	threads := min(d.size*lanes, deviceThreads)
	d.shape = gpu.Launch{Grid: gpu.Dim{X: used}, Block: gpu.Dim{X: threads}, Shared: slotBytes(d.size)}
	d.slots.Free()
	d.slots = nil
	if residues := 4 * base.Stride() * d.size; d.shape.Shared+residues <= s.device.Info().SharedPerBlock {
		d.shape.Shared += residues
	} else if d.slots, err = gpu.Alloc[uint32](s.device, used*base.Stride()*d.size); err != nil {
		return err
	}
	if err := replaceScratch(s.base, &d.scratch, used*threads/lanes); err != nil {
		return err
	}
	return replaceVector(s.base, &d.sums, used)
}

// slotBytes is the shared memory for the fields of so many partial sums: slotsIn of cuda/reduce_blocks.cu.
func slotBytes(slots int) int { return (29*slots + 7) / 8 * 8 }

func (d *blocks) launch(_ context.Context, s *sumEngine) error {
	return d.kernel.Launch(d.shape, cuda.ReduceArgs{
		Base: s.base.Parameter(), Memory: d.scratch.Parameter(), X: s.terms.Parameter(), N: uint64(s.terms.Len()),
		Grid: cuda.Grid{Blocks: uint64(d.count), Size: uint32(d.size)}, Residues: d.slots.Pointer(),
		Sums: d.sums.Parameter(),
	})
}

func (d *blocks) results() (*Vector, int)                     { return d.sums, d.shape.Grid.X }
func (d *blocks) describe(c method.Config, info *method.Info) { rnsop.DescribeGrid(c, info) }

func (d *blocks) free() {
	d.scratch.Free()
	d.slots.Free()
	d.sums.Free()
	d.scratch, d.slots, d.sums = nil, nil, nil
}
