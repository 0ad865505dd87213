package multifloatgpu

import (
	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/multifloat"
	"mpbench/pkg/numbers"
)

// sparse is a sparse matrix in device memory, as [multifloat.Layout] has it.
type sparse[T multifloat.Float] struct {
	elements               vector[T]
	parts, slices          int
	columns, lengths, rows *gpu.Buffer[uint32]
	starts                 *gpu.Buffer[uint64]
	next                   *gpu.Buffer[uint32] // nil where warps take slices in turn
}

// uneven is how many times as long as the mean the longest row is where warps take the next slice when they are done,
// in place of every so many-th one.
const uneven = 8

// sparseRows returns the Rows of [format.Loops]: a row is added by one lane from the first element to the last, hence
// the bits of the CPU.
func (a *arithmetic[T]) sparseRows(p *numbers.Pattern, m vector[T]) func(z, x vector[T], from, to int) {
	if a.err != nil {
		return func(z, x vector[T], from, to int) {}
	}
	host := multifloat.MakePacked[T](p.Len(), a.components, m.packing)
	if p.Len() > 0 {
		a.try(m.buffer.Download(host.Storage))
	}
	return a.rowsOf(p, host)
}

// rowsOf is sparseRows of a matrix in the memory of this computer.
func (a *arithmetic[T]) rowsOf(p *numbers.Pattern, m multifloat.Vector[T]) func(z, x vector[T], from, to int) {
	s, err := a.newSparse(p, multifloat.NewLayout(p), m)
	a.try(err)
	if err == nil && p.Longest()*(len(p.Start)-1) > uneven*p.Len() {
		s.next = gpu.Take[uint32](a.owner, 1)
		a.try(a.owner.Err())
	}
	return func(z, x vector[T], _, _ int) {
		z.host = multifloat.Vector[T]{}
		if s.slices == 0 || a.err != nil {
			return
		}
		launch := a.grid(s.slices)
		if s.next != nil {
			a.try(s.next.Clear(nil))
			launch.Grid.X = min(launch.Grid.X, 16*a.multiprocessors())
		}
		a.try(a.rows.Launch(launch, cuda.MultifloatRowsArgs{
			Z: z.planes(), A: s.elements.planes(), Parts: uint64(s.parts), X: x.planes(), Columns: s.columns.Pointer(),
			Lengths: s.lengths.Pointer(), Numbers: s.rows.Pointer(), Starts: s.starts.Pointer(),
			Slices: uint64(s.slices), Next: s.next.Pointer(),
		}))
	}
}

// triangleOf returns the Triangle of [format.Loops] of a matrix in the memory of this computer.
func (a *arithmetic[T]) triangleOf(p *numbers.Pattern, upper bool, m multifloat.Vector[T]) func(z, y vector[T]) {
	l := multifloat.NewTriangle(p, upper)
	s, err := a.newSparse(p, l, m)
	before, counters := gpu.Take[uint32](a.owner, len(l.Before)), gpu.Take[uint64](a.owner, 2)
	if a.try(err); a.err == nil {
		a.try(a.owner.Err())
	}
	if a.err == nil {
		a.try(before.Upload(l.Before))
	}
	launch := a.grid(2 * l.Widest())
	launch.Grid.X = min(launch.Grid.X, 16*max(1, a.device.Info().Multiprocessors))
	return func(z, y vector[T]) {
		z.host = multifloat.Vector[T]{}
		if s.slices == 0 || a.err != nil {
			return
		}
		a.try(counters.Clear(nil))
		a.try(a.triangle.Launch(launch, cuda.MultifloatTriangleArgs{
			Z: z.planes(), Y: y.planes(), A: s.elements.planes(), Parts: uint64(s.parts), Columns: s.columns.Pointer(),
			Lengths: s.lengths.Pointer(), Numbers: s.rows.Pointer(), Starts: s.starts.Pointer(),
			Before: before.Pointer(), Slices: uint64(s.slices), Counters: counters.Pointer(),
		}))
	}
}

// newSparse copies a matrix to the device, in the order in which it is read, without parts that are all 0.
func (a *arithmetic[T]) newSparse(p *numbers.Pattern, l multifloat.Layout, m multifloat.Vector[T]) (sparse[T], error) {
	s := sparse[T]{slices: len(l.Starts), parts: m.Parts()}
	if a.err != nil || s.slices == 0 {
		return s, nil
	}
	columns, sorted := make([]uint32, p.Len()), multifloat.MakeVector[T](p.Len(), s.parts)
	for to, from := range l.Order {
		sorted.Set(to, m.Get(from))
		columns[to] = uint32(p.Column[from])
	}
	s.elements = vector[T]{&array[T]{buffer: gpu.Take[T](a.owner, p.Len()*s.parts), length: p.Len()}, 0, p.Len()}
	s.columns, s.lengths = gpu.Take[uint32](a.owner, len(columns)), gpu.Take[uint32](a.owner, len(l.Lengths))
	s.rows, s.starts = gpu.Take[uint32](a.owner, len(l.Rows)), gpu.Take[uint64](a.owner, len(l.Starts))
	if err := a.owner.Err(); err != nil {
		return sparse[T]{}, err
	}
	for _, upload := range []func() error{
		func() error { return s.elements.buffer.Upload(sorted.Storage) },
		func() error { return s.columns.Upload(columns) }, func() error { return s.lengths.Upload(l.Lengths) },
		func() error { return s.rows.Upload(l.Rows) }, func() error { return s.starts.Upload(l.Starts) },
	} {
		if err := upload(); err != nil {
			return sparse[T]{}, err
		}
	}
	return s, nil
}
