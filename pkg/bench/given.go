package bench

import (
	"math/big"

	"mpbench/pkg/exact"
	"mpbench/pkg/gemv"
	"mpbench/pkg/record"
	"mpbench/pkg/reduce"
)

// Given names values that were computed elsewhere and the bound that they are judged by.
type Given struct {
	Name   string // of the file
	Format string // in the record
	Bits   int    // precision that units of the last place are those of
}

func (g Given) record(command string, d record.Dataset, shape record.Shape) record.Record {
	return record.Record{
		Schema: record.RecordSchema, Command: command, Method: g.Name, Format: g.Format, Device: "cpu", Threads: 1,
		Dataset: d, Shape: shape, PrecisionBits: g.Bits, ActualBits: g.Bits, Phases: record.Phases{},
	}
}

// noMethod is the reduction that a value by itself stands for.
type noMethod struct {
	value exact.Value
	bound *big.Rat
}

func (n noMethod) Value() exact.Value                { return n.value }
func (n noMethod) ErrorBound(exact.Summary) *big.Rat { return n.bound }

// GivenSum returns the record of a sum that was computed elsewhere. bound is on the absolute error; nil for none.
func GivenSum(g Given, value exact.Value, in SumInput, bound *big.Rat) record.Record {
	d := in.Data
	r := g.record("sum", record.Dataset{Name: d.Name, N: d.N, Params: params(d.Params), SHA256: d.SHA256}, record.Shape{N: d.N})
	r.Reference = "exact sum, nothing rounded"
	r.Condition = in.Summary.Condition().Text(errorDigits)
	setResult(&r, noMethod{value, bound}, in.Summary)
	return withoutWarnings(r, bound != nil)
}

// GivenDot returns the record of a dot product that was computed elsewhere. bound is on the absolute error; nil for none.
func GivenDot(g Given, value exact.Value, in DotInput, bound *big.Rat) record.Record {
	r := g.record("dot", in.Dataset, record.Shape{N: in.Dataset.N})
	r.Reference = "exact sum of the exact products, nothing rounded"
	r.Condition = twice(in.Summary.Condition()).Text(errorDigits)
	setResult(&r, noMethod{value, bound}, in.Summary)
	return withoutWarnings(r, bound != nil)
}

// GivenGemv returns the record of a matrix-vector product that was computed elsewhere, with one value for each row. bound is on the
// absolute error of a component; nil for none.
func GivenGemv(g Given, values []exact.Value, in GemvInput, bound func(i int) *big.Rat) record.Record {
	p := in.Problem
	r := g.record("gemv", in.Dataset, record.Shape{M: p.M, N: p.N, Trans: p.Op.String()})
	r.Reference = "exact sums of the exact products, nothing rounded"
	result := GemvResult{Y: values, Accuracy: gemv.Measure(values, in.Reference)}
	judged := bound != nil
	if !judged {
		bound = func(int) *big.Rat { return nil }
	}
	setComponents(&r, bound, in.Reference, &result)
	return withoutWarnings(r, judged)
}

// withoutWarnings removes what is said of methods: where no bound was asked for, there is none to judge by.
func withoutWarnings(r record.Record, judged bool) record.Record {
	r.Warnings = nil
	if !judged {
		r.WithinBound, r.Bound, r.AbsBound = nil, "", ""
	}
	return r
}

// SumBound returns the method's proved bound on the error of the sum; nil where the conditions of its proof do not hold.
func SumBound(m reduce.Method, o reduce.Options, in SumInput) (*big.Rat, error) {
	summer, err := m.New(o)
	if err == nil {
		err = summer.Load(reduce.Terms{Float64: in.Data.Float64, Wide: in.Data.Wide})
	}
	if err != nil || !in.Summary.SumAbs.IsFinite() {
		return nil, err
	}
	summer.Sum()
	return summer.ErrorBound(in.Summary), nil
}

// DotBound is as SumBound, of a dot product.
func DotBound(m reduce.Method, o reduce.Options, in DotInput) (*big.Rat, error) {
	dotter, err := m.NewDot(o)
	if err == nil {
		err = dotter.Load(in.X, in.Y)
	}
	if err != nil || !in.Summary.SumAbs.IsFinite() {
		return nil, err
	}
	dotter.Dot()
	return dotter.ErrorBound(in.Summary), nil
}

// GemvBound is as SumBound, of the components of a matrix-vector product.
func GemvBound(m gemv.Method, o gemv.Options, in GemvInput) (func(i int) *big.Rat, error) {
	engine, err := m.New(o)
	if err == nil {
		err = engine.Load(in.Problem)
	}
	if err != nil {
		return nil, err
	}
	engine.Run()
	return func(i int) *big.Rat { return componentBound(engine, in.Reference, i) }, nil
}
