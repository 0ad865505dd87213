package bench

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"time"

	"mpbench/datasets"
	"mpbench/pkg/exact"
	"mpbench/pkg/record"
	"mpbench/pkg/reduce"
	"mpbench/pkg/sampling"
	"mpbench/pkg/stats"
)

// SumInput is a data set with the exact reference that every method is compared with.
type SumInput struct {
	Data    *datasets.Data
	Summary exact.Summary
}

// NewSumInput computes the reference of a data set.
func NewSumInput(d *datasets.Data) SumInput { return SumInput{d, d.Summary()} }

// convertRuns is how often the conversion of the terms is timed, unless it takes longer than convertTime in all.
const (
	convertRuns = 3
	convertTime = time.Second
)

// MeasureSum runs one method on a data set, compares its result with the exact sum and its error with the method's proved
// bound, and returns the record. A measurement that ctx interrupts gives a record with the samples so far; ok is false if
// it has none. An error means that the method cannot work with these options or terms (it wraps reduce.ErrOption or
// rns.ErrModuli), that memory does not suffice (*MemoryError), or that a device failed (errors of package gpu). The time of a method on
// a device is that of its kernels by the device's events; copies, and what the host does afterwards, are phases of their own.
func MeasureSum(ctx context.Context, s sampling.Sampler, m reduce.Method, o reduce.Options, in SumInput) (r record.Record, ok bool, err error) {
	summer, err := m.New(o)
	if err != nil {
		return record.Record{}, false, err
	}
	device, onDevice := summer.(reduce.DeviceSummer)
	if onDevice {
		defer closeDevice(device, &err)
	}
	format := summer.Format()
	if err := checkMemory(m.Name, in.Data.N, format.TermBytes); err != nil {
		return record.Record{}, false, err
	}
	terms := reduce.Terms{Float64: in.Data.Float64, Wide: in.Data.Wide}
	load := func() error { return summer.Load(terms) }
	body := loadAndRun(load, summer.Sum)
	if onDevice {
		body = loadAndRunOnDevice(load, func() (reduce.Phases, error) { return device.SumPhases(ctx) })
	}
	measurement, err := s.Measure(ctx, body)
	if err != nil || len(measurement.Timing.Samples) == 0 {
		return record.Record{}, false, err
	}
	d := in.Data
	r = newReduceRecord("sum", m, o, summer.Format(), record.Dataset{Name: d.Name, N: d.N, Params: params(d.Params), SHA256: d.SHA256})
	if onDevice {
		r.Device = device.Device()
	}
	r.Reference = "exact sum: fixed point in units of 2^-1074, nothing rounded"
	if d.Wide != nil {
		r.Reference = "exact sum of rationals, nothing rounded"
	}
	r.Condition = in.Summary.Condition().Text(3)
	setResult(&r, summer, in.Summary)
	measurement.Fill(&r, int64(d.N), int64(d.N)*int64(format.TermBytes))
	return r, true, nil
}

// loadAndRun is the body of a measurement that loads its data a few times before its first run and then only runs on
// them: loading in between would leave other things in the caches.
func loadAndRun(load func() error, run func()) func(*sampling.Timer) error {
	return func(t *sampling.Timer) error {
		if err := loadFirst(t, load); err != nil {
			return err
		}
		t.Time(record.PhaseKernel, run)
		return nil
	}
}

// loadFirst loads the data before the first run, and times it.
func loadFirst(t *sampling.Timer, load func() error) error {
	if t.Index() > 0 {
		return nil
	}
	var times []float64
	for begin := time.Now(); len(times) == 0 || len(times) < convertRuns && time.Since(begin) < convertTime; {
		start := time.Now()
		if err := load(); err != nil {
			return err
		}
		times = append(times, float64(time.Since(start)))
	}
	t.AddNs(record.PhaseConvert, stats.Median(times))
	return nil
}

// closeDevice gives the memory of a method on a device back; its error counts where there was none before.
func closeDevice(device interface{ Close() error }, err *error) {
	if closing := device.Close(); *err == nil {
		*err = closing
	}
}

// loadAndRunOnDevice is loadAndRun for a device, which takes the times itself: the kernel's by its events, with a cold cache.
func loadAndRunOnDevice(load func() error, run func() (reduce.Phases, error)) func(*sampling.Timer) error {
	return func(t *sampling.Timer) error {
		if err := loadFirst(t, load); err != nil {
			return err
		}
		p, err := run()
		if err != nil {
			return err
		}
		if p.CopyIn > 0 {
			t.AddNs(record.PhaseH2D, float64(p.CopyIn))
		}
		t.AddNs(record.PhaseKernel, float64(p.Kernel))
		t.AddNs(record.PhaseD2H, float64(p.CopyOut))
		t.AddNs(record.PhaseHost, float64(p.Host))
		return nil
	}
}

