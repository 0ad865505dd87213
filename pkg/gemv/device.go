package gemv

import (
	"errors"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/gpu"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/rnsgpu"
)

// isGPU reports whether the name of a device, as in Options, is that of a GPU.
func isGPU(device string) bool { return device != "" && device != "cpu" }

// step is a kernel made ready: launch puts it into the default stream.
type step struct {
	profile KernelProfile
	launch  func() error
}

// newStep prepares a launch that computes an array and moves so many bytes.
func newStep[P any](e *deviceResidues, phase, name, array string, l gpu.Launch, p P, bytes int64) (step, error) {
	k, err := kernelOf[P](e, name)
	if err != nil {
		return step{}, err
	}
	a, err := k.Attributes()
	if err != nil {
		return step{}, err
	}
	occupancy, err := k.Occupancy(l.Block.X, l.Shared)
	if err != nil {
		return step{}, err
	}
	s := step{profile: KernelProfile{
		Phase: phase, Name: name, Array: array, Bytes: bytes, Bandwidth: e.device.Info().Bandwidth(), Occupancy: occupancy, Blocks: max(l.Grid.X, 1) * max(l.Grid.Y, 1), Threads: l.Block.X,
		Shared: l.Shared + a.Static, Registers: a.Registers, Local: a.Local,
	}}
	s.launch = func() error { return k.Launch(l, p) }
	return s, nil
}

// kernelOf finds a kernel of cuda/gemv.cu.
func kernelOf[P any](e *deviceResidues, name string) (*gpu.Kernel[P], error) {
	if k, ok := e.kernels[name].(*gpu.Kernel[P]); ok {
		return k, nil
	}
	m, err := e.device.Module("gemv")
	if err != nil {
		return nil, err
	}
	k, err := gpu.Function[P](m, name)
	if err == nil {
		e.kernels[name] = k
	}
	return k, err
}

// residentBlocks returns how many blocks of a kernel are on the device at once, at least 1.
func residentBlocks[P any](e *deviceResidues, name string, threads, shared int) (int, error) {
	k, err := kernelOf[P](e, name)
	if err != nil {
		return 0, err
	}
	occupancy, err := k.Occupancy(threads, shared)
	info := e.device.Info()
	return max(1, int(occupancy*float64(info.ThreadsPerMP)/float64(threads)+0.5)*info.Multiprocessors), err
}

// deviceResidues is the part that the RNS methods share on a GPU. Conversion is the host's; numbers, scratch memory and steps belong to
// the device's thread.
type deviceResidues struct {
	residues
	device  *gpu.Device
	kernels map[string]any // *gpu.Kernel by name

	base           *rnsgpu.Base
	factors        [2]*rnsgpu.Vector // alpha and beta
	dA, dX, dY     *rnsgpu.Vector
	dD, dResult    *rnsgpu.Vector
	scratch        *rnsgpu.Scratch
	groups         int // that scratch has room for
	steps          []step
	events         []*gpu.Event // before each step and after the last
	scaleY         bool         // beta*y is to be computed
	times          DeviceTimes
	fetched        bool // the host has the result of the last Run
	warnings       []string
	err            error
	before, matrix int64 // device memory in use before Load; that of A
	workspace      int64
}

func newDeviceResidues(o Options) (deviceResidues, error) {
	device, err := gpu.OpenName(o.Device)
	if err != nil {
		return deviceResidues{}, err
	}
	r, err := newResidues(o)
	if err != nil {
		return deviceResidues{}, err
	}
	return deviceResidues{residues: r, device: device, kernels: map[string]any{}}, nil
}

// loadOnto converts a problem and copies it to the device, which has to hold so many further bytes; prepare then makes the steps. The
// host's copy of A is given up.
func (e *deviceResidues) loadOnto(p Problem, method string, further int64, prepare func() error) error {
	e.Close()
	start := time.Now()
	if err := e.load(p, method, 1); err != nil {
		return err
	}
	*e = deviceResidues{residues: e.residues, device: e.device, kernels: e.kernels}
	e.scaleY = e.copyY()
	e.times.Convert = time.Since(start)
	err := e.device.Do(func() error {
		e.before = e.device.Memory().Current
		if err := e.checkFree(method, further); err != nil {
			return err
		}
		start = time.Now()
		if err := e.copyIn(); err != nil {
			return err
		}
		e.times.CopyIn = time.Since(start)
		if err := prepare(); err != nil {
			return err
		}
		e.workspace = e.device.Memory().Current - e.before - e.matrix
		return e.newEvents()
	})
	e.a = nil
	if err != nil {
		e.Close()
		return e.memoryError(method, further, err)
	}
	return nil
}

