package deferredgpu

import (
	"math/big"
	"time"

	"mpbench/cuda"
	"mpbench/internal/parallel"
	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
)

// HostVector is the x of a product: numbers on the device and on the host, their layout as a column and extent.
type HostVector struct {
	Numbers *Numbers
	Host    numbers.Source
	Layout  numbers.Layout
	Extent  numbers.Extent
}

// HostProduct is y = alpha*op(A)*x + beta*y with A in host memory, in panels of whole columns: while kernels make
// residues of one panel and add their products to the rows' sums, the next ones are copied to the device, in a stream
// of their own: from where they are, if the system allows to lock those pages, otherwise through pinned memory. A
// panel of A adds to the sums of all rows; one of the transpose is some rows.
//
// The alignment of float64 numbers is known when all have been seen. The first run assumes one, of a sample, and takes
// the extents of all rows on the way: if a row does not keep to what was assumed, a second pass with the true extents
// follows. Later runs have one pass. Packed numbers are measured beforehand. Its methods are to be called inside Do.
type HostProduct struct {
	device  *gpu.Device
	a       Host
	trans   bool
	layout  numbers.Layout // of op(A)
	x       HostVector
	options Options
	cut     PanelOptions

	own     *gpu.Owner
	compute *gpu.Stream
	copies  *gpu.Stream   // of a locked matrix
	locked  []*gpu.Locked // A's pages; nil if they are not
	rounded [2]*gpu.Event // before and after the results are made
	extents *extents      // nil for packed numbers

	plan    *deferred.Plan
	assumed []numbers.Extent // of rows, not yet confirmed; nil if the plan is of the true ones
	special bool

	tables  *tables
	product *Product
	sums    *panelSums
	panels  *panels
	pieces  []piece
	lows    *gpu.Buffer[int32] // of rows
	xLow    *gpu.Buffer[int32]
	xPlanes *planes // of all of x, for the transpose; otherwise its residues are those of a panel
	convert [2]*gpu.Kernel[cuda.PlanesOfArgs]

	passes int
}

// NewHostProduct prepares a product. x stays the caller's and must live as long. An error may be a *TooSmallError.
func NewHostProduct(
	d *gpu.Device, a Host, trans bool, x HostVector, o Options, cut PanelOptions,
) (*HostProduct, error) {
	h := &HostProduct{device: d, a: a, trans: trans, layout: a.layout(trans), x: x, options: o, cut: cut}
	plan, err := h.firstPlan()
	if err == nil {
		err = h.allocate()
	}
	if err == nil {
		err = h.use(plan)
	}
	if err != nil {
		h.Free()
		return nil, err
	}
	if !cut.Staged {
		h.locked, _ = h.a.lock(d) // an error is of the host's limits, which pinned memory keeps to
	}
	return h, nil
}

// InPlace tells whether nothing but the device moves the matrix.
func (h *HostProduct) InPlace() bool { return h.locked != nil }

// firstPlan assumes extents of float64 numbers, and measures packed ones.
func (h *HostProduct) firstPlan() (*deferred.Plan, error) {
	if h.a.Packed == nil {
		assumed := deferred.Assume(h.a.sample(h.trans), h.layout.Cols, h.x.Extent)
		plan, err := deferred.PlanExtents(assumed, h.layout.Cols, h.x.Extent, deferred.Options{})
		if err == nil && !h.truncates(plan) {
			h.assumed = assumed
			return plan, nil
		} // the true extents may take fewer moduli
	}
	plan, err := deferred.NewPlan(h.a.numbers(), h.layout, deferred.NoTrans, h.x.Extent, deferred.Options{})
	if err == nil && h.a.Packed == nil { // the first run looks for infinities and NaN
		h.assumed = make([]numbers.Extent, h.layout.Rows)
		for i := range h.assumed {
			h.assumed[i] = plan.RowExtent(i)
		}
	}
	return plan, err
}

func (h *HostProduct) truncates(plan *deferred.Plan) bool {
	_, x := plan.VectorLow(h.x.Extent)
	return x || plan.Truncated()
}

// allocate makes what no plan changes.
func (h *HostProduct) allocate() (err error) {
	h.own = h.device.NewOwner()
	h.compute, h.copies = h.own.Stream(), h.own.Stream()
	h.own.Events(h.rounded[:])
	if err := h.own.Err(); err != nil {
		return err
	}
	if h.a.Packed == nil {
		if h.extents, err = newExtents(h.device, h.layout.Rows); err != nil {
			return err
		}
	}
	for i, x := range []*Numbers{{width: packedWidth(h.a.Packed)}, h.x.Numbers} {
		if h.convert[i], err = conversionKernel(h.device, x); err != nil {
			return err
		}
	}
	return nil
}

