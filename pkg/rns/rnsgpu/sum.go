// Package rnsgpu is the arithmetic of package rns on GPUs: bases and vectors of numbers in device memory, and the
// kernels of cuda/rns.cu, which do with each number of a vector what [rns.Context] does. cuda/rns.cuh is the
// arithmetic itself, for kernels of other packages; [Base.Parameter], [Vector.Parameter] and [Scratch.Parameter] are
// what such kernels are given.
//
// Sign, residues and exponent of every result are those that package rns computes. Intervals enclose, but need not be
// the same.
//
// All functions must be called on the device's thread, that is inside gpu.Device.Do.
package rnsgpu

import (
	"context"
	"errors"
	"time"

	"mpbench/pkg/device"
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

func (e *sumEngine) adds() bool { return e.operands.Special == nil && e.operands.Shape.Length > 0 }

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

func (e *sumEngine) launch(ctx context.Context) error {
	if e.multiply != nil {
		if err := e.multiply.run(e.terms, e.factors[0], e.factors[1]); err != nil {
			return err
		}
	}
	return e.order.launch(ctx, e)
}

func (e *sumEngine) Run(ctx context.Context) error {
	return e.run(func() error { return e.launch(ctx) })
}

func (e *sumEngine) RunTimed(ctx context.Context) error {
	e.times.Kernel = 0
	return e.run(func() error {
		if err := e.device.ColdCache(nil); err != nil {
			return err
		}
		var err error
		e.times.Kernel, err = e.device.Time(nil, func() error { return e.launch(ctx) })
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

func (e *sumEngine) Times() method.Times { return e.times }

func (e *sumEngine) Result() (numbers.Source, error) {
	v := e.context.Base().NewVector(1)
	v.Set(0, e.sum)
	return e.operands.Result(v), nil
}

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
		e.base = nil
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

// Methods returns the variants of the 2018 paper's reductions that exist on GPUs only.
func Methods() []method.Method {
	sum := func(name, summary, bound string, new method.New, options ...method.Option) method.Method {
		m := rnsop.Reduction(method.Method{Operation: op.Sum, Name: name, Summary: summary}, bound, options...)
		m.On = map[device.Kind]method.New{device.CUDA: new}
		return m
	}
	return []method.Method{
		sum("reduce1s", "reduce1 by one GPU thread", rnsop.RecursiveBound, NewRecursiveSum(false)),
		sum("reduce1p", "reduce1 by one GPU block, a thread for each residue", rnsop.RecursiveBound, NewRecursiveSum(true)),
		sum("reduce2s", "reduce2 by one GPU thread", rnsop.PairwiseBound, NewPairwiseSum(false)),
		sum("reduce2p", "reduce2 by one GPU block, a thread for each residue", rnsop.PairwiseBound, NewPairwiseSum(true)),
		sum("reduce3p", "reduce3 on a GPU, every addition by a group of threads", rnsop.BlockBound, NewBlockSum(true),
			rnsop.GridOptions()...),
	}
}
