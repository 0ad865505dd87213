package gemv

import (
	"errors"
	"fmt"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/rns/deferred/deferredgpu"
)

// deviceStream is the deferred engine on a GPU with A in host memory: every run copies it in panels, which become residues and are multiplied while
// the next ones are copied. Times are by the clock. Without sums (alpha = 0, no elements) the host does what there is to do.
type deviceStream struct {
	deviceCommon // kernels: of the last pass, all panels together
	cut          deferredgpu.PanelOptions
	x            *deferredgpu.Numbers
	product      *deferredgpu.HostProduct
}

func newDeviceStream(o Options) (*deviceStream, error) {
	common, err := newDeviceCommon(o)
	if err != nil {
		return nil, err
	}
	return &deviceStream{deviceCommon: common}, nil
}

// Load copies x and prepares everything; A is only sampled, or packed and measured if it is wide.
func (e *deviceStream) Load(p Problem) error {
	e.Close()
	*e = deviceStream{deviceCommon: e.fresh(), cut: e.cut}
	if err := e.loadVectors(p); err != nil || p.work() != full {
		return err
	}
	err := e.device.Do(e.loadProduct)
	if err != nil {
		e.Close()
	}
	return err
}

func (e *deviceStream) loadProduct() error {
	p := &e.problem
	in, err := e.pack()
	if err != nil {
		return err
	}
	start := time.Now()
	if e.x, err = uploadNumbers(e.device, p.X, in.x); err != nil {
		return e.memoryError(err)
	}
	a := deferredgpu.Host{Float64: p.A.Float64, Packed: in.a, Rows: p.M, Columns: p.N, LD: p.LDA}
	x := deferredgpu.HostVector{Numbers: e.x, Host: source(p.X), Layout: in.xLayout, Extent: in.xExtent}
	e.product, err = deferredgpu.NewHostProduct(e.device, a, p.Op == Trans, x, in.options, e.cut)
	e.times.CopyIn = time.Since(start)
	return e.memoryError(err)
}

// memoryError makes an error about the device's memory one of ours.
func (e *deviceStream) memoryError(err error) error {
	p := &e.problem
	memory := &MemoryError{Method: "deferred", M: p.M, N: p.N, Device: e.device.Name()}
	var small *deferredgpu.TooSmallError
	switch {
	case errors.As(err, &small):
		memory.Need, memory.Have, memory.Detail = small.Need, small.Free, "streamed, one column and its residues at a time"
		return memory
	case errors.Is(err, gpu.ErrOutOfMemory): // vectors alone, or others have taken what was free
		if free, failed := e.device.Free(); failed == nil {
			memory.Have, memory.Need, memory.Detail = free, max(free+1, 8*int64(p.Rows()+p.Terms())), "streamed"
			return memory
		}
	}
	return err
}

func (e *deviceStream) Run() {
	e.times.Kernels = 0
	if e.problem.work() != full {
		e.deferredEngine.Run()
		return
	}
	if e.err != nil || e.product == nil {
		return
	}
	e.fetched = false
	start := time.Now()
	e.err = e.device.Do(func() error { return e.memoryError(e.product.Run()) })
	e.times.Kernels = time.Since(start)
	if e.err == nil && e.product.Special() && e.special == nil { // the device has looked, so that the host need not
		e.special = e.problem.specialRows()
	}
	if e.err == nil {
		e.err = e.device.Do(e.describe)
	}
}

// RunCold is Run: what it works on comes from the bus.
func (e *deviceStream) RunCold() error {
	e.Run()
	return e.err
}

// describe notes what the kernels did.
func (e *deviceStream) describe() error {
	list, err := e.product.Kernels()
	if err != nil {
		return err
	}
	e.kernels = e.kernels[:0]
	for i, k := range list {
		e.kernels = append(e.kernels, profileOf(e.device, []string{"convert", "accumulate", "round"}[i], k.Kernel))
		e.kernels[i].Time = k.Time
	}
	return nil
}

// Result copies the components of the last Run to the host.
func (e *deviceStream) Result() []exact.Value {
	if e.product == nil {
		return e.deferredEngine.Result()
	}
	return e.fetch(e.product.Results)
}

// Phases are those of the run by the clock: the kernels of all panels but the last run while the next one is copied.
func (e *deviceStream) Phases() []Phase {
	if e.product == nil {
		return e.deferredEngine.Phases()
	}
	round := time.Duration(0)
	if len(e.kernels) > 0 {
		round = e.kernels[len(e.kernels)-1].Time
	}
	panels, passes := e.product.Panels()
	how := "A through the bus at once, then multiplied"
	if panels > 1 {
		how = fmt.Sprintf("A through the bus in %d panels, multiplied while the next is copied", panels)
	}
	if passes > 1 {
		how += fmt.Sprintf("; %d times, as its numbers were not as the sample promised", passes)
	}
	return []Phase{
		{"stream", how, max(0, e.times.Kernels-round)},
		{"round", "integers from residues, times alpha, plus beta*y, rounded once", round},
	}
}

// counted writes a number and a noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func (e *deviceStream) Close() {
	if e.x == nil {
		return
	}
	e.device.Do(func() error {
		e.product.Free()
		e.x.Free()
		return nil
	})
	e.x, e.product = nil, nil
}

// Format has the size of a number as it crosses the bus.
func (e *deviceStream) Format() Format {
	f := Format{Name: "residues", Actual: e.precision}
	if e.product != nil {
		panels, _ := e.product.Panels()
		f.Variant = "streamed in " + counted(panels, "panel")
		f.Moduli, f.ModuliBits, f.NumberBytes = e.product.Moduli(), deferred.ModulusBits, e.product.NumberBytes()
		f.WorkspaceBytes = int(e.product.Bytes())
	}
	return f
}
