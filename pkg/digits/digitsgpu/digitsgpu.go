// Package digitsgpu has the methods of package digits on GPUs: the same operations in the same order, hence the same
// bits. A thread computes an entry, from the first term to the last; a long sum is the work of one thread.
package digitsgpu

import (
	"fmt"

	"mpbench/cuda"
	"mpbench/pkg/device"
	"mpbench/pkg/digits"
	"mpbench/pkg/format"
	"mpbench/pkg/format/formatgpu"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
)

// On returns the catalog with all methods of package digits on GPUs, too.
func On(c method.Catalog) method.Catalog {
	for _, m := range digits.Methods() {
		c = c.With(m.Operation, m.Name, device.CUDA, newEngine(m))
	}
	return c
}

// formats are those of the methods, by name, and whether they round to nearest.
var formats = map[string]struct {
	of      func(method.Config) format.Format[digits.Vector, *digits.Number]
	nearest uint32
}{"digits": {digits.Truncating, 0}, "digits-rounded": {digits.Rounding, 1}}

func newEngine(m method.Method) method.New {
	f := formats[m.Name]
	return formatgpu.Of(m, func(
		c method.Config, d *gpu.Device, e *formatgpu.Engine,
	) (format.Format[*vector, *digits.Number], error) {
		a, err := newArithmetic(d, digits.WordsFor(c.Precision), f.nearest)
		if err != nil {
			return format.Format[*vector, *digits.Number]{}, err
		}
		return vectors(f.of(c), a, e), nil
	})
}

// vectors is a format on vectors in device memory.
func vectors(
	f format.Format[digits.Vector, *digits.Number], a *arithmetic, e *formatgpu.Engine,
) format.Format[*vector, *digits.Number] {
	return format.Format[*vector, *digits.Number]{
		Name: f.Name, Bits: f.Bits, Bytes: f.Bytes, Parts: f.Parts, Range: f.Range, Value: f.Value,
		Make: a.make, Slice: (*vector).slice, Get: a.get, Set: a.set,
		Load: func(x numbers.Array) (v *vector, rounded method.Rounded) {
			var host digits.Vector
			e.Convert(func() { host, rounded = f.Load(x) })
			e.Copy(func() { v = a.upload(host) })
			return v, rounded
		},
		Loops: format.Loops[*vector, *digits.Number]{
			Dots: func(z, x, y *vector, rows, columns, n int) {
				a.dots(z, rows, columns, cuda.PositionalDotsArgs{X: x.numbers(), Y: y.numbers(), N: uint64(n)})
			},
			Rows: a.sparseRows,
			Axpy: func(z *vector, c *digits.Number, x, y *vector) { a.elements(z, c, x, y) },
			Scal: func(z *vector, c *digits.Number, x *vector) { a.elements(z, c, x, nil) },
			Mul:  f.Mul, Add: f.Add, Sqrt: f.Sqrt, Div: f.Div,
		},
		Device: &format.Device[*vector]{
			Sum:   func(z, x *vector) { a.sum(z, x, 0) },
			Asum:  func(z, x *vector) { a.sum(z, x, 1) },
			Fetch: a.fetch, Free: a.free,
			Wait: func() error {
				a.try(e.Wait())
				err := a.err
				a.err = nil
				return err
			},
		},
	}
}

// vector is numbers from to from+n-1 of an array in device memory.
type vector struct {
	*array
	from, n int
}

type array struct {
	each  int // words of a number
	words *gpu.Buffer[uint64]
	heads *gpu.Buffer[int64]
	host  *digits.Vector // the numbers as they were fetched
}

func (v *vector) slice(from, to int) *vector { return &vector{v.array, v.from + from, to - from} }

func (v *vector) numbers() cuda.PositionalNumbers {
	if v == nil {
		return cuda.PositionalNumbers{}
	}
	return cuda.PositionalNumbers{
		Words: v.words.Pointer().At(v.from * v.each), Heads: v.heads.Pointer().At(v.from),
	}
}

// arithmetic computes with numbers of so many words on a device. Everything goes into the default stream; to be used
// on the device's thread.
type arithmetic struct {
	device   *gpu.Device
	words    int
	nearest  uint32
	owner    *gpu.Owner // of all memory
	err      error      // the first one
	products *gpu.Kernel[cuda.PositionalDotsArgs]
	scaled   *gpu.Kernel[cuda.PositionalElementsArgs]
	factors  map[*digits.Number]*vector // that are on the device
}

// capacities are how many words the kernels of cuda/positional.cu have room for.
var capacities = []int{4, 16, 64, 257}

func newArithmetic(d *gpu.Device, words int, nearest uint32) (*arithmetic, error) {
	a := &arithmetic{device: d, words: words, nearest: nearest, owner: d.NewOwner()}
	a.factors = map[*digits.Number]*vector{}
	for _, most := range capacities {
		if words <= most {
			a.products = gpu.FindKernel[cuda.PositionalDotsArgs](a.owner, "positional", fmt.Sprint("positionalDots", most))
			a.scaled = gpu.FindKernel[cuda.PositionalElementsArgs](
				a.owner, "positional", fmt.Sprint("positionalElements", most))
			break
		}
	}
	return a, a.owner.Err()
}

