package deferredgpu

import (
	"errors"
	"fmt"
	"math/big"
	"time"

	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
)

// stagedUses is for how many products the pages of a matrix are not locked: that takes, with giving them back, as long
// as some four streams of it, of which each is then a fifth shorter.
const stagedUses = 20

// streamed is a product with A in host memory: every run copies it in panels, which become residues and are multiplied
// while the next ones are copied. Times are by the clock.
type streamed struct {
	cut     PanelOptions
	x       *Numbers
	product *HostProduct
	list    []method.Kernel // of the last pass, all panels together
}

// load copies x and prepares everything; A is only sampled, or packed and measured if it is wide.
func (m *streamed) load(e *gemv) error {
	in, err := e.pack()
	if err != nil {
		return err
	}
	start := time.Now()
	p := e.problem
	if m.x, err = e.upload(p.X.Source, in.x); err != nil {
		return m.memoryError(e, err)
	}
	a, trans, err := hostMatrix(p.Matrix(), in.a)
	if err != nil {
		return err
	}
	if whole, ok := e.around.(numbers.Float64s); ok {
		a.Around = whole
	}
	x := HostVector{Numbers: m.x, Host: p.X.Source, Layout: p.X.Layout, Extent: in.extent}
	m.product, err = NewHostProduct(e.device, a, trans, x, in.options, m.cut)
	e.times.CopyIn = time.Since(start)
	return m.memoryError(e, err)
}

// hostMatrix returns a matrix as it lies in memory, by columns, and whether it is the transpose of that.
func hostMatrix(a numbers.Array, p *deferred.Packed) (h Host, trans bool, err error) {
	trans = a.RowStride != 1 && a.ColStride == 1
	if trans {
		a = a.Transposed()
	}
	if a.RowStride != 1 && a.Rows > 1 || a.ColStride < a.Rows && a.Cols > 1 {
		return h, trans, fmt.Errorf("deferred: streams of a matrix whose rows and columns are %d and %d numbers apart",
			a.RowStride, a.ColStride)
	}
	h = Host{Rows: a.Rows, Columns: a.Cols, LD: max(a.ColStride, a.Rows)}
	if x, ok := a.Source.(numbers.Float64s); ok {
		h.Float64 = x[a.Offset:]
	} else {
		h.Packed = p.Part(a.Offset, p.Len())
	}
	return h, trans, nil
}

// memoryError makes an error about the device's memory one of ours.
func (m *streamed) memoryError(e *gemv, err error) error {
	var small *TooSmallError
	switch {
	case errors.As(err, &small):
		return e.memoryError(small.Need, small.Free, "streamed, one column and its residues at a time")
	case errors.Is(err, gpu.ErrOutOfMemory): // vectors alone, or others have taken what was free
		if free, failed := e.device.Free(); failed == nil {
			return e.memoryError(max(free+1, 8*int64(e.shape.Rows+e.shape.Length)), free, "streamed")
		}
	}
	return err
}

func (m *streamed) run(e *gemv, _ bool) error {
	start := time.Now()
	if err := m.product.Run(); err != nil {
		return m.memoryError(e, err)
	}
	e.times.Kernel = time.Since(start)
	list, err := m.product.Kernels()
	if err != nil {
		return err
	}
	m.list = m.list[:0]
	for i, k := range list {
		m.list = append(m.list, e.profile([]string{"convert", "accumulate", "round"}[i], k.Kernel))
		m.list[i].Time = k.Time
	}
	return nil
}

func (m *streamed) results(y []*big.Float) error { return m.product.Results(y) }
func (m *streamed) special() bool                { return m.product.Special() }
func (m *streamed) kernels() []method.Kernel     { return append([]method.Kernel(nil), m.list...) }

// stages are those of the run by the clock: the kernels of all panels but the last run while the next one is copied.
func (m *streamed) stages(kernel time.Duration) []method.Stage {
	round := time.Duration(0)
	if len(m.list) > 0 {
		round = m.list[len(m.list)-1].Time
	}
	panels, passes := m.product.Panels()
	summary := "A through the bus at once, then multiplied"
	if panels > 1 {
		summary = fmt.Sprintf("A through the bus in %d panels, multiplied while the next is copied", panels)
	}
	if passes > 1 {
		summary += fmt.Sprintf("; %d times, as its numbers were not as the sample promised", passes)
	}
	return []method.Stage{
		{Name: "stream", Summary: summary, Time: max(0, kernel-round)},
		{Name: "round", Summary: "integers from residues, times alpha, plus beta*y, rounded once", Time: round},
	}
}

// describe has the size of a number as it crosses the bus.
func (m *streamed) describe(info *method.Info) {
	panels, _ := m.product.Panels()
	info.Variant = "streamed in " + counted(panels, "panel")
	if m.product.InPlace() {
		info.Variant += " in place"
	}
	info.Moduli, info.ModuliBits = m.product.Moduli(), deferred.ModulusBits
	info.NumberBytes, info.WorkspaceBytes = m.product.NumberBytes(), m.product.Bytes()
}

func (m *streamed) free() {
	m.product.Free()
	m.x.Free()
}
