package multifloatgpu

import (
	"mpbench/cuda"
	"mpbench/pkg/gpu"
)

// tiles is a kernel of products of matrices by blocks of so many rows and columns: cuda/tiles.cuh.
type tiles struct {
	kernel        *gpu.Kernel[cuda.MultifloatTilesArgs]
	rows, columns int
}

// mostTiled is of how many components numbers are for which there are tiles: more take so many operations that reading
// them again for every product costs nothing.
const mostTiled = 4

// tallFrom is how many rows a multiprocessor must get for a lane to have several: fewer rows are divided among all lanes.
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
	case a.components > 1 && rows >= tallFrom*max(1, a.device.Info().Multiprocessors):
		return &a.tiles[1]
	}
	return nil
}

// launch computes a product with so many rows and columns.
func (t *tiles) launch(rows, columns int, args cuda.MultifloatTilesArgs) error {
	args.Rows, args.Columns = uint64(rows), uint64(columns)
	return t.kernel.Launch(t.grid(rows, columns, int(args.Segments)), args)
}

// grid returns the launch for so many segments of each entry.
func (t *tiles) grid(rows, columns, segments int) gpu.Launch {
	return blocksOf(ceilDiv(rows, t.rows) * ceilDiv(columns, t.columns) * segments)
}

// blocksOf returns a launch of so many blocks.
func blocksOf(n int) gpu.Launch { return gpu.Launch{Grid: gpu.Dim{X: n}, Block: gpu.Dim{X: threads}} }

func ceilDiv(a, b int) int { return (a + b - 1) / b }
