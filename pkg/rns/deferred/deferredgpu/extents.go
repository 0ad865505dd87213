package deferredgpu

import (
	"math"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
)

// extents are the extents of rows of float64 numbers while the device finds them, in as many launches as wanted.
type extents struct {
	kernel   *gpu.Kernel[cuda.ExtentsOfFloat64Args]
	low, top *gpu.Buffer[int32]
	special  *gpu.Buffer[uint32]
	xTop     *gpu.Buffer[int32] // nil, or the elements of a vector: then top is that of products, and low means nothing
}

func newExtents(d *gpu.Device, rows int) (*extents, error) {
	e := &extents{}
	err := e.allocate(d, rows)
	if err == nil {
		err = e.reset()
	}
	if err != nil {
		e.free()
		return nil, err
	}
	return e, nil
}

func (e *extents) allocate(d *gpu.Device, rows int) (err error) {
	if e.kernel, err = kernel[cuda.ExtentsOfFloat64Args](d, "planes", "extentsOfFloat64"); err != nil {
		return err
	}
	if e.low, err = gpu.Alloc[int32](d, rows); err != nil {
		return err
	}
	if e.top, err = gpu.Alloc[int32](d, rows); err != nil {
		return err
	}
	e.special, err = gpu.Alloc[uint32](d, 1)
	return err
}

func (e *extents) free() {
	e.low.Free()
	e.top.Free()
	e.special.Free()
	e.xTop.Free()
}

// reset forgets all numbers. The device is to be waited for before streams other than the default one use them.
func (e *extents) reset() error {
	low, top := make([]int32, e.low.Len()), make([]int32, e.top.Len())
	for i := range low {
		low[i], top[i] = math.MaxInt32, math.MinInt32
	}
	if err := e.low.Upload(low); err != nil {
		return err
	}
	if err := e.top.Upload(top); err != nil {
		return err
	}
	return e.special.Upload([]uint32{0})
}

// extentsSpan is how many elements of a row a lane or a warp takes.
type extentsSpan struct{ lane, warp int }

// add puts into the stream: take account of numbers, of which row 0 of l is row first.
func (e *extents) add(s *gpu.Stream, source gpu.Pointer[uint64], l numbers.Layout, first int, span extentsSpan) error {
	if l.Rows == 0 || l.Cols == 0 {
		return nil
	}
	span.warp = max(span.warp, (l.Cols+maxGridY-1)/maxGridY)
	span.lane = max(span.lane, (l.Cols+8*maxGridY-1)/(8*maxGridY))
	p := cuda.Extents{
		Source: source.At(l.Offset), Low: e.low.Pointer().At(first), Top: e.top.Pointer().At(first),
		Special: e.special.Pointer(), XTop: e.xTop.Pointer(),
		RowStride: int64(l.RowStride), ColumnStride: int64(l.ColStride), Rows: uint32(l.Rows), Columns: uint32(l.Cols),
		Span: uint32(span.lane),
	}
	grid := gpu.Dim{X: (l.Rows + 31) / 32, Y: (l.Cols + 8*span.lane - 1) / (8 * span.lane)}
	if l.RowStride != 1 {
		p.Span = uint32(span.warp)
		grid = gpu.Dim{X: (l.Rows + 7) / 8, Y: (l.Cols + span.warp - 1) / span.warp}
	}
	return e.kernel.Launch(gpu.Launch{Grid: grid, Block: gpu.Dim{X: 256}, Stream: s}, cuda.ExtentsOfFloat64Args{E: p})
}

// fetch returns the extent of each row, and whether there are infinities or NaN, which do not count. Streams other
// than the default one are to be waited for before.
func (e *extents) fetch() (rows []numbers.Extent, special bool, err error) {
	low, top, found := make([]int32, e.low.Len()), make([]int32, e.top.Len()), make([]uint32, 1)
	if err := e.low.Download(low); err != nil {
		return nil, false, err
	}
	if err := e.top.Download(top); err != nil {
		return nil, false, err
	}
	if err := e.special.Download(found); err != nil {
		return nil, false, err
	}
	rows = make([]numbers.Extent, len(low))
	for i := range rows {
		if top[i] > math.MinInt32 {
			rows[i] = numbers.Extent{Low: int(low[i]), Top: int(top[i])}
		}
	}
	return rows, found[0] != 0, nil
}
