package multifloatgpu

import (
	"math"
	"strconv"
	"strings"
	"unsafe"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/multifloat"
)

// vector is numbers from to from+n-1 of an array in device memory.
type vector[T multifloat.Float] struct {
	*array[T]
	from, n int
}

// array is a structure of arrays, as multifloat.Vector.
type array[T multifloat.Float] struct {
	buffer  *gpu.Buffer[T]
	length  int // of a plane
	packing *multifloat.Packing
	host    multifloat.Vector[T] // the numbers as they were fetched
}

func (v vector[T]) slice(from, to int) vector[T] { return vector[T]{v.array, v.from + from, to - from} }

func (v vector[T]) planes() cuda.ComponentPlanes {
	if v.array == nil || v.buffer == nil {
		return cuda.ComponentPlanes{}
	}
	return cuda.ComponentPlanes{P: gpu.Pointer[byte](v.buffer.Pointer().At(v.from)), Stride: uint64(v.stride())}
}

// stride returns how many bytes lie between number from of a plane and that of the next one, whose numbers may be
// smaller.
func (v vector[T]) stride() int {
	size := int(unsafe.Sizeof(T(0)))
	if v.packing == nil {
		return size * v.length
	}
	return size*(v.length-v.from) + packedBytes*v.from
}

// packedBytes is the size of the lower part of a packed number.
const packedBytes = 4

// storage returns how many numbers of the type T all planes have.
func (v *array[T]) storage(components int) int {
	if v.packing == nil {
		return v.length * components
	}
	return v.packing.Length(v.length)
}

// arithmetic computes with vectors of one format on a device. Everything goes into the default stream; to be used on
// the device's thread.
type arithmetic[T multifloat.Float] struct {
	device     *gpu.Device
	components int
	packing    *multifloat.Packing // of all vectors but those of parts
	owner      *gpu.Owner          // of all memory
	err        error               // the first one
	sums       *gpu.Kernel[cuda.MultifloatSumsArgs]
	dots       *gpu.Kernel[cuda.MultifloatDotsArgs]
	pairs      *gpu.Kernel[cuda.MultifloatPairsArgs]
	elements   *gpu.Kernel[cuda.MultifloatElementsArgs]
	rows       *gpu.Kernel[cuda.MultifloatRowsArgs]
	triangle   *gpu.Kernel[cuda.MultifloatTriangleArgs]
	tiles      []tiles
	parts      [2]vector[T] // of sums of several segments
	number     vector[T]    // a dot product, whole
}

func newArithmetic[T multifloat.Float](d *gpu.Device, f multifloat.Format) (*arithmetic[T], error) {
	module, suffix := kernelsOf[T](f)
	a, err := arithmeticOf[T](d, f, module, suffix)
	if err == nil {
		a.tiles = a.findTiles(module, suffix)
		err = a.owner.Err()
	}
	return a, err
}

// arithmeticOf is newArithmetic by kernels whose names end so, without tiles.
func arithmeticOf[T multifloat.Float](
	d *gpu.Device, f multifloat.Format, module, suffix string,
) (*arithmetic[T], error) {
	a := &arithmetic[T]{device: d, components: f.Scheme.Components, packing: f.Packing, owner: d.NewOwner()}
	a.sums = gpu.FindKernel[cuda.MultifloatSumsArgs](a.owner, module, "multifloatSums"+suffix)
	a.dots = gpu.FindKernel[cuda.MultifloatDotsArgs](a.owner, module, "multifloatDots"+suffix)
	a.pairs = gpu.FindKernel[cuda.MultifloatPairsArgs](a.owner, module, "multifloatPairs"+suffix)
	a.elements = gpu.FindKernel[cuda.MultifloatElementsArgs](a.owner, module, "multifloatElements"+suffix)
	a.rows = gpu.FindKernel[cuda.MultifloatRowsArgs](a.owner, module, "multifloatRows"+suffix)
	a.triangle = gpu.FindKernel[cuda.MultifloatTriangleArgs](a.owner, module, "multifloatTriangle"+suffix)
	return a, a.owner.Err()
}

