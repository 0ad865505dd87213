package deferredgpu

import (
	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
)

func (h *HostProduct) pass() error {
	if err := h.product.sums.Clear(h.compute); err != nil {
		return err
	}
	copyPanels := h.feedPanels
	if h.locked != nil {
		copyPanels = h.copyPanels
	}
	err := copyPanels()
	if err == nil {
		err = h.launchRounding()
	}
	if failed := h.compute.Sync(); err == nil {
		err = failed
	}
	return err
}

// feedPanels copies all panels through pinned memory, and starts their kernels.
func (h *HostProduct) feedPanels() error {
	count := len(h.pieces)
	fill := func(c int, pinned []byte) int {
		panel := c / count
		return h.pieces[c%count].within(&h.a, h.columns(panel)).fill(&h.a, panel*h.panels.columns, pinned)
	}
	put := func(c int, pinned []byte, copies *gpu.Stream) error { return h.put(c/count, c%count, pinned, copies) }
	return h.device.Feed(h.panels.count*count, fill, put)
}

// copyPanels copies all panels from where they are, and starts their kernels.
func (h *HostProduct) copyPanels() error {
	for panel := range h.panels.count {
		if err := h.beginPanel(panel, h.copies); err != nil {
			return err
		}
		if err := h.copyPanel(panel); err != nil {
			return err
		}
		if err := h.endPanel(panel, h.copies); err != nil {
			return err
		}
	}
	return h.copies.Sync()
}

func (h *HostProduct) copyPanel(panel int) error {
	a, to, columns := &h.a, h.panels.numbers[panel%len(h.panels.numbers)], h.columns(panel)
	if a.Rows == 0 {
		return nil
	}
	at := panel * h.panels.columns * a.LD
	if a.Packed == nil {
		words := float64Bits(a.Float64)
		return to.values.UploadRowsAsync(h.copies, words[at:], columns, a.Rows, a.LD)
	}
	words, exponents, width := a.Packed.Words()
	if err := to.values.UploadRowsAsync(h.copies, words[at*width:], columns, a.Rows*width, a.LD*width); err != nil {
		return err
	}
	return to.exponents.UploadRowsAsync(h.copies, exponents[at:], columns, a.Rows, a.LD)
}

func (h *HostProduct) columns(panel int) int {
	return min(h.panels.columns, h.a.Columns-panel*h.panels.columns)
}

// put starts the copy of a piece of a panel, and behind its last one the panel's kernels.
func (h *HostProduct) put(panel, piece int, pinned []byte, copies *gpu.Stream) error {
	if piece == 0 {
		if err := h.beginPanel(panel, copies); err != nil {
			return err
		}
	}
	if err := h.pieces[piece].put(h.panels.numbers[panel%len(h.panels.numbers)], pinned, copies); err != nil {
		return err
	}
	if piece < len(h.pieces)-1 {
		return nil
	}
	return h.endPanel(panel, copies)
}

// beginPanel makes the copies of a panel wait for the memory of an earlier one.
func (h *HostProduct) beginPanel(panel int, copies *gpu.Stream) error {
	if p := h.panels; panel >= len(p.numbers) {
		return copies.Wait(p.used[panel%len(p.numbers)])
	}
	return nil
}

// endPanel starts the kernels of a panel behind its copies.
func (h *HostProduct) endPanel(panel int, copies *gpu.Stream) error {
	turn := panel % len(h.panels.numbers)
	return gpu.InTurn(
		func() error { return h.panels.copied[turn].Record(copies) },
		func() error { return h.compute.Wait(h.panels.copied[turn]) },
		func() error { return h.launchPanel(panel, turn) },
	)
}

// launchPanel starts the kernels of a panel whose numbers are in place.
func (h *HostProduct) launchPanel(panel, turn int) error {
	p, columns, first := h.panels, h.columns(panel), 0
	if h.trans {
		first = panel * p.columns
	}
	numbers, l := p.numbers[turn], panelLayout(&h.a, columns, h.trans)
	a, x := h.planes(l.Rows, l.Cols, p.residues), (*planes)(nil)
	return gpu.InTurn(
		func() error { return p.begin[panel].Record(h.compute) },
		func() error {
			if h.assumed == nil {
				return nil
			}
			return h.extents.add(h.compute, numbers.values.Pointer(), l, first, extentsSpan{lane: 32, warp: 1 << 11})
		},
		func() error {
			return a.launchConversion(h.convert[0], h.compute, numbers, l, h.lows.Pointer().At(first), true)
		},
		func() error { return p.used[turn].Record(h.compute) },
		func() (err error) { x, err = h.convertVector(panel, columns); return err },
		func() error { return p.between[panel].Record(h.compute) },
		func() error { return h.sums.launch(h.compute, a, x, first, panel == 0) },
		func() error { return p.end[panel].Record(h.compute) },
	)
}

// convertVector starts the conversion of the elements of x that meet a panel, with the transpose all for the first.
func (h *HostProduct) convertVector(panel, columns int) (*planes, error) {
	l := h.x.Layout
	row := numbers.Layout{Rows: 1, Cols: h.layout.Cols, Offset: l.Offset, ColStride: l.RowStride}
	x := h.xPlanes
	if h.trans && panel > 0 {
		return x, nil
	}
	if !h.trans {
		row.Cols, row.Offset = columns, l.Offset+panel*h.panels.columns*l.RowStride
		x = h.planes(1, columns, h.panels.x)
	}
	return x, x.launchConversion(h.convert[1], h.compute, h.x.Numbers, row, h.xLow.Pointer(), false)
}

func (h *HostProduct) launchRounding() error {
	return gpu.InTurn(
		func() error { return h.rounded[0].Record(h.compute) },
		func() error { return h.product.LaunchRounding(h.compute) },
		func() error { return h.rounded[1].Record(h.compute) },
	)
}
