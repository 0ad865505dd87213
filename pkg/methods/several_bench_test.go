package methods_test

import (
	"context"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"mpbench/internal/parallel"
	"mpbench/pkg/device"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/deferred"
)

// BenchmarkGPUs compares one GPU with two by the clock, rounding included, with cold caches and in turn: ratio is the
// time of one to that of two, overhead what two take more where one would do. Results must have the same bits.
func BenchmarkGPUs(b *testing.B) {
	if gputest.Emulated() {
		b.Skip("times of the emulator say nothing")
	}
	pair := gputest.Devices(b, 2)
	all := make(numbers.Float64s, 2_000_000_000)
	parallel.Ranges(0, len(all), 1<<20, func(_, from, to int) {
		r := rand.New(rand.NewPCG(1, uint64(from)))
		for i := from; i < to; i++ {
			all[i] = 2*r.Float64() - 1
		}
	})
	const n = 40_000
	product := productOf(b, 8192, 106)
	sum := func(n int) *op.Problem { return &op.Problem{Op: op.Sum, X: numbers.Vector(all[:n])} }
	gemv := &op.Problem{Op: op.Gemv, Alpha: numbers.Scalar(1), Beta: numbers.Scalar(0),
		A: numbers.Array{Source: all[:n*n], Layout: numbers.ColMajor(n, n, n)}, X: numbers.Vector(all[n*n:][:n])}
	for _, c := range []struct {
		name      string
		problem   *op.Problem
		precision int
		stream    bool
	}{
		{"sum/n=1000", sum(1000), 53, false}, {"sum/n=2e9", sum(len(all)), 53, false},
		{"sum-streamed/n=2e9", sum(len(all)), 53, true},
		{"gemv/n=40000/p=53", gemv, 53, false}, {"gemv/n=40000/p=106", gemv, 106, false},
		{"gemv-streamed/n=40000/p=106", gemv, 106, true}, {"gemm/n=8192/p=106", product, 106, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			m, _ := catalog.Lookup(c.problem.Op, "deferred")
			config := method.Config{Precision: c.precision, Stream: c.stream}
			compareGPUs(b, m, config, c.problem, several(pair[:1]), several(pair))
		})
	}
}

// productOf is a product of two n x n matrices of full significands of p bits in (-1, 1).
func productOf(b *testing.B, n, p int) *op.Problem {
	var matrices [2]numbers.Array
	for k := range matrices {
		packed := deferred.NewPacked(n*n, p)
		parallel.Ranges(0, n, 16, func(_, from, to int) {
			r := rand.New(rand.NewPCG(uint64(k), uint64(from)))
			z := numbers.Number{Class: numbers.Finite, Words: make([]uint64, (p+63)/64)}
			for i := from * n; i < to*n; i++ {
				for w := range z.Words {
					z.Words[w] = r.Uint64()
				}
				last, top := &z.Words[len(z.Words)-1], uint((p-1)%64)
				*last = *last&(1<<top-1) | 1<<top
				z.Neg, z.Exp = r.IntN(2) == 0, -p-min(20, bits.LeadingZeros64(r.Uint64()))
				if err := packed.Set(i, &z); err != nil {
					b.Error(err)
				}
			}
		})
		matrices[k] = numbers.Array{Source: packed, Layout: numbers.RowMajor(n, n, n)}
	}
	return &op.Problem{Op: op.Gemm, Alpha: numbers.Scalar(1), Beta: numbers.Scalar(0), A: matrices[0], X: matrices[1]}
}

// compareGPUs times runs on two sets of devices in turn.
func compareGPUs(b *testing.B, m method.Method, c method.Config, p *op.Problem, sets ...device.Set) {
	const runs = 15
	var engines []method.Engine
	for _, c.Devices = range sets {
		full, err := m.Complete(c)
		if err != nil {
			b.Fatal(err)
		}
		e, err := m.New(full)
		if err != nil {
			b.Fatal(err)
		}
		defer e.Close()
		if err := e.Prepare(context.Background(), p); err != nil {
			b.Fatal(err)
		}
		engines = append(engines, e)
	}
	times := make([][]float64, len(sets))
	for range runs {
		for k, e := range engines {
			if c, ok := e.(method.Cooler); ok {
				if err := c.Cool(); err != nil {
					b.Fatal(err)
				}
			}
			start := time.Now()
			if err := e.Run(context.Background()); err != nil {
				b.Fatal(err)
			}
			times[k] = append(times[k], float64(time.Since(start))/1e3)
		}
	}
	var results []numbers.Source
	for k, e := range engines {
		y, err := e.Result()
		if err != nil {
			b.Fatal(err)
		}
		results = append(results, y)
		slices.Sort(times[k])
		b.ReportMetric(times[k][runs/2], fmt.Sprintf("%d-gpu-µs", k+1))
	}
	n := results[0].Len()
	for i := 0; i < n; i += 1 + n/1_000_000 {
		if !numbers.At(results[0], i).Equal(numbers.At(results[1], i)) {
			b.Fatalf("%s and %s give other bits in component %d", sets[0], sets[1], i)
		}
	}
	b.ReportMetric(times[0][runs/2]/times[1][runs/2], "ratio")
	b.ReportMetric(times[1][runs/2]-times[0][runs/2], "overhead-µs")
	b.ReportMetric(0, "ns/op")
	b.Log(engines[1].Info().Variant)
}
