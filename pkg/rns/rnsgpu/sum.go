package rnsgpu

import (
	"context"
	"errors"
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/rnsop"
)

// sumOrder is an order of additions on a device. All methods are called on the device's thread.
type sumOrder interface {
	// reserve makes ready for the n >= 1 terms of s.
	reserve(s *sumEngine, n int) error
	// launch adds the terms.
	launch(ctx context.Context, s *sumEngine) error
	// results holds the numbers that remain to be added one after the other, count of them.
	results() (v *Vector, count int)
	// describe completes what is said of the format.
	describe(c method.Config, info *method.Info)
	free()
}

// newSum returns the constructor of sums in an order.
func newSum(order func(method.Config) sumOrder) method.New {
	return func(c method.Config) (method.Engine, error) {
		context, err := rnsop.NewContext(c)
		if err != nil {
			return nil, err
		}
		device, err := gpu.Open(c.GPU())
		if err != nil {
			return nil, err
		}
		return &sumEngine{
			config: c, context: context, device: device, order: order(c), sum: context.Base().NewFloat(),
		}, nil
	}
}

// sumEngine is a sum or a dot product of RNS numbers on a GPU: the terms there, which are the numbers of x or their
// products with those of y, an order, and what remains for the host.
type sumEngine struct {
	config   method.Config
	context  *rns.Context
	device   *gpu.Device
	order    sumOrder
	operands *rnsop.Operands
	sum      *rns.Float
	times    method.Times

	// Made when first needed, on the device's thread:
	base     *Base
	host     *HostVector     // x
	factors  [2]*Vector      // of a dot product: x and y
	multiply *multiplication // makes terms of factors; nil for a sum
	terms    *Vector         // a copy of host, or products
	partial  *rns.Vector     // the results of the order
	events   [2]*gpu.Event
}

// Prepare converts the terms in pinned memory, copies them to the device and makes everything else ready.
func (e *sumEngine) Prepare(_ context.Context, p *op.Problem) (err error) {
	start := time.Now()
	if e.operands, err = rnsop.Load(e.context, p, e.config.Threads, e.newTerms); err != nil {
		return err
	}
	e.times = method.Times{Convert: time.Since(start)}
	if !e.adds() {
		return nil
	}
	start = time.Now()
	if err := e.device.Do(e.copyIn); err != nil {
		return err
	}
	e.times.CopyIn = time.Since(start)
	return nil
}

// adds tells whether there is anything to add.
func (e *sumEngine) adds() bool { return e.operands.Special == nil && e.operands.Shape.Length > 0 }

// newTerms allocates n numbers in pinned memory.
func (e *sumEngine) newTerms(n int) (v *rns.Vector, err error) {
	err = e.device.Do(func() error {
		if e.base == nil {
			if e.base, err = NewBase(e.device, e.context); err != nil {
				return err
			}
		}
		if e.host != nil && e.host.Len() == n {
			v = e.host.Vector
			return nil
		}
		e.release()
		if e.host, err = e.base.NewHostVector(n); err != nil {
			return err
		}
		v = e.host.Vector
		return nil
	})
	return v, err
}

// release gives up what depends on the number of terms.
func (e *sumEngine) release() {
	e.order.free()
	e.terms.Free()
	e.host.Free()
	for _, v := range e.factors {
		v.Free()
	}
	e.multiply.free()
	e.terms, e.host, e.partial, e.factors, e.multiply = nil, nil, nil, [2]*Vector{}, nil
}

func (e *sumEngine) copyIn() (err error) {
	for i := range e.events {
		if e.events[i] == nil {
			if e.events[i], err = e.device.NewEvent(); err != nil {
				return err
			}
		}
	}
	if e.terms == nil {
		if e.terms, err = e.base.NewVector(e.host.Len()); err != nil {
			return err
		}
		if err := e.order.reserve(e, e.host.Len()); err != nil {
			return err
		}
		_, count := e.order.results()
		e.partial = e.base.Base().NewVector(count)
		if e.operands.Y != nil {
			if err := e.reserveFactors(e.host.Len()); err != nil {
				return err
			}
		}
	}
	if e.multiply == nil {
		return e.terms.Upload(e.host.Vector)
	}
	return errors.Join(e.factors[0].Upload(e.host.Vector), e.factors[1].Upload(e.operands.Y))
}

