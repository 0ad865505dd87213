package methods_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"mpbench/internal/parallel"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// BenchmarkHybrid compares processors alone, the device alone and both, by the clock, rounding included: ratio is the
// time of both to that of the faster alone. The three take turns, so that whatever disturbs the machine disturbs each
// of them.
func BenchmarkHybrid(b *testing.B) {
	if gputest.Emulated() {
		b.Skip("times of the emulator say nothing")
	}
	all := make(numbers.Float64s, 1_000_000_000)
	parallel.Ranges(0, len(all), 1<<20, func(_, from, to int) {
		r := rand.New(rand.NewPCG(1, uint64(from)))
		for i := from; i < to; i++ {
			all[i] = 2*r.Float64() - 1
		}
	})
	m, _ := catalog.Lookup(op.Sum, "deferred")
	for n := 1000; n <= len(all); n *= 10 {
		p := &op.Problem{Op: op.Sum, X: numbers.Vector(all[:n])}
		var engines []method.Engine
		for _, set := range sets(b) {
			e, err := m.New(method.Config{Precision: 53, Devices: set})
			if err != nil {
				b.Fatal(err)
			}
			if err := e.Prepare(context.Background(), p); err != nil {
				b.Fatal(err)
			}
			engines = append(engines, e)
		}
		reportHybrid(b, n, engines, takeTurns(b, engines, hybridRuns(n), n))
		for _, e := range engines {
			if err := e.Close(); err != nil {
				b.Error(err)
			}
		}
	}
}

// hybridRuns is how often each is timed: more often where it is soon done.
func hybridRuns(n int) int {
	if n <= 10_000_000 {
		return 300
	}
	return 42
}

// takeTurns times runs of the engines in turn, in all orders, with cold caches of the device, in µs. One run that is
// not timed comes before each one that is: whoever has worked before leaves processors and device in different states.
func takeTurns(b *testing.B, engines []method.Engine, runs, n int) [][]float64 {
	times := make([][]float64, len(engines))
	orders := [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {2, 0, 1}, {0, 2, 1}, {1, 2, 0}}
	for i := range runs {
		for _, k := range orders[i%len(orders)] {
			for turn := range 2 {
				if t := timed(b, engines[k], n); turn == 1 {
					times[k] = append(times[k], t)
				}
			}
		}
	}
	return times
}

// timed returns the time of a run and its result in µs; of many, where the processors do it alone and soon.
func timed(b *testing.B, e method.Engine, n int) float64 {
	repetitions := 1
	if c, ok := e.(method.Cooler); ok {
		if err := c.Cool(); err != nil {
			b.Fatal(err)
		}
	} else {
		repetitions = max(1, 100_000/n)
	}
	start := time.Now()
	for range repetitions {
		if err := e.Run(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
	return float64(time.Since(start)) / 1e3 / float64(repetitions)
}

func reportHybrid(b *testing.B, n int, engines []method.Engine, times [][]float64) {
	medians := make([]float64, len(engines))
	for i := range times {
		slices.Sort(times[i])
		medians[i] = times[i][len(times[i])/2]
	}
	for i, name := range []string{"cpu", "cuda", "both"} {
		b.Run(fmt.Sprintf("n=%d/%s", n, name), func(b *testing.B) {
			b.ReportMetric(medians[i], "µs")
			b.ReportMetric(times[i][0], "least-µs")
			b.ReportMetric(times[i][len(times[i])-1], "greatest-µs")
			b.ReportMetric(8*float64(n)/medians[i]/1e3, "GB/s")
			b.ReportMetric(0, "ns/op")
			if name == "both" {
				b.ReportMetric(medians[2]/min(medians[0], medians[1]), "ratio")
				b.Log(engines[i].Info().Variant)
			}
		})
	}
}
