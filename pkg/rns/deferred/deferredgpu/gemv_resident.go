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

// resident is a product with A in the device's memory. The numbers cross the bus as they are, float64 or packed words,
// and become residues there; sums, reconstruction, alpha, beta and rounding are the device's.
type resident struct {
	factored
	events        [3]*gpu.Event // before the sums, between, after the rounding
	list          []method.Kernel
	conversion    time.Duration // numbers to residues, on the device
	recomputation time.Duration // rows computed again, in the last run
	met           bool          // an infinity or NaN
}

// load makes the product on the device; it takes the time of copies, and of conversions on both sides.
func (m *resident) load(e *gemv) error {
	p := e.problem
	if err := e.checkLeast(); err != nil {
		return err
	}
	in, err := e.pack()
	if err != nil {
		return err
	}
	start := time.Now()
	a, err := m.upload(e, p.A.Source, in.a)
	if err != nil {
		return err
	}
	x, err := m.upload(e, p.X.Source, in.x)
	if err != nil {
		return err
	}
	e.times.CopyIn = time.Since(start)
	start = time.Now()
	if err := m.convert(e, a, x, in.extent); err != nil {
		return err
	}
	if m.product, err = NewProduct(m.a, m.x, in.options); err != nil {
		return e.outOfMemory(err, m.a.Bytes())
	}
	if err := m.reconsider(); err != nil {
		return err
	}
	if err := e.device.Sync(); err != nil {
		return err
	}
	m.conversion = time.Since(start)
	return m.prepareLaunch(e)
}

// checkLeast returns a *method.MemoryError, before anything is copied, if the numbers with one modulus would not fit.
func (e *gemv) checkLeast() error {
	a := e.problem.A
	number := int64(16) // a word and its exponent
	if a.Binary64() {
		number = 8
	}
	need := number*int64(a.Source.Len()) + 4*e.shape.Elements
	free, err := e.device.Free()
	if err == nil && need > free {
		err = e.memoryError(need, free, "at least")
	}
	return err
}

// outOfMemory makes an error of the driver about its memory one of ours; planes is the size of the planes, if known.
func (e *gemv) outOfMemory(err error, planes int64) error {
	if !errors.Is(err, gpu.ErrOutOfMemory) {
		return err
	}
	free, failed := e.device.Free()
	if failed != nil {
		return err
	}
	return e.memoryError(planes+8*int64(e.problem.A.Source.Len()), free, "")
}

func (m *resident) upload(e *gemv, x numbers.Source, p *deferred.Packed) (*Numbers, error) {
	n, err := e.upload(x, p)
	if err != nil {
		return nil, e.outOfMemory(err, 0)
	}
	m.raw = append(m.raw, n)
	return n, nil
}

func (m *resident) convert(e *gemv, a, x *Numbers, extent numbers.Extent) error {
	layout := e.problem.Matrix().Layout
	plan, err := m.plan(e, a, layout, extent)
	if err != nil {
		return err
	}
	if uses := e.config.Reuse(); 0 < uses && uses <= fewUses && InPlace(plan, a, layout) {
		if m.a, err = NewMatrixInPlace(e.device, plan, a, layout); err != nil {
			return e.outOfMemory(err, 0)
		}
		m.x, err = m.a.NewVector(x, e.problem.X.Layout, extent)
		return e.outOfMemory(err, 0)
	}
	free, err := e.device.Free()
	if err != nil {
		return err
	}
	cold := 3 * int64(e.device.Info().L2Bytes) // what ColdCache takes
	words, detail := elementWords(plan)
	bytes := plan.Bytes() / int64(plan.Moduli()) * int64(words)
	if bytes+cold > free {
		return e.memoryError(bytes+cold+a.Bytes(), free+a.Bytes(), detail)
	}
	if m.a, err = NewMatrix(e.device, plan, a, layout); err != nil {
		return e.outOfMemory(err, bytes)
	}
	m.x, err = m.a.NewVector(x, e.problem.X.Layout, extent)
	return e.outOfMemory(err, bytes)
}

// elementWords returns how many words of 4 bytes an element takes on a device, and that in words.
func elementWords(p *deferred.Plan) (int, string) {
	words, limbs := PlanesOf(p)
	if limbs {
		return words, counted(words, "limb") + " of 4 bytes per element"
	}
	return words, fmt.Sprintf("%d moduli of 4 bytes per element", words)
}

