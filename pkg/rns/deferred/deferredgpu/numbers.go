package deferredgpu

import (
	"math"

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
	defer e.free()
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
	defer e.free()
	if e.xTop, err = gpu.Upload(x.device, vector); err != nil {
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

// host copies the numbers to host memory.
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

// kernel returns a kernel of a module.
func kernel[P any](d *gpu.Device, module, name string) (*gpu.Kernel[P], error) {
	m, err := d.Module(module)
	if err != nil {
		return nil, err
	}
	return gpu.Function[P](m, name)
}
