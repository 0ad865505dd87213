package deferredgpu

import (
	"fmt"

	"mpbench/pkg/gpu"
)

// Shape says how a product is launched. It never changes a result.
type Shape struct {
	// BlockRows is the rows of a block, and PartColumns its columns if it does not take whole rows, a multiple of 16.
	BlockRows, PartColumns int
	// Together is how many rows a block rounds together, so that one read of the tables serves them: 2 or 4; 0 for a warp
	// for each row.
	Together int
	// RowWarps is how many warps take a row, or a part of one, of a matrix of limbs: 1, 2, 4 or 8. It has no BlockRows
	// and no Together.
	RowWarps int
	// Early lets the rounding kernel begin while sums are still added, where the device can do so.
	Early bool
}

// Threads of a block of sumProducts and sumProductsFew, and the columns that all its warps read at once.
const (
	sumThreads = 256
	sumColumns = sumThreads / 32 * 512
)

// defaultShape takes parts of columns where there are few rows. All numbers were found by BenchmarkParts on an H200.
func (p *Product) defaultShape() Shape {
	if p.a.planes.limbs > 0 {
		return p.defaultLimbShape()
	}
	rows, moduli := p.a.Rows(), p.a.Moduli()
	// two rows a warp: the blocks' ends, where less is read at once, are evenly spread
	s := Shape{BlockRows: 16, Early: true}
	byWarps := 16 // moduli up to which a warp for each row is faster
	if s.PartColumns = partColumns(p.device, rows, moduli); s.PartColumns > 0 {
		s.BlockRows, byWarps = 1, 32
	}
	if moduli > byWarps {
		s.Together = 2
	}
	return s
}

// partColumns returns how many columns a block takes where there are few rows, one round of reads, and 0 where blocks
// take whole rows.
func partColumns(d *gpu.Device, rows, moduli int) int {
	if slots := 4 * max(d.Info().Multiprocessors, 1); rows*moduli >= 2*slots {
		return 0
	}
	return sumColumns
}

// SetShape chooses how the work is divided.
func (p *Product) SetShape(s Shape) error {
	if p.a.planes.limbs > 0 {
		return p.setLimbShape(s)
	}
	name := "sumProducts"
	if s.PartColumns > 0 {
		name = "sumProductsFew"
	}
	var err error
	if p.add, err = workOf(p.device, "deferred", name, p.roundArgs); err != nil {
		return err
	}
	p.shape = s
	rows, moduli, ld := p.a.Rows(), p.a.Moduli(), p.a.planes.ld
	p.planes.BlockRows, p.planes.PartColumns, p.planes.Clear = uint32(max(s.BlockRows, 1)), uint32(s.PartColumns), 0
	blocks := (rows + max(s.BlockRows, 1) - 1) / max(s.BlockRows, 1)
	if s.PartColumns > 0 {
		p.planes.Clear = 1
		blocks = rows * max(1, (ld+s.PartColumns-1)/s.PartColumns)
		if ld == 0 { // nothing to add to sums that are zero
			blocks = 0
		}
	}
	if err := p.sums.Clear(nil); err != nil {
		return err
	}
	items, limbs := p.rounding.prepare()
	const warps = sumThreads / 32
	p.planes.PrepareBlocks = uint32((items + warps - 1) / warps)
	p.addLaunch = gpu.Launch{Grid: gpu.Dim{X: int(p.planes.PrepareBlocks) + blocks*moduli}, Block: gpu.Dim{X: sumThreads},
		Shared: 4 * warps * limbs}
	return p.setRounding(s.Together)
}

// setRounding chooses the kernel that rounds the rows.
func (p *Product) setRounding(together int) error {
	name, rows, threads := "roundRows", 4, 128 // of a block
	if together > 0 {
		name, rows = fmt.Sprintf("roundRows%d", together), together
		threads = min(max((int(p.rounding.ProductLimbs)+31)/32*32, 32*rows), 256)
	}
	shared := rows * 4 * p.rounding.rowLimbs()
	var err error
	p.round, err = workOf(p.device, "deferred", name, p.roundArgs)
	p.roundLaunch = gpu.Launch{Grid: gpu.Dim{X: (p.a.Rows() + rows - 1) / rows}, Block: gpu.Dim{X: threads},
		Shared: shared}
	return err
}

// Shape returns the shape in use.
func (p *Product) Shape() Shape { return p.shape }
