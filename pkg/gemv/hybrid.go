package gemv

import (
	"math/big"
	"strings"
	"time"

	"mpbench/pkg/exact"
)

// hybridDeferred is the deferred engine on the CPU and a GPU together: the CPU has the first rows of op(A), the GPU the others, so many each that
// both finish together. Where one alone is faster it does everything. Every row is correctly rounded, so the split never
// changes a result.
type hybridDeferred struct {
	options   Options
	processor *deferredEngine // nil where the GPU does everything
	device    DeviceEngine    // nil where the CPU does everything
	name      string          // of the GPU
	problem   Problem
	split     int // rows of the CPU
	convert   time.Duration
	elapsed   time.Duration
}

func newHybridDeferred(o Options) (Engine, error) {
	o.Device = strings.TrimPrefix(o.Device, hybridPrefix)
	device, err := newDeviceChoice(o)
	if err != nil {
		return nil, err
	}
	return &hybridDeferred{options: o, device: device, name: device.Device()}, nil
}

// hybridPrefix begins the name of a device that is used together with the CPU.
const hybridPrefix = "cpu+"

// calibrationRows is how many rows the CPU is timed with.
const calibrationRows = 32

// Load measures both and loads each with its rows.
func (e *hybridDeferred) Load(p Problem) error {
	e.Close()
	start := time.Now()
	defer func() { e.convert = time.Since(start) }()
	if err := p.Check(); err != nil {
		return err
	}
	e.problem, e.split, e.processor = p, 0, nil
	if p.work() != full {
		return e.loadProcessor(p.Rows())
	}
	device, err := e.newDevice(p)
	if err != nil {
		return err
	}
	alone := fastest(device)
	rows := min(calibrationRows, p.Rows())
	if err := e.loadProcessor(rows); err != nil {
		device.Close()
		return err
	}
	perRow := float64(fastest(e.processor)) / float64(rows)
	split := int(float64(p.Rows()) * float64(alone) / (float64(alone) + perRow*float64(p.Rows())))
	switch {
	case perRow*float64(p.Rows()) <= float64(alone):
		device.Close()
		return e.loadProcessor(p.Rows())
	case split == 0:
		e.device, e.processor, e.split = device, nil, 0
		return device.Err()
	}
	device.Close()
	if err := e.loadProcessor(split); err != nil {
		return err
	}
	if e.device, err = e.newDevice(p.rows(split, p.Rows())); err != nil {
		return err
	}
	if fastest(e) < alone {
		return nil
	}
	e.device.Close() // the GPU alone is faster after all
	e.processor, e.split = nil, 0
	e.device, err = e.newDevice(p)
	return err
}

func (e *hybridDeferred) newDevice(p Problem) (DeviceEngine, error) {
	device, err := newDeviceChoice(e.options)
	if err != nil {
		return nil, err
	}
	return device, device.Load(p)
}

// loadProcessor gives the CPU the first rows, and takes the GPU's away if these are all.
func (e *hybridDeferred) loadProcessor(rows int) error {
	e.processor = &deferredEngine{precision: e.options.Precision, threads: threadsOf(e.options.Threads), maxBytes: e.options.MaxBytes}
	e.split = rows
	if rows == e.problem.Rows() {
		e.device = nil
	}
	return e.processor.Load(e.problem.rows(0, rows))
}

// rows returns the problem of rows from to to-1 of op(A), with y in order.
func (p Problem) rows(from, to int) Problem {
	q := p
	y := p.Y
	q.Y, q.IncY = Numbers{}, 1
	for i := from; i < to; i++ {
		if y.Wide != nil {
			q.Y.Wide = append(q.Y.Wide, y.Wide[p.yIndex(i)])
		} else {
			q.Y.Float64 = append(q.Y.Float64, y.Float64[p.yIndex(i)])
		}
	}
	first := from // number of A that element (from, 0) of op(A) is
	if p.Op == Trans {
		q.N, first = to-from, from*p.LDA
	} else {
		q.M = to - from
	}
	if p.A.Wide != nil {
		q.A.Wide = p.A.Wide[min(first, len(p.A.Wide)):]
	} else {
		q.A.Float64 = p.A.Float64[min(first, len(p.A.Float64)):]
	}
	return q
}

