package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"time"

	"mpbench/internal/parallel"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/outofcore"
	"mpbench/pkg/partial"
)

// How often a ceiling is measured; the best counts.
const (
	runs  = 5
	least = 2               // where they take long
	long  = 3 * time.Second // of all runs
)

// best returns the shortest of some runs, in seconds.
func best(ctx context.Context, f func() error) (shortest float64, err error) {
	begin := time.Now()
	for i := 0; i < runs && (i < least || time.Since(begin) < long); i++ {
		runtime.GC() // not while f runs, if that can be
		start := time.Now()
		if err := cmp.Or(ctx.Err(), f()); err != nil {
			return 0, err
		}
		if t := time.Since(start).Seconds(); i == 0 || t < shortest {
			shortest = t
		}
	}
	return shortest, nil
}

// MeasureMemory returns how many bytes per second goroutines read from memory, 0 for as many as processors.
func MeasureMemory(threads int) Ceiling {
	const n = 1 << 25 // 256 MB, more than caches have
	x := make([]uint64, n)
	parallel.Ranges(threads, n, 1<<16, func(_, from, to int) {
		for i := from; i < to; i++ {
			x[i] = uint64(i)
		}
	})
	sums := make([]uint64, parallel.Threads(threads))
	seconds, _ := best(context.Background(), func() error {
		parallel.Ranges(threads, n, 1<<16, func(worker, from, to int) {
			var a, b, c, d uint64
			for y := x[from:to]; len(y) >= 4; y = y[4:] {
				a, b, c, d = a+y[0], b+y[1], c+y[2], d+y[3]
			}
			sums[worker] += a + b + c + d // so that nothing is left out
		})
		return nil
	})
	return Ceiling{8 * n / seconds, Measured}
}

// readTime is how long a file is read for its rate.
const readTime = time.Second

// MeasureDisk returns how many bytes per second are read of numbers, as by a sum of them: for about a second, or all.
func MeasureDisk(ctx context.Context, x numbers.Array) (Ceiling, error) {
	const size = 1 << 19
	count := (x.Rows + size - 1) / size
	start, done := time.Now(), 0
	late, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	read := func(k int, buffer []float64) ([]float64, error) {
		run := buffer[:min(size, x.Rows-k*size)]
		return run, x.ReadRun(run, k*size)
	}
	err := numbers.ReadAhead(late, numbers.Readers(x), count, size, read, func(_ int, run []float64) error {
		done += len(run)
		return nil
	})
	if err != nil && (late.Err() == nil || ctx.Err() != nil) {
		return Ceiling{}, err
	}
	if done == 0 {
		return Ceiling{}, fmt.Errorf("plan: less than 4 MB were read in %v", readTime)
	}
	return Ceiling{8 * float64(done) / time.Since(start).Seconds(), Measured}, nil
}

// Sample returns numbers in [-1, 1) for work of that kind: vectors of n, or an m x n matrix and a vector, m = 0 for
// none.
func Sample(o *op.Operation, m, n int) *op.Problem {
	random := func(n int) numbers.Float64s {
		x := make(numbers.Float64s, n)
		parallel.Ranges(0, n, 1<<16, func(_, from, to int) {
			r := rand.New(rand.NewPCG(1, uint64(from)))
			for i := from; i < to; i++ {
				x[i] = 2*r.Float64() - 1
			}
		})
		return x
	}
	p := &op.Problem{Op: o, X: numbers.Vector(random(n))}
	for _, a := range o.Arrays() {
		switch {
		case a.Kind == op.Matrix:
			p.A = numbers.Array{Source: random(m * n), Layout: numbers.RowMajor(m, n, n)}
			p.Alpha, p.Beta = numbers.Scalar(1), numbers.Scalar(0)
		case !a.Optional && a.Name != "x":
			*p.Operand(a.Name) = numbers.Vector(random(n))
		}
	}
	return p
}

// Sizes of samples: they grow until a run takes long enough.
const (
	leastTerms = 1 << 16
	mostTerms  = 1 << 25
	longEnough = 300 * time.Millisecond
)

// Runner makes a computation of numbers at their place: prepare converts them, as often as it is called, run computes
// from what was prepared, end gives memory back.
type Runner func(ctx context.Context, p *op.Problem) (prepare, run, end func() error, err error)

func nothing() error { return nil }

// Streamed is the answer about files, by processors: exact sums of what is read run by run.
func Streamed(threads int) Runner {
	return func(ctx context.Context, p *op.Problem) (prepare, run, end func() error, err error) {
		q, err := outofcore.ProblemOf(p, 0, false, "plan")
		rows := partial.Range{To: p.X.Rows}
		if !p.A.Absent() {
			rows.To = p.A.Rows
		}
		run = func() error {
			return outofcore.Task{Problem: p, Threads: threads}.Add(ctx, partial.New(q), rows)
		}
		return nothing, run, nothing, err
	}
}

// By is a method with its configuration, the numbers being in memory, or in the device's.
func By(m method.Method, c method.Config) Runner {
	return func(ctx context.Context, p *op.Problem) (prepare, run, end func() error, err error) {
		e, err := m.New(c)
		if err != nil {
			return nil, nil, nil, err
		}
		return func() error { return e.Prepare(ctx, p) }, func() error { return e.Run(ctx) }, e.Close, nil
	}
}

// measure returns how many seconds a computation takes here, and what comes before: the best of some runs each.
func (r Runner) measure(ctx context.Context, p *op.Problem) (prepared, computed float64, err error) {
	prepare, run, end, err := r(ctx, p)
	if err != nil {
		return 0, 0, err
	}
	if prepared, err = best(ctx, prepare); err == nil {
		computed, err = best(ctx, run)
	}
	return prepared, computed, errors.Join(err, end())
}

// Time returns how many seconds a computation takes here, conversion included: the best of some runs.
func (r Runner) Time(ctx context.Context, p *op.Problem) (float64, error) {
	prepared, computed, err := r.measure(ctx, p)
	return prepared + computed, err
}

// MeasureEngine returns how many nanoseconds a runner takes for a term, and to convert one, of samples that are larger
// than caches unless that takes too long. Of a matrix the rows have the length that is planned, as far as it goes.
func MeasureEngine(ctx context.Context, w Work, r Runner) (engine, convert Ceiling, err error) {
	for terms := leastTerms; ; terms *= 4 {
		m, n := 0, terms
		if w.M > 0 {
			n = min(w.N, terms/16)
			m = terms / n
		}
		prepared, computed, err := r.measure(ctx, Sample(w.Op, m, n))
		if err != nil {
			return engine, convert, err
		}
		count := 1e-9 * float64(max(1, m)) * float64(n)
		engine, convert = Ceiling{computed / count, Measured}, Ceiling{prepared / count, Measured}
		if computed+prepared >= longEnough.Seconds() || 4*terms > mostTerms {
			return engine, convert, nil
		}
	}
}
