package measure_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"mpbench/pkg/bound"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

var errBroken = errors.New("broken device")

// fake is an engine whose result, times and errors a test chooses. A run takes a millisecond of its clock.
type fake struct {
	y    numbers.Values
	info method.Info

	prepareErr, runErr, resultErr, closeErr error

	now                    time.Duration
	each                   time.Duration // that a run takes, 0 for a millisecond
	prepares, runs, closes int
	ran                    func(n int) // after run n
}

func (e *fake) Prepare(context.Context, *op.Problem) error {
	e.prepares++
	return e.prepareErr
}

func (e *fake) Run(context.Context) error {
	e.runs++
	e.now += e.each
	if e.each == 0 {
		e.now += time.Millisecond
	}
	if e.ran != nil {
		e.ran(e.runs)
	}
	return e.runErr
}

func (e *fake) Result() (numbers.Source, error) { return e.y, e.resultErr }
func (e *fake) Info() method.Info               { return e.info }
func (e *fake) Close() error                    { e.closes++; return e.closeErr }
func (e *fake) Now() time.Duration              { return e.now }
func (e *fake) Resolution() time.Duration       { return 1 }

// timed is a fake that takes the time of its runs itself, in two stages.
type timed struct {
	fake
	times method.Times
}

func (e *timed) RunTimed(ctx context.Context) error {
	err := e.Run(ctx)
	e.times.Kernel = time.Duration(100 * e.runs)
	e.times.Host = time.Duration(20 * e.runs)
	first, second := time.Duration(30*e.runs), time.Duration(70*e.runs)
	e.times.Kernels = []method.Kernel{
		{Stage: "s", Name: "k1", Array: "d", Time: first, Bytes: 600, Bandwidth: 1e10, Blocks: 2, Threads: 64},
		{Stage: "s", Name: "k2", Time: second, Bytes: 5, Occupancy: 0.5, Shared: 7, Registers: 8, Local: 9},
	}
	return err
}
func (e *timed) Result() (numbers.Source, error) {
	e.times.CopyOut = 11
	return e.fake.Result()
}
func (e *timed) Times() method.Times { return e.times }
func (e *timed) Stages() []method.Stage {
	return []method.Stage{{Name: "multiply", Time: time.Duration(60 * e.runs)}, {Name: "round", Time: 40}}
}

// methodOf returns a method for an operation with a bound on the CPU, whose engine is e. It has 10 bits.
func methodOf(o *op.Operation, formula string, e method.Engine) method.Method {
	m := method.Method{Operation: o, Name: "fake", Bits: 10}
	if formula != "" {
		m.Bound = bound.New(formula, "")
	}
	m.On = map[device.Kind]method.New{device.CPU: func(method.Config) (method.Engine, error) { return e, nil }}
	return m
}

func inputOf(t *testing.T, p *op.Problem) measure.Input {
	t.Helper()
	in, err := measure.NewInput(record.Dataset{Name: "known", N: p.X.Rows}, p)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func floats(x ...float64) numbers.Array { return numbers.Vector(numbers.Float64s(x)) }

func values(x ...float64) (list numbers.Values) {
	for _, v := range x {
		list = append(list, exact.FromFloat64(v))
	}
	return list
}

func sumOf(t *testing.T, x ...float64) measure.Input {
	t.Helper()
	return inputOf(t, &op.Problem{Op: op.Sum, X: floats(x...)})
}

// runOnce measures a fake once and returns the record.
func runOnce(t *testing.T, m method.Method, e *fake, in measure.Input) record.Record {
	t.Helper()
	result, ok, err := measure.Measure(context.Background(), sampling.Sampler{Clock: e}, m, method.Config{}, in)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := result.Record.Validate(); err != nil {
		t.Error(err)
	}
	return result.Record
}

// hashOf is the hash of a result, by its definition.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return fmt.Sprintf("%x", sum[:8])
}

func pointer[T any](x T) *T { return &x }