// inputNumbers is how many numbers the device holds beside workspace.
func (e *deviceResidues) inputNumbers() int64 {
	n := int64(2 + e.result.Len())
	for _, v := range []*rns.Vector{e.a, e.x, e.y, e.d} {
		if v != nil {
			n += int64(v.Len())
		}
	}
	return n
}

// checkFree returns a *MemoryError if the device has not enough memory.
func (e *deviceResidues) checkFree(method string, further int64) error {
	free, err := e.device.Free()
	if err != nil {
		return err
	}
	need := e.inputNumbers()*int64(e.context.Base().TermBytes()) + further
	if need > free {
		p := &e.problem
		return &MemoryError{Method: method, Need: need, Have: free, M: p.M, N: p.N, Device: e.device.Name()}
	}
	return nil
}

// memoryError makes an error of the driver about its memory one of ours.
func (e *deviceResidues) memoryError(method string, further int64, err error) error {
	if !errors.Is(err, gpu.ErrOutOfMemory) {
		return err
	}
	var free int64
	e.device.Do(func() (err error) { free, err = e.device.Free(); return err })
	p := &e.problem
	need := (int64(p.LDA)*int64(p.N)+e.inputNumbers())*int64(e.context.Base().TermBytes()) + further
	return &MemoryError{Method: method, Need: need, Have: free, M: p.M, N: p.N, Device: e.device.Name()}
}

// copyIn makes the base and the vectors of the device. What the problem does not need stays nil.
func (e *deviceResidues) copyIn() (err error) {
	if e.base, err = rnsgpu.NewBase(e.device, e.context); err != nil {
		return err
	}
	for i, f := range []*rns.Float{e.alpha, e.beta} {
		v := e.context.Base().NewVector(1)
		v.Set(0, f)
		if e.factors[i], err = e.upload(v); err != nil {
			return err
		}
	}
	for _, v := range []struct {
		to   **rnsgpu.Vector
		from *rns.Vector
	}{{&e.dA, e.a}, {&e.dX, e.x}, {&e.dY, e.y}, {&e.dD, e.d}, {&e.dResult, e.result}} {
		if v.from == nil {
			continue
		}
		if *v.to, err = e.upload(v.from); err != nil {
			return err
		}
	}
	if e.a != nil {
		e.matrix = int64(e.a.Len()) * int64(e.context.Base().TermBytes())
	}
	return e.device.Sync()
}

func (e *deviceResidues) upload(v *rns.Vector) (*rnsgpu.Vector, error) {
	on, err := e.base.NewVector(v.Len())
	if err != nil {
		return nil, err
	}
	if err := on.Upload(v); err != nil {
		on.Free()
		return nil, err
	}
	return on, nil
}

func (e *deviceResidues) newEvents() error {
	for range len(e.steps) + 1 {
		event, err := e.device.NewEvent()
		if err != nil {
			return err
		}
		e.events = append(e.events, event)
	}
	return nil
}

func (e *deviceResidues) Run() { e.run(false) }

func (e *deviceResidues) RunCold() error {
	e.run(true)
	return e.err
}

