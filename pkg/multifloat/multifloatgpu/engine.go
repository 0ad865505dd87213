// Package multifloatgpu has the methods of package multifloat on GPUs: the same operations in the same order, hence
// the same bits.
//
// An engine is that of the CPU (format.NewEngine) on vectors in device memory. Its loops begin kernels of
// cuda/multifloat.cuh and do not wait: one for the elements of a vector, or for the segments of sums, a warp each, and
// one that adds the sums of 64 neighbouring segments, as often as it takes.
package multifloatgpu

import (
	"slices"

	"mpbench/pkg/device"
	"mpbench/pkg/format"
	"mpbench/pkg/format/formatgpu"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/multifloat"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// On returns the catalog with all methods of package multifloat on GPUs, too.
func On(c method.Catalog) method.Catalog {
	var list []method.Implementation
	for _, f := range multifloat.Formats() {
		for _, m := range f.Methods() {
			list = append(list, method.Implementation{Operation: m.Operation, Name: m.Name, New: newEngine(f, m)})
		}
	}
	return c.WithAll(device.CUDA, list)
}

// binary64 is the format whose order of additions is that of all others.
var binary64 = func() multifloat.Format {
	list := multifloat.Formats()
	return list[slices.IndexFunc(list, func(f multifloat.Format) bool { return f.Method == "float64-lanes" })]
}()

// NewFloat64Rows is products of sparse matrices in binary64, whose rows are added as those of all formats: the bits of
// method float64.
func NewFloat64Rows(c method.Config) (method.Engine, error) {
	list := binary64.Methods()
	i := slices.IndexFunc(list, func(m method.Method) bool { return m.Operation == op.Spmv })
	return newEngine(binary64, list[i])(c)
}

func newEngine(f multifloat.Format, m method.Method) method.New {
	if f.Narrow {
		return newEngineOf[float32](f, m)
	}
	return newEngineOf[float64](f, m)
}

func newEngineOf[T multifloat.Float](f multifloat.Format, m method.Method) method.New {
	return formatgpu.Of(m, func(
		_ method.Config, d *gpu.Device, e *formatgpu.Engine,
	) (v format.Format[vector[T], multifloat.Number[T]], err error) {
		a, err := newArithmetic[T](d, f)
		if err == nil {
			v = vectors(f, a, e)
		}
		return v, err
	})
}

// vectors is the format on vectors in device memory.
func vectors[T multifloat.Float](
	f multifloat.Format, a *arithmetic[T], e *formatgpu.Engine,
) format.Format[vector[T], multifloat.Number[T]] {
	return multifloat.Of(f, format.Format[vector[T], multifloat.Number[T]]{
		Make: a.make, Slice: vector[T].slice, Get: a.get, Set: a.set,
		Load: a.load(e, func(x numbers.Array) (multifloat.Vector[T], method.Rounded) {
			return multifloat.Load[T](x, a.components, f.Packing)
		}),
		Loops: format.Loops[vector[T], multifloat.Number[T]]{
			Dots: a.product, Rows: a.sparseRows, Axpy: a.axpy, Scal: a.scal,
		},
		Device: a.onDevice(e, func(z, x vector[T]) { a.sum(z, x, false) }, func(z, x vector[T]) { a.sum(z, x, true) }),
	})
}

// load returns the Load of [format.Format], of what converts numbers.
func (a *arithmetic[T]) load(
	e *formatgpu.Engine, convert func(numbers.Array) (multifloat.Vector[T], method.Rounded),
) func(numbers.Array) (vector[T], method.Rounded) {
	return func(x numbers.Array) (v vector[T], rounded method.Rounded) {
		var host multifloat.Vector[T]
		e.Convert(func() { host, rounded = convert(x) })
		e.Copy(func() { v = a.upload(host) })
		return v, rounded
	}
}

// onDevice returns the [format.Device] with these loops.
func (a *arithmetic[T]) onDevice(e *formatgpu.Engine, sum, asum func(z, x vector[T])) *format.Device[vector[T]] {
	return &format.Device[vector[T]]{
		Sum: sum, Asum: asum, Fetch: a.fetch, Free: a.free,
		Wait: func() error {
			a.try(e.Wait())
			return a.failed()
		},
	}
}
