package bench

import (
	"context"
	"math/big"

	"mpbench/datasets"
	"mpbench/pkg/exact"
	"mpbench/pkg/record"
	"mpbench/pkg/reduce"
	"mpbench/pkg/sampling"
)

// DotInput is a pair of vectors with the exact reference of their dot product.
type DotInput struct {
	Dataset record.Dataset
	X, Y    reduce.Terms
	Summary exact.Summary // of the products
}

// NewDotInput computes the reference of a generated pair.
func NewDotInput(p *datasets.Pair) DotInput {
	return DotInput{
		Dataset: record.Dataset{Name: p.Name, N: p.N, Params: params(p.Params), SHA256: p.SHA256X + "," + p.SHA256Y},
		X:       reduce.Terms{Float64: p.X}, Y: reduce.Terms{Float64: p.Y}, Summary: p.Summary(),
	}
}

// NewDotInputFromFiles computes the reference of two vectors of one length that were read from files.
func NewDotInputFromFiles(x, y *datasets.Data) DotInput {
	in := DotInput{
		Dataset: record.Dataset{Name: x.Name + "*" + y.Name, N: x.N, Params: map[string]string{}, SHA256: x.SHA256 + "," + y.SHA256},
		X:       reduce.Terms{Float64: x.Float64, Wide: x.Wide}, Y: reduce.Terms{Float64: y.Float64, Wide: y.Wide},
	}
	if x.Wide == nil && y.Wide == nil {
		var sum exact.Dot
		for i := range x.Float64 {
			sum.Add(x.Float64[i], y.Float64[i])
		}
		in.Summary = sum.Summary()
		return in
	}
	products := make([]*big.Rat, x.N)
	for i := range products {
		products[i] = new(big.Rat).Mul(rational(x, i), rational(y, i))
	}
	in.Summary = exact.SumOfRats(products)
	return in
}

// rational returns term i of data that go with wide ones, which therefore are finite.
func rational(d *datasets.Data, i int) *big.Rat {
	if d.Wide != nil {
		return d.Wide[i]
	}
	if x := new(big.Rat).SetFloat64(d.Float64[i]); x != nil {
		return x
	}
	return new(big.Rat)
}

// MeasureDot runs one method on a pair of vectors; otherwise it is as MeasureSum. The condition number is
// 2 sum|x_i y_i| / |sum x_i y_i|.
func MeasureDot(ctx context.Context, s sampling.Sampler, m reduce.Method, o reduce.Options, in DotInput) (r record.Record, ok bool, err error) {
	dotter, err := m.NewDot(o)
	if err != nil {
		return record.Record{}, false, err
	}
	n, format := in.X.Len(), dotter.Format()
	if err := checkMemory(m.Name, n, format.TermBytes); err != nil {
		return record.Record{}, false, err
	}
	device, onDevice := dotter.(reduce.DeviceDotter)
	load := func() error { return dotter.Load(in.X, in.Y) }
	body := loadAndRun(load, dotter.Dot)
	if onDevice {
		defer closeDevice(device, &err)
		body = loadAndRunOnDevice(load, func() (reduce.Phases, error) { return device.DotPhases(ctx) })
	}
	measurement, err := s.Measure(ctx, body)
	if err != nil || len(measurement.Timing.Samples) == 0 {
		return record.Record{}, false, err
	}
	format = dotter.Format()
	r = newReduceRecord("dot", m, o, format, in.Dataset)
	if onDevice {
		r.Device = device.Device()
	}
	r.Reference = "exact sum of the exact products, nothing rounded"
	r.Condition = twice(in.Summary.Condition()).Text(errorDigits)
	setResult(&r, dotter, in.Summary)
	measurement.Fill(&r, int64(n), int64(n)*int64(format.TermBytes))
	return r, true, nil
}

// twice returns 2v.
func twice(v exact.Value) exact.Value {
	if !v.IsFinite() || v.Rat == nil {
		return v
	}
	return exact.FromRat(new(big.Rat).Add(v.Rat, v.Rat))
}
