// Package formatgpu runs number formats whose vectors are in the memory of a GPU.
package formatgpu

import (
	"context"
	"time"

	"mpbench/pkg/format"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// Engine calls the engine of a format on the device's thread, and times it by the device's events.
type Engine struct {
	device *gpu.Device
	inner  method.Engine
	times  method.Times
	timing bool // the device's events wait for the work
}

func (e *Engine) Prepare(ctx context.Context, p *op.Problem) error {
	e.times = method.Times{}
	return e.device.Do(func() error { return e.inner.Prepare(ctx, p) })
}

// CheckMemory is that of the format's engine, of the host's memory.
func (e *Engine) CheckMemory(p *op.Problem) error {
	if sized, ok := e.inner.(method.Sized); ok {
		return sized.CheckMemory(p)
	}
	return nil
}

func (e *Engine) Run(ctx context.Context) error {
	return e.device.Do(func() error { return e.inner.Run(ctx) })
}

func (e *Engine) RunTimed(ctx context.Context) error {
	return e.device.Do(func() (err error) {
		e.timing = true
		defer func() { e.timing = false }()
		if err = e.device.ColdCache(nil); err == nil {
			e.times.Kernel, err = e.device.Time(nil, func() error { return e.inner.Run(ctx) })
		}
		return err
	})
}

func (e *Engine) Times() method.Times { return e.times }

func (e *Engine) Cool() error { return e.device.Cool() }

func (e *Engine) Result() (y numbers.Source, err error) {
	start := time.Now()
	err = e.device.Do(func() error {
		y, err = e.inner.Result()
		return err
	})
	e.times.CopyOut = time.Since(start)
	return y, err
}

func (e *Engine) Info() method.Info {
	info := e.inner.Info()
	info.Device, info.Threads = e.device.RecordName(), 1
	return info
}

func (e *Engine) Close() error { return e.device.Do(e.inner.Close) }

// New returns an engine of a device; make, which is called on the device's thread, makes that of the format.
func New(d *gpu.Device, make func(*Engine) (method.Engine, error)) (*Engine, error) {
	e := &Engine{device: d}
	return e, d.Do(func() (err error) {
		e.inner, err = make(e)
		return err
	})
}

// Of returns what makes engines of a method in a format whose vectors are in device memory, which is made on the
// device's thread.
func Of[V, S any](
	m method.Method, of func(method.Config, *gpu.Device, *Engine) (format.Format[V, S], error),
) method.New {
	return func(c method.Config) (method.Engine, error) {
		d, err := gpu.Open(c.GPU())
		if err != nil {
			return nil, err
		}
		return New(d, func(e *Engine) (method.Engine, error) {
			f, err := of(c, d, e)
			if err != nil {
				return nil, err
			}
			return format.NewEngine(m, c, f), nil
		})
	}
}

// Convert counts what f takes as conversion of numbers.
func (e *Engine) Convert(f func()) { count(&e.times.Convert, f) }

// Copy counts what f takes as copying to the device.
func (e *Engine) Copy(f func()) { count(&e.times.CopyIn, f) }

func count(to *time.Duration, f func()) {
	start := time.Now()
	f()
	*to += time.Since(start)
}

// Wait waits for the device, unless its events do.
func (e *Engine) Wait() error {
	if e.timing {
		return nil
	}
	return e.device.Sync()
}
