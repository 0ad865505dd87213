package multifloatgpu

import (
	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/multifloat"
)

// tiles is a kernel of products of matrices by blocks of so many rows and columns: cuda/tiles.cuh.
type tiles struct {
	kernel        *gpu.Kernel[cuda.MultifloatTilesArgs]
	rows, columns int
}

// mostTiled is of how many components numbers are for which there are tiles: more take so many operations that reading
// them again for every product costs nothing.
const mostTiled = 4

// tallFrom is how many rows a multiprocessor must get for a lane to have several of them.
const tallFrom = 48

// findTiles returns the kernels for several columns and for one.
func (a *arithmetic[T]) findTiles(module, suffix string) []tiles {
	if a.components > mostTiled {
		return nil
	}
	side := 4
	if a.components > 2 {
		side = 2
	}
	find := func(name string) *gpu.Kernel[cuda.MultifloatTilesArgs] {
		return gpu.FindKernel[cuda.MultifloatTilesArgs](a.owner, module, name+suffix)
	}
	return []tiles{{find("multifloatTiles"), 2 * side, 2 * side}, {find("multifloatTilesTall"), 4 * side, 1}}
}

// tileFor returns the kernel for a product, nil where every sum gets a warp of its own.
func (a *arithmetic[T]) tileFor(rows, columns int) *tiles {
	switch {
	case a.tiles == nil:
		return nil
	case columns > 1:
		return &a.tiles[0]
	case a.components > 1 && rows >= tallFrom*a.multiprocessors():
		return &a.tiles[1]
	}
	return nil
}

func (a *arithmetic[T]) multiprocessors() int { return max(1, a.device.Info().Multiprocessors) }

// wholeFrom is how many blocks a multiprocessor must get for each of them to add all segments of its sums.
const wholeFrom = 8

// addTiles sets z to the products of as many rows and columns as args have.
func (a *arithmetic[T]) addTiles(t *tiles, z vector[T], asStored bool, args cuda.MultifloatTilesArgs) {
	rows, columns, n := int(args.Rows), int(args.Columns), int(args.N)
	blocks := ceilDiv(rows, t.rows) * ceilDiv(columns, t.columns)
	if blocks >= wholeFrom*a.multiprocessors() {
		n = 0 // as if there were one segment
	}
	args.Parts = uint64(multifloat.Segments(n))
	if asStored && args.Parts == 1 {
		args.AsStored = 1
	}
	a.reduce(z, asStored, rows*columns, n, func(_ gpu.Launch, to vector[T], _ int) error {
		args.Z = to.planes()
		return t.kernel.Launch(blocksOf(blocks*int(args.Parts)), args)
	})
}

// blocksOf returns a launch of so many blocks.
func blocksOf(n int) gpu.Launch { return gpu.Launch{Grid: gpu.Dim{X: n}, Block: gpu.Dim{X: threads}} }

func ceilDiv(a, b int) int { return (a + b - 1) / b }
