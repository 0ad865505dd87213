package primergpu

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/primer"
	"mpbench/pkg/sampling"
)

// benchmarked returns a GPU, whose times say something.
func benchmarked(b *testing.B) *gpu.Device {
	if gputest.Emulated() {
		b.Skip("times of the emulator say nothing")
	}
	return gputest.Device(b)
}

// timeWays times ways by the device's events with cold caches: the median and the least of some runs in microseconds,
// the rate of what is read and written, and its share of the copy's, which is the first way.
func timeWays(b *testing.B, name string, ways []primer.Way) {
	copied := 0.0
	for _, w := range ways {
		b.Run(name+"/"+w.Name, func(b *testing.B) {
			times, err := sample(w)
			if err != nil {
				b.Fatal(err)
			}
			median := times[len(times)/2]
			rate := float64(w.Bytes) / median
			if w.Judge == nil {
				copied = rate
			} else if v, err := w.Judge(); err != nil || !v.Right {
				b.Fatal(v, err)
			}
			b.ReportMetric(median/1e3, "µs")
			b.ReportMetric(times[0]/1e3, "least-µs")
			b.ReportMetric(rate, "GB/s")
			b.ReportMetric(100*rate/copied, "%copy")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// sample returns times in nanoseconds, in increasing order.
func sample(w primer.Way) (times []float64, err error) {
	for begin := time.Now(); len(times) < 5 || len(times) < 21 && time.Since(begin) < 200*time.Millisecond; {
		m, err := sampling.Sampler{}.Measure(context.Background(), w.Sample)
		if err != nil {
			return nil, err
		}
		times = append(times, m.Timing.Median)
	}
	slices.Sort(times)
	return times, nil
}

// BenchmarkReduce times the ladder; the last rung is to reach 93 % of the copy's bandwidth at 2^26 elements.
func BenchmarkReduce(b *testing.B) {
	d := benchmarked(b)
	for _, n := range []int{1 << 20, 1 << 26} {
		benchmarkReduce[int32](b, d, n)
		benchmarkReduce[int64](b, d, n)
		benchmarkReduce[float32](b, d, n)
		benchmarkReduce[float64](b, d, n)
	}
}

func benchmarkReduce[T primer.Number](b *testing.B, d *gpu.Device, n int) {
	l, err := NewLadder(d, primer.NewProblem[T](primer.Operations[0], n, 1, 1), Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	timeWays(b, fmt.Sprintf("%s/n=%d", primer.TypeName[T](), n), l.Ways())
}

// BenchmarkScan times scans; of int32 they are to reach 85 % of the copy's bandwidth at 2^26 elements, those in a
// fixed grouping 60 %.
func BenchmarkScan(b *testing.B) {
	d := benchmarked(b)
	for _, n := range []int{1 << 20, 1 << 26} {
		benchmarkScan[int32](b, d, n)
		benchmarkScan[int64](b, d, n)
		benchmarkScan[float32](b, d, n)
		benchmarkScan[float64](b, d, n)
	}
}

// benchmarkScan compares with the CPU, as the exact sums of all prefixes take minutes.
func benchmarkScan[T primer.Number](b *testing.B, d *gpu.Device, n int) {
	p := primer.NewProblem[T](primer.Operations[0], n, 1, 1)
	s, err := NewScan(d, p, false)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	list := []*Scan[T]{s}
	if e, err := NewExactScan(d, p, false); err == nil {
		defer e.Close()
		list = append(list, e)
	}
	ways := []primer.Way{s.Copy()}
	scanners := primer.Scanners[T](p.Operation)
	for i, s := range list {
		w, want := s.Way(nil), make([]T, n)
		scanners[1+i].Scan(p.Combiner, want, p.X, false, 0)
		w.Judge = func() (primer.Verdict, error) {
			y, err := s.Result()
			return primer.Verdict{Right: slices.Equal(y, want)}, err
		}
		ways = append(ways, w)
	}
	timeWays(b, fmt.Sprintf("%s/n=%d", primer.TypeName[T](), n), ways)
}
