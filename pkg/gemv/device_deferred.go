package gemv

import (
	"fmt"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/gpu"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/rns/deferred/deferredgpu"
)

// deviceDeferred is the deferred engine on a GPU. The numbers cross the bus as they are, float64 or packed words, and become residues
// there; sums, reconstruction, alpha, beta and rounding are the device's. Without sums (alpha = 0, no elements) the host does what there is to do.
type deviceDeferred struct {
	deviceCommon
	a       *deferredgpu.Matrix
	dX      *deferredgpu.Vector
	product *deferredgpu.Product
	raw     []*deferredgpu.Numbers // what truncated products are repaired from
	events  [3]*gpu.Event          // before the sums, between, after the rounding
	convert time.Duration          // numbers to residues, on the device
	repair  time.Duration          // rows computed again, in the last run
}

func newDeviceDeferred(o Options) (*deviceDeferred, error) {
	common, err := newDeviceCommon(o)
	if err != nil {
		return nil, err
	}
	return &deviceDeferred{deviceCommon: common}, nil
}

// Load copies the numbers to the device and converts them there.
func (e *deviceDeferred) Load(p Problem) error {
	e.Close()
	*e = deviceDeferred{deviceCommon: e.fresh()}
	if err := e.loadVectors(p); err != nil || p.work() != full {
		return err
	}
	err := e.device.Do(e.loadProduct)
	if err != nil {
		e.Close()
	}
	return err
}

// loadProduct makes the product on the device; it takes the time of copies, and of conversions on both sides.
func (e *deviceDeferred) loadProduct() error {
	p := &e.problem
	if err := e.checkLeast(); err != nil {
		return err
	}
	in, err := e.pack()
	if err != nil {
		return err
	}
	start := time.Now()
	a, err := uploadNumbers(e.device, p.A, in.a)
	if err != nil {
		return e.memoryError(err, 0)
	}
	e.raw = append(e.raw, a)
	x, err := uploadNumbers(e.device, p.X, in.x)
	if err != nil {
		return e.memoryError(err, 0)
	}
	e.raw = append(e.raw, x)
	e.times.CopyIn = time.Since(start)
	start = time.Now()
	if err := e.convertNumbers(a, x, in.xLayout, in.xExtent); err != nil {
		return err
	}
	if e.product, err = deferredgpu.NewProduct(e.a, e.dX, in.options); err != nil {
		return e.memoryError(err, e.a.Bytes())
	}
	if err := e.reconsider(); err != nil {
		return err
	}
	if err := e.device.Sync(); err != nil {
		return err
	}
	e.convert = time.Since(start)
	return e.describe()
}

// packed returns wide numbers as packed words, nil for float64.
func packed(x Numbers) (*deferred.Packed, error) {
	if x.Wide == nil {
		return nil, nil
	}
	return deferred.Pack(numbers.Bigs(x.Wide), numbers.Strided(len(x.Wide), 1))
}

func uploadNumbers(d *gpu.Device, x Numbers, p *deferred.Packed) (*deferredgpu.Numbers, error) {
	if p != nil {
		return deferredgpu.UploadPacked(d, p)
	}
	return deferredgpu.UploadFloat64(d, x.Float64)
}

// convertNumbers makes the planes of op(A) and x.
func (e *deviceDeferred) convertNumbers(a, x *deferredgpu.Numbers, xLayout numbers.Layout, xExtent numbers.Extent) error {
	p := &e.problem
	layout := numbers.RowMajor(p.Rows(), p.Terms(), p.LDA)
	if p.Op == NoTrans {
		layout = numbers.Layout{Rows: p.Rows(), Cols: p.Terms(), RowStride: 1, ColStride: p.LDA}
	}
	plan, err := e.plan(a, layout, xLayout, xExtent)
	if err != nil {
		return err
	}
	free, err := e.device.Free()
	if err != nil {
		return err
	}
	cold := 3 * int64(e.device.Info().L2Bytes) // what ColdCache takes
	words, detail := elementWords(plan)
	bytes := plan.Bytes() / int64(plan.Moduli()) * int64(words)
	if bytes+cold > free {
		return &MemoryError{Method: "deferred", Need: bytes + cold + a.Bytes(), Have: free + a.Bytes(), M: p.M, N: p.N, Device: e.device.Name(), Detail: detail}
	}
	if e.a, err = deferredgpu.NewMatrix(e.device, plan, a, layout); err != nil {
		return e.memoryError(err, bytes)
	}
	e.dX, err = e.a.NewVector(x, xLayout, xExtent)
	return e.memoryError(err, bytes)
}

// elementWords returns how many words of 4 bytes an element takes on a device, and that in words.
func elementWords(p *deferred.Plan) (int, string) {
	words, limbs := deferredgpu.PlanesOf(p)
	if limbs {
		return words, counted(words, "limb") + " of 4 bytes per element"
	}
	return words, moduliDetail(words)
}

