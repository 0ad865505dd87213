package reduce

import (
	"context"
	"fmt"

	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/rnsgpu"
)

// deviceBlocks is the block reduction on a device, Reduce3 of the 2018 paper: every addition by one thread, or, as the paper planned,
// by a group of threads with residues each.
type deviceBlocks struct {
	grid
	parallel bool

	kernel  *gpu.Kernel[blocksParameters]
	shape   gpu.Launch
	scratch *rnsgpu.Scratch
	slots   *gpu.Buffer[uint32] // residues of the partial sums that do not fit in shared memory
	sums    *rnsgpu.Vector      // of the blocks that have terms
}

// gridParameter is the struct Grid of cuda/reduce_blocks.cu.
type gridParameter struct {
	Blocks       uint64
	Size, Unused uint32
}

type blocksParameters struct {
	Base     rnsgpu.BaseParameter
	Scratch  rnsgpu.ScratchParameter
	X        rnsgpu.VectorParameter
	N        uint64
	Grid     gridParameter
	Residues gpu.Pointer[uint32]
	Sums     rnsgpu.VectorParameter
}

func newReduce3On(parallel bool) func(Options) (Summer, error) {
	return func(o Options) (Summer, error) {
		g, err := newGrid(o.Blocks, o.BlockSize)
		if err != nil {
			return nil, err
		}
		return newDeviceSum(o, &deviceBlocks{grid: g, parallel: parallel})
	}
}

// lanes returns the threads that work on one number of n residues.
func (d *deviceBlocks) lanes(n int) int {
	switch {
	case !d.parallel:
		return 1
	case n <= 8:
		return 8
	case n <= 16:
		return 16
	}
	return 32
}

func (d *deviceBlocks) reserve(s *deviceSum, n int) (err error) {
	base := s.base.Base()
	lanes := d.lanes(base.Len())
	if d.kernel, err = kernelOf[blocksParameters](s.device, "reduce_blocks", fmt.Sprintf("reduce3x%d", lanes)); err != nil {
		return err
	}
	used := d.used(n)
	threads := min(d.BlockSize*lanes, deviceThreads)
	d.shape = gpu.Launch{Grid: gpu.Dim{X: used}, Block: gpu.Dim{X: threads}, Shared: fieldBytes(d.BlockSize)}
	d.slots.Free()
	d.slots = nil
	if residues := 4 * base.Stride() * d.BlockSize; d.shape.Shared+residues <= s.device.Info().SharedPerBlock {
		d.shape.Shared += residues
	} else if d.slots, err = gpu.Alloc[uint32](s.device, used*base.Stride()*d.BlockSize); err != nil {
		return err
	}
	if err := scratchFor(s.base, &d.scratch, used*threads/lanes); err != nil {
		return err
	}
	return vectorFor(s.base, &d.sums, used)
}

// fieldBytes is the shared memory for the sign, the exponents and the bounds of so many partial sums: slotsIn of cuda/reduce_blocks.cu.
func fieldBytes(slots int) int { return (29*slots + 7) / 8 * 8 }

func (d *deviceBlocks) launch(_ context.Context, s *deviceSum) error {
	return d.kernel.Launch(d.shape, blocksParameters{
		Base: s.base.Parameter(), Scratch: d.scratch.Parameter(), X: s.terms.Parameter(), N: uint64(s.terms.Len()),
		Grid: gridParameter{Blocks: uint64(d.Blocks), Size: uint32(d.BlockSize)}, Residues: d.slots.Pointer(), Sums: d.sums.Parameter(),
	})
}

func (d *deviceBlocks) results() (*rnsgpu.Vector, int) { return d.sums, d.shape.Grid.X }
func (d *deviceBlocks) depth(n int) int                { return d.grid.depth(n) }
func (d *deviceBlocks) describe(f *Format)             { f.Blocks, f.BlockSize = d.Blocks, d.BlockSize }
func (d *deviceBlocks) free() {
	d.scratch.Free()
	d.slots.Free()
	d.sums.Free()
	d.scratch, d.slots, d.sums = nil, nil, nil
}
