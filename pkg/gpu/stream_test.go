package gpu_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"mpbench/cuda/testkernels"
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
		k, err := function[testkernels.BlockSumArgs](d, "blockSum")
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
			return k.Launch(gpu.Launch{Block: gpu.Dim{X: 32}, Shared: 8 * 32, Stream: s},
				testkernels.BlockSumArgs{Sum: sum.Pointer(), X: x.Pointer(), N: 3})
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

// Chunks of any size and number arrive in their places and are handed over in their order; an error of put ends the
// feed, and the next one works.
func TestFeed(t *testing.T) {
	onDevice(t, func(d *gpu.Device) error {
		r := rand.New(rand.NewPCG(6, 6))
		for _, chunks := range []int{0, 1, 2, 3, 11, 12, 13, 100, 1000} {
			offsets := make([]int, chunks+1)
			for c := range chunks {
				offsets[c+1] = offsets[c] + r.IntN(300) // some are empty
			}
			want := make([]byte, offsets[chunks])
			for i := range want {
				want[i] = byte(r.Uint32())
			}
			b, err := gpu.Alloc[byte](d, len(want))
			if err != nil {
				return err
			}
			defer b.Free()
			fill := func(c int, p []byte) int {
				if len(p) != gpu.StageBytes {
					t.Errorf("%d bytes of pinned memory", len(p))
				}
				return copy(p, want[offsets[c]:offsets[c+1]])
			}
			next := 0
			put := func(c int, p []byte, s *gpu.Stream) error {
				if c != next || len(p) != offsets[c+1]-offsets[c] {
					t.Errorf("chunk %d of %d bytes, want %d", c, len(p), next)
				}
				next++
				return b.UploadAsync(s, offsets[c], p)
			}
			fails := errors.New("put fails")
			half := func(c int, p []byte, s *gpu.Stream) error {
				if c == chunks/2 {
					return fails
				}
				return nil
			}
			if err := d.Feed(chunks, fill, half); chunks > 0 && !errors.Is(err, fails) {
				t.Errorf("%d chunks with an error: %v", chunks, err)
			}
			if err := d.Feed(chunks, fill, put); err != nil {
				return err
			}
			got := make([]byte, len(want))
			if err := b.Download(got); err != nil {
				return err
			}
			if next != chunks || !slices.Equal(got, want) {
				t.Errorf("%d of %d chunks, or other bytes", next, chunks)
			}
		}
		return nil
	})
}

// A stream that waits for an event waits for its latest record at that time, also where the event is recorded again
// meanwhile: two buffers are filled in turn by one stream while the other uses them.
func TestTurns(t *testing.T) {
	onDevice(t, func(d *gpu.Device) error {
		const turns, n = 9, 1000
		var streams [2]*gpu.Stream
		var filled, used [2]*gpu.Event
		var buffers [2]*gpu.Buffer[uint64]
		var err error
		for i := range streams {
			if streams[i], err = d.NewStream(); err != nil {
				return err
			}
			defer streams[i].Free()
			if filled[i], err = d.NewEvent(); err != nil {
				return err
			}
			defer filled[i].Free()
			if used[i], err = d.NewEvent(); err != nil {
				return err
			}
			defer used[i].Free()
			if buffers[i], err = gpu.Alloc[uint64](d, n); err != nil {
				return err
			}
			defer buffers[i].Free()
		}
		in, err := gpu.AllocPinned[uint64](d, turns*n)
		if err != nil {
			return err
		}
		defer in.Free()
		out, err := gpu.AllocPinned[uint64](d, turns*n)
		if err != nil {
			return err
		}
		defer out.Free()
		for i := range in.Slice() {
			in.Slice()[i] = rand.Uint64()
		}
		for turn := range turns {
			b, part := turn%2, func(p *gpu.Pinned[uint64]) []uint64 { return p.Slice()[turn*n : (turn+1)*n] }
			steps := []func() error{
				func() error { return buffers[b].UploadAsync(streams[0], 0, part(in)) },
				func() error { return filled[b].Record(streams[0]) },
				func() error { return streams[1].Wait(filled[b]) },
				func() error { return buffers[b].DownloadAsync(streams[1], 0, part(out)) },
				func() error { return used[b].Record(streams[1]) },
			}
			if turn >= 2 {
				steps = append([]func() error{func() error { return streams[0].Wait(used[b]) }}, steps...)
			}
			for _, step := range steps {
				if err := step(); err != nil {
					return err
				}
			}
		}
		if err := streams[1].Sync(); err != nil {
			return err
		}
		if !slices.Equal(in.Slice(), out.Slice()) {
			t.Error("a buffer was used before it was filled, or filled before it was used")
		}
		return nil
	})
}
