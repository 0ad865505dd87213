package superaccgpu

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/superacc"
)

// Hybrid is a sum, or a dot product, of numbers in host memory of which a device holds as many as it can: the device adds the
// first ones, the processors the others at the same time. It is not safe for concurrent use.
type Hybrid struct {
	x, y    []float64 // y is nil for a sum
	vector  *Vector   // the first numbers
	threads int
	share   int // numbers that the device adds
}

// reserve is the part of a device's free memory that a Hybrid leaves to others.
const reserve = 16

// NewHybrid copies x to the device, for its sum by that and by so many threads (0 or less: GOMAXPROCS). The device adds all that it holds
// until Calibrate or SetShare says otherwise.
func NewHybrid(d *gpu.Device, x []float64, threads int) (*Hybrid, error) {
	return newHybrid(d, x, nil, threads)
}

// NewHybridPair is NewHybrid for a dot product. It panics if the lengths differ.
func NewHybridPair(d *gpu.Device, x, y []float64, threads int) (*Hybrid, error) {
	if len(x) != len(y) {
		panic("superaccgpu: vectors of different lengths")
	}
	if y == nil {
		y = []float64{}
	}
	return newHybrid(d, x, y, threads)
}

func newHybrid(d *gpu.Device, x, y []float64, threads int) (*Hybrid, error) {
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	h := &Hybrid{x: x, y: y, threads: threads}
	n, err := fitting(d, len(x), y != nil)
	if err != nil {
		return nil, err
	}
	head, tail := x[:n], y
	if y != nil {
		tail = y[:n]
	}
	if h.vector, err = newVector(d, head, tail, blockThreads); err != nil {
		return nil, err
	}
	h.SetShare(n)
	return h, nil
}

// fitting returns how many of n numbers, or of n pairs, fit in the device's free memory.
func fitting(d *gpu.Device, n int, pairs bool) (int, error) {
	bytes := int64(8)
	if pairs {
		bytes = 16
	}
	var free int64
	err := d.Do(func() (err error) {
		free, err = d.Free()
		return err
	})
	return int(min(int64(n), (free-free/reserve)/bytes)), err
}

// Free gives the memory back; a nil Hybrid has none.
func (h *Hybrid) Free() {
	if h != nil {
		h.vector.Free()
	}
}

// Share returns how many numbers the device adds.
func (h *Hybrid) Share() int { return h.share }

// SetShare lets the device add so many numbers, as far as it holds them.
func (h *Hybrid) SetShare(n int) { h.share = max(0, min(n, h.vector.Len())) }

// Sum adds the sum to a and returns how long it took the device and the processors, 0 for those that had nothing to do. With cold, the
// device's caches are emptied before, outside of the times.
func (h *Hybrid) Sum(a *superacc.Accumulator, cold bool) (device, processors time.Duration, err error) {
	if h.share == 0 {
		return 0, h.onProcessors(a), nil
	}
	if cold {
		if err := h.vector.evict(); err != nil {
			return 0, 0, err
		}
	}
	if h.share == len(h.x) {
		device, err = h.onDevice(a)
		return device, 0, err
	}
	var part superacc.Accumulator
	done := make(chan struct{})
	go func() {
		device, err = h.onDevice(&part)
		close(done)
	}()
	var rest superacc.Accumulator
	processors = h.onProcessors(&rest)
	<-done
	if err == nil {
		a.Merge(&part)
		a.Merge(&rest)
	}
	return device, processors, err
}

func (h *Hybrid) onDevice(a *superacc.Accumulator) (time.Duration, error) {
	start := time.Now()
	_, err := h.vector.sumFirst(a, h.share, false)
	return time.Since(start), err
}

func (h *Hybrid) onProcessors(a *superacc.Accumulator) time.Duration {
	start := time.Now()
	if h.y == nil {
		a.AddSliceParallel(h.x[h.share:], h.threads)
	} else {
		a.AddProductsParallel(h.x[h.share:], h.y[h.share:], h.threads)
	}
	return time.Since(start)
}

// How Calibrate measures.
const (
	calibrationRuns = 5
	steps           = 3   // of bringing both times together
	worth           = 0.9 // of the time of the faster alone, which sharing must fall below to be chosen
)

// Calibrate measures the device alone, the processors alone, and shares that let both finish together, and keeps the fastest. Where neither
// gains anything by the other, as on small data, the faster one works alone.
func (h *Hybrid) Calibrate() error {
	most := h.vector.Len()
	best, least := 0, math.Inf(1)
	limit := math.Inf(1) // that a time must fall below to be chosen
	try := func(share int) (device, processors float64, err error) {
		h.SetShare(share)
		device, processors, err = h.measure()
		if t := max(device, processors); t < min(least, limit) {
			best, least = h.share, t
		}
		return device, processors, err
	}
	_, processors, err := try(0)
	if err != nil || most == 0 {
		return err
	}
	device, rest, err := try(most)
	if err != nil {
		return err
	}
	n := float64(len(h.x))
	onDevice, onProcessors := float64(most)/device, n/processors // numbers a nanosecond
	if rest > 0 && h.share < len(h.x) {
		onProcessors = (n - float64(h.share)) / rest
	}
	limit = worth * least
	for range steps {
		share := int(n * onDevice / (onDevice + onProcessors))
		if share <= 0 || share >= most {
			break
		}
		device, processors, err := try(share)
		if err != nil {
			return err
		}
		if device <= 0 || processors <= 0 {
			break
		}
		onDevice, onProcessors = float64(h.share)/device, (n-float64(h.share))/processors
	}
	h.SetShare(best)
	return nil
}

// forgotten is how many numbers the processors add before a measurement, so that those of their share are not in caches: 512 MB.
const forgotten = 1 << 26

// measure returns the median times of the device and of the processors in nanoseconds, with cold caches of both where both work: otherwise the
// processors' share would be measured in caches that hold it only because it is measured again and again.
func (h *Hybrid) measure() (device, processors float64, err error) {
	var times [2][]float64
	for range calibrationRuns {
		var a superacc.Accumulator
		if h.share > 0 && h.share < len(h.x) {
			a.AddSliceParallel(h.x[:min(h.share, forgotten)], h.threads)
		}
		d, p, err := h.Sum(&a, true)
		if err != nil {
			return 0, 0, err
		}
		times[0], times[1] = append(times[0], float64(d)), append(times[1], float64(p))
	}
	for _, t := range times {
		slices.Sort(t)
	}
	return times[0][calibrationRuns/2], times[1][calibrationRuns/2], nil
}

// String describes the division.
func (h *Hybrid) String() string {
	return fmt.Sprintf("%d of %d numbers on %s, the others by %d threads", h.share, len(h.x), h.vector.device.Name(), h.threads)
}
