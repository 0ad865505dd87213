package superaccgpu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
	"unsafe"

	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/numbers"
	"mpbench/pkg/superacc"
)

// Times on a GPU; on the emulator they say nothing and are skipped. Sums of numbers in device memory are timed by
// events, with cold caches, everything else by the clock. Medians with the least and the greatest time.
//
//	MPBENCH_TEST_DEVICE=cuda:0 superaccgpu.test -test.run '^$' -test.bench . -test.benchtime 1x -test.timeout 30m
//
// MPBENCH_BENCH_GB is the size of the file of BenchmarkFile in GB, 4 if unset.

func realDevice(b *testing.B) *gpu.Device {
	if gputest.Emulated() {
		b.Skip("times of the emulator say nothing")
	}
	return gputest.Device(b)
}

// reportTimes makes the benchmark's result that of run: the median of its times.
func reportTimes(b *testing.B, runs int, bytes float64, run func() (time.Duration, error)) {
	b.Helper()
	var times []float64
	for i := range runs + 3 {
		t, err := run()
		if err != nil {
			b.Fatal(err)
		}
		if i >= 3 {
			times = append(times, float64(t)/1e3)
		}
	}
	reportMedian(b, bytes, times)
}

// reportMedian makes the benchmark's result the median of times in µs.
func reportMedian(b *testing.B, bytes float64, times []float64) {
	slices.Sort(times)
	median := times[len(times)/2]
	b.ReportMetric(median, "µs")
	b.ReportMetric(times[0], "least-µs")
	b.ReportMetric(times[len(times)-1], "greatest-µs")
	b.ReportMetric(bytes/median/1e3, "GB/s")
	b.ReportMetric(0, "ns/op")
}

// benchData are data of several kinds: as usual, spread over some hundred binades, over all.
var benchData = []family{
	families[0],
	{"lognormal", func(r *rand.Rand, _, _ int) float64 { return math.Exp(8 * r.NormFloat64()) }},
	families[2],
	families[3],
}

func BenchmarkSum(b *testing.B) {
	d := realDevice(b)
	for _, f := range benchData {
		for _, n := range []int{1000, 1 << 20, 1 << 24, 1 << 28} {
			if n > 1<<24 && f.name != benchData[0].name {
				continue
			}
			b.Run(fmt.Sprintf("data=%s/n=%d", f.name, n), func(b *testing.B) {
				v, err := newVector(d, f.make(1, n), nil, blockThreads)
				if err != nil {
					b.Fatal(err)
				}
				defer v.Free()
				reportTimes(b, 40, 8*float64(n), kernelTime(v))
			})
		}
	}
}

func BenchmarkDot(b *testing.B) {
	d := realDevice(b)
	for _, f := range benchData {
		for _, n := range []int{1 << 20, 1 << 24} {
			b.Run(fmt.Sprintf("data=%s/n=%d", f.name, n), func(b *testing.B) {
				v, err := newVector(d, f.make(1, n), f.make(2, n), blockThreads)
				if err != nil {
					b.Fatal(err)
				}
				defer v.Free()
				reportTimes(b, 40, 16*float64(n), kernelTime(v))
			})
		}
	}
}

func kernelTime(v *Vector) func() (time.Duration, error) {
	return func() (time.Duration, error) {
		t, err := v.Sum(new(superacc.Accumulator), true)
		return t.Kernel, err
	}
}

// BenchmarkGrid tries sizes of blocks, as many of them as a multiprocessor holds.
func BenchmarkGrid(b *testing.B) {
	d := realDevice(b)
	for _, f := range benchData {
		x, y := f.make(1, 1<<24), f.make(2, 1<<24)
		for _, threads := range []int{128, 256, 320, 512, 640} {
			b.Run(fmt.Sprintf("data=%s/threads=%d", f.name, threads), func(b *testing.B) {
				benchmarkGrid(b, d, x, nil, threads)
			})
			b.Run(fmt.Sprintf("products/data=%s/threads=%d", f.name, threads), func(b *testing.B) {
				benchmarkGrid(b, d, x, y, threads)
			})
		}
	}
}

func benchmarkGrid(b *testing.B, d *gpu.Device, x, y []float64, threads int) {
	v, err := newVector(d, x, y, threads)
	if err != nil {
		b.Fatal(err)
	}
	defer v.Free()
	b.ReportMetric(float64(v.engine.sumBlocks), "blocks")
	reportTimes(b, 20, 8*float64(len(x)), kernelTime(v))
}

