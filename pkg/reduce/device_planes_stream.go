package reduce

import (
	"context"
	"fmt"
	"math/big"
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/rns/deferred/deferredgpu"
)

// streamedDot is a dot product of numbers wider than float64 whose residues do not fit the device: the second factors are in its memory as they are, the
// first ones, and the residues of both, go through it in panels each time.
type streamedDot struct {
	device  *gpu.Device
	y       *deferredgpu.Numbers
	product *deferredgpu.HostProduct
}

// newStreamedDot copies y to the device; panels have so many numbers, 0 for as many as suit the device.
func newStreamedDot(d *gpu.Device, x, y []*big.Float, precision, panel int) (exactWork, error) {
	w := &streamedDot{device: d}
	if err := d.Do(func() error { return w.load(x, y, precision, panel) }); err != nil {
		w.Free()
		return nil, err
	}
	return w, nil
}

func (w *streamedDot) load(x, y []*big.Float, precision, panel int) error {
	source, column := numbers.Bigs(y), numbers.Strided(len(y), 1)
	extent, err := deferred.Measure(source, column)
	if err != nil {
		return err
	}
	left, err := deferred.Pack(numbers.Bigs(x), numbers.Strided(len(x), 1))
	if err != nil {
		return err
	}
	if w.y, err = uploadPacked(w.device, y); err != nil {
		return err
	}
	row := deferredgpu.Host{Packed: left, Rows: 1, Columns: len(x), LD: 1}
	vector := deferredgpu.HostVector{Numbers: w.y, Host: source, Layout: column, Extent: extent}
	o := deferredgpu.Options{Precision: precision, Alpha: big.NewFloat(1), Beta: new(big.Float)}
	w.product, err = deferredgpu.NewHostProduct(w.device, row, false, vector, o, deferredgpu.PanelOptions{Columns: panel})
	return err
}

func (w *streamedDot) sum(_ context.Context, p *Phases) (exactSum, error) {
	result := make([]*big.Float, 1)
	err := w.device.Do(func() error {
		start := time.Now()
		if err := w.product.Run(); err != nil {
			return err
		}
		p.Kernel = time.Since(start)
		start = time.Now()
		defer func() { p.CopyOut = time.Since(start) }()
		return w.product.Results(result)
	})
	return roundedSum{result[0]}, err
}

func (w *streamedDot) byClock() bool { return true }

func (w *streamedDot) variant() string {
	panels, _ := w.product.Panels()
	return fmt.Sprintf("%s%s in %d panels", variantPlanes, streamed, panels)
}

func (w *streamedDot) Free() {
	w.device.Do(func() error {
		if w.product != nil {
			w.product.Free()
		}
		w.y.Free()
		return nil
	})
	w.product, w.y = nil, nil
}
