package deferredgpu

import (
	"slices"
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/deferred"
)

// PackedHybrid sums packed numbers by a device and by processors at the same time: the device has the first ones in its memory. It is
// not safe for concurrent use.
type PackedHybrid struct {
	device  *PackedSum       // nil if the processors work alone
	rest    *deferred.Packed // nil if the device works alone
	threads int
	share   int
}

// How NewPackedHybrid measures.
const (
	hybridRuns  = 3
	hybridWorth = 0.9 // of the time of the faster alone, which sharing must fall below to be chosen
)

// NewPackedHybrid measures the device alone, so many threads alone (0: GOMAXPROCS) and both with shares by which they finish together, and
// keeps what was fastest.
func NewPackedHybrid(d *gpu.Device, p *deferred.Packed, threads int) (*PackedHybrid, error) {
	var tried []*PackedHybrid
	var times []float64
	try := func(share int) error {
		h, err := newShare(d, p, share, threads)
		if err != nil {
			return err
		}
		tried = append(tried, h)
		t, err := h.measure()
		times = append(times, t)
		return err
	}
	n := p.Len()
	err := try(0)
	if err == nil {
		err = try(n)
	}
	if err == nil {
		err = try(int(float64(n) * times[0] / (times[0] + times[1])))
	}
	best := 0
	if err == nil {
		times[2] /= hybridWorth
		best = slices.Index(times, slices.Min(times))
	}
	for i, h := range tried {
		if err != nil || i != best {
			h.Free()
		}
	}
	if err != nil {
		return nil, err
	}
	return tried[best], nil
}

// newShare lets the device have so many numbers.
func newShare(d *gpu.Device, p *deferred.Packed, share, threads int) (h *PackedHybrid, err error) {
	h = &PackedHybrid{threads: threads, share: share}
	if share < p.Len() || share == 0 {
		h.rest = p.Part(share, p.Len())
	}
	if share > 0 {
		h.device, err = NewPackedSum(d, p.Part(0, share))
	}
	return h, err
}

// measure returns the median time of a sum in nanoseconds.
func (h *PackedHybrid) measure() (float64, error) {
	var times []float64
	for range hybridRuns {
		start := time.Now()
		if _, _, err := h.Sum(false); err != nil {
			return 0, err
		}
		times = append(times, float64(time.Since(start)))
	}
	slices.Sort(times)
	return times[hybridRuns/2], nil
}

// Share returns how many numbers the device adds.
func (h *PackedHybrid) Share() int { return h.share }

// Sum returns the exact sum and how long it took. With cold, the device's caches are emptied before, outside of the time.
func (h *PackedHybrid) Sum(cold bool) (*deferred.LimbSum, time.Duration, error) {
	if h.device == nil {
		start := time.Now()
		s := h.rest.Sum(h.threads)
		return s, time.Since(start), nil
	}
	if cold {
		if err := h.device.evict(); err != nil {
			return nil, 0, err
		}
	}
	start := time.Now()
	if h.rest == nil {
		s, _, err := h.device.Sum(false)
		return s, time.Since(start), err
	}
	var part *deferred.LimbSum
	var err error
	done := make(chan struct{})
	go func() {
		part, _, err = h.device.Sum(false)
		close(done)
	}()
	s := h.rest.Sum(h.threads)
	<-done
	if err != nil {
		return nil, 0, err
	}
	s.Merge(part)
	return s, time.Since(start), nil
}

// Free gives the memory back; a nil one has none.
func (h *PackedHybrid) Free() {
	if h != nil {
		h.device.Free()
	}
}