// kernelsOf returns the module with a format's kernels, and how their names end.
func kernelsOf[T multifloat.Float](f multifloat.Format) (module, suffix string) {
	k := f.Scheme.Components
	suffix = strconv.Itoa(8*int(unsafe.Sizeof(T(0)))) + "x" + strconv.Itoa(k)
	switch {
	case f.Scheme.Mixed > 0:
		suffix = "Native"
	case f.Packing != nil:
		suffix = strings.ToUpper(f.Method)
	case f.Scheme.DoubleWord:
		suffix = "DD"
	case f.Scheme.Guard == 0 && k == 2:
		suffix = "Sloppy"
	}
	return "multifloat" + strconv.Itoa(k), suffix
}

// try keeps the first error.
func (a *arithmetic[T]) try(err error) {
	if a.err == nil {
		a.err = err
	}
}

// failed returns the first error since the last call.
func (a *arithmetic[T]) failed() error {
	err := a.err
	a.err = nil
	return err
}

// make returns a vector of zeros.
func (a *arithmetic[T]) make(n int) vector[T] { return a.makeStored(n, a.packing) }

func (a *arithmetic[T]) makeStored(n int, packing *multifloat.Packing) vector[T] {
	v := vector[T]{&array[T]{length: n, packing: packing}, 0, n}
	v.buffer = gpu.Take[T](a.owner, v.storage(a.components))
	if a.try(a.owner.Err()); a.err == nil {
		a.try(v.buffer.Clear(nil))
	}
	return v
}

// upload returns a copy of a vector.
func (a *arithmetic[T]) upload(x multifloat.Vector[T]) vector[T] {
	v := a.make(x.Len)
	if a.err == nil {
		a.try(v.buffer.Upload(x.Storage))
	}
	return v
}

// fetch copies all numbers to the host.
func (a *arithmetic[T]) fetch(v vector[T]) error {
	v.host = multifloat.MakePacked[T](v.length, a.components, v.packing)
	return v.buffer.Download(v.host.Storage)
}

// get returns number i, from the host if it was fetched.
func (a *arithmetic[T]) get(v vector[T], i int) multifloat.Number[T] {
	if a.err == nil && v.host.Len == 0 {
		a.try(a.fetch(v))
	}
	if a.err != nil {
		return multifloat.Number[T]{}
	}
	return v.host.Get(v.from + i)
}

// set makes the only number of a vector equal to x.
func (a *arithmetic[T]) set(v vector[T], i int, x multifloat.Number[T]) {
	if a.err == nil {
		one := multifloat.MakePacked[T](1, a.components, v.packing)
		one.Set(0, x)
		a.try(v.buffer.Upload(one.Storage))
		v.host = multifloat.Vector[T]{}
	}
}

// free gives all memory back.
func (a *arithmetic[T]) free() error {
	a.owner.Free()
	a.owner, a.parts, a.number = a.device.NewOwner(), [2]vector[T]{}, vector[T]{}
	return nil
}

const threads = 128 // of a block

// grid returns a launch for so many tasks of a warp each.
func (a *arithmetic[T]) grid(tasks int) gpu.Launch {
	blocks := (tasks + threads/32 - 1) / (threads / 32)
	return gpu.Launch{Grid: gpu.Dim{X: min(blocks, 1<<20)}, Block: gpu.Dim{X: threads}}
}

// sum sets z_0 to the sum of x, or of its magnitudes.
func (a *arithmetic[T]) sum(z, x vector[T], magnitudes bool) {
	args := cuda.MultifloatSumsArgs{X: x.planes(), N: uint64(x.n), Segments: uint64(multifloat.Segments(x.n))}
	if magnitudes {
		args.Magnitudes = 1
	}
	a.reduce(z, true, 1, x.n, func(l gpu.Launch, to vector[T], tasks int) error {
		args.Z, args.Tasks = to.planes(), uint64(tasks)
		return a.sums.Launch(l, args)
	})
}

// product sets z to the dot products of the rows of x and the columns of y, row by row.
func (a *arithmetic[T]) product(z, x, y vector[T], rows, columns, n int) {
	a.addProducts(z, true, x.planes(), y.planes(), rows, columns, n)
}