// BenchmarkBus is what streams can reach at best: copies from pinned memory.
func BenchmarkBus(b *testing.B) {
	d := realDevice(b)
	const n = 1 << 25
	err := d.Do(func() error {
		from, err := gpu.AllocPinned[float64](d, n)
		if err != nil {
			return err
		}
		defer from.Free()
		to, err := gpu.Alloc[float64](d, n)
		if err != nil {
			return err
		}
		defer to.Free()
		s, err := d.NewStream()
		if err != nil {
			return err
		}
		defer s.Free()
		reportTimes(b, 10, 8*n, func() (time.Duration, error) {
			start := time.Now()
			err := to.UploadAsync(s, 0, from.Slice())
			if err == nil {
				err = s.Sync()
			}
			return time.Since(start), err
		})
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkStream sums numbers in host memory, copying them each time.
func BenchmarkStream(b *testing.B) {
	d := realDevice(b)
	x := inHost(families[0].make(1, 1<<29))
	for _, o := range []Options{{}, {Readers: 4}, {Readers: 12}, {Readers: 16}, {Chunk: 1 << 18}, {Chunk: 1 << 22},
		{Threads: 8}} {
		b.Run(fmt.Sprintf("readers=%d/chunk=%d/threads=%d", o.Readers, o.Chunk, o.Threads), func(b *testing.B) {
			benchmarkSource(b, d, x, o)
		})
	}
	b.Run("in-place", func(b *testing.B) {
		s, err := NewStreamer([]*gpu.Device{d}, false, Options{})
		if err != nil {
			b.Fatal(err)
		}
		numbers, _ := x.Contiguous()
		start := time.Now()
		if err := s.Lock(numbers); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(start).Seconds()*1e6, "lock-µs")
		benchmarkSums(b, s, x)
		start = time.Now()
		s.Free()
		b.ReportMetric(time.Since(start).Seconds()*1e6, "unlock-µs")
	})
}

func benchmarkSource(b *testing.B, d *gpu.Device, x numbers.Array, o Options) {
	s, err := NewStreamer([]*gpu.Device{d}, false, o)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Free()
	benchmarkSums(b, s, x)
}

func benchmarkSums(b *testing.B, s *Streamer, x numbers.Array) {
	reportTimes(b, 5, 8*float64(x.Len()), func() (time.Duration, error) {
		start := time.Now()
		err := s.Sum(context.Background(), new(superacc.Accumulator), x)
		return time.Since(start), err
	})
}

// onDisk is a file of little-endian numbers, read where the numbers go.
type onDisk struct {
	numbers.Source // of single numbers: none
	file           *os.File
	n              int
}

func (f onDisk) Len() int { return f.n }

func (f onDisk) ReadRun(x []float64, from int) error {
	_, err := f.file.ReadAt(unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 8*len(x)), 8*int64(from))
	return err
}

// BenchmarkFile sums a file: from the system's cache, as far as memory suffices, and from the disk, with the cache
// emptied of it before each run. Reading it alone is the limit, or the bus.
func BenchmarkFile(b *testing.B) {
	d := realDevice(b)
	f := writeNumbers(b)
	keep := func() error { return nil }
	drop := func() error { return dropCache(f.file) }
	b.Run("reading", func(b *testing.B) { benchmarkReading(b, f, 3, keep) })
	for _, o := range []Options{{}, {Readers: 16}, {Threads: 8}} {
		b.Run(fmt.Sprintf("readers=%d/threads=%d", o.Readers, o.Threads), func(b *testing.B) {
			benchmarkSource(b, d, numbers.Vector(f), o)
		})
	}
	b.Run("disk/reading", func(b *testing.B) { benchmarkReading(b, f, 1, drop) })
	b.Run("disk/sum", func(b *testing.B) {
		s, err := NewStreamer([]*gpu.Device{d}, false, Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer s.Free()
		sum := func() (time.Duration, error) {
			if err := drop(); err != nil {
				return 0, err
			}
			start := time.Now()
			err := s.Sum(context.Background(), new(superacc.Accumulator), numbers.Vector(f))
			return time.Since(start), err
		}
		t, err := sum()
		if err != nil {
			b.Fatal(err)
		}
		reportMedian(b, 8*float64(f.n), []float64{float64(t) / 1e3})
	})
}

// writeNumbers writes the file of BenchmarkFile.
func writeNumbers(b *testing.B) onDisk {
	gb := 4.0
	if text := os.Getenv("MPBENCH_BENCH_GB"); text != "" {
		if _, err := fmt.Sscan(text, &gb); err != nil {
			b.Fatal(err)
		}
	}
	part := families[0].make(1, 1<<24)
	file, err := os.Create(filepath.Join(b.TempDir(), "numbers"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { file.Close() })
	f := onDisk{file: file}
	for f.n < int(gb*1e9/8) {
		if _, err := file.Write(unsafe.Slice((*byte)(unsafe.Pointer(&part[0])), 8*len(part))); err != nil {
			b.Fatal(err)
		}
		f.n += len(part)
	}
	if err := file.Sync(); err != nil {
		b.Fatal(err)
	}
	return f
}

// benchmarkReading reads all chunks by as many goroutines as a streamer does, after prepare.
func benchmarkReading(b *testing.B, f onDisk, runs int, prepare func() error) {
	var times []float64
	for range runs {
		if err := prepare(); err != nil {
			b.Fatal(err)
		}
		t, err := readAll(f)
		if err != nil {
			b.Fatal(err)
		}
		times = append(times, float64(t)/1e3)
	}
	reportMedian(b, 8*float64(f.n), times)
}

func readAll(f onDisk) (time.Duration, error) {
	o := Options{}.filled(1)
	start := time.Now()
	w := &work{ctx: context.Background(), sources: []numbers.Array{numbers.Vector(f)}, n: f.n, chunk: o.Chunk,
		quit: make(chan struct{})}
	done := make(chan struct{})
	for range o.Readers {
		go func() {
			x := make([]float64, o.Chunk)
			for from, n := w.take(); n > 0; from, n = w.take() {
				w.fail(f.ReadRun(x[:n], from))
			}
			done <- struct{}{}
		}()
	}
	for range o.Readers {
		<-done
	}
	return time.Since(start), w.err
}
