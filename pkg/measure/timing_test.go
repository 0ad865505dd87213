package measure_test

import (
	"context"
	"errors"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"mpbench/pkg/exact"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

// take measures an engine for a sum of 3.
func take(t *testing.T, ctx context.Context, s sampling.Sampler, e method.Engine) (measure.Result, bool, error) {
	t.Helper()
	return measure.Measure(ctx, s, methodOf(op.Sum, "S", e), method.Config{}, sumOf(t, 1, 2))
}

// TestWarmup: what runs before the first sample is no sample, the numbers are converted before all, three times, and
// the engine is closed once.
func TestWarmup(t *testing.T) {
	for _, warmup := range []int{0, 1, 4} {
		for _, runs := range []int{0, 1, 5} {
			e := &fake{y: values(3)}
			e.ran = func(n int) { // a first run with cold caches is slow
				if n <= warmup {
					e.now += time.Second
				}
				if e.prepares != 3 {
					t.Errorf("%d conversions before run %d", e.prepares, n)
				}
			}
			result, ok, err := take(t, context.Background(), sampling.Sampler{Warmup: warmup, Runs: runs, Clock: e}, e)
			if err != nil || !ok {
				t.Fatal(ok, err)
			}
			r, samples := result.Record, max(1, runs)
			if len(r.Time.Samples) != samples || e.runs != warmup+samples || r.Time.Median != 1e6 || e.closes != 1 {
				t.Errorf("%d and %d: %d runs, %+v, closed %d times", warmup, runs, e.runs, r.Time, e.closes)
			}
			convert := r.Phases[record.PhaseConvert]
			want := record.Phases{"convert": convert, "h2d": 0, "kernel": 1e6, "d2h": 0}
			if convert <= 0 || !maps.Equal(r.Phases, want) || result.Stages != nil {
				t.Errorf("phases %v, stages %v", r.Phases, result.Stages)
			}
		}
	}
}

// TestShortRuns: runs that are shorter than what a clock shows are samples together, but counted one by one.
func TestShortRuns(t *testing.T) {
	e := &fake{y: values(3), each: 16}
	result, _, err := take(t, context.Background(), sampling.Sampler{Runs: 3, Clock: e}, e)
	if err != nil {
		t.Fatal(err)
	}
	got := result.Record.Time
	if got.Median != 16 || got.Iterations < 625 || got.Iterations > e.runs/3 { // 10 µs
		t.Errorf("%+v of %d runs", got, e.runs)
	}
}

// TestTimed: an engine's own times become phases and kernels by their medians, and its stages phases too.
func TestTimed(t *testing.T) {
	e := &timed{fake: fake{y: values(3), info: method.Info{Device: "cuda:1", Warnings: []string{"no tuning"}}}}
	e.times = method.Times{Convert: 5, CopyIn: 7}
	sampler := sampling.Sampler{Warmup: 1, Runs: 3, Clock: e}
	result, ok, err := take(t, context.Background(), sampler, e)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	r := result.Record
	if e.prepares != 1 || !slices.Equal(r.Time.Samples, []float64{200, 300, 400}) || r.Device != "cuda:1" {
		t.Errorf("prepared %d times, %+v on %s", e.prepares, r.Time, r.Device)
	}
	want := record.Phases{"convert": 5, "h2d": 7, "kernel": 300, "d2h": 11, "host": 60, "multiply": 180, "round": 40}
	if !reflect.DeepEqual(r.Phases, want) {
		t.Errorf("phases %v, want %v", r.Phases, want)
	}
	kernels := []record.Kernel{ // of runs 1 to 4
		{Phase: "s", Name: "k1", Array: "d", TimeNs: 75, Bytes: 600, BytesShare: 0.8, Blocks: 2, Threads: 64},
		{Phase: "s", Name: "k2", TimeNs: 175, Bytes: 5, Occupancy: 0.5, SharedBytes: 7, Registers: 8, LocalBytes: 9},
	}
	if !reflect.DeepEqual(r.Kernels, kernels) {
		t.Errorf("kernels %+v, want %+v", r.Kernels, kernels)
	}
	if len(result.Stages) != 2 || result.Stages[0].Time != 240 || result.Stages[1].Name != "round" {
		t.Errorf("stages %v", result.Stages)
	}
	tuning := slices.IndexFunc(r.Warnings, func(w record.Warning) bool { return w.Code == record.WarnTuning })
	if tuning < 0 || r.Warnings[tuning].Text != "no tuning" {
		t.Errorf("warnings %v", r.Warnings)
	}
}

// copying is a timed engine whose runs copy their results themselves.
type copying struct{ timed }

func (e *copying) RunTimed(ctx context.Context) error {
	err := e.timed.RunTimed(ctx)
	e.times.CopyOut, e.times.Host = 13, 0
	return err
}

func TestTimedCopies(t *testing.T) {
	e := &copying{timed{fake: fake{y: values(3)}}}
	result, _, err := take(t, context.Background(), sampling.Sampler{Clock: e}, e)
	if err != nil {
		t.Fatal(err)
	}
	if _, host := result.Record.Phases["host"]; host || result.Record.Phases["d2h"] != 13 {
		t.Errorf("phases %v", result.Record.Phases)
	}
}

// TestErrors: the error of an engine in any phase is that of the measurement, which has no record, and the engine is
// closed.
func TestErrors(t *testing.T) {
	for name, e := range map[string]*fake{
		"prepare": {prepareErr: errBroken}, "run": {runErr: errBroken}, "result": {resultErr: errBroken},
		"close": {closeErr: errBroken},
	} {
		for _, engine := range []method.Engine{e, &timed{fake: *e}} {
			closer := e
			if own, ok := engine.(*timed); ok {
				closer = &own.fake
			}
			closer.y = values(3)
			_, ok, err := take(t, context.Background(), sampling.Sampler{Warmup: 1, Clock: closer}, engine)
			if err != errBroken || ok != (name == "close") || closer.closes != 1 {
				t.Errorf("%s of %T: %v, %v, closed %d times", name, engine, ok, err, closer.closes)
			}
		}
	}
	e := &fake{y: values(3, 4)}
	_, ok, err := take(t, context.Background(), sampling.Sampler{}, e)
	if ok || err == nil || err.Error() != "the result of sum has 1 numbers, not 2" {
		t.Errorf("a result of two numbers: %v, %v", ok, err)
	}
	if _, ok, err := take(t, context.Background(), sampling.Sampler{Runs: -1}, &fake{y: values(3)}); ok || err == nil {
		t.Errorf("-1 runs: %v, %v", ok, err)
	}
	m := methodOf(op.Sum, "S", e)
	m.Bits, m.Least, m.Most = 0, 30, 40
	var refused *method.Error
	_, ok, err = measure.Measure(context.Background(), sampling.Sampler{}, m, method.Config{Precision: 5}, sumOf(t, 1))
	if ok || !errors.As(err, &refused) {
		t.Errorf("a precision of 5 bits: %v, %v", ok, err)
	}
	x, y := floats(1), floats(1, 2)
	var wrong *op.Error
	if _, err := measure.NewInput(record.Dataset{}, &op.Problem{Op: op.Dot, X: x, Y: y}); !errors.As(err, &wrong) {
		t.Errorf("vectors of two lengths: %v", err)
	}
}

// TestInterrupted: a measurement that is interrupted has the samples so far, and none is no error; the engine is
// closed, also where it was never prepared.
func TestInterrupted(t *testing.T) {
	for _, failing := range []bool{false, true} { // a run that notices returns the context's error
		for after := range 4 {
			ctx, cancel := context.WithCancel(context.Background())
			e := &fake{y: values(3)}
			e.ran = func(n int) {
				if n >= after {
					cancel()
				}
				if failing && n == after {
					e.runErr = ctx.Err()
				}
			}
			if after == 0 {
				cancel()
			}
			result, ok, err := take(t, ctx, sampling.Sampler{Runs: 10, Clock: e}, e)
			samples := after
			if failing {
				samples = max(0, after-1)
			}
			if err != nil || ok != (samples > 0) || len(result.Record.Time.Samples) != samples || e.closes != 1 {
				t.Errorf("after run %d: %v, %v, %+v", after, ok, err, result.Record.Time)
			}
			if ok && result.Record.StopRule != record.StopInterrupted {
				t.Errorf("after run %d: stopped by %s", after, result.Record.StopRule)
			}
			if after == 0 && e.prepares+e.runs > 0 {
				t.Errorf("prepared %d times, run %d times after an interruption", e.prepares, e.runs)
			}
		}
	}
}

// TestNothing: a result of no numbers is right.
func TestNothing(t *testing.T) {
	e := &fake{info: method.Info{Bits: 10}}
	in := inputOf(t, &op.Problem{Op: op.Axpy, X: floats(), Y: floats()})
	r := runOnce(t, methodOf(op.Axpy, "S", e), e, in)
	if r.Value != "0" || r.Exact != "0" || !r.ExactResult || r.Row != nil || r.NormError != "0" {
		t.Errorf("%+v", r)
	}
	if r.ResultHash != hashOf("") {
		t.Errorf("hash %s", r.ResultHash)
	}
}

// TestLongResult: the worst of many components is found wherever it is, and the hash is that of all.
func TestLongResult(t *testing.T) {
	n := 9000
	x, y := make(numbers.Float64s, n), make(numbers.Values, n)
	for i := range x {
		x[i], y[i] = 1, exact.FromFloat64(1)
	}
	in := inputOf(t, &op.Problem{Op: op.Axpy, X: numbers.Vector(x), Y: numbers.Vector(make(numbers.Float64s, n))})
	for _, row := range []int{0, 4095, 4096, 8191, n - 1} {
		y[row] = exact.FromFloat64(1.5)
		j, err := in.Judge(y, nil)
		if err != nil || j.Worst != row || !j.Errors.Rel.Equal(exact.FromFloat64(0.5)) || j.Outside {
			t.Errorf("row %d: %+v, %v", row, j, err)
		}
		text := strings.Repeat("0x1p0\n", row) + "0x3p-1\n" + strings.Repeat("0x1p0\n", n-row-1)
		if j.Hash != hashOf(text) {
			t.Errorf("row %d: hash %s, want %s", row, j.Hash, hashOf(text))
		}
		y[row] = exact.FromFloat64(1)
	}
}

// TestPrepared: a method that is ready runs as often as it is asked to, and keeps its first error.
func TestPrepared(t *testing.T) {
	e := &fake{y: values(3)}
	o, err := measure.Prepare(context.Background(), methodOf(op.Sum, "S", e), method.Config{}, sumOf(t, 1, 2))
	if err != nil || e.prepares != 1 || e.runs != 0 {
		t.Fatal(err)
	}
	o.Run()
	if o.Err() != nil || e.runs != 1 {
		t.Errorf("%d runs: %v", e.runs, o.Err())
	}
	for _, err := range []error{errBroken, errors.New("another"), nil} {
		e.runErr = err
		o.Run()
	}
	if o.Err() != errBroken || e.runs != 4 {
		t.Errorf("%d runs: %v", e.runs, o.Err())
	}
	e.prepareErr = errBroken
	m := methodOf(op.Sum, "S", e)
	if _, err := measure.Prepare(context.Background(), m, method.Config{}, sumOf(t, 1)); !errors.Is(err, errBroken) ||
		e.closes != 1 {
		t.Errorf("prepare: %v", err)
	}
	m.On = nil
	var refused *method.Error
	if _, err := measure.Prepare(context.Background(), m, method.Config{}, sumOf(t, 1)); !errors.As(err, &refused) {
		t.Errorf("a method that runs nowhere: %v", err)
	}
}

// TestLimit: a method's bounds, from one run of it, are those of its formula.
func TestLimit(t *testing.T) {
	ctx, in := context.Background(), sumOf(t, 3, -1)
	e := &fake{y: values(3), info: method.Info{Bound: map[string]int{"B": 5}}}
	limit, err := in.Limit(ctx, methodOf(op.Sum, "B*S + |s|", e), method.Config{})
	if err != nil || e.runs != 1 || e.closes != 1 {
		t.Fatalf("%v, run %d times, closed %d times", err, e.runs, e.closes)
	}
	if got := exact.FromRat(limit(in.Reference.Component(0))); !got.Equal(exact.FromFloat64(22)) {
		t.Errorf("%v, want 22", got)
	}
	for _, e := range []*fake{{prepareErr: errBroken}, {runErr: errBroken}, {closeErr: errBroken}} {
		if _, err := in.Limit(ctx, methodOf(op.Sum, "S", e), method.Config{}); !errors.Is(err, errBroken) || e.closes != 1 {
			t.Errorf("closed %d times: %v", e.closes, err)
		}
	}
	m := methodOf(op.Sum, "S", e)
	m.On = nil
	if _, err := in.Limit(ctx, m, method.Config{}); err == nil {
		t.Error("a method that runs nowhere has a bound")
	}
}

// TestGiven: values of a file are judged by a limit, or by none; their record has no times and no warnings.
func TestGiven(t *testing.T) {
	g := measure.Given{Name: "y.npy", Format: "binary64", Bits: 10}
	in := inputOf(t, matrix(1, 2)) // (5, -4), of magnitudes 5 and 12
	for _, c := range []struct {
		u      float64 // 0 for no limit
		y      []float64
		within *bool
		bound  string
	}{
		{0, []float64{5.5, -4}, nil, ""},
		{0.0625, []float64{5.5, -4}, pointer(true), "3.33e-01"}, // g(4) = 1/3
		{0.0625, []float64{7, -4}, pointer(false), "3.33e-01"},
		{0.0625, []float64{5, -8}, pointer(true), "1.00e+00"},
		{0.0625, []float64{5, math.NaN()}, pointer(false), "1.00e+00"},
		{0.25, []float64{5.5, -4}, nil, ""}, // g(4) does not exist
	} {
		var limit measure.Limit
		if c.u != 0 {
			limit = in.NormLimit(exact.FromFloat64(c.u).Number())
		}
		r, err := in.Given(g, values(c.y...), limit)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(r.WithinBound, c.within) || r.Bound != c.bound {
			t.Errorf("%+v: within %v, bound %s", c, r.WithinBound, r.Bound)
		}
		if r.Method != "y.npy" || r.Format != "binary64" || r.Command != "gemv" || r.PrecisionBits != 10 {
			t.Errorf("%+v", r)
		}
		shape := record.Shape{M: 2, N: 2, Trans: "N"}
		if r.Warnings != nil || r.Shape != shape || len(r.Phases) != 0 || r.Dataset.Name != "known" {
			t.Errorf("%+v", r)
		}
	}
	if _, err := in.Given(g, values(1), nil); err == nil {
		t.Error("one number for two is no error")
	}
	unknown := in.NormLimit(nil)
	if got := unknown(in.Reference.Component(0)); got != nil {
		t.Errorf("without a unit roundoff the bound is %v", got)
	}
	infinite := inputOf(t, matrix(math.Inf(1), 2))
	if got := infinite.NormLimit(exact.FromFloat64(0.0625).Number())(infinite.Reference.Component(0)); got != nil {
		t.Errorf("the bound on an infinity is %v", got)
	}
	e := &fake{y: values(math.Inf(1), math.Inf(1)), info: method.Info{Bits: 10}}
	r := runOnce(t, methodOf(op.Gemv, "S/2, u = 1/6", e), e, infinite)
	if r.NormBound != "" || r.NormError != "NaN" || !*r.WithinBound {
		t.Errorf("infinities: %+v", r)
	}
}

// TestLarger: numbers come before infinities, and those before NaN.
func TestLarger(t *testing.T) {
	order := values(0, 0.5, 3, math.Inf(1), math.NaN())
	for i, x := range order {
		for k, y := range order {
			if got := measure.Larger(x, y); got != (i > k) {
				t.Errorf("%v is larger than %v: %v", x, y, got)
			}
		}
	}
}
