package gemv

import (
	"math/big"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/rns/deferred/deferredgpu"
)

// deviceCommon is what the deferred engines on a GPU have in common: everything around the product.
type deviceCommon struct {
	deferredEngine
	device  *gpu.Device
	kernels []KernelProfile
	times   DeviceTimes
	fetched bool // the results of the last Run
	err     error
}

func newDeviceCommon(o Options) (deviceCommon, error) {
	device, err := gpu.OpenName(o.Device)
	return deviceCommon{deferredEngine: deferredEngine{precision: o.Precision, maxBytes: o.MaxBytes}, device: device}, err
}

// fresh returns the engine before it was loaded.
func (e *deviceCommon) fresh() deviceCommon {
	return deviceCommon{deferredEngine: deferredEngine{precision: e.precision, maxBytes: e.maxBytes}, device: e.device}
}

// loadVectors takes everything but A and x, and looks for infinities and NaN everywhere but in A.
func (e *deviceCommon) loadVectors(p Problem) error {
	start := time.Now()
	if err := e.loadScalars(p); err != nil {
		return err
	}
	if p.hasSpecialVector() {
		e.special = p.specialRows()
	}
	e.times.Convert = time.Since(start)
	return nil
}

// fetch gets the results of the last Run from a product, once.
func (e *deviceCommon) fetch(results func([]*big.Float) error) []exact.Value {
	if !e.fetched && e.err == nil {
		start := time.Now()
		e.err = e.device.Do(func() error { return results(e.result) })
		e.times.CopyOut = time.Since(start)
		e.fetched = true
	}
	return e.deferredEngine.Result()
}

func (e *deviceCommon) Err() error               { return e.err }
func (e *deviceCommon) Times() DeviceTimes       { return e.times }
func (e *deviceCommon) Kernels() []KernelProfile { return append([]KernelProfile(nil), e.kernels...) }
func (e *deviceCommon) Warnings() []string       { return nil }
func (e *deviceCommon) Device() string           { return recordName(e.device) }

// inputs are what a product needs on the device, still in host memory.
type inputs struct {
	a, x    *deferred.Packed // nil for float64
	xLayout numbers.Layout   // of x as a column, and its extent
	xExtent numbers.Extent
	options deferredgpu.Options
}

// pack packs wide numbers and y, and measures x.
func (e *deviceCommon) pack() (in inputs, err error) {
	start := time.Now()
	defer func() { e.times.Convert += time.Since(start) }()
	p := &e.problem
	in.xLayout = numbers.Strided(p.Terms(), p.IncX)
	in.options = deferredgpu.Options{Precision: e.precision, Alpha: &e.alpha, Beta: &e.beta}
	if in.a, err = packed(p.A); err != nil {
		return in, err
	}
	if in.x, err = packed(p.X); err != nil {
		return in, err
	}
	if in.xExtent, err = deferred.Measure(source(p.X), in.xLayout); err != nil || e.beta.Sign() == 0 {
		return in, err
	}
	in.options.Y, err = deferred.Pack(numbers.Bigs(e.y), numbers.Strided(len(e.y), 1))
	return in, err
}