// newReduceRecord is the record of a sum or dot product before it is measured.
func newReduceRecord(command string, m reduce.Method, o reduce.Options, f reduce.Format, d record.Dataset) record.Record {
	r := record.Record{
		Schema: record.RecordSchema, Command: command, Method: m.Name, Format: f.Name, Variant: f.Variant, Device: deviceName(o.Device), Threads: f.Threads,
		Dataset: d, Shape: record.Shape{N: d.N},
		PrecisionBits: o.Precision, ActualBits: f.Actual, Moduli: f.Moduli, ModuliBits: f.ModuliBits,
		Rounding: f.Rounding, Alignment: f.Alignment, Blocks: f.Blocks, BlockSize: f.BlockSize,
	}
	if m.FixedBits != 0 {
		r.PrecisionBits = m.FixedBits
	}
	return r
}

// deviceName resolves the default of an option Device.
func deviceName(device string) string {
	if device == "" {
		return "cpu"
	}
	return device
}

// params returns parameters as a record has them.
func params(args []datasets.Arg) map[string]string {
	list := map[string]string{}
	for _, a := range args {
		list[a.Name] = a.Value
	}
	return list
}

// exactDigits is how many digits of the exact result a record holds at least.
const exactDigits = 40

// reduction is what a Summer and a Dotter have in common.
type reduction interface {
	Value() exact.Value
	ErrorBound(exact.Summary) *big.Rat
}

// setResult fills the fields that compare the computed value with the exact one.
func setResult(r *record.Record, s reduction, summary exact.Summary) {
	value, want := s.Value(), summary.Sum
	digits := digitsFor(r.ActualBits)
	r.Value = value.Text(digits)
	r.Exact = want.Text(max(digits, exactDigits))
	r.ResultHash = record.HashOf(value)
	setErrors(r, exact.Measure(value, want))
	var bound *big.Rat
	if summary.SumAbs.IsFinite() {
		bound = s.ErrorBound(summary)
	}
	setBound(r, exact.Measure(value, want), bound, want)
}

// digitsFor returns how many decimal digits identify a number of p bits: 1 + ceil(p * log10 2).
func digitsFor(p int) int { return 1 + int(math.Ceil(float64(p)*math.Log10(2))) }

// errorDigits is how many digits of an error a record holds.
const errorDigits = 3

func setErrors(r *record.Record, e exact.Errors) {
	r.RelError, r.AbsError = e.Rel.Text(errorDigits), e.Abs.Text(errorDigits)
	r.ULPError = e.ULP(r.ActualBits).Text(errorDigits)
	r.ExactResult = e.Exact()
	if bits := e.CorrectBits(); !math.IsInf(bits, 0) && !math.IsNaN(bits) {
		r.CorrectBits = &bits
	} else if !r.ExactResult {
		none := 0.0
		r.CorrectBits = &none
	}
}

// setBound stores a bound on the absolute error, also relative to the exact value, and whether it holds. Without a bound
// the error is judged only where the exact result is a special value, which a method must reproduce.
func setBound(r *record.Record, e exact.Errors, bound *big.Rat, want exact.Value) {
	if bound == nil {
		if !want.IsFinite() {
			within := e.Exact()
			r.WithinBound = &within
			return
		}
		r.Warnings = append(r.Warnings, record.Warning{
			Code: record.WarnNoBound, Text: "no bound: sums may exceed the format's range", Advice: "use a wider format",
		})
		return
	}
	within := e.Within(bound)
	r.WithinBound = &within
	r.AbsBound = exact.FormatRat(bound, errorDigits)
	if want.Sign() != 0 {
		relative := new(big.Rat).Quo(bound, want.Rat)
		r.Bound = exact.FormatRat(relative.Abs(relative), errorDigits)
	}
}

// MemoryError says that a method's numbers do not fit in memory.
type MemoryError struct {
	Method             string
	Need, Have, Number int64 // bytes needed, bytes there, terms
}

func (e *MemoryError) Error() string {
	return fmt.Sprintf("%s needs %.1f GB for %d terms; this machine has %.1f GB of memory", e.Method, float64(e.Need)/1e9, e.Number, float64(e.Have)/1e9)
}

// checkMemory compares n terms with the memory of the machine, of which an eighth is left to everything else.
func checkMemory(method string, n, termBytes int) error {
	have := datasets.MemoryBytes()
	if need := int64(n) * int64(termBytes); have > 0 && need > have-have/8 {
		return &MemoryError{method, need, have, int64(n)}
	}
	return nil
}
