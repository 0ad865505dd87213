package deferredgpu

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"time"

	"mpbench/pkg/exactsum"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/deferred"
)

// special is a dot product that is infinite or NaN whatever the finite numbers are.
type special struct{ value numbers.Number }

func newSpecial(_ context.Context, _ method.Config, p *op.Problem) (exactsum.Way, method.Times, error) {
	if list := op.Specials(p, 1); list != nil && !list[0].IsFinite() {
		w := new(special)
		numbers.Values(list).Read(&w.value, 0)
		return w, method.Times{}, nil
	}
	return nil, method.Times{}, nil
}

func (w *special) Add(_ context.Context, to *exactsum.Sum) error {
	addNumber(to, &w.value)
	return nil
}

func (w *special) Describe(info *method.Info) { info.NumberBytes = 8 }

func (w *special) Close() error { return nil }

func addNumber(to *exactsum.Sum, z *numbers.Number) {
	if to.Wide == nil {
		to.Wide = new(deferred.LimbSum)
	}
	to.Wide.AddNumber(z)
}

// dot is a dot product of numbers wider than binary64 as a product of a matrix of one row and a vector. The device
// rounds it to the precision of the result, or, if it is to be merged or divided, so that nothing is lost.
type dot struct {
	config  method.Config
	x, y    numbers.Array
	exactly bool
}

func newDot(c method.Config, p *op.Problem) dot {
	return dot{c, p.X, p.Y, c.Merge || p.X.Denominator() != nil || p.Y.Denominator() != nil}
}

func (w *dot) row() numbers.Layout { return w.x.Transposed().Layout }

func (w *dot) options(plan *deferred.Plan) Options {
	o := Options{Precision: w.config.Precision, Alpha: big.NewFloat(1), Beta: new(big.Float)}
	if w.exactly {
		o.Precision = max(o.Precision, deferred.ModulusBits*plan.Moduli())
	}
	return o
}

// plan measures the factors; a sum that has to be exact is not truncated.
func (w *dot) plan(extent numbers.Extent) (*deferred.Plan, error) {
	if w.exactly {
		return deferred.NewPlan(w.x.Source, w.row(), deferred.NoTrans, extent, deferred.Options{})
	}
	return deferred.NewPlanFor(w.x.Source, w.row(), deferred.NoTrans, w.y.Source, w.y.Layout, w.config.Precision,
		deferred.Options{})
}

// planesDot is a dot product whose factors are planes in device memory.
type planesDot struct {
	dot
	factored
	device *gpu.Device
}

func newPlanesDot(_ context.Context, c method.Config, p *op.Problem) (exactsum.Way, method.Times, error) {
	if p.Y.Absent() || c.Stream {
		return nil, method.Times{}, nil
	}
	d, err := gpu.Open(c.GPU())
	if err != nil {
		return nil, method.Times{}, err
	}
	w := &planesDot{dot: newDot(c, p), device: d}
	var times method.Times
	err = d.Do(func() error { return w.load(&times) })
	if errors.Is(err, gpu.ErrOutOfMemory) {
		return nil, times, w.Close()
	}
	if err != nil {
		return nil, times, errors.Join(err, w.Close())
	}
	return w, times, nil
}

func (w *planesDot) load(times *method.Times) error {
	start := time.Now()
	defer func() { times.CopyIn = time.Since(start) - times.Convert }()
	extent, err := deferred.Measure(w.y.Source, w.y.Layout)
	if err != nil {
		return err
	}
	plan, err := w.plan(extent)
	if err != nil {
		return err
	}
	var numbersOf [2]*Numbers
	for i, a := range []numbers.Array{w.dot.x, w.y} {
		packing := time.Now()
		p, err := deferred.Pack(a.Source, a.Layout, 0)
		times.Convert += time.Since(packing)
		if err != nil {
			return err
		}
		if numbersOf[i], err = UploadPacked(w.device, p); err != nil {
			return err
		}
		w.raw = append(w.raw, numbersOf[i])
	}
	n := w.dot.x.Rows
	if w.a, err = NewMatrix(w.device, plan, numbersOf[0], numbers.RowMajor(1, n, n)); err != nil {
		return err
	}
	if w.factored.x, err = w.a.NewVector(numbersOf[1], numbers.Strided(n, 1), extent); err != nil {
		return err
	}
	if w.product, err = NewProduct(w.a, w.factored.x, w.options(plan)); err != nil {
		return err
	}
	return w.reconsider()
}