func (e *sumEngine) reserveFactors(n int) (err error) {
	for i := range e.factors {
		if e.factors[i], err = e.base.NewVector(n); err != nil {
			return err
		}
	}
	e.multiply, err = newMultiplication(e.base)
	return err
}

// launch multiplies and adds.
func (e *sumEngine) launch(ctx context.Context) error {
	if e.multiply != nil {
		if err := e.multiply.run(e.terms, e.factors[0], e.factors[1]); err != nil {
			return err
		}
	}
	return e.order.launch(ctx, e)
}

// Run implements method.Engine.
func (e *sumEngine) Run(ctx context.Context) error {
	return e.run(func() error { return e.launch(ctx) })
}

// RunTimed implements method.Timed.
func (e *sumEngine) RunTimed(ctx context.Context) error {
	e.times.Kernel = 0
	return e.run(func() error {
		if err := e.device.ColdCache(nil); err != nil {
			return err
		}
		if err := e.events[0].Record(nil); err != nil {
			return err
		}
		if err := e.launch(ctx); err != nil {
			return err
		}
		if err := e.events[1].Record(nil); err != nil {
			return err
		}
		if err := e.events[1].Sync(); err != nil {
			return err
		}
		var err error
		e.times.Kernel, err = gpu.Elapsed(e.events[0], e.events[1])
		return err
	})
}

// run launches the order and adds what it leaves: the paper's third stage, on the host.
func (e *sumEngine) run(launch func() error) error {
	e.sum.SetZero()
	if !e.adds() {
		return nil
	}
	err := e.device.Do(func() error {
		if err := launch(); err != nil {
			return err
		}
		start := time.Now()
		v, _ := e.order.results()
		err := v.Download(e.partial)
		e.times.CopyOut = time.Since(start)
		return err
	})
	if err != nil {
		return err
	}
	start := time.Now()
	var x rns.Float
	for i := range e.partial.Len() {
		e.partial.View(&x, i)
		e.context.Add(e.sum, e.sum, &x)
	}
	e.times.Host = time.Since(start)
	return nil
}

// Times implements method.Timed.
func (e *sumEngine) Times() method.Times { return e.times }

// Result implements method.Engine.
func (e *sumEngine) Result() (numbers.Source, error) {
	v := e.context.Base().NewVector(1)
	v.Set(0, e.sum)
	return e.operands.Result(v), nil
}

// Info implements method.Engine.
func (e *sumEngine) Info() method.Info {
	info := e.operands.Info(e.context)
	info.Device = e.device.RecordName()
	e.order.describe(e.config, &info)
	return info
}

// Close gives all memory on the device, and pinned memory, back.
func (e *sumEngine) Close() error {
	return e.device.Do(func() error {
		e.release()
		e.base.Free()
		for _, event := range e.events {
			event.Free()
		}
		e.base, e.events = nil, [2]*gpu.Event{}
		return nil
	})
}

// replaceScratch replaces *s by scratch memory for so many groups.
func replaceScratch(b *Base, s **Scratch, groups int) (err error) {
	(*s).Free()
	*s, err = b.NewScratch(groups)
	return err
}

// replaceVector replaces *v by a vector of n numbers.
func replaceVector(b *Base, v **Vector, n int) (err error) {
	(*v).Free()
	*v, err = b.NewVector(n)
	return err
}

// deviceThreads limits the threads of a block, so that each may have as many registers as it needs.
const deviceThreads = 256

// kernelOf finds a kernel.
func kernelOf[P any](d *gpu.Device, module, name string) (*gpu.Kernel[P], error) {
	m, err := d.Module(module)
	if err != nil {
		return nil, err
	}
	return gpu.Function[P](m, name)
}
