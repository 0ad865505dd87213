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
	s, err := a.newSparse(p, m)
	a.try(err)
	return func(z, x vector[T], _, _ int) {
		z.host = multifloat.Vector[T]{}
		if s == nil || s.slices == 0 || a.err != nil {
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

// newSparse copies a matrix to the device, in the order in which it is read, without parts that are all 0.
func (a *arithmetic[T]) newSparse(p *numbers.Pattern, m multifloat.Vector[T]) (*sparse[T], error) {
	if a.err != nil || p.Len() == 0 && len(p.Start) == 1 {
		return nil, nil
	}
	l := multifloat.NewLayout(p)
	s := &sparse[T]{slices: len(l.Starts), parts: m.Parts()}
	columns, sorted := make([]uint32, p.Len()), multifloat.MakeVector[T](p.Len(), s.parts)
	for to, from := range l.Order {
		sorted.Set(to, m.Get(from))
		columns[to] = uint32(p.Column[from])
	}
	s.elements = vector[T]{&array[T]{buffer: gpu.Take[T](a.owner, p.Len()*s.parts), length: p.Len()}, 0, p.Len()}
	s.columns, s.lengths = gpu.Take[uint32](a.owner, len(columns)), gpu.Take[uint32](a.owner, len(l.Lengths))
	s.rows, s.starts = gpu.Take[uint32](a.owner, len(l.Rows)), gpu.Take[uint64](a.owner, len(l.Starts))
	if p.Longest()*(len(p.Start)-1) > uneven*p.Len() {
		s.next = gpu.Take[uint32](a.owner, 1)
	}
	if err := a.owner.Err(); err != nil {
		return nil, err
	}
	for _, upload := range []func() error{
		func() error { return s.elements.buffer.Upload(sorted.Storage) },
		func() error { return s.columns.Upload(columns) }, func() error { return s.lengths.Upload(l.Lengths) },
		func() error { return s.rows.Upload(l.Rows) }, func() error { return s.starts.Upload(l.Starts) },
	} {
		if err := upload(); err != nil {
			return nil, err
		}
	}
	return s, nil
}
