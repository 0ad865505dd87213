package ongpu

import (
	"math"

	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/deferred"
)

// Numbers are numbers in device memory: float64, or packed words where width > 0.
type Numbers struct {
	device *gpu.Device
	n      int
	values *gpu.Buffer[uint64] // the bits of float64 numbers, or words
	heads  *gpu.Buffer[int64]
	width  int
}

// UploadFloat64 copies x to the device.
func UploadFloat64(d *gpu.Device, x []float64) (*Numbers, error) {
	v, err := uploadStaged(d, float64Bits(x))
	return &Numbers{device: d, n: len(x), values: v}, err
}

// UploadPacked copies p to the device.
func UploadPacked(d *gpu.Device, p *deferred.Packed) (*Numbers, error) {
	words, heads, width := p.Words()
	v, err := uploadStaged(d, words)
	if err != nil {
		return nil, err
	}
	h, err := uploadStaged(d, heads)
	if err != nil {
		v.Free()
		return nil, err
	}
	return &Numbers{device: d, n: len(heads), values: v, heads: h, width: width}, nil
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
	if x.heads != nil {
		bytes += x.heads.Bytes()
	}
	return bytes
}

// Free gives the memory back.
func (x *Numbers) Free() {
	if x != nil {
		x.values.Free()
		x.heads.Free()
	}
}

// extentsParameters are those of the kernel extentsOfFloat64.
type extentsParameters struct {
	Source                  gpu.Pointer[uint64]
	Low, Top                gpu.Pointer[int32]
	Special                 gpu.Pointer[uint32]
	RowStride, ColumnStride int64
	Rows, Columns           uint32
	Span                    uint32
	_                       uint32
}

// Extents returns the extent of each row of a matrix of float64 numbers, and whether there are infinities or NaN among them, which do not count. l
// must fit the numbers, and one of its strides must be 1.
func (x *Numbers) Extents(l deferred.Layout) (rows []deferred.Extent, special bool, err error) {
	k, err := kernel[struct{ P extentsParameters }](x.device, "planes", "extentsOfFloat64")
	if err != nil {
		return nil, false, err
	}
	low, top := make([]int32, l.Rows), make([]int32, l.Rows)
	for i := range low {
		low[i], top[i] = math.MaxInt32, math.MinInt32
	}
	var buffers [2]*gpu.Buffer[int32]
	for i, host := range [][]int32{low, top} {
		if buffers[i], err = gpu.Upload(x.device, host); err != nil {
			return nil, false, err
		}
		defer buffers[i].Free()
	}
	flag, err := gpu.Upload(x.device, []uint32{0})
	if err != nil {
		return nil, false, err
	}
	defer flag.Free()
	p := extentsParameters{
		Source: x.values.Pointer().At(l.Offset), Low: buffers[0].Pointer(), Top: buffers[1].Pointer(), Special: flag.Pointer(),
		RowStride: int64(l.RowStride), ColumnStride: int64(l.ColStride), Rows: uint32(l.Rows), Columns: uint32(l.Cols), Span: 1 << 9,
	}
	grid := gpu.Dim{X: (l.Rows + 31) / 32, Y: (l.Cols + 8*int(p.Span) - 1) / (8 * int(p.Span))}
	if l.RowStride != 1 {
		p.Span = 1 << 13
		grid = gpu.Dim{X: (l.Rows + 7) / 8, Y: (l.Cols + int(p.Span) - 1) / int(p.Span)}
	}
	if l.Rows > 0 && l.Cols > 0 {
		if err := k.Launch(gpu.Launch{Grid: grid, Block: gpu.Dim{X: 256}}, struct{ P extentsParameters }{p}); err != nil {
			return nil, false, err
		}
	}
	if err := buffers[0].Download(low); err != nil {
		return nil, false, err
	}
	if err := buffers[1].Download(top); err != nil {
		return nil, false, err
	}
	found := make([]uint32, 1)
	if err := flag.Download(found); err != nil {
		return nil, false, err
	}
	rows = make([]deferred.Extent, l.Rows)
	for i := range rows {
		if top[i] > math.MinInt32 {
			rows[i] = deferred.Extent{Low: int(low[i]), Top: int(top[i])}
		}
	}
	return rows, found[0] != 0, nil
}

// kernel returns a kernel of a module.
func kernel[P any](d *gpu.Device, module, name string) (*gpu.Kernel[P], error) {
	m, err := d.Module(module)
	if err != nil {
		return nil, err
	}
	return gpu.Function[P](m, name)
}
