package deferredgpu

import (
	"math/big"
	"time"

	"mpbench/internal/parallel"
	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
)

// Results sets y to the results of the last run, exactly. Rows of which truncation left the rounding open, where even
// the most moduli do not hold exact sums, are the host's.
func (h *HostProduct) Results(y []*big.Float) error {
	if err := h.product.results(y); err != nil {
		return err
	}
	if !h.product.Truncated() {
		return nil
	}
	rows, err := h.product.openRows()
	if err != nil {
		return err
	}
	o, a := &h.options, h.a.numbers()
	parallel.Ranges(0, len(rows), 1, func(_, from, to int) {
		for _, i := range rows[from:to] {
			row := h.layout
			row.Rows, row.Offset = 1, i*h.layout.RowStride
			var addend numbers.Number
			if o.Beta.Sign() != 0 {
				o.Y.Read(&addend, i)
			}
			y[i].SetPrec(0).Set(deferred.RoundedRow(
				numbers.Array{Source: a, Layout: row}, numbers.Array{Source: h.x.Host, Layout: h.x.Layout}, o.Alpha, o.Beta,
				&addend, nil, uint(o.Precision)))
		}
	})
	return nil
}

// Panels returns how many panels the matrix is cut into, and how many passes over them the last run took; no panels
// after an error of Run.
func (h *HostProduct) Panels() (panels, passes int) {
	if h.panels != nil {
		panels = h.panels.count
	}
	return panels, h.passes
}

// Moduli returns the number of moduli.
func (h *HostProduct) Moduli() int { return h.plan.Moduli() }

// Special reports whether the first run met infinities or NaN, which count as 0.
func (h *HostProduct) Special() bool { return h.special }

// NumberBytes returns what a number takes on the bus.
func (h *HostProduct) NumberBytes() int { return 8 * h.a.numberWords() }

// Bytes returns the device memory that the product takes.
func (h *HostProduct) Bytes() int64 {
	if h.panels == nil {
		return 0
	}
	bytes := h.product.Bytes() + h.panels.bytes() + h.lows.Bytes()
	if h.xPlanes != nil {
		bytes += h.xPlanes.residues.Bytes()
	}
	return bytes
}

// PassKernel is a kernel of a product in panels, with the device's time for it in the last pass, all panels together.
type PassKernel struct {
	Kernel
	Time time.Duration
}

// Kernels describes the kernels of the last pass, as they were launched for the first panel: numbers to residues, sums
// of products, results. But for the last panel they run while the next one is copied.
func (h *HostProduct) Kernels() ([]PassKernel, error) {
	g := h.geometry()
	residues, _ := g.residues(g.columns)
	columns := h.columns(0)
	l := panelLayout(&h.a, columns, h.trans)
	a := h.planes(l.Rows, l.Cols, h.panels.residues)
	_, roundBytes := h.product.bytes()
	list := make([]PassKernel, 3)
	var err error
	if list[0].Kernel, err = describe(h.convert[0], a.conversionLaunch(packedWidth(h.a.Packed), l.Rows),
		g.raw(g.columns)+residues); err != nil {
		return nil, err
	}
	k, launch := h.sums.choose(a, true)
	if list[1].Kernel, err = describe(k, launch, residues); err != nil {
		return nil, err
	}
	if list[2].Kernel, err = h.product.round.describe(h.product.roundLaunch, roundBytes); err != nil {
		return nil, err
	}
	for i := range h.panels.count {
		for part, ends := range [][2]*gpu.Event{{h.panels.begin[i], h.panels.between[i]},
			{h.panels.between[i], h.panels.end[i]}} {
			t, err := gpu.Elapsed(ends[0], ends[1])
			if err != nil {
				return nil, err
			}
			list[part].Time += t
		}
	}
	list[2].Time, err = gpu.Elapsed(h.rounded[0], h.rounded[1])
	return list, err
}
