package reduce

import (
	"context"
	"errors"
	"math/big"
	"strings"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/gpu"
	"mpbench/pkg/rns/deferred"
	"mpbench/pkg/superacc"
	"mpbench/pkg/superacc/superaccgpu"
)

// deferredOnDevice is what exact sums and dot products on a GPU, or on a GPU and the CPU, have in common. The numbers are copied to the device
// by the first computation after Load, and stay there; those that do not fit are streamed each time.
type deferredOnDevice struct {
	precision int
	threads   int
	device    *gpu.Device
	hybrid    bool
	x, y      []float64        // y is nil for a sum
	wide      *deferred.Packed // nil for float64 terms
	wideX     []*big.Float     // the factors of a dot product of wide numbers, with wideY
	wideY     []*big.Float
	work      exactWork  // nil before the first computation
	result    *big.Float // nil for NaN
	err       error      // of the last computation
}

// exactWork is a way of computing the sum.
type exactWork interface {
	// sum returns the exact sum, and fills Kernel and CopyOut.
	sum(ctx context.Context, p *Phases) (exactSum, error)
	// byClock tells whether Kernel is time by the clock, which then includes rounding, as on the CPU.
	byClock() bool
	// variant says in words which way it is.
	variant() string
	Free()
}

// exactSum is a sum before it is rounded: NaN gives nil.
type exactSum interface{ rounded(prec uint) *big.Float }

type floatSum struct{ a *superacc.Accumulator }

func (s floatSum) rounded(prec uint) *big.Float { return s.a.Round(prec) }

type wideSum struct{ s *deferred.LimbSum }

func (s wideSum) rounded(prec uint) *big.Float { return s.s.Round(new(big.Float), prec) }

func openDeferred(o Options) (deferredOnDevice, error) {
	name, hybrid := strings.CutPrefix(o.Device, "cpu+")
	device, err := gpu.OpenName(name)
	return deferredOnDevice{precision: o.Precision, threads: allThreads(o.Threads), device: device, hybrid: hybrid}, err
}

// Err implements DeviceSummer.
func (d *deferredOnDevice) Err() error { return d.err }

// Device implements DeviceSummer.
func (d *deferredOnDevice) Device() string {
	name := d.device.Name()
	if d.device.Info().Emulated() {
		name = d.device.Info().Name
	}
	if d.hybrid {
		return "cpu+" + name
	}
	return name
}

// Close implements DeviceSummer.
func (d *deferredOnDevice) Close() error {
	if d.work != nil {
		d.work.Free()
		d.work = nil
	}
	return nil
}

// phases computes and rounds the sum.
func (d *deferredOnDevice) phases(ctx context.Context) (p Phases, err error) {
	if d.work == nil {
		start := time.Now()
		if d.work, err = d.prepare(); err != nil {
			return p, err
		}
		p.CopyIn = time.Since(start)
		if c, ok := d.work.(interface{ calibrate() error }); ok {
			if err := c.calibrate(); err != nil {
				return p, err
			}
		}
	}
	s, err := d.work.sum(ctx, &p)
	if err != nil {
		return p, err
	}
	start := time.Now()
	d.result = s.rounded(uint(d.precision))
	if rounding := time.Since(start); d.work.byClock() {
		p.Kernel += rounding
	} else {
		p.Host += rounding
	}
	return p, nil
}

// prepare chooses the way and copies the numbers to the device, as far as they stay there.
func (d *deferredOnDevice) prepare() (exactWork, error) {
	var w exactWork
	var err error
	switch {
	case d.wideX != nil: // the device alone, also beside the CPU
		w, err = newPlanesDot(d.device, d.wideX, d.wideY, d.precision)
	case d.wide != nil && d.hybrid:
		w, err = newHybridPacked(d.device, d.wide, d.threads)
	case d.wide != nil:
		w, err = newResidentPacked(d.device, d.wide)
	case d.hybrid:
		w, err = newHybridFloats(d.device, d.x, d.y, d.threads)
	default:
		w, err = newResidentFloats(d.device, d.x, d.y)
	}
	if err == nil || !errors.Is(err, gpu.ErrOutOfMemory) {
		return w, err
	}
	if d.wideX != nil {
		return newStreamedDot(d.device, d.wideX, d.wideY, d.precision, 0)
	}
	if d.wide != nil {
		return &streamedPacked{device: d.device, numbers: d.wide}, nil
	}
	return newStreamedFloats(d.device, d.x, d.y, d.streaming())
}

// streaming are the options for numbers that do not stay on the device.
func (d *deferredOnDevice) streaming() superaccgpu.Options {
	var o superaccgpu.Options
	if d.hybrid {
		o.Threads = d.threads
	}
	return o
}

// Value implements Summer and Dotter.
func (d *deferredOnDevice) Value() exact.Value { return exact.FromBig(d.result) }

// ErrorBound is u*|sum| with u = 2^-p: correct rounding; for wide terms 4*2^-(p+64)*sumAbs more.
func (d *deferredOnDevice) ErrorBound(s exact.Summary) *big.Rat {
	return deferredBound(d.precision, d.wide != nil || d.wideX != nil, s)
}

// Format implements Summer and Dotter.
func (d *deferredOnDevice) Format() Format {
	f := Format{Name: "exact", Actual: d.precision, TermBytes: 8, Threads: 1}
	if d.y != nil {
		f.TermBytes = 16
	}
	if d.wide != nil {
		f.TermBytes = int(d.wide.Bytes()) / max(1, d.wide.Len())
	}
	if d.hybrid {
		f.Threads = d.threads
	}
	if d.work != nil {
		f.Variant = d.work.variant()
	}
	return f
}

// deferredSumOn is deferredSum on a device.
type deferredSumOn struct{ deferredOnDevice }

func newDeferredSumOn(o Options) (Summer, error) {
	d, err := openDeferred(o)
	if err != nil {
		return nil, err
	}
	return &deferredSumOn{d}, nil
}

// Load implements Summer.
func (d *deferredSumOn) Load(t Terms) (err error) {
	d.x, d.wide = t.Float64, nil
	if t.Wide != nil {
		d.wide, err = packed(t.Wide, d.precision)
	}
	return errors.Join(err, d.Close())
}

// Sum is SumPhases; Err has its error.
func (d *deferredSumOn) Sum() { _, d.err = d.phases(context.Background()) }

// SumPhases implements DeviceSummer.
func (d *deferredSumOn) SumPhases(ctx context.Context) (Phases, error) { return d.phases(ctx) }

// deferredDotOn is deferredDot on a device.
type deferredDotOn struct{ deferredOnDevice }

func newDeferredDotOn(o Options) (Dotter, error) {
	d, err := openDeferred(o)
	if err != nil {
		return nil, err
	}
	return &deferredDotOn{d}, nil
}

// Load implements Dotter.
func (d *deferredDotOn) Load(x, y Terms) error {
	d.wideX, d.wideY = nil, nil
	if x.Wide != nil || y.Wide != nil {
		host := deferredDot{precision: d.precision}
		if err := host.Load(x, y); err != nil {
			return err
		}
		d.wideX, d.wideY = host.wideX, host.wideY
	}
	d.x, d.y = x.Float64, y.Float64
	if d.y == nil {
		d.y = []float64{}
	}
	return d.Close()
}

// Dot is DotPhases; Err has its error.
func (d *deferredDotOn) Dot() { _, d.err = d.phases(context.Background()) }

// DotPhases implements DeviceDotter.
func (d *deferredDotOn) DotPhases(ctx context.Context) (Phases, error) { return d.phases(ctx) }
