package reduce

import (
	"cmp"
	"context"
	"fmt"

	"mpbench/internal/parallel"
	"mpbench/pkg/device"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// accumulator is a sum of binary64 numbers and of products of two whose result depends neither on the order of its
// terms nor on how they are divided among sums that are merged. Infinities and NaN follow IEEE 754.
type accumulator[A any] interface {
	AddSlice(x []float64)
	AddProducts(x, y []float64)
	Merge(A)
	Float64() float64
}

// accumulating completes a method of sums or dot products by accumulators: on several threads, and of numbers that
// are not in memory.
func accumulating[A accumulator[A]](m method.Method, empty func() A) method.Method {
	m.Format, m.Bits, m.Threads, m.Merges = format.Binary64.Name, format.Binary64.Bits, true, true
	if m.Operation.Products == "" {
		m.Streams = []device.Kind{device.CPU}
	}
	m.On = map[device.Kind]method.New{device.CPU: func(c method.Config) (method.Engine, error) {
		return &accumulate[A]{name: m.Name, config: c, empty: empty}, nil
	}}
	return m
}

// accumulate is the engine of accumulating.
type accumulate[A accumulator[A]] struct {
	name   string
	config method.Config
	empty  func() A

	problem *op.Problem
	x, y    []float64 // y is nil for a sum; x is for numbers that are not in memory
	stream  []float64 // a buffer for these
	rounded method.Rounded
	sum     A
	result  float64
}

// The numbers that a thread adds at a time, and those that are read at a time.
const (
	accumulateGrain = 1 << 15
	accumulateChunk = 1 << 19
)

func (e *accumulate[A]) Prepare(_ context.Context, p *op.Problem) error {
	if err := e.CheckMemory(p); err != nil {
		return err
	}
	*e = accumulate[A]{name: e.name, config: e.config, empty: e.empty, problem: p}
	if streamed(p) {
		e.stream = make([]float64, min(accumulateChunk, p.X.Rows))
		return nil
	}
	e.x = e.load(p.X)
	if !p.Y.Absent() {
		e.y = e.load(p.Y)
	}
	return nil
}

// CheckMemory checks that copies fit.
func (e *accumulate[A]) CheckMemory(p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	need := int64(0)
	for _, a := range []numbers.Array{p.X, p.Y} {
		if !a.Adjacent() && !streamed(p) {
			need += int64(a.Len()) * int64(format.Binary64.Bytes)
		}
	}
	return cmp.Or(err, e.config.CheckMemory(e.name, shape, need, ""))
}

// streamed tells whether the numbers are read in every run.
func streamed(p *op.Problem) bool {
	return p.X.Chunked() && p.Y.Absent() && (p.X.RowStride == 1 || p.X.Rows < 2)
}

// load returns the numbers of a vector, not nil.
func (e *accumulate[A]) load(a numbers.Array) []float64 {
	x, same := a.Contiguous()
	if !same {
		var rounded method.Rounded
		x, rounded = format.Binary64.Load(a)
		e.rounded = method.Rounded{
			Factors: max(e.rounded.Factors, rounded.Factors), Lost: e.rounded.Lost || rounded.Lost,
		}
	}
	if x == nil {
		x = []float64{}
	}
	return x
}

func (e *accumulate[A]) Run(ctx context.Context) error {
	threads := parallel.Threads(e.config.Threads)
	parts := make([]A, min(threads, max(1, e.problem.X.Rows/accumulateGrain)))
	for i := range parts {
		parts[i] = e.empty()
	}
	if err := e.add(ctx, parts); err != nil {
		return err
	}
	for _, part := range parts[1:] {
		parts[0].Merge(part)
	}
	e.sum = parts[0]
	if !e.config.Merge {
		e.result = e.sum.Float64()
	}
	return nil
}

func (e *accumulate[A]) Merge(other method.Engine) error {
	o, ok := other.(*accumulate[A])
	if !ok {
		return fmt.Errorf("reduce: a sum of %T cannot be merged with one of %s", other, e.name)
	}
	e.sum.Merge(o.sum)
	return nil
}

// add has all terms added to any of the sums.
func (e *accumulate[A]) add(ctx context.Context, to []A) error {
	if e.stream == nil {
		addParts(to, e.x, e.y)
		return nil
	}
	for from := 0; from < e.problem.X.Rows; from += len(e.stream) {
		if err := ctx.Err(); err != nil {
			return err
		}
		run := e.stream[:min(len(e.stream), e.problem.X.Rows-from)]
		if err := e.problem.X.ReadRun(run, from); err != nil {
			return err
		}
		addParts(to, run, nil)
	}
	return nil
}

func addParts[A accumulator[A]](to []A, x, y []float64) {
	parallel.Ranges(len(to), len(x), accumulateGrain, func(worker, from, n int) {
		if y == nil {
			to[worker].AddSlice(x[from:n])
		} else {
			to[worker].AddProducts(x[from:n], y[from:n])
		}
	})
}

func (e *accumulate[A]) Result() (numbers.Source, error) {
	if e.config.Merge {
		e.result = e.sum.Float64()
	}
	return numbers.Float64s{e.result}, nil
}

func (e *accumulate[A]) Info() method.Info {
	return method.Info{
		Format: format.Binary64.Name, Bits: format.Binary64.Bits, NumberBytes: format.Binary64.Bytes,
		Threads: parallel.Threads(e.config.Threads), Rounded: e.rounded, Range: format.Binary64.Range,
	}
}

func (e *accumulate[A]) Close() error { return nil }
