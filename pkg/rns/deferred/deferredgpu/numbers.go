package deferredgpu

import (
	"math"
	"unsafe"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
)

// Numbers are numbers in device memory: float64, or packed words where width > 0.
type Numbers struct {
	device    *gpu.Device
	n         int
	values    *gpu.Buffer[uint64] // the bits of float64 numbers, or words
	exponents *gpu.Buffer[int64]
	width     int
}

// UploadFloat64 copies x to the device.
func UploadFloat64(d *gpu.Device, x []float64) (*Numbers, error) {
	v, err := uploadStaged(d, float64Bits(x))
	return &Numbers{device: d, n: len(x), values: v}, err
}

// UploadPacked copies p to the device.
func UploadPacked(d *gpu.Device, p *deferred.Packed) (*Numbers, error) {
	words, exponents, width := p.Words()
	v, err := uploadStaged(d, words)
	if err != nil {
		return nil, err
	}
	h, err := uploadStaged(d, exponents)
	if err != nil {
		v.Free()
		return nil, err
	}
	return &Numbers{device: d, n: len(exponents), values: v, exponents: h, width: width}, nil
}

func uploadStaged[T any](d *gpu.Device, x []T) (*gpu.Buffer[T], error) {
	b, err := gpu.Alloc[T](d, len(x))
	if err != nil {
		return nil, err
	}
	if err := b.UploadStaged(x); err != nil {
		b.Free()
		return nil, err
	}
	return b, nil
}

// Len returns how many numbers there are.
func (x *Numbers) Len() int { return x.n }

// Bytes returns the device memory that they take.
func (x *Numbers) Bytes() int64 {
	bytes := x.values.Bytes()
	if x.exponents != nil {
		bytes += x.exponents.Bytes()
	}
	return bytes
}

// Free gives the memory back.
func (x *Numbers) Free() {
	if x != nil {
		x.values.Free()
		x.exponents.Free()
	}
}

// Extents returns the extent of each row of a matrix of float64 numbers, and whether there are infinities or NaN among
// them, which do not count. l must fit the numbers, and one of its strides must be 1.
func (x *Numbers) Extents(l numbers.Layout) (rows []numbers.Extent, special bool, err error) {
	e, err := newExtents(x.device, l.Rows)
	if err != nil {
		return nil, false, err
	}
	defer e.own.Free()
	if err := e.add(nil, x.values.Pointer(), l, 0, extentsSpan{lane: 1 << 9, warp: 1 << 13}); err != nil {
		return nil, false, err
	}
	return e.fetch()
}

// ProductTops returns for each row of such a matrix the end of the bits of its largest product with the elements of a
// vector, of which these are the ends of bits, or deferred.NoTop.
func (x *Numbers) ProductTops(l numbers.Layout, vector []int32) ([]int, error) {
	e, err := newExtents(x.device, l.Rows)
	if err != nil {
		return nil, err
	}
	defer e.own.Free()
	e.xTop = gpu.TakeCopy(e.own, vector)
	if err := e.own.Err(); err != nil {
		return nil, err
	}
	if err := e.add(nil, x.values.Pointer(), l, 0, extentsSpan{lane: 1 << 9, warp: 1 << 13}); err != nil {
		return nil, err
	}
	top := make([]int32, l.Rows)
	err = e.top.Download(top)
	tops := make([]int, l.Rows)
	for i, v := range top {
		tops[i] = int(v)
	}
	return tops, err
}

func (x *Numbers) host() (numbers.Source, error) {
	values := make([]uint64, x.values.Len())
	if err := x.values.Download(values); err != nil {
		return nil, err
	}
	if x.width == 0 {
		floats := make([]float64, len(values))
		for i, bits := range values {
			floats[i] = math.Float64frombits(bits)
		}
		return numbers.Float64s(floats), nil
	}
	exponents := make([]int64, x.exponents.Len())
	err := x.exponents.Download(exponents)
	return deferred.PackedWords(values, exponents, x.width), err
}

// float64Bits returns the numbers as words, sharing memory.
func float64Bits(x []float64) []uint64 {
	if len(x) == 0 {
		return nil
	}
	return unsafe.Slice((*uint64)(unsafe.Pointer(&x[0])), len(x))
}

// extents are the extents of rows of float64 numbers while the device finds them, in as many launches as wanted.
type extents struct {
	own      *gpu.Owner
	kernel   *gpu.Kernel[cuda.ExtentsOfFloat64Args]
	low, top *gpu.Buffer[int32]
	special  *gpu.Buffer[uint32]
	xTop     *gpu.Buffer[int32] // nil, or the elements of a vector: then top is that of products, and low means nothing
}

func newExtents(d *gpu.Device, rows int) (*extents, error) {
	e := &extents{own: d.NewOwner()}
	e.kernel = gpu.FindKernel[cuda.ExtentsOfFloat64Args](e.own, "planes", "extentsOfFloat64")
	e.low, e.top = gpu.Take[int32](e.own, rows), gpu.Take[int32](e.own, rows)
	e.special = gpu.Take[uint32](e.own, 1)
	err := e.own.Err()
	if err == nil {
		err = e.reset()
	}
	if err != nil {
		e.own.Free()
		return nil, err
	}
	return e, nil
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
