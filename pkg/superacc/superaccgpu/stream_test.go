package superaccgpu

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/numbers"
	"mpbench/pkg/superacc"
)

// fileOf returns numbers that are read in runs, up to the first broken one.
func fileOf(x []float64, broken int) numbers.Array { return numbers.Vector(problems.OnDisk(x, broken)) }

// inHost returns numbers in the memory of the host.
func inHost(x []float64) numbers.Array { return numbers.Vector(numbers.Float64s(x)) }

// Any chunk size, with and without processors, gives the CPU's sum; a streamer is used again and again.
func TestStreamer(t *testing.T) {
	gputest.Sanitize(t)
	n, scale := 5003, 1
	switch {
	case gputest.Emulated():
	case testing.Short(): // a sanitizer keeps much of every launch
		n, scale = 50_003, 10
	default:
		n, scale = 5_000_003, 1000
	}
	for _, o := range []Options{
		{Chunk: 30, Readers: 1}, {Chunk: 100, Readers: 3}, {Chunk: 999, Readers: 1, Threads: 2}, {Chunk: 1000, Threads: 1},
		{}, {Threads: 3},
	} {
		if o.Chunk *= scale; o.Chunk == 0 && scale < 1000 {
			o.Chunk = 1 << 13 // the default, 1 GB of memory in all, takes the emulator a second
		}
		sums, err := NewStreamer(gputest.Device(t), false, o)
		if err != nil {
			t.Fatal(err)
		}
		defer sums.Free()
		dots, err := NewStreamer(gputest.Device(t), true, o)
		if err != nil {
			t.Fatal(err)
		}
		defer dots.Free()
		for _, f := range families[:6] {
			x, y := f.make(1, n), f.make(2, n)
			var sum, dot superacc.Accumulator
			if err := sums.Sum(context.Background(), &sum, fileOf(x, n)); err != nil {
				t.Fatal(err)
			}
			compare(t, fmt.Sprintf("%s by %+v", f.name, o), &sum, cpuSum(x))
			if err := dots.Dot(context.Background(), &dot, inHost(x), fileOf(y, n)); err != nil {
				t.Fatal(err)
			}
			compare(t, fmt.Sprintf("%s, products by %+v", f.name, o), &dot, cpuDot(x, y))
		}
		var none superacc.Accumulator
		if err := sums.Sum(context.Background(), &none, inHost(nil)); err != nil || none.Float64() != 0 {
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
		s, err := NewStreamer(gputest.Device(t), false, Options{Chunk: 100, Readers: 2, Threads: threads})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Free()
		for _, c := range []struct {
			ctx  context.Context
			from int
			want error
		}{{context.Background(), 0, problems.ErrBroken}, {context.Background(), 1234, problems.ErrBroken},
			{cancelled, 3000, context.Canceled}} {
			var a superacc.Accumulator
			a.Add(7)
			if err := s.Sum(c.ctx, &a, fileOf(x, c.from)); !errors.Is(err, c.want) || a.Float64() != 7 {
				t.Errorf("error %v, sum %g; want %v and 7", err, a.Float64(), c.want)
			}
		}
		var a superacc.Accumulator
		if err := s.Sum(context.Background(), &a, inHost(x)); err != nil {
			t.Error(err)
		}
		compare(t, "after errors", &a, cpuSum(x))
	}
}