// dot returns the dot product of two vectors of n numbers, and waits for it.
func (a *arithmetic[T]) dot(x, y cuda.ComponentPlanes, n int) multifloat.Number[T] {
	if a.number.array == nil {
		a.number = a.makeStored(1, nil)
	}
	a.addProducts(a.number, false, x, y, 1, 1, n)
	return a.get(a.number, 0)
}

// addProducts sets z, which is stored as vectors are or whole, to dot products.
func (a *arithmetic[T]) addProducts(z vector[T], asStored bool, x, y cuda.ComponentPlanes, rows, columns, n int) {
	if t := a.tileFor(rows, columns); t != nil {
		a.addTiles(t, z, asStored, cuda.MultifloatTilesArgs{
			X: x, Y: y, Rows: uint64(rows), Columns: uint64(columns), N: uint64(n),
		})
		return
	}
	args := cuda.MultifloatDotsArgs{
		X: x, Y: y, Columns: uint64(max(1, columns)), N: uint64(n), Segments: uint64(multifloat.Segments(n)),
	}
	if asStored && args.Segments == 1 {
		args.AsStored = 1
	}
	a.reduce(z, asStored, rows*columns, n, func(l gpu.Launch, to vector[T], tasks int) error {
		args.Z, args.Tasks = to.planes(), uint64(tasks)
		return a.dots.Launch(l, args)
	})
}

// reduce launches what adds segments, and then what adds their sums in pairs of neighbours, 64 at a time.
func (a *arithmetic[T]) reduce(
	z vector[T], asStored bool, components, n int, segments func(gpu.Launch, vector[T], int) error,
) {
	z.host = multifloat.Vector[T]{}
	count := multifloat.Segments(n)
	if components == 0 || a.err != nil {
		return
	}
	to := z
	if count > 1 {
		to = a.part(0, components*count)
	}
	if a.err == nil {
		a.try(segments(a.grid(components*count), to, components*count))
	}
	for turn := 1; count > 1 && a.err == nil; turn++ {
		from := to
		groups := (count + 63) / 64
		args := cuda.MultifloatPairsArgs{
			X: from.planes(), N: uint64(count), Groups: uint64(groups), Tasks: uint64(components * groups),
		}
		if to = z; groups > 1 {
			to = a.part(turn%2, components*groups)
		} else if asStored {
			args.AsStored = 1
		}
		args.Z = to.planes()
		a.try(a.pairs.Launch(a.grid(components*groups), args))
		count = groups
	}
}

// part returns memory for so many sums of segments.
func (a *arithmetic[T]) part(i, n int) vector[T] {
	if a.parts[i].array == nil || a.parts[i].length < n {
		a.parts[i] = a.makeStored(n, nil)
	}
	return vector[T]{a.parts[i].array, 0, n}
}

// What kernels do with elements.
const (
	multiplies = 1
	adds       = 2
	byElements = 4 // multiplies by the numbers of y
)

func (a *arithmetic[T]) axpy(z vector[T], c multifloat.Number[T], x, y vector[T]) {
	a.launch(z, c, x, y, multiplies|adds)
}

func (a *arithmetic[T]) scal(z vector[T], c multifloat.Number[T], x vector[T]) {
	a.launch(z, c, x, x, multiplies)
}

// products sets z_i = x_i * y_i.
func (a *arithmetic[T]) products(z, x, y vector[T]) {
	a.launch(z, multifloat.Number[T]{}, y, x, multiplies|byElements)
}

func (a *arithmetic[T]) launch(z vector[T], c multifloat.Number[T], x, y vector[T], what uint64) {
	z.host = multifloat.Vector[T]{}
	if z.n == 0 || a.err != nil {
		return
	}
	bits := func(k int) uint64 { return math.Float64bits(float64(c[k])) }
	const block = 256
	blocks := min((z.n+block-1)/block, 16*a.multiprocessors())
	a.try(a.elements.Launch(gpu.Launch{Grid: gpu.Dim{X: blocks}, Block: gpu.Dim{X: block}}, cuda.MultifloatElementsArgs{
		Z: z.planes(), X: x.planes(), Y: y.planes(), N: uint64(z.n), What: what,
		C: cuda.Constant{
			C0: bits(0), C1: bits(1), C2: bits(2), C3: bits(3), C4: bits(4), C5: bits(5), C6: bits(6), C7: bits(7),
		},
	}))
}
