package superaccgpu

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/gpu"
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
		sums, err := NewStreamer(gputest.Devices(t, 1), false, o)
		if err != nil {
			t.Fatal(err)
		}
		defer sums.Free()
		dots, err := NewStreamer(gputest.Devices(t, 1), true, o)
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
		s, err := NewStreamer(gputest.Devices(t, 1), false, Options{Chunk: 100, Readers: 2, Threads: threads})
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

// Several devices, with and without processors, share the chunks of one sum and give the CPU's bits.
func TestStreamerDevices(t *testing.T) {
	devices := gputest.Devices(t, 3)
	x, y := families[0].make(1, 20_001), families[0].make(2, 20_001)
	for n := 1; n <= len(devices); n++ {
		for _, o := range []Options{{Chunk: 100, Readers: 1}, {Chunk: 300, Readers: 2, Threads: 1}} {
			s, err := NewStreamer(devices[:n], true, o)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Free()
			var dot superacc.Accumulator
			if err := s.Dot(context.Background(), &dot, inHost(x), inHost(y)); err != nil {
				t.Fatal(err)
			}
			compare(t, fmt.Sprintf("%d devices, %+v", n, o), &dot, cpuDot(x, y))
			sum := 0
			for i, share := range s.Shares() {
				if sum += share.Numbers; share.Device != devices[i] || share.Numbers < 0 {
					t.Errorf("share %d: %+v", i, share)
				}
			}
			if sum > len(x) || o.Threads == 0 && sum != len(x) || len(s.Shares()) != n {
				t.Errorf("%d devices added %d of %d numbers", n, sum, len(x))
			}
		}
	}
}

// Numbers whose pages are locked are copied from where they are, by all devices, and give the same bits; a vector may
// be locked twice, but not a part of it.
func TestStreamerLocked(t *testing.T) {
	devices := gputest.Devices(t, 2)
	x, y := families[0].make(1, 30_001), families[0].make(2, 30_001)
	for _, pair := range [][2][]float64{{x, y}, {x, x}} {
		s, err := NewStreamer(devices, true, Options{Chunk: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Lock(pair[:]...); err != nil {
			t.Fatal(err)
		}
		other, err := NewStreamer(devices[1:], false, Options{Chunk: 1000})
		if err != nil {
			t.Fatal(err)
		}
		if err := other.Lock(pair[0][10_000:20_000]); err == nil {
			t.Error("a part of what is locked was locked again")
		}
		if err := other.Lock(pair[0]); err != nil {
			t.Error(err)
		}
		for range 2 {
			var dot, sum superacc.Accumulator
			if err := s.Dot(context.Background(), &dot, inHost(pair[0]), inHost(pair[1])); err != nil {
				t.Fatal(err)
			}
			compare(t, "a dot product of locked vectors", &dot, cpuDot(pair[0], pair[1]))
			if err := other.Sum(context.Background(), &sum, inHost(pair[0])); err != nil {
				t.Fatal(err)
			}
			compare(t, "a sum of a locked vector", &sum, cpuSum(pair[0]))
		}
		s.Free()
		other.Free()
	}
	s, err := NewStreamer(devices[:1], false, Options{Chunk: 1000})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Free()
	if err := s.Lock(x[10_000:20_000]); err != nil {
		t.Errorf("after all is unlocked: %v", err)
	}
}

// A fault of one of two devices at any moment ends the sum with one error that names the device; a call that the
// device refuses for lack of memory does so, too, and the next sum is right.
func TestStreamerFault(t *testing.T) {
	if !gputest.Emulated() {
		t.Skip("a GPU faults on no request; the emulator does")
	}
	devices := gputest.Devices(t, 8)
	x := families[0].make(1, 5000)
	for k, after := range []int{0, 1, 3} { // calls, of at least 4 that each device gets
		pair := []*gpu.Device{devices[0], devices[7-k]}
		s, err := NewStreamer(pair, false, Options{Chunk: 100, Readers: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Free()
		for _, c := range []struct {
			request func(*gpu.Device)
			want    error
		}{
			{func(d *gpu.Device) { d.Refuse(after) }, gpu.ErrOutOfMemory}, {func(*gpu.Device) {}, nil},
			{func(d *gpu.Device) { d.Break(after) }, gpu.ErrFault}, {func(*gpu.Device) {}, gpu.ErrFault},
		} {
			var a superacc.Accumulator
			if err := pair[1].Do(func() error { c.request(pair[1]); return nil }); err != nil && c.want == nil {
				t.Fatal(err)
			}
			err := s.Sum(context.Background(), &a, inHost(x))
			if c.want == nil {
				compare(t, "after a refused call", &a, cpuSum(x))
			}
			if !errors.Is(err, c.want) || c.want != nil && (!strings.HasPrefix(err.Error(), pair[1].Name()+": cu") ||
				strings.Contains(err.Error(), "\n")) {
				t.Errorf("after %d calls: error %v, want %v of %s", after, err, c.want, pair[1].Name())
			}
		}
	}
}
