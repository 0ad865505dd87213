// Package busy simulates a machine that is not quiet, so that tests of times give the same answer each time.
package busy

import (
	"context"
	"math/rand/v2"
	"time"
)

// A Machine is a clock that only work and pauses move. Work takes longer than on a quiet machine, from up to three
// causes: the program is taken off its processor for a while, the processor's clock changes, and each piece of work
// takes up to 2 % more or less. It has the methods of a sampling.Clock.
type Machine struct {
	random *rand.Rand
	now    time.Duration
	offAt  time.Duration // when the program is taken off next
	slow   float64       // time of work now, relative to the fastest
	until  time.Duration // ... which holds until then
}

// A busy machine's habits. A system that shares its processors fairly lets a program run for some milliseconds at a
// time (Linux: base_slice_ns, 2.8 ms on most machines).
const (
	leastOn    = 3 * time.Millisecond
	meanMore   = 3 * time.Millisecond
	mostOff    = 12 * time.Millisecond
	meanSteady = 30 * time.Millisecond // between two changes of the clock
	mostSlow   = 1.6
	jitter     = 0.02
)

// NewMachine returns a machine whose disturbances depend on the seed alone.
func NewMachine(seed uint64) *Machine {
	m := &Machine{random: rand.New(rand.NewPCG(seed, 0))}
	m.offAt = m.nextOff()
	return m
}

// Now returns the time since the machine began.
func (m *Machine) Now() time.Duration { return m.now }

// Resolution returns a nanosecond.
func (m *Machine) Resolution() time.Duration { return 1 }

// Pause moves the clock, unless ctx was cancelled: then it returns false.
func (m *Machine) Pause(ctx context.Context, d time.Duration) bool {
	m.now += d
	return ctx.Err() == nil
}

// Work does what takes d at the machine's fastest.
func (m *Machine) Work(d time.Duration) {
	if m.now >= m.until {
		m.slow = 1 + (mostSlow-1)*m.random.Float64()
		m.until = m.now + m.exponential(meanSteady)
	}
	m.now += time.Duration(float64(d) * m.slow * (1 + jitter*(2*m.random.Float64()-1)))
	if m.now >= m.offAt {
		m.now += time.Duration(m.random.Int64N(int64(mostOff)))
		m.offAt = m.nextOff()
	}
}

func (m *Machine) nextOff() time.Duration { return m.now + leastOn + m.exponential(meanMore) }

func (m *Machine) exponential(mean time.Duration) time.Duration {
	return time.Duration(m.random.ExpFloat64() * float64(mean))
}
