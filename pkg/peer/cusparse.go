package peer

import (
	"fmt"
	"math"
	"slices"
	"unsafe"

	"github.com/ebitengine/purego"

	"mpbench/internal/dynamic"
	"mpbench/pkg/device"
	"mpbench/pkg/format"
	"mpbench/pkg/format/formatgpu"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

var cusparse = &library{
	name: "cuSPARSE", files: fileNames("cusparse", "13", "12", "11"), symbol: "cusparseCreate",
	install: "it is part of NVIDIA's CUDA toolkit, and of its Python packages",
	methods: []string{"cusparse", "cusparse-float32"},
	version: func(l *library) string { return l.property("cusparseGetProperty") },
	explain: "cusparseGetErrorString",
}

// cusparseNames are the functions of cuSPARSE that are called, in the order of the constants; those of its generic
// interface are in cuSPARSE 11 and newer.
var cusparseNames = []string{
	"cusparseCreate", "cusparseDestroy", "cusparseCreateCsr", "cusparseDestroySpMat", "cusparseCreateDnVec",
	"cusparseDestroyDnVec", "cusparseSpMV_bufferSize", "cusparseSpMV",
}

const (
	cusparseCreateCsr = iota + 2 // after create and destroy
	cusparseDestroySpMat
	cusparseCreateDnVec
	cusparseDestroyDnVec
	cusparseBufferSize
	cusparseSpMV
)

// Values of enumerations of cusparse.h and library_types.h.
const (
	index32i, baseZero       = 2, 0
	real32, real64           = 0, 1
	nonTranspose, defaultAlg = 0, 0
)

// cusparseMethods are products of sparse matrices in binary64 and binary32 on a GPU, in the order of cuSPARSE: the
// bounds are those of any order.
func cusparseMethods() []method.Method {
	m := method.Method{Name: "cusparse", Summary: "by cuSPARSE, in its order", Bits: 53}
	list := cusparseOf(m, "u = 2^-53", format.Binary64, real64)
	m.Name, m.Summary, m.Bits = "cusparse-float32", "by cuSPARSE, in its order, in binary32", 24
	return append(list, cusparseOf(m, "u = 2^-24", format.Binary32, real32)...)
}

func cusparseOf[T any](m method.Method, unit string, in format.Format[[]T, T], kind uintptr) []method.Method {
	list := format.Recursive(m, unit, onDeviceOf(in), op.Spmv)
	for i, m := range list {
		m.Bound.Source += ", in any order"
		m.Threads = false
		m.On = map[device.Kind]method.New{device.CUDA: func(c method.Config) (method.Engine, error) {
			functions, err := cusparse.functions(cusparseNames...)
			if err != nil {
				return nil, err
			}
			d, err := gpu.Open(c.GPU())
			if err != nil {
				return nil, err
			}
			return formatgpu.New(d, func(e *formatgpu.Engine) (method.Engine, error) {
				b := &cusparseLoops[T]{deviceLoops: newDeviceLoops[T](d, cusparse, cusparseNames, functions), kind: kind,
					multiply: in.Scal}
				return format.NewEngine(m, c, b.format(e, in)), nil
			})
		}}
		list[i] = m
	}
	return of(list, func() error {
		_, err := cusparse.functions(cusparseNames...)
		return err
	})
}

// cusparseLoops calls cuSPARSE on the device's thread, in the default stream.
type cusparseLoops[T any] struct {
	*deviceLoops[T]
	kind        uintptr                 // of numbers
	multiply    func(z []T, a T, x []T) // on the processor
	made        []descriptor
	alpha, beta T       // where cuSPARSE reads them
	address     uintptr // where it writes what it makes, and how many bytes it needs
	size        uint64
}

// descriptor is one of cuSPARSE, and the function that gives it back.
type descriptor struct {
	address uintptr
	destroy int
}

// format is a format of the processor in the memory of the device. Where there is no product, y is multiplied on the
// processor, as cuSPARSE has no such function.
func (b *cusparseLoops[T]) format(e *formatgpu.Engine, in format.Format[[]T, T]) format.Format[onDevice[T], T] {
	f := b.deviceLoops.format(e, in)
	f.CombineRows = b.rows
	f.Scal = b.scal
	f.Device.Free = func() error {
		for _, d := range b.made {
			purego.SyscallN(b.functions[d.destroy], d.address)
		}
		b.made = nil
		return b.free()
	}
	return f
}

// scal is [format.Loops.Scal], where there is an x.
func (b *cusparseLoops[T]) scal(z onDevice[T], a T, x onDevice[T]) {
	if z.host = nil; x.deviceArray == nil || b.err != nil {
		return
	}
	list := make([]T, x.n)
	if b.try(x.buffer.Download(list)); b.err == nil {
		b.multiply(list, a, list)
		b.try(z.buffer.Upload(list))
	}
}

// describe returns a descriptor that a function makes, whose first argument is where it goes.
func (b *cusparseLoops[T]) describe(create, destroy int, args ...uintptr) uintptr {
	b.address = 0
	b.status(create, append([]uintptr{uintptr(unsafe.Pointer(&b.address))}, args...)...)
	if b.address != 0 {
		b.made = append(b.made, descriptor{b.address, destroy})
	}
	return b.address
}

// rows is [format.Loops.CombineRows].
func (b *cusparseLoops[T]) rows(
	p *numbers.Pattern, columns int, a onDevice[T],
) func(z onDevice[T], alpha T, x onDevice[T], beta T, y onDevice[T]) {
	rows := len(p.Start) - 1
	if p.Len() > math.MaxInt32 {
		b.try(fmt.Errorf("cusparse: %d elements are too many for indices of 32 bits", p.Len()))
	}
	start := make([]int32, rows+1)
	for i, k := range p.Start {
		start[i] = int32(k)
	}
	starts, column := gpu.TakeCopy(b.owner, start), gpu.TakeCopy(b.owner, p.Column)
	if b.try(b.owner.Err()); b.err != nil || rows*columns == 0 {
		return func(z onDevice[T], _ T, _ onDevice[T], beta T, y onDevice[T]) { b.scal(z, beta, y) }
	}
	vector := func(n int, at uintptr) uintptr {
		return b.describe(cusparseCreateDnVec, cusparseDestroyDnVec, uintptr(n), at, b.kind)
	}
	matrix := b.describe(cusparseCreateCsr, cusparseDestroySpMat, uintptr(rows), uintptr(columns), uintptr(p.Len()),
		uintptr(starts.Pointer()), uintptr(column.Pointer()), a.address(), index32i, index32i, baseZero, b.kind)
	var left, right uintptr // descriptors of x and z
	var workspace *gpu.Buffer[byte]
	return func(z onDevice[T], alpha T, x onDevice[T], beta T, y onDevice[T]) {
		b.alpha, b.beta = alpha, beta
		if b.copy(z, y); left == 0 {
			left, right = vector(x.n, x.address()), vector(z.n, z.address())
		}
		args := []uintptr{
			b.handle, nonTranspose, uintptr(unsafe.Pointer(&b.alpha)), matrix, left, uintptr(unsafe.Pointer(&b.beta)),
			right, b.kind, defaultAlg,
		}
		if workspace == nil {
			workspace = b.workspace(args)
		}
		if b.err == nil {
			b.status(cusparseSpMV, append(args, uintptr(workspace.Pointer()))...)
		}
	}
}

// workspace returns the memory that products with these arguments need, prepared for them where cuSPARSE has a
// function for that, from 12.4 on.
func (b *cusparseLoops[T]) workspace(args []uintptr) *gpu.Buffer[byte] {
	b.status(cusparseBufferSize, append(slices.Clone(args), uintptr(unsafe.Pointer(&b.size)))...)
	memory := gpu.Take[byte](b.owner, int(max(b.size, 1)))
	if b.try(b.owner.Err()); b.err != nil {
		return nil
	}
	if prepare, err := dynamic.Symbol(cusparse.handle, "cusparseSpMV_preprocess"); err == nil {
		b.check("cusparseSpMV_preprocess", prepare, append(args, uintptr(memory.Pointer()))...)
	}
	return memory
}

// copy makes z equal to y, if there is one.
func (b *cusparseLoops[T]) copy(z, y onDevice[T]) {
	z.host = nil
	if y.deviceArray != nil && y.n > 0 && b.err == nil {
		b.try(z.buffer.CopyAsync(nil, y.buffer))
	}
}