func (w *planesDot) Add(_ context.Context, to *exactsum.Sum) error {
	return w.device.Do(func() error {
		if err := w.product.Launch(nil); err != nil {
			return err
		}
		if err := w.product.Recompute(); err != nil {
			return err
		}
		return w.fetch(to)
	})
}

func (w *planesDot) fetch(to *exactsum.Sum) error {
	result := make([]*big.Float, 1)
	if err := w.product.Results(result); err != nil {
		return err
	}
	var z numbers.Number
	z.SetBig(result[0])
	addNumber(to, &z)
	return nil
}

func (w *planesDot) AddTimed(_ context.Context, to *exactsum.Sum) (times method.Times, err error) {
	err = w.device.Do(func() (err error) {
		if err := w.device.ColdCache(nil); err != nil {
			return err
		}
		if times.Kernel, err = w.device.Time(nil, func() error { return w.product.Launch(nil) }); err != nil {
			return err
		}
		start := time.Now()
		if err := w.product.Recompute(); err != nil {
			return err
		}
		if w.product.Truncated() {
			times.Kernel += time.Since(start)
		}
		start = time.Now()
		err = w.fetch(to)
		times.CopyOut = time.Since(start)
		return err
	})
	return times, err
}

func (w *planesDot) Cool() error { return w.device.Cool() }

// Products are added in residues, or, of short factors, in limbs.
const (
	planesVariant = "residue planes"
	limbsVariant  = "limb planes"
)

func (w *planesDot) Describe(info *method.Info) {
	info.NumberBytes, info.Variant = 8, planesVariant
	if w.a.Limbs() > 0 {
		info.Variant = limbsVariant
	}
}

func (w *planesDot) Close() error {
	return w.device.Do(func() error {
		w.factored.free()
		w.factored = factored{}
		return nil
	})
}

// panelsDot is a dot product whose planes do not fit the device: the second factors are in its memory as they are, the
// first ones, and the planes of both, go through it in panels each time.
type panelsDot struct {
	dot
	device  *gpu.Device
	second  *Numbers
	product *HostProduct
	cut     PanelOptions
}

func newPanelsDot(_ context.Context, c method.Config, p *op.Problem) (exactsum.Way, method.Times, error) {
	if p.Y.Absent() {
		return nil, method.Times{}, nil
	}
	d, err := gpu.Open(c.GPU())
	if err != nil {
		return nil, method.Times{}, err
	}
	w := &panelsDot{dot: newDot(c, p), device: d}
	if err := d.Do(w.load); err != nil {
		return nil, method.Times{}, errors.Join(err, w.Close())
	}
	return w, method.Times{}, nil
}

func (w *panelsDot) load() error {
	extent, err := deferred.Measure(w.y.Source, w.y.Layout)
	if err != nil {
		return err
	}
	plan, err := w.plan(extent)
	if err != nil {
		return err
	}
	left, err := deferred.Pack(w.x.Source, w.x.Layout, 0)
	if err != nil {
		return err
	}
	right, err := deferred.Pack(w.y.Source, w.y.Layout, 0)
	if err != nil {
		return err
	}
	if w.second, err = UploadPacked(w.device, right); err != nil {
		return err
	}
	n := w.x.Rows
	row := Host{Packed: left, Rows: 1, Columns: n, LD: 1}
	vector := HostVector{Numbers: w.second, Host: right, Layout: numbers.Strided(n, 1), Extent: extent}
	w.product, err = NewHostProduct(w.device, row, false, vector, w.options(plan), w.cut)
	return err
}

func (w *panelsDot) Add(_ context.Context, to *exactsum.Sum) error {
	result := make([]*big.Float, 1)
	err := w.device.Do(func() error {
		if err := w.product.Run(); err != nil {
			return err
		}
		return w.product.Results(result)
	})
	if err == nil {
		var z numbers.Number
		z.SetBig(result[0])
		addNumber(to, &z)
	}
	return err
}

func (w *panelsDot) Describe(info *method.Info) {
	panels, _ := w.product.Panels()
	info.NumberBytes, info.Variant = 8, fmt.Sprintf("%s, streamed in %d panels", planesVariant, panels)
}

func (w *panelsDot) Close() error {
	return w.device.Do(func() error {
		w.product.Free()
		w.second.Free()
		w.product, w.second = nil, nil
		return nil
	})
}
