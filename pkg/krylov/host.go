package krylov

import (
	"mpbench/internal/parallel"
	"mpbench/pkg/format"
	"mpbench/pkg/numbers"
)

// host is a space in the memory of this computer.
type host[V, S any] struct {
	format  format.Format[V, S]
	system  Prepared[V]
	rows    func(z, x V, from, to int)
	starts  []int        // of windows of rows
	lower   func(z, y V) // solve with the factors of ILU(0), nil without
	upper   func(z, y V)
	threads int       // 0: GOMAXPROCS
	floats  []float64 // of Float64s
	parts   []S       // of dot products
	stopwatch
}

func newHost[V, S any](f format.Format[V, S], p Prepared[V], o Options) *host[V, S] {
	h := &host[V, S]{
		format: f, system: p, rows: f.RowsOf(p.Pattern, p.Elements), starts: p.Pattern.Windows(), threads: o.Threads,
		floats: make([]float64, p.N),
	}
	if f.DotGrain > 0 {
		h.parts = make([]S, (p.N+f.DotGrain-1)/f.DotGrain)
	}
	if t := p.Factors; t != nil {
		h.lower = f.TriangleOf(t.Lower.Pattern, false, t.Lower.Elements)
		h.upper = f.TriangleOf(t.Upper.Pattern, true, t.Upper.Elements)
	}
	return h
}

func (h *host[V, S]) Vector() V { return h.format.Make(h.system.N) }
func (h *host[V, S]) Right() V  { return h.system.B }

// elementGrain is how many elements of a vector a goroutine computes at a time.
const elementGrain = 1 << 13

// work calls do for all numbers of a vector, so many at a time.
func (h *host[V, S]) work(grain int, do func(from, to int)) {
	parallel.Ranges(h.threads, h.system.N, grain, func(_, from, to int) { do(from, to) })
}

func (h *host[V, S]) Product(z, x V) {
	parallel.Tasks(h.threads, len(h.starts)-1, func(_, i int) { h.rows(z, x, h.starts[i], h.starts[i+1]) })
}

func (h *host[V, S]) Axpy(z V, a S, x, y V) {
	f := &h.format
	h.work(elementGrain, func(from, to int) {
		f.Axpy(f.Slice(z, from, to), a, f.Slice(x, from, to), f.Slice(y, from, to))
	})
}

func (h *host[V, S]) Scal(z V, a S, x V) {
	f := &h.format
	h.work(elementGrain, func(from, to int) { f.Scal(f.Slice(z, from, to), a, f.Slice(x, from, to)) })
}

func (h *host[V, S]) Precondition(z, x V) {
	if h.lower == nil {
		h.divide(z, x)
		return
	}
	h.lower(z, x)
	h.divide(z, z)
	h.upper(z, z)
}

// divide multiplies by the inverse of a diagonal.
func (h *host[V, S]) divide(z, x V) {
	f := &h.format
	h.work(elementGrain, func(from, to int) {
		f.Multiply(f.Slice(z, from, to), f.Slice(h.system.Inverse, from, to), f.Slice(x, from, to), to-from)
	})
}

func (h *host[V, S]) Dot(x, y V) S {
	f := &h.format
	if f.DotGrain == 0 || h.system.N <= f.DotGrain {
		return f.Dot(x, y)
	}
	h.work(f.DotGrain, func(from, to int) {
		h.parts[from/f.DotGrain] = f.Dot(f.Slice(x, from, to), f.Slice(y, from, to))
	})
	return addPairs(h.parts, f.Add)
}

// addPairs adds neighbours until one number is left, in place.
func addPairs[S any](x []S, add func(x, y S) S) S {
	for n := len(x); n > 1; n = (n + 1) / 2 {
		for i := range n / 2 {
			x[i] = add(x[2*i], x[2*i+1])
		}
		if n%2 == 1 {
			x[n/2] = x[n-1]
		}
	}
	return x[0]
}

func (h *host[V, S]) Float64s(x V) []float64 {
	h.work(elementGrain, func(from, to int) {
		h.format.Float64s(h.floats[from:to], h.format.Slice(x, from, to))
	})
	return h.floats
}

func (h *host[V, S]) Squares(x V) float64 { return Squares(h.Float64s(x), 1, h.threads) }

func (h *host[V, S]) Solution(x V) (numbers.Source, error) {
	return h.format.Source(x, h.system.N), nil
}
