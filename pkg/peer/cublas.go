package peer

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"

	"mpbench/internal/dynamic"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/format/formatgpu"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

var cublas = &library{
	name: "cuBLAS", files: fileNames("cublas", "13", "12", "11"), symbol: "cublasCreate_v2",
	install: "it is part of NVIDIA's CUDA toolkit, and of its Python packages",
	methods: []string{"cublas"},
	version: func(l *library) string {
		get, err := dynamic.Symbol(l.handle, "cublasGetProperty")
		if err != nil {
			return ""
		}
		var version [3]int32 // major, minor, patch
		for i := range version {
			purego.SyscallN(get, uintptr(i), uintptr(unsafe.Pointer(&version[i])))
		}
		return fmt.Sprintf("%d.%d.%d", version[0], version[1], version[2])
	},
}

// cublasNames are the functions of cuBLAS that are called, in the order of the constants.
var cublasNames = []string{
	"cublasCreate_v2", "cublasDestroy_v2", "cublasSetPointerMode_v2", "cublasDcopy_v2", "cublasDasum_v2", "cublasDdot_v2",
	"cublasDaxpy_v2", "cublasDscal_v2", "cublasDgemv_v2", "cublasDgemm_v2",
}

const (
	cublasCreate = iota
	cublasDestroy
	cublasPointerMode
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
	shape := func(method.Config) format.Format[onDevice, float64] {
		return format.Format[onDevice, float64]{Name: format.Binary64.Name, Bits: 53, Range: format.Binary64.Range}
	}
	m := method.Method{Name: "cublas", Summary: "by cuBLAS, in its order", Bits: 53}
	list := format.Recursive(m, "u = 2^-53", shape, op.Asum, op.Dot, op.Axpy, op.Scal, op.Gemv, op.Symv,
		op.Trmv, op.Gemm)
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
		b := &cublasLoops{device: d, owner: d.NewOwner(), functions: functions}
		return format.NewEngine(m, c, b.format(e)), nil
	})
}

// onDevice is numbers from to from+n-1 of an array in the device's memory.
type onDevice struct {
	*deviceArray
	from, n int
}

type deviceArray struct {
	buffer *gpu.Buffer[float64]
	host   []float64 // the numbers as they were fetched, nil if they may have changed since
}

// address returns that of the first number.
func (v onDevice) address() uintptr { return uintptr(v.buffer.Pointer().At(v.from)) }

// cublasLoops calls cuBLAS on the device's thread, in the default stream. The first error stays.
type cublasLoops struct {
	device    *gpu.Device
	owner     *gpu.Owner // of all memory
	functions []uintptr
	handle    uintptr // of the memory's lifetime
	err       error

	factor, zero float64 // where cuBLAS reads them
}

func (b *cublasLoops) try(err error) {
	if b.err == nil {
		b.err = err
	}
}

// failed returns the first error since the last call.
func (b *cublasLoops) failed() error {
	err := b.err
	b.err = nil
	return err
}

// call calls a function with the handle and arguments; onDevice is 1 if results go to the device, 0 if factors come
// from the host.
func (b *cublasLoops) call(function int, onDevice uintptr, args ...uintptr) {
	b.status(cublasPointerMode, b.handle, onDevice)
	b.status(function, append([]uintptr{b.handle}, args...)...)
}

// status calls a function that returns one.
func (b *cublasLoops) status(function int, args ...uintptr) {
	if b.err != nil {
		return
	}
	if code, _, _ := purego.SyscallN(b.functions[function], args...); int32(code) != 0 {
		b.try(fmt.Errorf("%s returned status %d", cublasNames[function], int32(code)))
	}
}

// format is binary64 in the memory of the device; infinities and NaN are left to the engine.
func (b *cublasLoops) format(e *formatgpu.Engine) format.Format[onDevice, float64] {
	in := format.Binary64
	return format.Format[onDevice, float64]{
		Name: in.Name, Bits: in.Bits, Bytes: in.Bytes, Range: in.Range, Alone: true, Value: exact.FromFloat64,
		Make: b.make, Slice: func(v onDevice, from, to int) onDevice {
			return onDevice{v.deviceArray, v.from + from, to - from}
		},
		Get: b.get, Set: func(v onDevice, _ int, x float64) { b.try(v.buffer.Upload([]float64{x})) },
		Load: func(a numbers.Array) (v onDevice, rounded method.Rounded) {
			var host []float64
			e.Convert(func() { host, rounded = in.Load(a) })
			e.Copy(func() {
				if v = b.make(len(host)); b.err == nil {
					b.try(v.buffer.Upload(host))
				}
			})
			return v, rounded
		},
		Loops: format.Loops[onDevice, float64]{
			Dots: b.dots, Axpy: b.axpy, Scal: b.scal, Mul: in.Mul, Add: in.Add, Sqrt: in.Sqrt, Div: in.Div,
		},
		Device: &format.Device[onDevice]{
			Asum: func(z, x onDevice) {
				if z.host = nil; x.n == 0 {
					return // it is 0
				}
				b.call(cublasAsum, 1, uintptr(x.n), x.address(), 1, z.address())
			},
			Wait: func() error {
				b.try(e.Wait())
				return b.failed()
			},
			Fetch: b.fetch, Free: b.free,
		},
	}
}

// make returns a vector of zeros. The first one makes the handle, which takes longer than many a product.
func (b *cublasLoops) make(n int) onDevice {
	if b.handle == 0 {
		b.status(cublasCreate, uintptr(unsafe.Pointer(&b.handle)))
	}
	v := onDevice{&deviceArray{buffer: gpu.Take[float64](b.owner, n)}, 0, n}
	if b.try(b.owner.Err()); b.err == nil {
		b.try(v.buffer.Clear(nil))
	}
	return v
}

func (b *cublasLoops) fetch(v onDevice) error {
	v.host = make([]float64, v.buffer.Len())
	return v.buffer.Download(v.host)
}

func (b *cublasLoops) get(v onDevice, i int) float64 {
	if b.err == nil && v.host == nil {
		b.try(b.fetch(v))
	}
	if b.err != nil {
		return 0
	}
	return v.host[v.from+i]
}

// free gives all memory back.
func (b *cublasLoops) free() error {
	if b.handle != 0 {
		purego.SyscallN(b.functions[cublasDestroy], b.handle)
		b.handle = 0
	}
	b.owner.Free()
	b.owner = b.device.NewOwner()
	return nil
}

// dots sets z to the products of rows of a and columns of x, which lie together: see multiply.
func (b *cublasLoops) dots(z, a, x onDevice, rows, columns, n int) {
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
func (b *cublasLoops) copy(z, x onDevice) {
	z.host = nil
	if z.n > 0 && z.address() != x.address() {
		b.call(cublasCopy, 0, uintptr(z.n), x.address(), 1, z.address(), 1)
	}
}

func (b *cublasLoops) axpy(z onDevice, a float64, x, y onDevice) {
	if b.copy(z, y); z.n > 0 {
		b.call(cublasAxpy, 0, uintptr(z.n), b.times(a), x.address(), 1, z.address(), 1)
	}
}

func (b *cublasLoops) scal(z onDevice, a float64, x onDevice) {
	if b.copy(z, x); z.n > 0 {
		b.call(cublasScal, 0, uintptr(z.n), b.times(a), z.address(), 1)
	}
}
