package multifloatgpu_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"mpbench/pkg/device"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/multifloat"
	"mpbench/pkg/multifloat/multifloatgpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/reduce"
)

// random returns n binary64 numbers, of which as many differ as no cache holds.
func random(n int) numbers.Float64s {
	r := rand.New(rand.NewPCG(1, 1))
	x := make(numbers.Float64s, n)
	const differ = 1 << 24
	for i := range x[:min(n, differ)] {
		x[i] = r.Float64() - 0.5
	}
	for i := differ; i < n; i += differ {
		copy(x[i:], x[:differ])
	}
	return x
}

// BenchmarkFormats times operations by the device's events with cold caches: the median, the least and the greatest of
// some runs in microseconds, and the rate of the bytes that are read and written once.
func BenchmarkFormats(b *testing.B) {
	if gputest.Emulated() {
		b.Skip("times of the emulator say nothing")
	}
	x := random(100_000_000)
	square := func(n int) numbers.Array { return numbers.Array{Source: x[:n*n], Layout: numbers.RowMajor(n, n, n)} }
	for _, n := range []int{1000, 2000, 4000, 8000} {
		p := &op.Problem{Op: op.Gemv, A: square(n), X: numbers.Vector(x[:n])}
		timeAll(b, fmt.Sprintf("gemv/n=%d", n), n*n, p)
	}
	for _, n := range []int{1e6, 1e7, 1e8} {
		v := numbers.Vector(x[:n])
		timeAll(b, fmt.Sprintf("axpy/n=%d", n), 3*n, &op.Problem{Op: op.Axpy, Alpha: numbers.Scalar(1.1), X: v, Y: v})
	}
	for _, n := range []int{1e6, 1e7} {
		v := numbers.Vector(x[:n])
		timeAll(b, fmt.Sprintf("sum/n=%d", n), n, &op.Problem{Op: op.Sum, X: v})
		timeAll(b, fmt.Sprintf("dot/n=%d", n), 2*n, &op.Problem{Op: op.Dot, X: v, Y: v})
	}
	for _, n := range []int{512, 2048, 4096} {
		timeAll(b, fmt.Sprintf("gemm/n=%d", n), 3*n*n, &op.Problem{Op: op.Gemm, A: square(n), X: square(n)})
	}
}

// timeAll times a problem in all formats; so many numbers are read and written.
func timeAll(b *testing.B, name string, count int, p *op.Problem) {
	catalog := multifloatgpu.On(multifloat.Methods())
	for _, f := range multifloat.Formats() {
		k := f.Scheme.Components
		repeats := f.Scheme.Guard == 1 && k <= 4 && !f.Narrow && f.Method[0] == 'e'
		if k > 1 && f.Narrow && k != 4 || k > 4 && (count > 5e6 || k < 8) || repeats {
			continue // nothing that others do not show, or too long
		}
		m, _ := catalog.Lookup(p.Op, f.Method)
		b.Run(name+"/"+f.Method, func(b *testing.B) { timeOne(b, m, count, p) })
	}
	for _, m := range multifloatgpu.OnBinary(reduce.Methods()) {
		if m.Operation == p.Op && m.On[device.CUDA] != nil {
			b.Run(name+"/"+m.Name, func(b *testing.B) { timeOne(b, m, count, p) })
		}
	}
}

func timeOne(b *testing.B, m method.Method, count int, p *op.Problem) {
	e, err := m.New(method.Config{Devices: device.Must(gputest.Name(b))})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			b.Error(err)
		}
	}()
	if err := e.Prepare(context.Background(), p); err != nil {
		b.Fatal(err)
	}
	timed := e.(method.Timed)
	var times []float64
	for begin := time.Now(); len(times) < 5 || len(times) < 21 && time.Since(begin) < 100*time.Millisecond; {
		if err := timed.RunTimed(context.Background()); err != nil {
			b.Fatal(err)
		}
		times = append(times, float64(timed.Times().Kernel)/1e3)
	}
	slices.Sort(times)
	median := times[len(times)/2]
	b.ReportMetric(median, "µs")
	b.ReportMetric(times[0], "least-µs")
	b.ReportMetric(times[len(times)-1], "greatest-µs")
	b.ReportMetric(float64(count*e.Info().NumberBytes)/median/1e3, "GB/s")
	b.ReportMetric(0, "ns/op")
}