// packedWidth returns the words of a number, 0 for float64.
func packedWidth(p *deferred.Packed) int {
	if p == nil {
		return 0
	}
	_, _, width := p.Words()
	return width
}

func (h *HostProduct) use(plan *deferred.Plan) (err error) {
	xLow, xTruncated := plan.VectorLow(h.x.Extent)
	h.release()
	h.plan = plan
	if err := h.checkMemory(); err != nil {
		return err
	}
	if h.tables, err = tablesOn(h.device, plan.Moduli()); err != nil {
		return err
	}
	a, x := h.planes(h.layout.Rows, h.layout.Cols, nil), h.planes(1, h.layout.Cols, nil)
	lows := plan.Lows()
	v := &Vector{planes: x, low: xLow, truncated: xTruncated, extent: h.x.Extent}
	if h.product, err = NewProduct(&Matrix{planes: a, plan: plan, low: lows}, v, h.options); err != nil {
		return err
	}
	if h.sums, err = newPanelSums(h.product); err != nil {
		return err
	}
	if h.lows, err = uploadLows(h.device, lows); err != nil {
		return err
	}
	if h.xLow, err = uploadLows(h.device, []int{xLow}); err != nil {
		return err
	}
	if h.trans {
		if h.xPlanes, err = newPlanes(h.device, plan.Moduli(), 1, h.layout.Cols); err != nil {
			return err
		}
	}
	if h.panels, err = newPanels(h.device, &h.a, h.geometry(), h.cut.Columns); err != nil {
		return err
	}
	h.pieces = pieces(&h.a, h.panels.columns, h.cut.Chunk)
	return h.device.Sync() // sums are zero
}

// checkMemory returns a *TooSmallError if what a product takes beside panels, and one column, do not fit.
func (h *HostProduct) checkMemory() error {
	free, err := h.device.Free()
	if err != nil {
		return err
	}
	moduli, width := int64(h.plan.Moduli()), int64(h.options.Precision+63)/64
	need := h.geometry().bytes(1) + int64(h.layout.Rows)*(8*moduli+8*width+20) +
		8*moduli*(moduli+int64(leadingDimension(int(moduli))))
	if h.options.Y != nil {
		need += 2*h.options.Y.Bytes() + 4*int64(h.layout.Rows)*int64(h.options.Beta.MinPrec()+limbBits)/limbBits
	}
	if h.trans {
		need += 4 * moduli * int64(leadingDimension(h.layout.Cols))
	}
	if need > usable(free) {
		return &TooSmallError{need, free}
	}
	return nil
}

func (h *HostProduct) geometry() geometry {
	return geometry{h.a.Rows, h.a.Columns, h.a.numberWords(), h.plan.Moduli(), h.trans}
}

// planes describes planes of that shape in a buffer that is large enough.
func (h *HostProduct) planes(rows, columns int, residues *gpu.Buffer[uint32]) *planes {
	return &planes{device: h.device, tables: h.tables, rows: rows, columns: columns, ld: leadingDimension(columns),
		residues: residues}
}

// Run computes the product and waits.
func (h *HostProduct) Run() error {
	for h.passes = 1; ; h.passes++ {
		if err := h.pass(); err != nil {
			return err
		}
		if h.assumed == nil {
			return nil
		}
		rows, special, err := h.extents.fetch()
		if err != nil {
			return err
		}
		assumed := h.assumed
		h.assumed, h.special = nil, special
		if contain(assumed, rows) {
			return nil
		}
		plan, err := deferred.PlanExtents(rows, h.layout.Cols, h.x.Extent, deferred.Options{})
		if err != nil {
			return err
		}
		if err := h.use(plan); err != nil {
			return err
		}
	}
}

func contain(assumed, extents []numbers.Extent) bool {
	for i, e := range extents {
		if e.Bits() > 0 && (e.Low < assumed[i].Low || assumed[i].Top < e.Top) {
			return false
		}
	}
	return true
}

// release gives back what depends on the plan.
func (h *HostProduct) release() {
	h.product.Free()
	h.panels.free()
	h.lows.Free()
	h.xLow.Free()
	h.xPlanes.free()
	h.product, h.panels, h.lows, h.xLow, h.xPlanes = nil, nil, nil, nil, nil
}

// Free gives the memory back; a nil product has none.
func (h *HostProduct) Free() {
	if h == nil {
		return
	}
	h.release()
	if h.extents != nil {
		h.extents.own.Free()
	}
	unlock(h.locked)
	h.own.Free()
	h.locked, h.own = nil, nil
}

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

// Panels returns the number of panels of the matrix, none after an error of Run, and of passes of the last run.
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