// plan measures the rows of op(A), float64 on the device, wide numbers on the host, and decides whether to truncate.
func (e *deviceDeferred) plan(a *deferredgpu.Numbers, l, xLayout numbers.Layout, x numbers.Extent) (*deferred.Plan, error) {
	p := &e.problem
	if p.A.Wide != nil {
		return deferred.NewPlanFor(source(p.A), l, deferred.NoTrans, source(p.X), xLayout, e.precision, deferred.Options{})
	}
	rows, special, err := a.Extents(l)
	if err != nil {
		return nil, err
	}
	if special && e.special == nil { // the device has looked, so that the host need not
		e.special = p.specialRows()
	}
	var o deferred.Options
	if deferred.MayTruncate(rows, l.Cols, x, e.precision) {
		tops, err := a.ProductTops(l, deferred.VectorTops(source(p.X), xLayout))
		if err != nil {
			return nil, err
		}
		o.KeepBits = deferred.KeepBits(rows, tops, l.Cols, x, e.precision)
	}
	return deferred.PlanExtents(rows, l.Cols, x, o)
}

// phases of the kernels, in their order.
var deferredPhases = []string{"accumulate", "round"}

func (e *deviceDeferred) describe() error {
	list, err := e.product.Kernels()
	if err != nil {
		return err
	}
	for i, k := range list {
		e.kernels = append(e.kernels, profileOf(e.device, deferredPhases[i], k))
	}
	for i := range e.events {
		if e.events[i], err = e.device.NewEvent(); err != nil {
			return err
		}
	}
	return nil
}

func (e *deviceDeferred) Run() { e.run(false) }

func (e *deviceDeferred) RunCold() error {
	e.run(true)
	return e.err
}

func (e *deviceDeferred) run(cold bool) {
	e.times.Kernels = 0
	if e.problem.work() != full {
		e.deferredEngine.Run()
		return
	}
	if e.err != nil || e.product == nil {
		return
	}
	e.fetched = false
	e.err = e.device.Do(func() error {
		err := e.launch(cold)
		if err != nil {
			return err
		}
		start := time.Now()
		err = e.product.Repair()
		if e.repair = 0; e.product.Truncated() {
			e.repair = time.Since(start)
			e.times.Kernels += e.repair
		}
		return err
	})
}

// launch runs the kernels, with cold caches if asked for, and takes their times: of each from a run with an event between them, which keeps the
// second from beginning before the first ends, and with cold caches of all from another one without it.
func (e *deviceDeferred) launch(cold bool) error {
	if cold {
		if err := e.launchBetween(cold, func() error { return nil }); err != nil {
			return err
		}
		var err error
		if e.times.Kernels, err = gpu.Elapsed(e.events[0], e.events[2]); err != nil {
			return err
		}
	}
	if err := e.launchBetween(cold, func() error { return e.events[1].Record(nil) }); err != nil {
		return err
	}
	var err error
	for i := range e.kernels {
		if e.kernels[i].Time, err = gpu.Elapsed(e.events[i], e.events[i+1]); err != nil {
			return err
		}
	}
	if !cold {
		e.times.Kernels, err = gpu.Elapsed(e.events[0], e.events[2])
	}
	return err
}

// launchBetween puts the kernels between the first and the last event, something between the kernels, and waits.
func (e *deviceDeferred) launchBetween(cold bool, between func() error) error {
	if cold {
		if err := e.device.ColdCache(nil); err != nil {
			return err
		}
	}
	for _, step := range []func() error{
		func() error { return e.events[0].Record(nil) },
		func() error { return e.product.LaunchSums(nil) },
		between,
		func() error { return e.product.LaunchFinish(nil) },
		func() error { return e.events[2].Record(nil) },
		e.events[2].Sync,
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Result copies the components of the last Run to the host.
func (e *deviceDeferred) Result() []exact.Value {
	if e.product == nil {
		return e.deferredEngine.Result()
	}
	return e.fetch(e.product.Results)
}

func (e *deviceDeferred) Phases() []Phase {
	phases := []Phase{
		{"device-convert", "numbers to limbs or residues, on the device, once", e.convert},
		{"accumulate", "exact sums of products in limbs or residues", 0},
		{"round", "integers from these, times alpha, plus beta*y, rounded once", 0},
	}
	for i, k := range e.kernels {
		phases[1+i].Time = k.Time
	}
	if e.product != nil && e.product.Truncated() {
		rows, onHost := e.product.Repaired()
		summary := fmt.Sprintf("again with more moduli, by the clock: %s that truncation left open, %d on the host", counted(rows, "row"), onHost)
		phases = append(phases, Phase{"repair", summary, e.repair})
	}
	return phases
}

func (e *deviceDeferred) Close() {
	if e.a == nil && e.raw == nil {
		return
	}
	e.device.Do(func() error {
		if e.product != nil {
			e.product.Free()
		}
		e.freeNumbers()
		e.dX.Free()
		e.a.Free()
		for _, event := range e.events {
			event.Free()
		}
		return nil
	})
	e.a, e.dX, e.product = nil, nil, nil
}

func (e *deviceDeferred) Format() Format {
	f := Format{Name: "residues", Actual: e.precision}
	if e.a != nil {
		if limbs := e.a.Limbs(); limbs > 0 {
			f.Name, f.NumberBytes = "limbs", 4*limbs
		} else {
			f.Moduli, f.ModuliBits, f.NumberBytes = e.a.Moduli(), deferred.ModulusBits, 4*e.a.Moduli()
		}
		f.WorkspaceBytes = int(e.product.Bytes())
		for _, x := range e.raw {
			f.WorkspaceBytes += int(x.Bytes())
		}
		if e.product.Truncated() {
			rows, _ := e.product.Repaired()
			f.Variant = truncatedVariant(rows)
		}
	}
	return f
}