// TestRecord compares the record of a sum that is wrong by 1/4 with what it has to be, field by field.
func TestRecord(t *testing.T) {
	e := &fake{y: values(8.25), info: method.Info{
		Format: "ten", Variant: "v", Bits: 10, NumberBytes: 4, WorkspaceBytes: 99, Threads: 3, Moduli: 5, ModuliBits: 31,
		Rounding: "truncate", Alignment: "2018", Blocks: 6, BlockSize: 7,
	}}
	got := runOnce(t, methodOf(op.Sum, "S/16, u = 1/2", e), e, sumOf(t, 1, 2, 5))
	got.Phases[record.PhaseConvert] = 0
	want := record.Record{
		Schema: "mpbench/1", Command: "sum", Method: "fake", Format: "ten", Device: "cpu", Threads: 3,
		Dataset: record.Dataset{Name: "known", N: 3}, Shape: record.Shape{N: 3}, PrecisionBits: 10, ActualBits: 10,
		Moduli: 5, ModuliBits: 31, Variant: "v", Rounding: "truncate", Alignment: "2018", Blocks: 6, BlockSize: 7,
		Value: "8.2500e+00", Exact: "8." + strings.Repeat("0", 39) + "e+00", Reference: "exact sum, nothing rounded",
		Condition: "1.00e+00", RelError: "3.12e-02", AbsError: "2.50e-01", ULPError: "1.60e+01", CorrectBits: pointer(5.0),
		Bound: "6.25e-02", AbsBound: "5.00e-01", WithinBound: pointer(true), ResultHash: hashOf("0x21p-2\n"),
		Time: got.Time, Phases: record.Phases{"convert": 0, "h2d": 0, "kernel": 1e6, "d2h": 0}, StopRule: record.StopMinimum,
		Throughput: record.Throughput{ElementsPerSecond: 3000, BytesPerSecond: 12000, Elements: 3, Bytes: 12},
		Warnings:   got.Warnings,
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want\n%+v", got, want)
	}
	if got.Time.Median != 1e6 || len(got.Time.Samples) != 1 || got.Time.Iterations != 1 {
		t.Errorf("%+v", got.Time)
	}
	for _, w := range got.Warnings {
		if w.Code == record.WarnNoBound || w.Code == record.WarnTuning {
			t.Errorf("warning %+v", w)
		}
	}
}

// TestBounds: a result is judged by the formula; by its unit roundoff too, which is part of the result.
func TestBounds(t *testing.T) {
	for _, c := range []struct {
		formula string
		within  *bool
		bound   string
		unit    *big.Rat
	}{
		{"S/32", pointer(true), "3.12e-02", nil}, // exactly
		{"S/33", pointer(false), "3.03e-02", nil},
		{"u*|s|, u = 1/64", pointer(false), "1.56e-02", big.NewRat(1, 64)},
		{"Q*S, u = 1/64", nil, "", big.NewRat(1, 64)},
		{"", nil, "", nil},
	} {
		e := &fake{y: values(8.25), info: method.Info{Bits: 10}}
		result, _, err := measure.Measure(context.Background(), sampling.Sampler{Clock: e}, methodOf(op.Sum, c.formula, e),
			method.Config{}, sumOf(t, 1, 2, 5))
		if err != nil {
			t.Fatal(err)
		}
		r := result.Record
		if r.Bound != c.bound || !reflect.DeepEqual(r.WithinBound, c.within) {
			t.Errorf("%s: bound %s, within %v", c.formula, r.Bound, r.WithinBound)
		}
		if (result.Unit == nil) != (c.unit == nil) || c.unit != nil && result.Unit.Cmp(c.unit) != 0 {
			t.Errorf("%s: unit %v, want %v", c.formula, result.Unit, c.unit)
		}
		warned := slices.ContainsFunc(r.Warnings, func(w record.Warning) bool { return w.Code == record.WarnNoBound })
		if warned != (c.bound == "") {
			t.Errorf("%s: warnings %v", c.formula, r.Warnings)
		}
		if result.Y.Len() != 1 || !numbers.At(result.Y, 0).Equal(exact.FromFloat64(8.25)) {
			t.Errorf("the result is %v", result.Y)
		}
	}
}

