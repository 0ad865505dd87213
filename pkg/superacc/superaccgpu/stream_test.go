package superaccgpu

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/superacc"
)

// file is a source that is no Slice; it fails from a number on.
type file struct {
	Slice
	broken int
}

var errBroken = errors.New("broken disk")

func (f file) Read(x []float64, from int) error {
	if from+len(x) > f.broken {
		return errBroken
	}
	return f.Slice.Read(x, from)
}

// Any chunk size, with and without processors, gives the CPU's sum; a streamer is used again and again.
func TestStreamer(t *testing.T) {
	n := 5003
	if !gputest.Emulated() {
		n = 5_000_003
	}
	for _, o := range []Options{
		{Chunk: 30, Readers: 1}, {Chunk: 100, Readers: 3}, {Chunk: 999, Readers: 1, Threads: 2}, {Chunk: 1000, Threads: 1}, {}, {Threads: 3},
	} {
		switch {
		case !gputest.Emulated():
			o.Chunk *= 1000
		case o.Chunk == 0:
			o.Chunk = 1 << 13 // the default, 1 GB of memory in all, takes the emulator a second
		}
		sums, err := NewStreamer(device(t), false, o)
		if err != nil {
			t.Fatal(err)
		}
		defer sums.Free()
		dots, err := NewStreamer(device(t), true, o)
		if err != nil {
			t.Fatal(err)
		}
		defer dots.Free()
		for _, f := range families[:6] {
			x, y := f.make(1, n), f.make(2, n)
			var sum, dot superacc.Accumulator
			if err := sums.Sum(context.Background(), &sum, file{x, n}); err != nil {
				t.Fatal(err)
			}
			compare(t, fmt.Sprintf("%s by %+v", f.name, o), &sum, cpuSum(x))
			if err := dots.Dot(context.Background(), &dot, Slice(x), file{y, n}); err != nil {
				t.Fatal(err)
			}
			compare(t, fmt.Sprintf("%s, products by %+v", f.name, o), &dot, cpuDot(x, y))
		}
		var none superacc.Accumulator
		if err := sums.Sum(context.Background(), &none, Slice(nil)); err != nil || none.Float64() != 0 {
			t.Errorf("no numbers: %v, %g", err, none.Float64())
		}
	}
}

// Errors of a source and of the context end the work and leave the accumulator as it was; the streamer still works.
func TestStreamerErrors(t *testing.T) {
	x := families[0].make(1, 3000)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, threads := range []int{0, 2} {
		s, err := NewStreamer(device(t), false, Options{Chunk: 100, Readers: 2, Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Free()
		for _, c := range []struct {
			ctx  context.Context
			from int
			want error
		}{{context.Background(), 0, errBroken}, {context.Background(), 1234, errBroken}, {cancelled, 3000, context.Canceled}} {
			var a superacc.Accumulator
			a.Add(7)
			if err := s.Sum(c.ctx, &a, file{x, c.from}); !errors.Is(err, c.want) || a.Float64() != 7 {
				t.Errorf("error %v, sum %g; want %v and 7", err, a.Float64(), c.want)
			}
		}
		var a superacc.Accumulator
		if err := s.Sum(context.Background(), &a, Slice(x)); err != nil {
			t.Error(err)
		}
		compare(t, "after errors", &a, cpuSum(x))
	}
}

// Every division between device and processors gives the same bits, and so does the one that calibration finds.
func TestHybrid(t *testing.T) {
	sizes := []int{0, 1, 2, 1001}
	if !gputest.Emulated() {
		sizes = append(sizes, 100_000, 10_000_001)
	}
	for i, n := range sizes {
		f := families[i%6]
		x, y := f.make(1, n), f.make(2, n)
		sum, err := NewHybrid(device(t), x, 2)
		if err != nil {
			t.Fatal(err)
		}
		defer sum.Free()
		dot, err := NewHybridPair(device(t), x, y, 2)
		if err != nil {
			t.Fatal(err)
		}
		defer dot.Free()
		for _, h := range []*Hybrid{sum, dot} {
			if err := h.Calibrate(); err != nil {
				t.Fatal(err)
			}
		}
		t.Log(sum, "; ", dot)
		for _, share := range []int{sum.Share(), 0, n / 3, n - 1, n, n + 1} {
			for _, h := range []*Hybrid{sum, dot} {
				h.SetShare(share)
				var a superacc.Accumulator
				device, processors, err := h.Sum(&a, true)
				if err != nil || (device > 0) != (h.Share() > 0) || h.Share() < n && processors <= 0 {
					t.Errorf("%v: %v, %v, %v", h, device, processors, err)
				}
				want := cpuSum(x)
				if h == dot {
					want = cpuDot(x, y)
				}
				compare(t, h.String(), &a, want)
			}
		}
	}
}
