package reduce

import (
	"context"
	"math/big"
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/rns/deferred/deferredgpu"
)

// Products are added in residues, or, of short factors, in limbs; see package rns/deferred/deferredgpu.
const (
	variantPlanes = "residue planes"
	variantLimbs  = "limb planes"
)

// planesDot is a dot product of numbers wider than float64 in device memory: a matrix of one row times a vector.
type planesDot struct {
	device  *gpu.Device
	a       *deferredgpu.Matrix
	x       *deferredgpu.Vector
	product *deferredgpu.Product
	raw     []*deferredgpu.Numbers // what a truncated product is repaired from
}

// roundedSum is a sum that is rounded already.
type roundedSum struct{ z *big.Float }

func (s roundedSum) rounded(uint) *big.Float { return s.z }

// newPlanesDot copies the vectors to the device and converts them there.
func newPlanesDot(d *gpu.Device, x, y []*big.Float, precision int) (exactWork, error) {
	w := &planesDot{device: d}
	if err := d.Do(func() error { return w.load(x, y, precision) }); err != nil {
		w.Free()
		return nil, err
	}
	return w, nil
}

func (w *planesDot) load(x, y []*big.Float, precision int) error {
	row, column := numbers.RowMajor(1, len(x), len(x)), numbers.Strided(len(y), 1)
	extent, err := deferred.Measure(numbers.Bigs(y), column)
	if err != nil {
		return err
	}
	plan, err := deferred.NewPlanFor(numbers.Bigs(x), row, deferred.NoTrans, numbers.Bigs(y), column, precision, deferred.Options{})
	if err != nil {
		return err
	}
	left, err := uploadPacked(w.device, x)
	if err != nil {
		return err
	}
	w.raw = append(w.raw, left)
	right, err := uploadPacked(w.device, y)
	if err != nil {
		return err
	}
	w.raw = append(w.raw, right)
	if w.a, err = deferredgpu.NewMatrix(w.device, plan, left, row); err != nil {
		return err
	}
	if w.x, err = w.a.NewVector(right, column, extent); err != nil {
		return err
	}
	w.product, err = deferredgpu.NewProduct(w.a, w.x, deferredgpu.Options{Precision: precision, Alpha: big.NewFloat(1), Beta: new(big.Float)})
	if err != nil {
		return err
	}
	return w.reconsider()
}

// reconsider goes over to an exact sum where a truncated one would have to be repaired, and gives up what an exact one does not need.
func (w *planesDot) reconsider() error {
	if w.product.Truncated() {
		a, x, product, err := w.product.Reconsidered()
		if err != nil {
			return err
		}
		if product != nil {
			w.product.Free()
			w.x.Free()
			w.a.Free()
			w.a, w.x, w.product = a, x, product
		}
	}
	if !w.product.Truncated() {
		w.freeNumbers()
	}
	return nil
}

func (w *planesDot) freeNumbers() {
	for _, x := range w.raw {
		x.Free()
	}
	w.raw = nil
}

func uploadPacked(d *gpu.Device, x []*big.Float) (*deferredgpu.Numbers, error) {
	p, err := deferred.Pack(numbers.Bigs(x), numbers.Strided(len(x), 1))
	if err != nil {
		return nil, err
	}
	return deferredgpu.UploadPacked(d, p)
}

func (w *planesDot) sum(_ context.Context, p *Phases) (exactSum, error) {
	result := make([]*big.Float, 1)
	err := w.device.Do(func() (err error) {
		if err := w.device.ColdCache(nil); err != nil {
			return err
		}
		if p.Kernel, err = w.device.Time(nil, func() error { return w.product.Launch(nil) }); err != nil {
			return err
		}
		start := time.Now()
		if err := w.product.Repair(); err != nil {
			return err
		}
		if w.product.Truncated() {
			p.Kernel += time.Since(start)
		}
		start = time.Now()
		defer func() { p.CopyOut = time.Since(start) }()
		return w.product.Results(result)
	})
	return roundedSum{result[0]}, err
}

func (w *planesDot) byClock() bool { return false }

func (w *planesDot) variant() string {
	if w.a.Limbs() > 0 {
		return variantLimbs
	}
	return variantPlanes
}

func (w *planesDot) Free() {
	w.device.Do(func() error {
		if w.product != nil {
			w.product.Free()
		}
		w.x.Free()
		w.a.Free()
		w.freeNumbers()
		return nil
	})
	w.product, w.x, w.a = nil, nil, nil
}
