package rnsgpu

import (
	"cmp"
	"context"
	"errors"
	"time"

	"mpbench/cuda"
	"mpbench/pkg/gpu"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/rnsop"
)

// step is a kernel made ready: launch puts it into the default stream.
type step struct {
	profile method.Kernel
	launch  func() error
}

// newStep prepares a launch that computes an array and moves so many bytes.
func newStep[P any](e *product, stage, name, array string, l gpu.Launch, p P, bytes int64) (step, error) {
	k, err := gemvKernel[P](e, name)
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
	s := step{profile: method.Kernel{
		Stage: stage, Name: name, Array: array, Bytes: bytes, Bandwidth: e.device.Info().Bandwidth(), Occupancy: occupancy,
		Blocks: max(l.Grid.X, 1) * max(l.Grid.Y, 1), Threads: l.Block.X,
		Shared: l.Shared + a.Static, Registers: a.Registers, Local: a.Local,
	}}
	s.launch = func() error { return k.Launch(l, p) }
	return s, nil
}

func gemvKernel[P any](e *product, name string) (*gpu.Kernel[P], error) {
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
func residentBlocks[P any](e *product, name string, threads, shared int) (int, error) {
	k, err := gemvKernel[P](e, name)
	if err != nil {
		return 0, err
	}
	occupancy, err := k.Occupancy(threads, shared)
	info := e.device.Info()
	return max(1, int(occupancy*float64(info.ThreadsPerMP)/float64(threads)+0.5)*info.Multiprocessors), err
}

// product is y = alpha*op(A)*x + beta*y by an RNS method on a GPU: the part that the methods share. Conversion is the
// host's; numbers, scratch memory and steps belong to the device's thread.
type product struct {
	name    string // of the method
	config  method.Config
	context *rns.Context
	device  *gpu.Device
	kernels map[string]any // *gpu.Kernel by name

	*rnsop.Operands             // nil before Prepare
	multiplies      bool        // alpha*op(A)*x is to be computed
	scaleY          bool        // beta*y is to be computed
	result          *rns.Vector // on the host

	own           *gpu.Owner
	base          *Base
	factors       [2]*Vector // alpha and beta
	dA, dX, dY    *Vector
	dD, dResult   *Vector
	scratch       *Scratch
	groups        int // that scratch has room for
	steps         []step
	events        []*gpu.Event // before each step and after the last
	times         method.Times
	fetched       bool // the host has the result of the last run
	warnings      []string
	matrix, space int64 // bytes of A; of everything else
}

func newProduct(name string, c method.Config) (product, error) {
	context, err := rnsop.NewContext(c)
	if err != nil {
		return product{}, err
	}
	device, err := gpu.Open(c.GPU())
	return product{name: name, config: c, context: context, device: device, kernels: map[string]any{}}, err
}

// load converts a problem and copies it to the device, which has to hold so many further bytes; prepare then makes the
// steps. The host's copy of A is given up.
func (e *product) load(p *op.Problem, further int64, prepare func() error) error {
	start := time.Now()
	shape, err := p.Op.Shape(p)
	if err := cmp.Or(err, e.CheckMemory(p)); err != nil {
		return err
	}
	number := int64(e.context.Base().TermBytes())
	operands, err := rnsop.Load(e.context, p, e.config.Threads, nil)
	if err != nil {
		return err
	}
	*e = product{
		name: e.name, config: e.config, context: e.context, device: e.device, kernels: e.kernels, Operands: operands,
		own:        e.device.NewOwner(),
		multiplies: p.Multiplies(), scaleY: p.Adds() && !p.Copies(), result: e.context.Base().NewVector(shape.Rows),
	}
	if p.Copies() {
		e.copyY()
	}
	e.times.Convert = time.Since(start)
	need := e.numbers()*number + further
	err = e.device.Do(func() error {
		before := e.device.Memory().Current
		if err := e.checkFree(need); err != nil {
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
		e.space = e.device.Memory().Current - before - e.matrix
		return e.newEvents()
	})
	e.A = nil
	if err != nil {
		return errors.Join(e.memoryError(need, err), e.Close())
	}
	return nil
}

// CheckMemory checks that the host has room for the matrix in residues, which it converts.
func (e *product) CheckMemory(p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	need := shape.Elements * int64(e.context.Base().TermBytes())
	return cmp.Or(err, e.config.CheckMemory(e.name, shape, need, ""))
}

// copyY makes the result y, where that is all there is to do.
func (e *product) copyY() {
	var f rns.Float
	for i := range e.result.Len() {
		e.Y.View(&f, i)
		e.result.Set(i, &f)
	}
}

// numbers is how many numbers the device holds beside workspace.
func (e *product) numbers() int64 {
	n := int64(2 + e.result.Len())
	for _, v := range []*rns.Vector{e.A, e.X, e.X, e.Y} { // alpha*x is as long as x
		if v != nil {
			n += int64(v.Len())
		}
	}
	return n
}

// checkFree returns a *method.MemoryError if the device has not so many bytes.
func (e *product) checkFree(need int64) error {
	free, err := e.device.Free()
	if err != nil || need <= free {
		return err
	}
	return &method.MemoryError{Method: e.name, Shape: e.Shape, Need: need, Have: free, Device: e.device.Name()}
}

// memoryError makes an error of the driver about its memory one of ours.
func (e *product) memoryError(need int64, err error) error {
	if !errors.Is(err, gpu.ErrOutOfMemory) {
		return err
	}
	var free int64
	if failed := e.device.Do(func() (err error) { free, err = e.device.Free(); return err }); failed != nil {
		return errors.Join(err, failed)
	}
	return &method.MemoryError{Method: e.name, Shape: e.Shape, Need: need, Have: free, Device: e.device.Name()}
}

// copyIn makes the base and the vectors of the device. What the problem does not need stays nil.
func (e *product) copyIn() (err error) {
	if e.base, err = NewBase(e.device, e.context); err != nil {
		return err
	}
	for i, f := range []*rns.Float{e.Alpha, e.Beta} {
		v := e.context.Base().NewVector(1)
		v.Set(0, f)
		if e.factors[i], err = e.upload(v); err != nil {
			return err
		}
	}
	var d *rns.Vector
	if e.multiplies {
		d = e.context.Base().NewVector(e.X.Len())
		e.matrix = int64(e.A.Len()) * int64(e.context.Base().TermBytes())
	}
	for _, v := range []struct {
		to   **Vector
		from *rns.Vector
	}{{&e.dA, e.A}, {&e.dX, e.X}, {&e.dY, e.Y}, {&e.dD, d}, {&e.dResult, e.result}} {
		if v.from == nil {
			continue
		}
		if *v.to, err = e.upload(v.from); err != nil {
			return err
		}
	}
	return e.device.Sync()
}

func (e *product) upload(v *rns.Vector) (*Vector, error) {
	on, err := e.base.NewVector(v.Len())
	if err != nil {
		return nil, err
	}
	e.own.Keep(on)
	return on, on.Upload(v)
}

func (e *product) newEvents() error {
	e.events = make([]*gpu.Event, len(e.steps)+1)
	e.own.Events(e.events)
	return e.own.Err()
}

func (e *product) Run(context.Context) error {
	return e.run(func() error {
		for _, s := range e.steps {
			if err := s.launch(); err != nil {
				return err
			}
		}
		return e.device.Sync()
	})
}

// RunTimed launches the steps with an event between each two.
func (e *product) RunTimed(context.Context) error {
	e.times.Kernel = 0
	return e.run(func() error {
		if err := e.device.ColdCache(nil); err != nil {
			return err
		}
		for i, s := range e.steps {
			if err := e.events[i].Record(nil); err != nil {
				return err
			}
			if err := s.launch(); err != nil {
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
		e.times.Kernel, err = gpu.Elapsed(e.events[0], last)
		return err
	})
}

func (e *product) run(launch func() error) error {
	e.fetched = false
	if len(e.steps) == 0 {
		return nil
	}
	return e.device.Do(launch)
}

func (e *product) Cool() error { return e.device.Cool() }

// Result copies the components of the last run to the host.
func (e *product) Result() (numbers.Source, error) {
	if !e.fetched && len(e.steps) > 0 {
		start := time.Now()
		if err := e.device.Do(func() error { return e.dResult.Download(e.result) }); err != nil {
			return nil, err
		}
		e.times.CopyOut = time.Since(start)
		e.fetched = true
	}
	return e.Operands.Result(e.result), nil
}

func (e *product) Times() method.Times {
	t := e.times
	for _, s := range e.steps {
		t.Kernels = append(t.Kernels, s.profile)
	}
	return t
}

// timeOf returns the time of the last timed run's kernels of a stage.
func (e *product) timeOf(stage string) (t time.Duration) {
	for _, s := range e.steps {
		if s.profile.Stage == stage {
			t += s.profile.Time
		}
	}
	return t
}

func (e *product) Close() error {
	if e.base == nil {
		return nil
	}
	err := e.device.Do(func() error {
		e.own.Free()
		e.scratch.Free()
		e.base.Free()
		return nil
	})
	e.base, e.steps, e.events = nil, nil, nil
	return err
}

// Info describes the numbers and the device memory beside A.
func (e *product) Info() method.Info {
	info := e.Operands.Info(e.context)
	info.Threads, info.WorkspaceBytes, info.Device, info.Warnings = 0, e.space, e.device.RecordName(), e.warnings
	return info
}

// scaled are the products of a factor and the numbers of a vector.
func scaled(z, factor, x *Vector) cuda.Products {
	return cuda.Products{Z: z.Parameter(), Left: factor.Parameter(), Right: x.Parameter(), RightRow: 1,
		Rows: uint32(x.Len()), Columns: 1}
}

// matrixProducts are the products of the elements of A and d: a_ij * d_j, or a_ij * d_i for the transpose.
func (e *product) matrixProducts(z cuda.Vector) cuda.Products {
	m := cuda.Products{
		Z: z, Left: e.dA.Parameter(), Right: e.dD.Parameter(), LeftRow: 1, LeftColumn: uint64(e.Shape.M),
		Rows: uint32(e.Shape.M), Columns: uint32(e.Shape.N),
	}
	if e.Problem.Trans {
		m.RightRow = 1
	} else {
		m.RightColumn = 1
	}
	return m
}

func productCount(p cuda.Products) int64 { return int64(p.Rows) * int64(p.Columns) }

// ensureScratch makes scratch memory for at least so many groups of lanes.
func (e *product) ensureScratch(groups int) (err error) {
	if groups <= e.groups {
		return nil
	}
	e.scratch.Free()
	e.scratch, err = e.base.NewScratch(groups)
	e.groups = groups
	return err
}
