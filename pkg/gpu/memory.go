package gpu

import (
	"fmt"
	"unsafe"

	"mpbench/cuda"
)

// Memory is the device memory in use by this package, in bytes.
type Memory struct {
	Current, Peak int64
}

// Memory returns the memory in use and the most that was in use since the last ResetPeak. To be called inside Do.
func (d *Device) Memory() Memory { return d.memory }

// ResetPeak makes the present use the peak.
func (d *Device) ResetPeak() { d.memory.Peak = d.memory.Current }

// Free returns the bytes of device memory that are free. To be called inside Do.
func (d *Device) Free() (int64, error) {
	var free, total uint64
	err := d.call("cuMemGetInfo", d.driver.MemGetInfo(&free, &total))
	return int64(free), err
}

// Pointer is an address in device memory of elements of type T: a kernel's parameter T*.
type Pointer[T any] = cuda.Pointer[T]

func sizeOf[T any]() int {
	var v T
	return int(unsafe.Sizeof(v))
}

// Buffer is device memory for n elements of type T, which has no Go pointers.
type Buffer[T any] struct {
	device  *Device
	pointer uint64
	n       int
}

// Alloc reserves device memory for n elements of undefined values. Errors wrap ErrOutOfMemory and say what was free.
func Alloc[T any](d *Device, n int) (*Buffer[T], error) {
	b := &Buffer[T]{device: d, n: n}
	bytes := b.Bytes()
	if n == 0 {
		return b, nil
	}
	if code := d.driver.MemAlloc(&b.pointer, uint64(bytes)); code != 0 {
		note := fmt.Sprintf("%d bytes asked for", bytes)
		if free, err := d.Free(); err == nil {
			note += fmt.Sprintf(", %d of %d free", free, d.info.MemoryBytes)
		}
		return nil, d.callNote("cuMemAlloc", code, note)
	}
	d.memory.Current += bytes
	d.memory.Peak = max(d.memory.Peak, d.memory.Current)
	return b, nil
}

// Upload makes a buffer that holds x.
func Upload[T any](d *Device, x []T) (*Buffer[T], error) {
	b, err := Alloc[T](d, len(x))
	if err != nil {
		return nil, err
	}
	if err := b.Upload(x); err != nil {
		b.Free()
		return nil, err
	}
	return b, nil
}

// Len returns the number of elements.
func (b *Buffer[T]) Len() int { return b.n }

// Bytes returns the size.
func (b *Buffer[T]) Bytes() int64 { return int64(b.n) * int64(sizeOf[T]()) }

// Pointer returns the address of the first element.
func (b *Buffer[T]) Pointer() Pointer[T] {
	if b == nil {
		return 0
	}
	return Pointer[T](b.pointer)
}

// Bytewise returns the same memory as bytes; it belongs to b.
func (b *Buffer[T]) Bytewise() *Buffer[byte] {
	return &Buffer[byte]{device: b.device, pointer: b.pointer, n: int(b.Bytes())}
}

// Free gives the memory back; freeing it again, or a nil buffer, does nothing.
func (b *Buffer[T]) Free() {
	if b == nil || b.pointer == 0 {
		return
	}
	b.device.memory.Current -= b.Bytes()
	b.device.driver.MemFree(b.pointer) // after a fault it fails; the memory is lost with the context
	b.pointer, b.n = 0, 0
}

// check panics if a copy does not fit: an error of the program.
func (b *Buffer[T]) check(n int) {
	if n > b.n {
		panic(fmt.Sprintf("gpu: copy of %d elements with a buffer of %d", n, b.n))
	}
}

// Upload copies x to the beginning of the buffer and waits until it is there. The driver's own copy from ordinary
// memory returns earlier, when the numbers are in its buffers, and streams made by NewStream do not wait for it.
func (b *Buffer[T]) Upload(x []T) error {
	b.check(len(x))
	if len(x) == 0 {
		return nil
	}
	d := b.device
	if err := d.call("cuMemcpyHtoD", d.driver.MemcpyHtoD(b.pointer, unsafe.Pointer(&x[0]),
		uint64(len(x)*sizeOf[T]()))); err != nil {
		return err
	}
	return d.call("cuStreamSynchronize", d.driver.StreamSynchronize((*Stream)(nil).raw()))
}

// Download waits for the default stream and copies the beginning of the buffer to x. Wait for other streams before.
func (b *Buffer[T]) Download(x []T) error {
	b.check(len(x))
	if len(x) == 0 {
		return nil
	}
	d := b.device
	return d.call("cuMemcpyDtoH", d.driver.MemcpyDtoH(unsafe.Pointer(&x[0]), b.pointer, uint64(len(x)*sizeOf[T]())))
}

