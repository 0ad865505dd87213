package sampling

import (
	"sync"
	"time"
)

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
