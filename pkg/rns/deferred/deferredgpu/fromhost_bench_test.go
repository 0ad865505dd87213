package deferredgpu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"mpbench/internal/parallel"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// BenchmarkFromHost is a product of float64 numbers from host memory to results there, streamed, and by copy,
// conversion and product one after the other. The bus bounds it: 8 bytes an element.
func BenchmarkFromHost(b *testing.B) {
	if gputest.Emulated() {
		b.Skip("times of the emulator say nothing")
	}
	const n = 20000
	a, x := make(numbers.Float64s, n*n), make(numbers.Float64s, n)
	parallel.Ranges(16, n, 64, func(_, from, to int) {
		r := rand.New(rand.NewPCG(5, uint64(from)))
		for i := from * n; i < to*n; i++ {
			a[i] = 2*r.Float64() - 1
		}
	})
	for i := range x {
		x[i] = math.Sin(float64(i))
	}
	p := &op.Problem{Op: op.Gemv, A: numbers.Array{Source: a, Layout: numbers.ColMajor(n, n, n)}, X: numbers.Vector(x)}
	for _, stream := range []bool{true, false} {
		for _, precision := range []int{53, 106} {
			for _, p.Trans = range []bool{false, true} {
				name := fmt.Sprintf("n=%d/p=%d", n, precision)
				if p.Trans {
					name += "/T"
				}
				if !stream {
					name += "/resident"
				}
				b.Run(name, func(b *testing.B) { fromHost(b, method.Config{Precision: precision, Stream: stream}, p) })
			}
		}
	}
}

// fromHost reports the median of some products, each by a new engine, from its preparation to its result; and the
// parts of the last.
func fromHost(b *testing.B, c method.Config, p *op.Problem) {
	var e *gemv
	var total []float64
	var prepared, result time.Duration
	check := func(err error) {
		if err != nil {
			b.Fatal(err)
		}
	}
	for range 8 {
		if e != nil {
			check(e.Close())
		}
		e = gemvOn(b, c)
		if c.Stream { // pages are not locked for one product
			e.streams = &PanelOptions{Staged: true}
		}
		start := time.Now()
		check(e.Prepare(context.Background(), p))
		prepared = time.Since(start)
		check(e.Run(context.Background()))
		fetching := time.Now()
		_, err := e.Result()
		check(err)
		result = time.Since(fetching)
		total = append(total, time.Since(start).Seconds())
	}
	slices.Sort(total[1:]) // the first allocates pinned memory
	t, x := total[4], e.Times()
	ms := func(t time.Duration) float64 { return float64(t) / 1e6 }
	b.ReportMetric(t*1e3, "ms")
	b.ReportMetric(8*float64(p.A.Len())/t/1e9, "GB/s")
	b.ReportMetric(ms(prepared), "load-ms")
	b.ReportMetric(ms(x.CopyIn), "copy-ms")
	b.ReportMetric(ms(x.Convert), "host-ms")
	b.ReportMetric(ms(x.Kernel), "run-ms")
	b.ReportMetric(ms(x.CopyOut), "fetch-ms")
	b.ReportMetric(ms(result), "result-ms")
	b.ReportMetric(0, "ns/op")
	var text strings.Builder
	fmt.Fprintf(&text, "first time %.1f ms; %d moduli; %s\n", total[0]*1e3, e.Info().Moduli, e.Info().Variant)
	for _, s := range e.Stages() {
		fmt.Fprintf(&text, "phase %-14s %8.3f ms  %s\n", s.Name, ms(s.Time), s.Summary)
	}
	for _, k := range x.Kernels {
		fmt.Fprintf(&text, "kernel %-16s %8.3f ms, %6.1f GB/s\n", k.Name, ms(k.Time), float64(k.Bytes)/max(k.Time.Seconds(),
			1e-9)/1e9)
	}
	b.Log(text.String())
}