// UploadAsync copies the pinned x to the buffer from element at on, in the stream. x must not change until then.
func (b *Buffer[T]) UploadAsync(s *Stream, at int, x []T) error {
	b.check(at + len(x))
	if len(x) == 0 {
		return nil
	}
	d := b.device
	return d.call("cuMemcpyHtoDAsync", d.driver.MemcpyHtoDAsync(uint64(b.Pointer().At(at)), unsafe.Pointer(&x[0]),
		uint64(len(x)*sizeOf[T]()), s.raw()))
}

// copy2D is the driver's CUDA_MEMCPY2D for copies from the host to the device: rows of so many bytes, a pitch apart on
// either side.
type copy2D struct {
	_, _      uint64 // where a row of the source begins
	fromType  uint32
	fromHost  unsafe.Pointer
	_         uint64 // a source on the device
	_         uintptr
	fromPitch uint64

	_, _     uint64
	toType   uint32
	_        unsafe.Pointer // a target on the host
	toDevice uint64
	_        uintptr
	toPitch  uint64

	width, height uint64
}

// The driver's CUmemorytype.
const (
	hostMemory   = 1
	deviceMemory = 2
)

// UploadRowsAsync copies rows of so many elements of x, which begin a stride apart, to the beginning of the buffer,
// one behind the other, in the stream. x has to be pinned or locked, and must not change until then.
func (b *Buffer[T]) UploadRowsAsync(s *Stream, x []T, rows, length, stride int) error {
	if rows == 0 || length == 0 {
		return nil
	}
	if rows == 1 || length == stride {
		return b.UploadAsync(s, 0, x[:rows*length])
	}
	b.check(rows * length)
	_ = x[(rows-1)*stride+length-1]
	size, d := uint64(sizeOf[T]()), b.device
	c := copy2D{
		fromType: hostMemory, fromHost: unsafe.Pointer(&x[0]), fromPitch: size * uint64(stride),
		toType: deviceMemory, toDevice: b.pointer, toPitch: size * uint64(length),
		width: size * uint64(length), height: uint64(rows),
	}
	return d.call("cuMemcpy2DAsync", d.driver.Memcpy2DAsync(&c, s.raw()))
}

// DownloadAsync copies from element at of the buffer to the pinned elements x, in the stream.
func (b *Buffer[T]) DownloadAsync(s *Stream, at int, x []T) error {
	b.check(at + len(x))
	if len(x) == 0 {
		return nil
	}
	d := b.device
	return d.call("cuMemcpyDtoHAsync", d.driver.MemcpyDtoHAsync(unsafe.Pointer(&x[0]), uint64(b.Pointer().At(at)),
		uint64(len(x)*sizeOf[T]()), s.raw()))
}

// CopyAsync copies the whole buffer from another of the same length, in the stream.
func (b *Buffer[T]) CopyAsync(s *Stream, from *Buffer[T]) error {
	b.check(from.n)
	if from.n == 0 {
		return nil
	}
	d := b.device
	return d.call("cuMemcpyDtoDAsync", d.driver.MemcpyDtoDAsync(b.pointer, from.pointer, uint64(from.Bytes()), s.raw()))
}

// Clear sets all bytes to 0, in the stream.
func (b *Buffer[T]) Clear(s *Stream) error {
	if b.n == 0 {
		return nil
	}
	d := b.device
	return d.call("cuMemsetD8Async", d.driver.MemsetD8Async(b.pointer, 0, uint64(b.Bytes()), s.raw()))
}

// Pinned is host memory that the device copies from and to directly, at the bus's full speed and asynchronously.
type Pinned[T any] struct {
	device  *Device
	pointer unsafe.Pointer
	n       int
}

// AllocPinned reserves pinned host memory for n elements.
func AllocPinned[T any](d *Device, n int) (*Pinned[T], error) {
	p := &Pinned[T]{device: d, n: n}
	if n == 0 {
		return p, nil
	}
	bytes := uint64(n) * uint64(sizeOf[T]())
	return p, d.callNote("cuMemHostAlloc", d.driver.MemHostAlloc(&p.pointer, bytes, 0),
		fmt.Sprintf("%d bytes of pinned host memory", bytes))
}

// Slice returns the elements. They must not be used after Free.
func (p *Pinned[T]) Slice() []T { return unsafe.Slice((*T)(p.pointer), p.n) }

// Free gives the memory back; freeing it again, or a nil one, does nothing.
func (p *Pinned[T]) Free() {
	if p == nil || p.pointer == nil {
		return
	}
	p.device.driver.MemFreeHost(p.pointer)
	p.pointer, p.n = nil, 0
}
