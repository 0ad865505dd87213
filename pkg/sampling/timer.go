package sampling

import (
	"fmt"
	"math"
	"sync"
	"time"

	"mpbench/pkg/record"
)

// A Timer takes the times of one sample. A body passes each of its phases to it:
//
//	func(t *sampling.Timer) error {
//		if t.Index() < 3 { // convert the inputs a few times, not for every sample
//			t.Time(record.PhaseConvert, convert)
//		}
//		t.Time(record.PhaseKernel, sum)
//		return nil
//	}
//
// The kernel phase is the time of the operation. It must be there, and its function must be repeatable, since
// a short operation is run several times for one sample.
type Timer struct {
	clock      Clock
	index      int
	iterations int
	ns         record.Phases
	kernel     time.Duration // the kernel phase by Time, all iterations
	measured   bool          // there was one, so that iterations counts
}

// Index returns how many runs went before this one, warm-up included.
func (t *Timer) Index() int { return t.index }

// Time runs f and adds its duration to the phase. The kernel phase is run Iterations times; the mean counts.
func (t *Timer) Time(phase string, f func()) {
	n := 1
	if phase == record.PhaseKernel {
		n = t.iterations
		t.measured = true
	}
	start := t.clock.Now()
	for range n {
		f()
	}
	d := t.clock.Now() - start
	if phase == record.PhaseKernel {
		t.kernel += d
	}
	t.ns[phase] += float64(d) / float64(n)
}

// AddNs adds a duration measured by other means, such as a device's events, to the named phase, in nanoseconds.
// For the kernel phase it is the duration of one operation.
func (t *Timer) AddNs(phase string, ns float64) { t.ns[phase] += ns }

// check returns an error when the sample is no sample.
func (t *Timer) check() error {
	if _, ok := t.ns[record.PhaseKernel]; !ok {
		return ErrNoKernel
	}
	for name, ns := range t.ns {
		if !(ns >= 0) || math.IsInf(ns, 0) {
			return fmt.Errorf("bench: phase %s took %v ns", name, ns)
		}
	}
	return nil
}

// Picoseconds rounds a number of nanoseconds to a picosecond, to keep records short.
func Picoseconds(ns float64) float64 { return math.Round(ns*1000) / 1000 }

// A Clock tells time since an arbitrary start. It never runs backwards.
type Clock interface {
	Now() time.Duration
	Resolution() time.Duration // smallest difference that two readings show
}

// SystemClock returns the monotonic clock of the operating system.
func SystemClock() Clock { return systemClock{} }

type systemClock struct{}

var clockStart = time.Now()

func (systemClock) Now() time.Duration        { return time.Since(clockStart) }
func (systemClock) Resolution() time.Duration { return clockResolution() }

// clockResolution is the smallest step between two readings, the reading's own duration included.
var clockResolution = sync.OnceValue(func() time.Duration {
	smallest := time.Duration(1<<63 - 1)
	for range 100 {
		start := time.Since(clockStart)
		step := time.Since(clockStart) - start
		for step == 0 {
			step = time.Since(clockStart) - start
		}
		smallest = min(smallest, step)
	}
	return smallest
})