// try keeps the first error.
func (a *arithmetic) try(err error) {
	if a.err == nil {
		a.err = err
	}
}

// make returns a vector of zeros.
func (a *arithmetic) make(n int) *vector { return a.upload(digits.MakeVector(n, a.words)) }

// upload returns a copy of a vector.
func (a *arithmetic) upload(x digits.Vector) *vector {
	words, heads := x.Storage()
	v := &vector{&array{each: a.words}, 0, len(heads)}
	if a.err == nil {
		v.words, v.heads = gpu.TakeCopy(a.owner, words), gpu.TakeCopy(a.owner, heads)
		a.try(a.owner.Err())
	}
	return v
}

// fetch copies all numbers to the host.
func (a *arithmetic) fetch(v *vector) error {
	host := digits.MakeVector(v.heads.Len(), a.words)
	words, heads := host.Storage()
	v.host = &host
	if err := v.words.Download(words); err != nil {
		return err
	}
	return v.heads.Download(heads)
}

// get returns number i, from the host if it was fetched.
func (a *arithmetic) get(v *vector, i int) *digits.Number {
	if a.err == nil && v.host == nil {
		a.try(a.fetch(v))
	}
	if a.err != nil {
		return digits.MakeVector(1, a.words).Get(0)
	}
	return v.host.Get(v.from + i)
}

// set makes the only number of a vector equal to x.
func (a *arithmetic) set(v *vector, i int, x *digits.Number) {
	if a.err == nil {
		one := digits.MakeVector(1, a.words)
		one.Set(0, x)
		words, heads := one.Storage()
		a.try(v.words.Upload(words))
		a.try(v.heads.Upload(heads))
		v.host = nil
	}
}

// free gives all memory back.
func (a *arithmetic) free() error {
	a.owner.Free()
	a.owner = a.device.NewOwner()
	clear(a.factors)
	return nil
}

// factor returns a number on the device.
func (a *arithmetic) factor(c *digits.Number) *vector {
	v := a.factors[c]
	if v == nil {
		one := digits.MakeVector(1, a.words)
		one.Set(0, c)
		v = a.upload(one)
		a.factors[c] = v
	}
	return v
}

const threads = 128 // of a block

func launchOf(n int) gpu.Launch {
	return gpu.Launch{Grid: gpu.Dim{X: min((n+threads-1)/threads, 1<<20)}, Block: gpu.Dim{X: threads}}
}

// sum sets z to the sum of x, or of its magnitudes.
func (a *arithmetic) sum(z, x *vector, magnitudes uint32) {
	a.dots(z, 1, 1, cuda.PositionalDotsArgs{X: x.numbers(), N: uint64(x.n), Magnitudes: magnitudes})
}

func (a *arithmetic) dots(z *vector, rows, columns int, args cuda.PositionalDotsArgs) {
	z.host = nil
	if rows*columns == 0 || a.err != nil {
		return
	}
	args.Z, args.Rows, args.Columns = z.numbers(), uint64(rows), uint64(columns)
	args.Words, args.Nearest = uint32(a.words), a.nearest
	a.try(a.products.Launch(launchOf(rows*columns), args))
}

// elements sets z = c*x, plus y if there is a y.
func (a *arithmetic) elements(z *vector, c *digits.Number, x, y *vector) {
	z.host = nil
	f := a.factor(c)
	if z.n == 0 || a.err != nil {
		return
	}
	a.try(a.scaled.Launch(launchOf(z.n), cuda.PositionalElementsArgs{
		Z: z.numbers(), C: f.numbers(), X: x.numbers(), Y: y.numbers(), N: uint64(z.n),
		Words: uint32(a.words), Nearest: a.nearest,
	}))
}

// sparseRows returns the Rows of [format.Loops].
func (a *arithmetic) sparseRows(p *numbers.Pattern, m *vector) func(z, x *vector, from, to int) {
	starts, places := make([]uint64, len(p.Start)), make([]uint32, p.Len())
	for i, s := range p.Start {
		starts[i] = uint64(s)
	}
	for i, c := range p.Column[:p.Len()] {
		places[i] = uint32(c)
	}
	var from *gpu.Buffer[uint64]
	var column *gpu.Buffer[uint32]
	if a.err == nil {
		from, column = gpu.TakeCopy(a.owner, starts), gpu.TakeCopy(a.owner, places)
		a.try(a.owner.Err())
	}
	return func(z, x *vector, _, _ int) {
		a.dots(z, len(starts)-1, 1, cuda.PositionalDotsArgs{
			X: m.numbers(), Y: x.numbers(), Starts: from.Pointer(), Places: column.Pointer(),
		})
	}
}
