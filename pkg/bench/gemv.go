package bench

import (
	"context"
	"math/big"

	"mpbench/datasets"
	"mpbench/pkg/exact"
	"mpbench/pkg/gemv"
	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

// GemvInput is a matrix-vector problem with its exact reference.
type GemvInput struct {
	Dataset   record.Dataset
	Problem   gemv.Problem
	Reference *gemv.Reference
}

// GemvResult is what a method computed, and the record of it.
type GemvResult struct {
	Record   record.Record
	Y        []exact.Value
	Accuracy gemv.Accuracy
	Bounds   gemv.Bounds  // the 2020 paper's bounds with the method's unit roundoff
	Phases   []gemv.Phase // of the last run
}

// MeasureGemv runs one method on a problem, compares every component with the exact one and its error with the method's proved
// bound. Value, exact value, error and bound in the record are those of the component with the largest relative error, the
// record's Row; NormError is ||y - y*||_1 / ||y*||_1, NormBound the 2020 paper's bound (19) on it. WithinBound says whether
// all components are within their bounds. Otherwise it is as MeasureSum, but for a
// *gemv.MemoryError where memory, the host's or the device's, does not suffice.
func MeasureGemv(ctx context.Context, s sampling.Sampler, m gemv.Method, o gemv.Options, in GemvInput) (result GemvResult, ok bool, err error) {
	engine, err := m.New(withMemory(o))
	if err != nil {
		return GemvResult{}, false, err
	}
	p := in.Problem
	body := loadAndRun(func() error { return engine.Load(p) }, engine.Run)
	device, onDevice := engine.(gemv.DeviceEngine)
	var kernels kernelTimes
	if onDevice {
		defer device.Close()
		if err := device.Load(p); err != nil { // once and beforehand: it may look for launch parameters
			return GemvResult{}, false, err
		}
		body = kernels.run(device)
	}
	measurement, err := s.Measure(ctx, func(t *sampling.Timer) error {
		if err := body(t); err != nil {
			return err
		}
		for _, phase := range engine.Phases() {
			t.AddNs(phase.Name, float64(phase.Time))
		}
		return nil
	})
	if err != nil || len(measurement.Timing.Samples) == 0 {
		return GemvResult{}, false, err
	}
	result = GemvResult{Y: engine.Result(), Phases: engine.Phases(), Bounds: in.Reference.Bounds(engine.UnitRoundoff())}
	if onDevice && device.Err() != nil {
		return GemvResult{}, false, device.Err()
	}
	result.Accuracy = gemv.Measure(result.Y, in.Reference)
	f := engine.Format()
	r := newGemvRecord(m, o, f, in)
	setComponents(&r, func(i int) *big.Rat { return componentBound(engine, in.Reference, i) }, in.Reference, &result)
	elements := int64(p.M) * int64(p.N)
	measurement.Fill(&r, elements, elements*int64(f.NumberBytes))
	if onDevice {
		kernels.complete(&r, device)
	}
	result.Record = r
	return result, true, nil
}

// withMemory limits the memory to that of the machine, of which an eighth is left to everything else.
func withMemory(o gemv.Options) gemv.Options {
	if have := datasets.MemoryBytes(); o.MaxBytes == 0 {
		o.MaxBytes = have - have/8 // 0 where the memory is not known
	}
	return o
}

func newGemvRecord(m gemv.Method, o gemv.Options, f gemv.Format, in GemvInput) record.Record {
	p := in.Problem
	r := record.Record{
		Schema: record.RecordSchema, Command: "gemv", Method: m.Name, Format: f.Name, Variant: f.Variant, Device: deviceName(o.Device), Threads: f.Threads,
		Dataset: in.Dataset, Shape: record.Shape{M: p.M, N: p.N, Trans: p.Op.String()},
		PrecisionBits: o.Precision, ActualBits: f.Actual, Moduli: f.Moduli, ModuliBits: f.ModuliBits,
		Reference:   "exact sums of the exact products, nothing rounded",
		MatrixBytes: int64(p.M) * int64(p.N) * int64(f.NumberBytes), WorkspaceBytes: int64(f.WorkspaceBytes),
	}
	if f.Name == "rns" {
		r.Rounding, r.Alignment = o.Rounding.String(), o.Alignment.String()
	}
	if m.FixedBits != 0 {
		r.PrecisionBits = m.FixedBits
	}
	return r
}

// setComponents fills the fields that compare the computed vector with the exact one; bound is that of a component.
func setComponents(r *record.Record, bound func(i int) *big.Rat, ref *gemv.Reference, result *GemvResult) {
	r.ResultHash = record.HashOf(result.Y...)
	r.NormError = result.Accuracy.Relative.Text(errorDigits)
	if result.Bounds.Norm != nil {
		r.NormBound = result.Bounds.Relative.Text(errorDigits)
	}
	row := result.Accuracy.Worst
	if row < 0 { // no components: as the exact sum of nothing
		setErrors(r, exact.Measure(exact.Value{}, exact.Value{}))
		r.Value, r.Exact = "0", "0"
		return
	}
	r.Row = &row
	digits := digitsFor(r.ActualBits)
	r.Value, r.Exact = result.Y[row].Text(digits), ref.Y[row].Text(max(digits, exactDigits))
	r.Condition = ref.Condition(row).Text(errorDigits)
	errors := result.Accuracy.Components[row]
	setErrors(r, errors)
	setBound(r, errors, bound(row), ref.Y[row])
	for i, c := range result.Accuracy.Components {
		b := bound(i)
		if b != nil && !c.Within(b) || b == nil && !ref.Y[i].IsFinite() && !c.Exact() {
			outside := false
			r.WithinBound = &outside
		}
	}
}

// componentBound is the method's bound on the error of component i, nil if there is none.
func componentBound(e gemv.Engine, ref *gemv.Reference, i int) *big.Rat {
	if !ref.Abs[i].IsFinite() {
		return nil
	}
	return e.ErrorBound(i, ref.Summary(i))
}

// NewGemvInput computes the reference of a problem on a data set.
func NewGemvInput(d *datasets.Matrix, p gemv.Problem) (GemvInput, error) {
	reference, err := gemv.Exact(p, 0)
	if err != nil {
		return GemvInput{}, err
	}
	return GemvInput{
		Dataset: record.Dataset{Name: d.Name, N: d.N, Params: params(d.Params), SHA256: d.SHA256A + "," + d.SHA256X + "," + d.SHA256Y},
		Problem: p, Reference: reference,
	}, nil
}
