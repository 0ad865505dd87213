package deferredgpu

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/deferred"
)

// NewGemv is the method deferred for matrix-vector products on a GPU: with A in the device's memory, or in the host's
// if that is asked for or the device's is too small.
func NewGemv(c method.Config) (method.Engine, error) {
	device, err := gpu.Open(c.GPU())
	if err != nil {
		return nil, err
	}
	return &gemv{config: c, device: device}, nil
}

// gemv is alpha*op(A)*x + beta*y: what is the same wherever A is. Without products (alpha = 0, no elements) the host
// does it.
type gemv struct {
	config  method.Config
	device  *gpu.Device
	problem *op.Problem
	around  numbers.Source // that A is a part of
	shape   op.Shape
	scalars *deferred.Scalars
	special []exact.Value
	product matrix        // nil without products, and for numbers that are no dyadic fractions
	streams *PanelOptions // in which A is streamed whatever the memory; nil as the configuration says
	times   method.Times
	fetched bool // the results of the last run
}

// matrix is where A is. Its methods are called on the device's thread.
type matrix interface {
	load(e *gemv) error
	// run launches and waits; timed takes times, with cold caches where A is in the device's memory.
	run(e *gemv, timed bool) error
	results(y []*big.Float) error
	// special reports whether the device met an infinity or NaN in A.
	special() bool
	kernels() []method.Kernel
	stages(kernel time.Duration) []method.Stage
	describe(info *method.Info)
	free()
}

// Prepare copies the numbers to the device and converts them there, or sees to it that every run does.
func (e *gemv) Prepare(_ context.Context, p *op.Problem) error {
	if err := e.Close(); err != nil {
		return err
	}
	shape, err := p.Op.Shape(p)
	if err != nil {
		return err
	}
	tight := *p // what is copied to the device
	tight.A, tight.X = p.A.Tight(), p.X.Tight()
	*e = gemv{config: e.config, device: e.device, streams: e.streams, problem: &tight, around: p.A.Source, shape: shape}
	p = &tight
	start := time.Now()
	e.scalars = deferred.NewScalars(p, shape.Rows)
	if !vectorsFinite(p) {
		e.special = op.Specials(p, shape.Components)
	}
	e.times.Convert = time.Since(start)
	if !p.Multiplies() || e.scalars.Denominator != nil {
		return nil
	}
	if e.streams != nil {
		return e.markSpecial(e.load(&streamed{cut: *e.streams}))
	}
	uses := e.config.Reuse()
	cut := PanelOptions{Staged: 0 < uses && uses <= stagedUses}
	if !e.config.Stream {
		err := e.load(new(resident))
		var memory *method.MemoryError
		if !errors.As(err, &memory) || memory.Device == "" {
			return e.markSpecial(err)
		}
	}
	return e.markSpecial(e.load(&streamed{cut: cut}))
}

// vectorsFinite reports whether no number but those of A, at which the device looks, is an infinity or NaN.
func vectorsFinite(p *op.Problem) bool {
	return (!p.Multiplies() || p.Alpha.AllFinite() && p.X.AllFinite()) &&
		(!p.Adds() || p.Beta.AllFinite() && p.Y.AllFinite())
}

func (e *gemv) load(m matrix) error {
	e.product = m
	err := e.device.Do(func() error { return m.load(e) })
	if err != nil {
		return errors.Join(err, e.Close())
	}
	return nil
}

// markSpecial finds the components that are infinite or NaN if the device has met such numbers.
func (e *gemv) markSpecial(err error) error {
	if err == nil && e.special == nil && e.product != nil && e.product.special() {
		e.special = op.Specials(e.problem, e.shape.Components)
	}
	return err
}

func (e *gemv) Run(context.Context) error { return e.run(false) }

func (e *gemv) RunTimed(context.Context) error { return e.run(true) }

