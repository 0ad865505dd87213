package reduce

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/rns/deferred/deferredgpu"
	"mpbench/pkg/superacc"
	"mpbench/pkg/superacc/superaccgpu"
)

// The ways of computing exact sums on a device, in words: binned float64 are added in binary64 without rounding, packed words in
// integers. See packages superacc/superaccgpu and rns/deferred/deferredgpu.
const (
	variantFloats = "binned float64"
	variantPacked = "packed words"
	streamed      = ", streamed"
)

// residentFloats are float64 numbers in device memory.
type residentFloats struct{ vector *superaccgpu.Vector }

func newResidentFloats(d *gpu.Device, x, y []float64) (exactWork, error) {
	var v *superaccgpu.Vector
	var err error
	if y == nil {
		v, err = superaccgpu.NewVector(d, x)
	} else {
		v, err = superaccgpu.NewPair(d, x, y)
	}
	if err != nil {
		return nil, err
	}
	return &residentFloats{v}, nil
}

func (w *residentFloats) sum(_ context.Context, p *Phases) (exactSum, error) {
	a := new(superacc.Accumulator)
	times, err := w.vector.Sum(a, true)
	p.Kernel, p.CopyOut = times.Kernel, times.Download
	return floatSum{a}, err
}

func (w *residentFloats) byClock() bool { return false }

func (w *residentFloats) variant() string { return variantFloats }
func (w *residentFloats) Free()           { w.vector.Free() }

// hybridFloats are float64 numbers in device memory and in that of the host.
type hybridFloats struct{ hybrid *superaccgpu.Hybrid }

func newHybridFloats(d *gpu.Device, x, y []float64, threads int) (exactWork, error) {
	var h *superaccgpu.Hybrid
	var err error
	if y == nil {
		h, err = superaccgpu.NewHybrid(d, x, threads)
	} else {
		h, err = superaccgpu.NewHybridPair(d, x, y, threads)
	}
	if err != nil {
		return nil, err
	}
	return &hybridFloats{h}, nil
}

func (w *hybridFloats) calibrate() error { return w.hybrid.Calibrate() }

func (w *hybridFloats) sum(_ context.Context, p *Phases) (exactSum, error) {
	a := new(superacc.Accumulator)
	device, processors, err := w.hybrid.Sum(a, true)
	p.Kernel = max(device, processors)
	return floatSum{a}, err
}

func (w *hybridFloats) byClock() bool { return true }

func (w *hybridFloats) variant() string { return variantFloats + ", " + w.hybrid.String() }
func (w *hybridFloats) Free()           { w.hybrid.Free() }

// streamedFloats are float64 numbers that go through the device each time.
type streamedFloats struct {
	streamer *superaccgpu.Streamer
	sources  []superaccgpu.Source
}

// leastChunk is the smallest chunk for which a device without room is asked.
const leastChunk = 1 << 12

// newStreamer takes the memory for streams, for shorter chunks where the device has no room for the usual ones.
func newStreamer(d *gpu.Device, products bool, o superaccgpu.Options) (s *superaccgpu.Streamer, err error) {
	for o.Chunk = 1 << 20; o.Chunk >= leastChunk; o.Chunk /= 2 {
		if s, err = superaccgpu.NewStreamer(d, products, o); !errors.Is(err, gpu.ErrOutOfMemory) {
			break
		}
	}
	return s, err
}

func newStreamedFloats(d *gpu.Device, x, y []float64, o superaccgpu.Options) (exactWork, error) {
	s, err := newStreamer(d, y != nil, o)
	if err != nil {
		return nil, err
	}
	w := &streamedFloats{s, []superaccgpu.Source{superaccgpu.Slice(x)}}
	if y != nil {
		w.sources = append(w.sources, superaccgpu.Slice(y))
	}
	return w, nil
}

func (w *streamedFloats) sum(ctx context.Context, p *Phases) (exactSum, error) {
	a := new(superacc.Accumulator)
	start := time.Now()
	var err error
	if len(w.sources) == 1 {
		err = w.streamer.Sum(ctx, a, w.sources[0])
	} else {
		err = w.streamer.Dot(ctx, a, w.sources[0], w.sources[1])
	}
	p.Kernel = time.Since(start)
	return floatSum{a}, err
}

