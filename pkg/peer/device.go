package peer

import (
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"

	"mpbench/internal/dynamic"
	"mpbench/pkg/format"
	"mpbench/pkg/format/formatgpu"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
)

// property returns the version of one of NVIDIA's libraries: major, minor, patch.
func (l *library) property(function string) string {
	get, err := dynamic.Symbol(l.handle, function)
	if err != nil {
		return ""
	}
	var version [3]int32
	for i := range version {
		purego.SyscallN(get, uintptr(i), uintptr(unsafe.Pointer(&version[i])))
	}
	return fmt.Sprintf("%d.%d.%d", version[0], version[1], version[2])
}

// onDevice is numbers from to from+n-1 of an array in the device's memory.
type onDevice[T any] struct {
	*deviceArray[T]
	from, n int
}

type deviceArray[T any] struct {
	buffer *gpu.Buffer[T]
	host   []T // the numbers as they were fetched, nil if they may have changed since
}

// address returns that of the first number.
func (v onDevice[T]) address() uintptr { return uintptr(v.buffer.Pointer().At(v.from)) }

// onDeviceOf returns what is known of a format in the memory of a device before there is one.
func onDeviceOf[T any](in format.Format[[]T, T]) func(method.Config) format.Format[onDevice[T], T] {
	return func(method.Config) format.Format[onDevice[T], T] {
		return format.Format[onDevice[T], T]{Name: in.Name, Bits: in.Bits, Bytes: in.Bytes, Range: in.Range}
	}
}

// deviceLoops calls functions of a library on the device's thread, in the default stream: the first two create and
// destroy a handle. The first error stays.
type deviceLoops[T any] struct {
	device    *gpu.Device
	owner     *gpu.Owner // of all memory
	library   *library
	names     []string
	functions []uintptr
	handle    uintptr // of the memory's lifetime
	err       error
}

func newDeviceLoops[T any](d *gpu.Device, l *library, names []string, functions []uintptr) *deviceLoops[T] {
	return &deviceLoops[T]{device: d, owner: d.NewOwner(), library: l, names: names, functions: functions}
}

func (b *deviceLoops[T]) try(err error) {
	if b.err == nil {
		b.err = err
	}
}

// failed returns the first error since the last call.
func (b *deviceLoops[T]) failed() error {
	err := b.err
	b.err = nil
	return err
}

// status calls a function that returns one.
func (b *deviceLoops[T]) status(function int, args ...uintptr) {
	b.check(b.names[function], b.functions[function], args...)
}

// check is status for a function that has no number.
func (b *deviceLoops[T]) check(name string, function uintptr, args ...uintptr) {
	if b.err != nil {
		return
	}
	code, _, _ := purego.SyscallN(function, args...)
	if int32(code) == 0 {
		return
	}
	text := ""
	if explain, err := dynamic.Symbol(b.library.handle, b.library.explain); err == nil {
		at, _, _ := purego.SyscallN(explain, code)
		text = ": " + textAt(at)
	}
	b.try(fmt.Errorf("%s returned status %d%s", name, int32(code), text))
}

// format is a format of the processor in the memory of the device, without loops; infinities and NaN are left to the
// engine.
func (b *deviceLoops[T]) format(e *formatgpu.Engine, in format.Format[[]T, T]) format.Format[onDevice[T], T] {
	return format.Format[onDevice[T], T]{
		Name: in.Name, Bits: in.Bits, Bytes: in.Bytes, Range: in.Range, Alone: true, Value: in.Value,
		Make: b.make, Slice: func(v onDevice[T], from, to int) onDevice[T] {
			return onDevice[T]{v.deviceArray, v.from + from, to - from}
		},
		Get: b.get, Set: func(v onDevice[T], _ int, x T) { b.try(v.buffer.Upload([]T{x})) },
		Load: func(a numbers.Array) (v onDevice[T], rounded method.Rounded) {
			var host []T
			e.Convert(func() { host, rounded = in.Load(a) })
			e.Copy(func() {
				if v = b.make(len(host)); b.err == nil {
					b.try(v.buffer.Upload(host))
				}
			})
			return v, rounded
		},
		Loops: format.Loops[onDevice[T], T]{Mul: in.Mul, Add: in.Add, Sqrt: in.Sqrt, Div: in.Div},
		Device: &format.Device[onDevice[T]]{
			Wait: func() error {
				b.try(e.Wait())
				return b.failed()
			},
			Fetch: b.fetch, Free: b.free,
		},
	}
}

// make returns a vector of zeros. The first one makes the handle, which takes longer than many a product.
func (b *deviceLoops[T]) make(n int) onDevice[T] {
	if b.handle == 0 {
		b.status(0, uintptr(unsafe.Pointer(&b.handle)))
	}
	v := onDevice[T]{&deviceArray[T]{buffer: gpu.Take[T](b.owner, n)}, 0, n}
	if b.try(b.owner.Err()); b.err == nil {
		b.try(v.buffer.Clear(nil))
	}
	return v
}

func (b *deviceLoops[T]) fetch(v onDevice[T]) error {
	v.host = make([]T, v.buffer.Len())
	return v.buffer.Download(v.host)
}

func (b *deviceLoops[T]) get(v onDevice[T], i int) (x T) {
	if b.err == nil && v.host == nil {
		b.try(b.fetch(v))
	}
	if b.err != nil {
		return x
	}
	return v.host[v.from+i]
}

// free gives all memory back.
func (b *deviceLoops[T]) free() error {
	if b.handle != 0 {
		purego.SyscallN(b.functions[1], b.handle)
		b.handle = 0
	}
	b.owner.Free()
	b.owner = b.device.NewOwner()
	return nil
}