// fastest returns the shortest of a few runs, by the clock.
func fastest(e Engine) time.Duration {
	best := time.Hour
	for range 3 {
		start := time.Now()
		e.Run()
		best = min(best, time.Since(start))
	}
	return best
}

// Run runs both at the same time.
func (e *hybridDeferred) Run() {
	start := time.Now()
	done := make(chan struct{})
	go func() {
		defer close(done)
		if e.device != nil {
			e.device.Run()
		}
	}()
	if e.processor != nil {
		e.processor.Run()
	}
	<-done
	e.elapsed = time.Since(start)
}

func (e *hybridDeferred) RunCold() error {
	if e.processor == nil {
		return e.device.RunCold()
	}
	e.Run()
	return e.Err()
}

func (e *hybridDeferred) Result() []exact.Value {
	var result []exact.Value
	if e.processor != nil {
		result = e.processor.Result()
	}
	if e.device != nil {
		result = append(result, e.device.Result()...)
	}
	return result
}

func (e *hybridDeferred) Phases() []Phase {
	if e.processor == nil {
		return e.device.Phases()
	}
	return []Phase{{"both", "sums of products and rounding, CPU and GPU at the same time, by the clock", e.elapsed}}
}

func (e *hybridDeferred) Err() error {
	if e.device == nil {
		return nil
	}
	return e.device.Err()
}

// Times has the time of both by the clock as that of the kernels; where the GPU does everything, it is that of its kernels.
func (e *hybridDeferred) Times() DeviceTimes {
	var t DeviceTimes
	if e.device != nil {
		t = e.device.Times()
	}
	t.Convert = e.convert - t.CopyIn
	if e.processor != nil {
		t.Kernels = e.elapsed
	}
	return t
}

func (e *hybridDeferred) Kernels() []KernelProfile {
	if e.device == nil {
		return nil
	}
	return e.device.Kernels()
}

func (e *hybridDeferred) Warnings() []string { return nil }
func (e *hybridDeferred) Device() string     { return hybridPrefix + e.name }

func (e *hybridDeferred) Close() {
	if e.device != nil {
		e.device.Close()
	}
}

func (e *hybridDeferred) UnitRoundoff() *big.Rat { return exact.PowerOfTwo(-e.options.Precision) }

// ErrorBound is that of the CPU's deferred.
func (e *hybridDeferred) ErrorBound(_ int, s exact.Summary) *big.Rat {
	if e.problem.work() == unchanged {
		return new(big.Rat)
	}
	bound := e.UnitRoundoff()
	return bound.Mul(bound, rat(s.Sum.Abs()))
}

func (e *hybridDeferred) Format() Format {
	f := Format{Actual: e.options.Precision}
	for _, part := range []Engine{e.processorEngine(), e.deviceEngine()} {
		if part == nil {
			continue
		}
		g := part.Format()
		if f.Name == "" {
			f.Name = g.Name
		} else if f.Name != g.Name {
			f.Name += ", " + g.Name
		}
		f.Moduli, f.ModuliBits, f.NumberBytes = max(f.Moduli, g.Moduli), max(f.ModuliBits, g.ModuliBits), max(f.NumberBytes, g.NumberBytes)
		f.WorkspaceBytes += g.WorkspaceBytes
		f.Threads = max(f.Threads, g.Threads)
		if f.Variant != "" && g.Variant != "" {
			f.Variant += "; "
		}
		f.Variant += g.Variant
	}
	if f.Name == "" { // nothing is loaded
		f.Name = "residues"
	}
	return f
}

func (e *hybridDeferred) processorEngine() Engine {
	if e.processor == nil {
		return nil
	}
	return e.processor
}

func (e *hybridDeferred) deviceEngine() Engine {
	if e.device == nil {
		return nil
	}
	return e.device
}