// run launches the steps, with an event between each two, and waits.
func (e *deviceResidues) run(cold bool) {
	if e.err != nil || e.base == nil {
		return
	}
	e.fetched, e.times.Kernels = false, 0
	e.err = e.device.Do(func() error {
		if len(e.steps) == 0 {
			return nil
		}
		if cold {
			if err := e.device.ColdCache(nil); err != nil {
				return err
			}
		}
		for i := range e.steps {
			if err := e.events[i].Record(nil); err != nil {
				return err
			}
			if err := e.steps[i].launch(); err != nil {
				return err
			}
		}
		last := e.events[len(e.steps)]
		if err := last.Record(nil); err != nil {
			return err
		}
		if err := last.Sync(); err != nil {
			return err
		}
		var err error
		for i := range e.steps {
			if e.steps[i].profile.Time, err = gpu.Elapsed(e.events[i], e.events[i+1]); err != nil {
				return err
			}
		}
		e.times.Kernels, err = gpu.Elapsed(e.events[0], last)
		return err
	})
}

// Result copies the components of the last Run to the host.
func (e *deviceResidues) Result() []exact.Value {
	if !e.fetched && e.err == nil && e.dResult != nil {
		start := time.Now()
		e.err = e.device.Do(func() error { return e.dResult.Download(e.result) })
		e.times.CopyOut = time.Since(start)
		e.fetched = true
	}
	return e.residues.Result()
}

func (e *deviceResidues) Err() error         { return e.err }
func (e *deviceResidues) Times() DeviceTimes { return e.times }
func (e *deviceResidues) Warnings() []string { return e.warnings }

func (e *deviceResidues) Device() string { return recordName(e.device) }

func (e *deviceResidues) Kernels() []KernelProfile {
	var list []KernelProfile
	for _, s := range e.steps {
		list = append(list, s.profile)
	}
	return list
}

// timeOf returns the time of the last Run's kernels of a phase.
func (e *deviceResidues) timeOf(phase string) (t time.Duration) {
	for _, s := range e.steps {
		if s.profile.Phase == phase {
			t += s.profile.Time
		}
	}
	return t
}

func (e *deviceResidues) Close() {
	if e.base == nil {
		return
	}
	e.device.Do(func() error {
		for _, v := range []*rnsgpu.Vector{e.factors[0], e.factors[1], e.dA, e.dX, e.dY, e.dD, e.dResult} {
			v.Free()
		}
		e.scratch.Free()
		for _, event := range e.events {
			event.Free()
		}
		e.base.Free()
		return nil
	})
	e.base, e.dA, e.dX, e.dY, e.dD, e.dResult, e.scratch, e.steps, e.events = nil, nil, nil, nil, nil, nil, nil, nil, nil
	e.factors = [2]*rnsgpu.Vector{}
}

// deviceFormat describes the numbers and the device memory beside A.
func (e *deviceResidues) deviceFormat() Format {
	f := e.format(0)
	f.Threads, f.WorkspaceBytes = 0, int(e.workspace)
	return f
}

// productParameters is the struct Products of cuda/gemv.cu.
type productParameters struct {
	Z, Left, Right                             rnsgpu.VectorParameter
	LeftRow, LeftColumn, RightRow, RightColumn uint64
	Rows, Columns                              uint32
}

// scaled are the products of a factor and the numbers of a vector.
func scaled(z, factor, x *rnsgpu.Vector) productParameters {
	return productParameters{Z: z.Parameter(), Left: factor.Parameter(), Right: x.Parameter(), RightRow: 1, Rows: uint32(x.Len()), Columns: 1}
}

// matrixProducts are the products of the elements of A and d: a_ij * d_j, or a_ij * d_i for the transpose.
func (e *deviceResidues) matrixProducts(z rnsgpu.VectorParameter) productParameters {
	p := &e.problem
	m := productParameters{
		Z: z, Left: e.dA.Parameter(), Right: e.dD.Parameter(), LeftRow: 1, LeftColumn: uint64(p.LDA), Rows: uint32(p.M), Columns: uint32(p.N),
	}
	if p.Op == Trans {
		m.RightRow = 1
	} else {
		m.RightColumn = 1
	}
	return m
}

// numbers returns how many products there are.
func (m *productParameters) numbers() int64 { return int64(m.Rows) * int64(m.Columns) }

// ensureScratch makes scratch memory for at least so many groups of lanes.
func (e *deviceResidues) ensureScratch(groups int) (err error) {
	if groups <= e.groups {
		return nil
	}
	e.scratch.Free()
	e.scratch, err = e.base.NewScratch(groups)
	e.groups = groups
	return err
}