// plan measures the rows of op(A), float64 on the device, wide numbers on the host, and decides whether to truncate.
func (m *resident) plan(e *gemv, a *Numbers, l numbers.Layout, x numbers.Extent) (*deferred.Plan, error) {
	p, precision := e.problem, e.config.Precision
	if !p.A.Binary64() {
		return deferred.NewPlanFor(p.A.Source, l, deferred.NoTrans, p.X.Source, p.X.Layout, precision, deferred.Options{})
	}
	rows, special, err := a.Extents(l)
	if err != nil {
		return nil, err
	}
	m.met = special
	var o deferred.Options
	if deferred.MayTruncate(rows, l.Cols, x, precision) {
		tops, err := a.ProductTops(l, deferred.VectorTops(p.X.Source, p.X.Layout))
		if err != nil {
			return nil, err
		}
		o.KeepBits = deferred.KeepBits(rows, tops, l.Cols, x, precision)
	}
	return deferred.PlanExtents(rows, l.Cols, x, o)
}

// residentStages are those of the kernels, in their order.
var residentStages = []string{"accumulate", "round"}

func (m *resident) prepareLaunch(e *gemv) error {
	list, err := m.product.Kernels()
	if err != nil {
		return err
	}
	for i, k := range list {
		m.list = append(m.list, e.profile(residentStages[i], k))
	}
	for i := range m.events {
		if m.events[i], err = e.device.NewEvent(); err != nil {
			return err
		}
	}
	return nil
}

func (m *resident) run(e *gemv, timed bool) error {
	err := m.launch(e, timed)
	if err != nil {
		return err
	}
	start := time.Now()
	err = m.product.Recompute()
	if m.recomputation = 0; m.product.Truncated() {
		m.recomputation = time.Since(start)
		e.times.Kernel += m.recomputation
	}
	return err
}

// launch runs the kernels. Their times are taken in two runs: of all without anything between them, as the second may
// begin before the first ends; and of each with an event between them, which keeps it from that.
func (m *resident) launch(e *gemv, timed bool) error {
	if !timed {
		if err := m.product.Launch(nil); err != nil {
			return err
		}
		return e.device.Sync()
	}
	if err := m.launchBetween(e, func() error { return nil }); err != nil {
		return err
	}
	var err error
	if e.times.Kernel, err = gpu.Elapsed(m.events[0], m.events[2]); err != nil {
		return err
	}
	if err := m.launchBetween(e, func() error { return m.events[1].Record(nil) }); err != nil {
		return err
	}
	for i := range m.list {
		if m.list[i].Time, err = gpu.Elapsed(m.events[i], m.events[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// launchBetween puts the kernels, caches cold, something between them, between first and last event, and waits.
func (m *resident) launchBetween(e *gemv, between func() error) error {
	if err := e.device.ColdCache(nil); err != nil {
		return err
	}
	return gpu.InTurn(
		func() error { return m.events[0].Record(nil) },
		func() error { return m.product.LaunchSums(nil) },
		between,
		func() error { return m.product.LaunchRounding(nil) },
		func() error { return m.events[2].Record(nil) },
		m.events[2].Sync,
	)
}

func (m *resident) results(y []*big.Float) error { return m.product.Results(y) }
func (m *resident) special() bool                { return m.met }
func (m *resident) kernels() []method.Kernel     { return append([]method.Kernel(nil), m.list...) }

func (m *resident) stages(time.Duration) []method.Stage {
	list := []method.Stage{
		{Name: "device-convert", Summary: "numbers to limbs or residues, on the device, once", Time: m.conversion},
		{Name: "accumulate", Summary: "exact sums of products in limbs or residues"},
		{Name: "round", Summary: "integers from these, times alpha, plus beta*y, rounded once"},
	}
	for i, k := range m.list {
		list[1+i].Time = k.Time
	}
	if m.product.Truncated() {
		rows, onHost := m.product.Recomputed()
		summary := fmt.Sprintf("again with more moduli, by the clock: %s that truncation left open, %d on the host",
			counted(rows, "row"), onHost)
		list = append(list, method.Stage{Name: "recomputation", Summary: summary, Time: m.recomputation})
	}
	return list
}

func (m *resident) describe(info *method.Info) {
	switch limbs := m.a.Limbs(); {
	case m.a.inPlace():
		info.Format, info.NumberBytes, info.Variant = "exact", 8, inPlaceVariant
	case limbs > 0:
		info.Format, info.NumberBytes = "limbs", 4*limbs
	default:
		info.Moduli, info.ModuliBits, info.NumberBytes = m.a.Moduli(), deferred.ModulusBits, 4*m.a.Moduli()
	}
	info.WorkspaceBytes = m.product.Bytes()
	for _, x := range m.raw {
		info.WorkspaceBytes += x.Bytes()
	}
	if m.product.Truncated() {
		rows, _ := m.product.Recomputed()
		info.Variant = deferred.TruncatedVariant(rows)
	}
}

func (m *resident) free() {
	m.factored.free()
	for _, event := range m.events {
		event.Free()
	}
}
