package peer

import (
	"unsafe"

	"mpbench/pkg/device"
	"mpbench/pkg/format"
	"mpbench/pkg/format/formatgpu"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

var cublas = &library{
	name: "cuBLAS", files: fileNames("cublas", "13", "12", "11"), symbol: "cublasCreate_v2",
	install: "it is part of NVIDIA's CUDA toolkit, and of its Python packages",
	methods: []string{"cublas"},
	version: func(l *library) string { return l.property("cublasGetProperty") },
	explain: "cublasGetStatusString",
}

// cublasNames are the functions of cuBLAS that are called, in the order of the constants.
var cublasNames = []string{
	"cublasCreate_v2", "cublasDestroy_v2", "cublasSetPointerMode_v2", "cublasDcopy_v2", "cublasDasum_v2", "cublasDdot_v2",
	"cublasDaxpy_v2", "cublasDscal_v2", "cublasDgemv_v2", "cublasDgemm_v2",
}

const (
	cublasPointerMode = iota + 2 // after create and destroy
	cublasCopy
	cublasAsum
	cublasDot
	cublasAxpy
	cublasScal
	cublasGemv
	cublasGemm
)

// cublasMethods are loops in binary64 on a GPU, in the order of cuBLAS: the bounds are those of any order.
func cublasMethods() []method.Method {
	m := method.Method{Name: "cublas", Summary: "by cuBLAS, in its order", Bits: 53}
	list := format.Recursive(m, "u = 2^-53", onDeviceOf(format.Binary64), op.Asum, op.Dot, op.Axpy, op.Scal, op.Gemv,
		op.Symv, op.Trmv, op.Gemm)
	for i, m := range list {
		m.Bound.Source += ", in any order"
		m.Threads = false
		m.On = map[device.Kind]method.New{device.CUDA: func(c method.Config) (method.Engine, error) {
			return newCublas(m, c)
		}}
		list[i] = m
	}
	return of(list, func() error {
		_, err := cublas.functions(cublasNames...)
		return err
	})
}

func newCublas(m method.Method, c method.Config) (method.Engine, error) {
	functions, err := cublas.functions(cublasNames...)
	if err != nil {
		return nil, err
	}
	d, err := gpu.Open(c.GPU())
	if err != nil {
		return nil, err
	}
	return formatgpu.New(d, func(e *formatgpu.Engine) (method.Engine, error) {
		b := &cublasLoops{deviceLoops: newDeviceLoops[float64](d, cublas, cublasNames, functions)}
		return format.NewEngine(m, c, b.format(e)), nil
	})
}

// cublasLoops calls cuBLAS on the device's thread, in the default stream.
type cublasLoops struct {
	*deviceLoops[float64]
	factor, zero float64 // where cuBLAS reads them
}

// call calls a function with the handle and arguments; onDevice is 1 if results go to the device, 0 if factors come
// from the host.
func (b *cublasLoops) call(function int, onDevice uintptr, args ...uintptr) {
	b.status(cublasPointerMode, b.handle, onDevice)
	b.status(function, append([]uintptr{b.handle}, args...)...)
}

// format is binary64 in the memory of the device.
func (b *cublasLoops) format(e *formatgpu.Engine) format.Format[onDevice[float64], float64] {
	f := b.deviceLoops.format(e, format.Binary64)
	f.Dots, f.Axpy, f.Scal = b.dots, b.axpy, b.scal
	f.Device.Asum = func(z, x onDevice[float64]) {
		if z.host = nil; x.n == 0 {
			return // it is 0
		}
		b.call(cublasAsum, 1, uintptr(x.n), x.address(), 1, z.address())
	}
	return f
}

// dots sets z to the products of rows of a and columns of x, which lie together: see multiply.
func (b *cublasLoops) dots(z, a, x onDevice[float64], rows, columns, n int) {
	const plain, trans = 0, 1
	z.host = nil
	m, k, c := uintptr(rows), uintptr(n), uintptr(columns)
	one, zero := b.times(1), uintptr(unsafe.Pointer(&b.zero))
	switch {
	case rows*columns == 0 || n == 0:
	case rows*columns == 1:
		b.call(cublasDot, 1, k, a.address(), 1, x.address(), 1, z.address())
	case columns == 1:
		b.call(cublasGemv, 0, trans, k, m, one, a.address(), k, x.address(), 1, zero, z.address(), 1)
	default:
		b.call(cublasGemm, 0, trans, plain, c, m, k, one, x.address(), k, a.address(), k, zero, z.address(), c)
	}
}

// times returns the address of a factor.
func (b *cublasLoops) times(x float64) uintptr {
	b.factor = x
	return uintptr(unsafe.Pointer(&b.factor))
}

// copy makes z equal to x.
func (b *cublasLoops) copy(z, x onDevice[float64]) {
	z.host = nil
	if z.n > 0 && z.address() != x.address() {
		b.call(cublasCopy, 0, uintptr(z.n), x.address(), 1, z.address(), 1)
	}
}

func (b *cublasLoops) axpy(z onDevice[float64], a float64, x, y onDevice[float64]) {
	if b.copy(z, y); z.n > 0 {
		b.call(cublasAxpy, 0, uintptr(z.n), b.times(a), x.address(), 1, z.address(), 1)
	}
}

func (b *cublasLoops) scal(z onDevice[float64], a float64, x onDevice[float64]) {
	if b.copy(z, x); z.n > 0 {
		b.call(cublasScal, 0, uintptr(z.n), b.times(a), z.address(), 1)
	}
}
