package exactsum

import (
	"context"

	"mpbench/internal/parallel"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/deferred"
)

// floats adds binary64 numbers, or products of two, into a superaccumulator.
type floats struct {
	x, y    []float64 // y is nil for a sum
	threads int
}

func newFloats(_ context.Context, c method.Config, p *op.Problem) (Way, method.Times, error) {
	x, y, ok := Float64s(p)
	if !ok {
		return nil, method.Times{}, nil
	}
	return &floats{x, y, parallel.Threads(c.Threads)}, method.Times{}, nil
}

// Float64s returns the numbers of a sum (y is nil) or the factors of a dot product next to each other, if binary64.
func Float64s(p *op.Problem) (x, y []float64, ok bool) {
	if x, ok = neighbours(p.X); !ok || p.Y.Absent() {
		return x, nil, ok
	}
	if y, ok = neighbours(p.Y); y == nil {
		y = []float64{}
	}
	return x, y, ok
}

// neighbours returns the numbers of a vector one next to the other: themselves, or copies.
func neighbours(a numbers.Array) ([]float64, bool) {
	if x, ok := a.Contiguous(); ok {
		return x, true
	}
	all, ok := a.Source.(numbers.Float64s)
	if !ok {
		return nil, false
	}
	x := make([]float64, a.Rows)
	for i := range x {
		x[i] = all[a.Index(i, 0)]
	}
	return x, true
}

func (w *floats) Add(_ context.Context, to *Sum) error {
	if w.y == nil {
		to.Floats.AddSliceParallel(w.x, w.threads)
	} else {
		to.Floats.AddProductsParallel(w.x, w.y, w.threads)
	}
	return nil
}

func (w *floats) Describe(info *method.Info) { info.NumberBytes, info.Threads = 8, w.threads }
func (w *floats) Close() error               { return nil }

// chunked adds binary64 numbers that are not in memory.
type chunked struct {
	x       numbers.Array
	threads int
	size    int // of the runs that are read
}

// chunk is how many numbers are read at a time: 4 MB, enough for all threads.
const chunk = 1 << 19

func newChunked(_ context.Context, c method.Config, p *op.Problem) (Way, method.Times, error) {
	if !p.X.Chunked() || !p.Y.Absent() || p.X.RowStride != 1 && p.X.Rows > 1 {
		return nil, method.Times{}, nil
	}
	return &chunked{p.X, parallel.Threads(c.Threads), max(1, min(chunk, p.X.Rows))}, method.Times{}, nil
}

func (w *chunked) Add(ctx context.Context, to *Sum) error {
	read := func(k int, buffer []float64) ([]float64, error) {
		run := buffer[:min(w.size, w.x.Rows-k*w.size)]
		return run, w.x.ReadRun(run, k*w.size)
	}
	runs := (w.x.Rows + w.size - 1) / w.size
	return numbers.ReadAhead(ctx, numbers.Readers(w.x), runs, w.size, read, func(_ int, run []float64) error {
		to.Floats.AddSliceParallel(run, w.threads)
		return nil
	})
}

func (w *chunked) Describe(info *method.Info) { info.NumberBytes, info.Threads = 8, w.threads }
func (w *chunked) Close() error               { return nil }

// packed adds numbers of any format that have been converted to packed words.
type packed struct {
	x       *deferred.Packed
	threads int
}

func newPacked(_ context.Context, c method.Config, p *op.Problem) (Way, method.Times, error) {
	if !p.Y.Absent() {
		return nil, method.Times{}, nil
	}
	x, err := deferred.Pack(p.X.Source, p.X.Layout, c.Threads)
	if err != nil {
		return nil, method.Times{}, err
	}
	return &packed{x, parallel.Threads(c.Threads)}, method.Times{}, nil
}

func (w *packed) Add(_ context.Context, to *Sum) error {
	to.Wide = w.x.Sum(w.threads)
	return nil
}

func (w *packed) Describe(info *method.Info) {
	info.NumberBytes, info.Threads = int(w.x.Bytes())/max(1, w.x.Len()), w.threads
}

func (w *packed) Close() error { return nil }

// products adds products of numbers of any format, read one by one.
type products struct {
	x, y    numbers.Array
	threads int
}

func newProducts(_ context.Context, c method.Config, p *op.Problem) (Way, method.Times, error) {
	return &products{p.X, p.Y, parallel.Threads(c.Threads)}, method.Times{}, nil
}

func (w *products) Add(_ context.Context, to *Sum) (err error) {
	to.Wide, err = deferred.Dot(w.x.Source, w.x.Layout, w.y.Source, w.y.Layout, w.threads)
	return err
}

func (w *products) Describe(info *method.Info) { info.NumberBytes, info.Threads = 8, w.threads }
func (w *products) Close() error               { return nil }
