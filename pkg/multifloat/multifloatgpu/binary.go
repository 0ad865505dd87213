package multifloatgpu

import (
	"mpbench/cuda"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/format/formatgpu"
	"mpbench/pkg/gpu"
	"mpbench/pkg/lanes"
	"mpbench/pkg/method"
	"mpbench/pkg/multifloat"
	"mpbench/pkg/numbers"
)

// OnBinary returns the catalog with methods of package reduce on GPUs, too, which compute with binary32 and binary64
// numbers: compensated dot products, and binary32 numbers in binary64.
func OnBinary(c method.Catalog) method.Catalog {
	on := map[string]func(method.Method) method.New{
		"dot2":               func(m method.Method) method.New { return formatgpu.Of(m, dot2) },
		"float32-in-float64": func(m method.Method) method.New { return formatgpu.Of(m, binary32In64) },
	}
	for _, m := range c {
		if make := on[m.Name]; make != nil {
			c = c.With(m.Operation, m.Name, device.CUDA, make(m))
		}
	}
	return c
}

// dot2 is compensated dot products, rounded once with alpha and beta*y: every entry is the work of 16 lanes.
func dot2(
	_ method.Config, d *gpu.Device, e *formatgpu.Engine,
) (f format.Format[vector[float64], multifloat.Number[float64]], err error) {
	a, err := newArithmetic[float64](d, binary64)
	if err != nil {
		return f, err
	}
	blocks := []struct {
		kernel        *gpu.Kernel[cuda.Dot2TilesArgs]
		rows, columns int
	}{
		{gpu.FindKernel[cuda.Dot2TilesArgs](a.owner, "dot2", "dot2TilesTall"), 8, 1},
		{gpu.FindKernel[cuda.Dot2TilesArgs](a.owner, "dot2", "dot2Tiles"), 16, 8},
	}
	launch := func(z, y vector[float64], rows, columns int, args cuda.Dot2TilesArgs) {
		z.host = multifloat.Vector[float64]{}
		if a.err != nil || rows*columns == 0 {
			return
		}
		b := blocks[min(1, columns-1)]
		args.Z, args.Added = addressOf(z), addressOf(y)
		args.Rows, args.Columns = uint64(rows), uint64(columns)
		a.try(b.kernel.Launch(blocksOf(ceilDiv(rows, b.rows)*ceilDiv(columns, b.columns)), args))
	}
	f = vectors(binary64, a, e)
	f.Range, f.Depth = format.Binary64.Range, func(n int) int { return lanes.Depth(n, 2) }
	f.Dots = func(z, x, y vector[float64], rows, columns, n int) {
		launch(z, vector[float64]{}, rows, columns, cuda.Dot2TilesArgs{
			X: x.planes(), Y: y.planes(), N: uint64(n), Alpha: 1, Plain: 1,
		})
	}
	f.Combine = func(
		z vector[float64], alpha multifloat.Number[float64], m, x vector[float64], beta multifloat.Number[float64],
		y vector[float64], rows, columns, n int,
	) {
		launch(z, y, rows, columns, cuda.Dot2TilesArgs{
			X: m.planes(), Y: x.planes(), N: uint64(n), Alpha: alpha[0], Beta: beta[0],
		})
	}
	return f, a.owner.Err()
}

// addressOf returns where the numbers of a vector lie.
func addressOf[T multifloat.Float](v vector[T]) cuda.Pointer[T] {
	if v.array == nil || v.buffer == nil {
		return 0
	}
	return v.buffer.Pointer().At(v.from)
}

// binary32In64 is format.Binary32In64: every entry of a product is added by one lane, from the first term to the last.
func binary32In64(
	_ method.Config, d *gpu.Device, e *formatgpu.Engine,
) (f format.Format[vector[float32], float64], err error) {
	one := multifloat.Format{Scheme: binary64.Scheme, Narrow: true}
	a, err := arithmeticOf[float32](d, one, "multifloat1", "Float32")
	if err != nil {
		return f, err
	}
	r := recursive{arithmetic: a}
	r.tall = gpu.FindKernel[cuda.RecursiveTilesArgs](a.owner, "recursive", "recursiveTilesTall")
	r.tiles = gpu.FindKernel[cuda.RecursiveTilesArgs](a.owner, "recursive", "recursiveTiles")
	number := func(x float64) multifloat.Number[float32] { return multifloat.Number[float32]{float32(x)} }
	of := format.Binary32In64
	return format.Format[vector[float32], float64]{
		Name: of.Name, Bits: of.Bits, Bytes: of.Bytes, Range: of.Range, Stored: of.Stored, Value: exact.FromFloat64,
		Skips: true,
		Make:  a.make, Slice: vector[float32].slice,
		Get: func(v vector[float32], i int) float64 { return float64(a.get(v, i)[0]) },
		Set: func(v vector[float32], i int, x float64) { a.set(v, i, number(x)) },
		Load: a.load(e, func(x numbers.Array) (multifloat.Vector[float32], method.Rounded) {
			list, rounded := format.Binary32.Load(x)
			return multifloat.Deinterleave(list, 1), rounded
		}),
		Loops: format.Loops[vector[float32], float64]{
			Dots: func(z, x, y vector[float32], rows, columns, n int) {
				r.launch(z, rows, columns, cuda.RecursiveTilesArgs{X: addressOf(x), Y: addressOf(y), N: uint64(n)})
			},
			Rows: a.sparseRows,
			Axpy: func(z vector[float32], c float64, x, y vector[float32]) { a.axpy(z, number(c), x, y) },
			Scal: func(z vector[float32], c float64, x vector[float32]) { a.scal(z, number(c), x) },
			Mul:  of.Mul, Add: of.Add, Sqrt: of.Sqrt, Div: of.Div,
		},
		Device: a.onDevice(e, func(z, x vector[float32]) { r.sum(z, x, 0) }, func(z, x vector[float32]) { r.sum(z, x, 1) }),
	}, a.owner.Err()
}

// recursive is the kernels of cuda/recursive.cu.
type recursive struct {
	*arithmetic[float32]
	tall, tiles *gpu.Kernel[cuda.RecursiveTilesArgs]
}

// Blocks of recursive.cu.
const (
	tallRows, tallDepth               = 32, 128
	tileRows, tileColumns, tilesDepth = 64, 32, 16
)

// sum sets z to the sum of x, or of its magnitudes.
func (r *recursive) sum(z, x vector[float32], magnitudes uint64) {
	r.launch(z, 1, 1, cuda.RecursiveTilesArgs{X: addressOf(x), N: uint64(x.n), Magnitudes: magnitudes})
}

func (r *recursive) launch(z vector[float32], rows, columns int, args cuda.RecursiveTilesArgs) {
	z.host = multifloat.Vector[float32]{}
	if r.err != nil || rows*columns == 0 {
		return
	}
	args.Z, args.Rows, args.Columns = addressOf(z), uint64(rows), uint64(columns)
	if columns == 1 {
		l := blocksOf(ceilDiv(rows, tallRows))
		l.Shared = 8 * (tallRows + 1) * (tallDepth + 1)
		r.try(r.tall.Launch(l, args))
		return
	}
	l := blocksOf(ceilDiv(rows, tileRows) * ceilDiv(columns, tileColumns))
	l.Shared = 8 * (tileRows + tileColumns) * (tilesDepth + 1)
	r.try(r.tiles.Launch(l, args))
}