func (w *streamedFloats) byClock() bool { return true }

func (w *streamedFloats) variant() string { return variantFloats + streamed }
func (w *streamedFloats) Free()           { w.streamer.Free() }

// residentPacked are packed numbers in device memory.
type residentPacked struct{ packed *deferredgpu.PackedSum }

func newResidentPacked(d *gpu.Device, p *deferred.Packed) (exactWork, error) {
	s, err := deferredgpu.NewPackedSum(d, p)
	if err != nil {
		return nil, err
	}
	return &residentPacked{s}, nil
}

func (w *residentPacked) sum(_ context.Context, p *Phases) (exactSum, error) {
	start := time.Now()
	s, times, err := w.packed.Sum(true)
	p.Kernel, p.CopyOut = times.Kernel, times.Download
	if w.packed.Windows().Scattered() > 0 { // which the host adds
		p.Host = max(0, time.Since(start)-times.Kernel-times.Download)
	}
	return wideSum{s}, err
}

func (w *residentPacked) byClock() bool { return false }

func (w *residentPacked) variant() string {
	switch windows := w.packed.Windows(); {
	case windows.Scattered() > 0:
		return fmt.Sprintf("%s in %d windows, %d scattered on the host", variantPacked, len(windows.Passes), windows.Scattered())
	case len(windows.Passes) > 1:
		return fmt.Sprintf("%s in %d windows", variantPacked, len(windows.Passes))
	}
	return variantPacked
}

func (w *residentPacked) Free() { w.packed.Free() }

// hybridPacked are packed numbers in device memory and in that of the host.
type hybridPacked struct {
	hybrid *deferredgpu.PackedHybrid
	n      int
}

func newHybridPacked(d *gpu.Device, p *deferred.Packed, threads int) (exactWork, error) {
	h, err := deferredgpu.NewPackedHybrid(d, p, threads)
	if err != nil {
		return nil, err
	}
	return &hybridPacked{h, p.Len()}, nil
}

func (w *hybridPacked) sum(_ context.Context, p *Phases) (exactSum, error) {
	s, duration, err := w.hybrid.Sum(true)
	p.Kernel = duration
	return wideSum{s}, err
}

func (w *hybridPacked) byClock() bool { return true }

func (w *hybridPacked) variant() string {
	return fmt.Sprintf("%s, %d of %d on the device", variantPacked, w.hybrid.Share(), w.n)
}

func (w *hybridPacked) Free() { w.hybrid.Free() }

// streamedPacked are packed numbers of which the device holds a part at a time.
type streamedPacked struct {
	device  *gpu.Device
	numbers *deferred.Packed
	part    int // numbers of a part
}

func (w *streamedPacked) sum(ctx context.Context, p *Phases) (exactSum, error) {
	start := time.Now()
	if w.part == 0 {
		w.part = (w.numbers.Len() + 1) / 2
	}
	total := new(deferred.LimbSum)
	for from := 0; from < w.numbers.Len(); {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		to := min(from+w.part, w.numbers.Len())
		s, err := w.sumPart(from, to)
		if errors.Is(err, gpu.ErrOutOfMemory) && w.part > leastChunk {
			w.part /= 2
			continue
		}
		if err != nil {
			return nil, err
		}
		total.Merge(s)
		from = to
	}
	p.Kernel = time.Since(start)
	return wideSum{total}, nil
}

func (w *streamedPacked) sumPart(from, to int) (*deferred.LimbSum, error) {
	s, err := deferredgpu.NewPackedSum(w.device, w.numbers.Part(from, to))
	if err != nil {
		return nil, err
	}
	defer s.Free()
	sum, _, err := s.Sum(false)
	return sum, err
}

func (w *streamedPacked) byClock() bool { return true }

func (w *streamedPacked) variant() string { return variantPacked + streamed }
func (w *streamedPacked) Free()           {}
