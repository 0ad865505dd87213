package gpu_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"mpbench/pkg/gpu"
)

// Two streams with pinned memory and an event between them: the second copies what the first brought.
func TestStreams(t *testing.T) {
	onDevice(t, func(d *gpu.Device) error {
		const n = 1000
		var streams [2]*gpu.Stream
		for i := range streams {
			s, err := d.NewStream()
			if err != nil {
				return err
			}
			defer s.Free()
			streams[i] = s
		}
		in, err := gpu.AllocPinned[uint64](d, n)
		if err != nil {
			return err
		}
		defer in.Free()
		out, err := gpu.AllocPinned[uint64](d, n)
		if err != nil {
			return err
		}
		defer out.Free()
		first, err := gpu.Alloc[uint64](d, n)
		if err != nil {
			return err
		}
		defer first.Free()
		second, err := gpu.Alloc[uint64](d, n)
		if err != nil {
			return err
		}
		defer second.Free()
		event, err := d.NewEvent()
		if err != nil {
			return err
		}
		defer event.Free()
		for i := range in.Slice() {
			in.Slice()[i] = rand.Uint64()
		}
		steps := []func() error{
			func() error { return first.UploadAsync(streams[0], 0, in.Slice()) },
			func() error { return event.Record(streams[0]) },
			func() error { return streams[1].Wait(event) },
			func() error { return second.CopyAsync(streams[1], first) },
			func() error { return second.DownloadAsync(streams[1], 0, out.Slice()) },
			streams[1].Sync,
		}
		for _, step := range steps {
			if err := step(); err != nil {
				return err
			}
		}
		if !slices.Equal(in.Slice(), out.Slice()) {
			t.Error("the copy differs")
		}
		return nil
	})
}

// A graph does its work at each launch, not when it is captured.
func TestGraph(t *testing.T) {
	onDevice(t, func(d *gpu.Device) error {
		k, err := function[blockSum](d, "blockSum")
		if err != nil {
			return err
		}
		s, err := d.NewStream()
		if err != nil {
			return err
		}
		defer s.Free()
		x, err := gpu.Upload(d, []uint64{1, 2, 3})
		if err != nil {
			return err
		}
		defer x.Free()
		sum, err := gpu.Upload(d, []uint64{0})
		if err != nil {
			return err
		}
		defer sum.Free()
		g, err := s.Capture(func() error {
			return k.Launch(gpu.Launch{Block: gpu.Dim{X: 32}, Shared: 8 * 32, Stream: s}, blockSum{sum.Pointer(), x.Pointer(), 3})
		})
		if err != nil {
			return err
		}
		defer g.Free()
		for want := range uint64(4) {
			got := make([]uint64, 1)
			if err := sum.Download(got); err != nil {
				return err
			}
			if got[0] != 6*want {
				t.Errorf("after %d launches the sum is %d, want %d", want, got[0], 6*want)
			}
			if err := g.Launch(s); err != nil {
				return err
			}
			if err := s.Sync(); err != nil {
				return err
			}
		}
		return nil
	})
}

// The memory in use is counted and given back; cold caches keep one buffer.
func TestMemory(t *testing.T) {
	onDevice(t, func(d *gpu.Device) error {
		if err := d.ColdCache(nil); err != nil {
			return err
		}
		d.ResetPeak()
		before := d.Memory().Current
		a, err := gpu.Alloc[uint32](d, 1000)
		if err != nil {
			return err
		}
		b, err := gpu.Alloc[uint64](d, 10)
		if err != nil {
			return err
		}
		a.Free()
		a.Free()
		b.Free()
		if m := d.Memory(); m.Current != before || m.Peak != before+4080 {
			t.Errorf("in use %+v, want %d with a peak of %d", m, before, before+4080)
		}
		return d.ColdCache(nil)
	})
}

// Much data through pinned memory, in whole chunks and others, arrives as it is.
func TestUploadStaged(t *testing.T) {
	onDevice(t, func(d *gpu.Device) error {
		for _, n := range []int{0, 1, 1 << 20, 1<<21 + 5, 17<<20 + 1, 18 << 20} {
			x := make([]uint64, n)
			for i := range x {
				x[i] = uint64(i) * 0x9e3779b97f4a7c15
			}
			b, err := gpu.Alloc[uint64](d, n)
			if err != nil {
				return err
			}
			if err := b.UploadStaged(x); err != nil {
				return err
			}
			got := make([]uint64, n)
			if err := b.Download(got); err != nil {
				return err
			}
			if !slices.Equal(got, x) {
				t.Errorf("%d numbers arrived changed", n)
			}
			b.Free()
		}
		return nil
	})
}