func (e *gemv) run(timed bool) error {
	e.times.Kernel = 0
	prec := uint(e.config.Precision)
	switch {
	case !e.problem.Multiplies():
		e.scalars.Scale(prec)
		return nil
	case e.product == nil:
		e.scalars.Divide(e.problem, prec, e.config.Threads)
		return nil
	}
	e.fetched = false
	return e.markSpecial(e.device.Do(func() error { return e.product.run(e, timed) }))
}

// Result copies the components of the last run to the host.
func (e *gemv) Result() (numbers.Source, error) {
	if e.product != nil && !e.fetched {
		start := time.Now()
		if err := e.device.Do(func() error { return e.product.results(e.scalars.Result) }); err != nil {
			return nil, err
		}
		e.times.CopyOut = time.Since(start)
		e.fetched = true
	}
	return e.scalars.Values(e.special, e.config.Threads), nil
}

func (e *gemv) Times() method.Times {
	t := e.times
	if e.product != nil {
		t.Kernels = e.product.kernels()
	}
	return t
}

func (e *gemv) Stages() []method.Stage {
	if e.product == nil {
		return nil
	}
	return e.product.stages(e.times.Kernel)
}

func (e *gemv) Cool() error { return e.device.Cool() }

func (e *gemv) Info() method.Info {
	info := method.Info{Format: "residues", Bits: e.config.Precision, Device: e.device.RecordName()}
	if e.product != nil {
		e.product.describe(&info)
	}
	return info
}

func (e *gemv) Close() error {
	if e.product == nil {
		return nil
	}
	err := e.device.Do(func() error {
		e.product.free()
		return nil
	})
	e.product = nil
	return err
}

// inputs are what a product needs on the device, still in host memory.
type inputs struct {
	a, x    *deferred.Packed // nil for float64
	extent  numbers.Extent   // of x
	options Options
}

// pack packs wide numbers and y, and measures x.
func (e *gemv) pack() (in inputs, err error) {
	start := time.Now()
	defer func() { e.times.Convert += time.Since(start) }()
	p, s := e.problem, e.scalars
	in.options = Options{Precision: e.config.Precision, Alpha: s.Alpha, Beta: s.Beta}
	if in.a, err = packed64(p.A.Source); err != nil {
		return in, err
	}
	if in.x, err = packed64(p.X.Source); err != nil {
		return in, err
	}
	if in.extent, err = deferred.Measure(p.X.Source, p.X.Layout); err != nil || s.Beta.Sign() == 0 {
		return in, err
	}
	in.options.Y, err = deferred.Pack(numbers.Bigs(s.Y), numbers.Strided(len(s.Y), 1), 0)
	return in, err
}

// packed64 returns all numbers of a source as packed words, nil for binary64.
func packed64(x numbers.Source) (*deferred.Packed, error) {
	if _, ok := x.(numbers.Float64s); ok {
		return nil, nil
	}
	return deferred.Pack(x, numbers.Strided(x.Len(), 1), 0)
}

func (e *gemv) upload(x numbers.Source, p *deferred.Packed) (*Numbers, error) {
	if p != nil {
		return UploadPacked(e.device, p)
	}
	return UploadFloat64(e.device, x.(numbers.Float64s))
}

// profile describes a kernel, without its time.
func (e *gemv) profile(stage string, k Kernel) method.Kernel { return profile(e.device, stage, k) }

func profile(d *gpu.Device, stage string, k Kernel) method.Kernel {
	return method.Kernel{
		Stage: stage, Name: k.Name, Bytes: k.Bytes, Bandwidth: d.Info().Bandwidth(), Occupancy: k.Occupancy,
		Blocks: k.Launch.Grid.X * max(k.Launch.Grid.Y, 1), Threads: k.Launch.Block.X,
		Shared:    k.Launch.Shared + k.Attributes.Static,
		Registers: k.Attributes.Registers, Local: k.Attributes.Local,
	}
}

func (e *gemv) memoryError(need, free int64, detail string) error {
	return &method.MemoryError{
		Method: "deferred", Shape: e.shape, Need: need, Have: free, Device: e.device.Name(), Detail: detail,
	}
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