// TestSpecials: infinities and NaN, on one side or on both, and a sum of 0. The bound is S/2 where there is one.
func TestSpecials(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x              []float64
		y              float64
		rel, abs       string
		exact          bool
		within         *bool
		correct        *float64
		value, exactly string // the latter to the first four characters
	}{
		{[]float64{inf, 1}, inf, "0", "0", true, pointer(true), nil, "+Inf", "+Inf"},
		{[]float64{-inf, 1}, inf, "+Inf", "+Inf", false, pointer(false), pointer(0.0), "+Inf", "-Inf"},
		{[]float64{inf, 1}, 1, "+Inf", "+Inf", false, pointer(false), pointer(0.0), "1.0000e+00", "+Inf"},
		{[]float64{inf, -inf}, nan, "0", "0", true, pointer(true), nil, "NaN", "NaN"},
		{[]float64{nan}, inf, "NaN", "NaN", false, pointer(false), pointer(0.0), "+Inf", "NaN"},
		{[]float64{1, 2}, nan, "NaN", "NaN", false, pointer(false), pointer(0.0), "NaN", "3.00"},
		{[]float64{1, 2}, inf, "+Inf", "+Inf", false, pointer(false), pointer(0.0), "+Inf", "3.00"},
		{[]float64{1, -1}, 0, "0", "0", true, pointer(true), nil, "0", "0"},
		{[]float64{1, -1}, 0.5, "+Inf", "5.00e-01", false, pointer(true), pointer(0.0), "5.0000e-01", "0"},
		{[]float64{1, -1}, 2, "+Inf", "2.00e+00", false, pointer(false), pointer(0.0), "2.0000e+00", "0"},
		{[]float64{1, 2}, 3, "0", "0", true, pointer(true), nil, "3.0000e+00", "3.00"},
		{[]float64{1, 2}, -3, "2.00e+00", "6.00e+00", false, pointer(false), pointer(0.0), "-3.0000e+00", "3.00"},
		{nil, 0, "0", "0", true, pointer(true), nil, "0", "0"},
	} {
		e := &fake{y: values(c.y), info: method.Info{Bits: 10}}
		r := runOnce(t, methodOf(op.Sum, "S/2", e), e, sumOf(t, c.x...))
		if r.RelError != c.rel || r.AbsError != c.abs || r.ExactResult != c.exact || r.Value != c.value {
			t.Errorf("%v for %v: %s is wrong by %s, %s; exact %v", c.y, c.x, r.Value, r.RelError, r.AbsError, r.ExactResult)
		}
		if !reflect.DeepEqual(r.WithinBound, c.within) || !reflect.DeepEqual(r.CorrectBits, c.correct) {
			t.Errorf("%v for %v: within %v, correct bits %v", c.y, c.x, r.WithinBound, r.CorrectBits)
		}
		if r.Exact[:min(4, len(r.Exact))] != c.exactly {
			t.Errorf("%v for %v: exact result %s", c.y, c.x, r.Exact)
		}
	}
}

// matrix is the problem [1 2; 4 -4] * x: (5, -4) for (1, 2), with magnitudes (5, 12), and (3, 0) of (3, 8) for (1, 1).
func matrix(x ...float64) *op.Problem {
	a := numbers.Array{Source: numbers.Float64s{1, 2, 4, -4}, Layout: numbers.RowMajor(2, 2, 2)}
	return &op.Problem{Op: op.Gemv, A: a, X: floats(x...)}
}

// TestVector: the record is that of the component with the largest relative error, the first of equals; any component
// outside of its bound counts; norms are those of all. g(n+2) = 2, so that the bound on the norm is 34/9, or 22/3.
func TestVector(t *testing.T) {
	for _, c := range []struct {
		x, y             []float64
		row              int
		rel              string
		within           bool
		normError, bound string
	}{
		{[]float64{1, 2}, []float64{5, -4}, 0, "0", true, "0", "3.78e+00"},
		{[]float64{1, 2}, []float64{5.5, -4.25}, 0, "1.00e-01", true, "8.33e-02", "3.78e+00"}, // 1/10, 1/16; 3/4 of 9
		{[]float64{1, 2}, []float64{5.25, -4.25}, 1, "6.25e-02", true, "5.56e-02", "3.78e+00"},
		{[]float64{1, 2}, []float64{2.5, -6}, 0, "5.00e-01", true, "5.00e-01", "3.78e+00"},    // equals
		{[]float64{1, 2}, []float64{2.4, -5}, 0, "5.20e-01", false, "4.00e-01", "3.78e+00"},   // 2.6 > 5/2
		{[]float64{1, 2}, []float64{7.75, -10}, 1, "1.50e+00", false, "9.72e-01", "3.78e+00"}, // only the first is outside
		{[]float64{1, 1}, []float64{6, 1}, 1, "+Inf", false, "1.33e+00", "7.33e+00"},          // of 3, 0
		{[]float64{1, 1}, []float64{math.NaN(), 1}, 0, "NaN", false, "NaN", "7.33e+00"},
	} {
		e := &fake{y: values(c.y...), info: method.Info{Bits: 10, NumberBytes: 2, WorkspaceBytes: 6}}
		r := runOnce(t, methodOf(op.Gemv, "S/2, u = 1/6", e), e, inputOf(t, matrix(c.x...)))
		if r.Row == nil || *r.Row != c.row || r.RelError != c.rel || r.WithinBound == nil || *r.WithinBound != c.within {
			t.Errorf("%v for %v: row %v, error %s, within %v", c.y, c.x, *r.Row, r.RelError, r.WithinBound)
		}
		if r.NormError != c.normError || r.NormBound != c.bound {
			t.Errorf("%v for %v: error of the norm %s, bound %s, want %+v", c.y, c.x, r.NormError, r.NormBound, c)
		}
		if r.MatrixBytes != 8 || r.WorkspaceBytes != 6 || r.Shape != (record.Shape{M: 2, N: 2, Trans: "N"}) {
			t.Errorf("%+v", r)
		}
	}
}
