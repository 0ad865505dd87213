package superaccgpu

import (
	"errors"
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/superacc"
)

// Times are the durations of the parts of a computation on a device, by its own events.
type Times struct {
	Kernel   time.Duration // all kernels
	Download time.Duration // the sum, from the device
}

// Vector is an array of numbers in device memory, or two of one length whose products are to be added, with all that
// summing them needs. It is not safe for concurrent use. Its methods may be called from any goroutine.
type Vector struct {
	device *gpu.Device
	own    *gpu.Owner
	engine *Engine
	x, y   *gpu.Buffer[float64] // y is nil for a sum
	stream *gpu.Stream
	events [3]*gpu.Event
	n      int
	dirty  bool // the engine's sum is not empty, as it is after each computation that succeeds
}

// newVector copies x and y to the device, for their dot product, or for the sum of x if y is nil.
func newVector(d *gpu.Device, x, y []float64, threads int) (*Vector, error) {
	v := &Vector{device: d, n: len(x)}
	prepare := func() (err error) {
		if v.engine, err = newEngine(d, threads); err != nil {
			return err
		}
		v.own = d.NewOwner()
		v.stream = v.own.Stream()
		v.own.Events(v.events[:])
		v.x = gpu.TakeCopy(v.own, x)
		if y != nil {
			v.y = gpu.TakeCopy(v.own, y)
		}
		return v.own.Err()
	}
	if err := d.Make(prepare, v.free); err != nil {
		return nil, err
	}
	return v, nil
}

// Len returns the number of terms.
func (v *Vector) Len() int { return v.n }

// Sum adds the sum of the numbers, or of the products, to a. With cold, the caches are emptied before, untimed.
func (v *Vector) Sum(a *superacc.Accumulator, cold bool) (Times, error) {
	var t Times
	err := v.device.Do(func() error {
		if v.dirty {
			if err := v.engine.Clear(v.stream); err != nil {
				return err
			}
		}
		v.dirty = true
		if cold {
			if err := v.device.ColdCache(v.stream); err != nil {
				return err
			}
		}
		err := gpu.InTurn(
			func() error { return v.events[0].Record(v.stream) },
			v.launch,
			func() error { return v.events[1].Record(v.stream) },
			func() error { return v.engine.Fetch(v.stream) },
			func() error { return v.events[2].Record(v.stream) },
			func() error { return v.engine.Clear(v.stream) },
			v.stream.Sync,
		)
		if err != nil {
			return err
		}
		var failures [2]error
		t.Kernel, failures[0] = gpu.Elapsed(v.events[0], v.events[1])
		t.Download, failures[1] = gpu.Elapsed(v.events[1], v.events[2])
		v.dirty = false
		return errors.Join(failures[:]...)
	})
	if err != nil {
		return Times{}, err
	}
	a.AddDigits(v.engine.Digits())
	return t, nil
}

func (v *Vector) launch() error {
	if v.y != nil {
		return v.engine.Dot(v.stream, v.x.Pointer(), v.y.Pointer(), v.n)
	}
	return v.engine.Sum(v.stream, v.x.Pointer(), v.n)
}

// Free gives the vector's memory back; a nil vector has none.
func (v *Vector) Free() {
	if v != nil {
		// only a fault fails, and then the memory is lost with the context
		_ = v.device.Do(func() error { v.free(); return nil })
	}
}

func (v *Vector) free() {
	v.engine.Free()
	v.own.Free()
}
