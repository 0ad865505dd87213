package plan

import (
	"context"
	"errors"
	"math"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

func given(x float64) Ceiling { return Ceiling{x, Given} }

// ceilings whose times are easily told: a disk of 1 GB/s, memory of 8, a bus of 4, 1 ns a term.
var ceilings = Ceilings{
	Disk: given(1e9), Memory: given(8e9), Bus: given(4e9), Engine: given(1), Convert: given(0), Link: given(1e9),
	Latency: given(1e-3),
}

// TestPredict: times, bounds and what would help, computed by hand from the model.
func TestPredict(t *testing.T) {
	slow := ceilings
	slow.Engine, slow.Convert = given(100), given(50)
	message := slow
	message.Latency = given(1)
	for _, c := range []struct {
		name     string
		work     Work
		machine  Machine
		ceilings Ceilings
		stages   map[string]float64
		bound    string
		seconds  float64
		helps    string // most, "" for nothing
	}{
		{"a file", Work{op.Sum, 0, 1e9, File}, Machine{1, 1, 0}, ceilings,
			map[string]float64{Reading: 8, MemoryTraffic: 2, Computing: 1}, Reading, 8, "disks twice as fast"},
		{"two files of 4 hosts with 2 ranks each", Work{op.Dot, 0, 1e9, File}, Machine{4, 8, 0}, ceilings,
			map[string]float64{Reading: 4, MemoryTraffic: 1, Computing: 0.125, Communication: 0.012 + 4200e-9}, Reading,
			4.012 + 4200e-9, "disks twice as fast"},
		{"memory through 2 GPUs", Work{op.Sum, 0, 1e9, Memory}, Machine{1, 1, 2}, ceilings,
			map[string]float64{MemoryTraffic: 3, Bus: 1, Computing: 0.5}, MemoryTraffic, 3, "memory twice as fast"},
		{"on 2 GPUs", Work{op.Sum, 0, 1e9, Device}, Machine{1, 1, 2}, ceilings, map[string]float64{Computing: 0.5},
			Computing, 0.5, "twice as many GPUs"},
		{"a matrix", Work{op.Gemv, 1e4, 1e4, Memory}, Machine{1, 1, 0}, slow,
			map[string]float64{MemoryTraffic: 0.1, Converting: 5, Computing: 10}, Computing, 15, "engines twice as fast"},
		{"few numbers on many hosts", Work{op.Sum, 0, 1000, Memory}, Machine{1024, 1024, 0}, message,
			map[string]float64{Communication: 40 + 1023*600e-9}, Communication, 40 + 1023*600e-9 + 1.5e-7,
			"a network twice as fast"},
	} {
		p := Predict(c.work, c.machine, c.ceilings)
		near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-9*b }
		if !near(p.Seconds, c.seconds) || p.Bound != c.bound || len(p.Stages) != len(c.stages) {
			t.Errorf("%s: %g s bound by %s, want %g by %s; %+v", c.name, p.Seconds, p.Bound, c.seconds, c.bound, p.Stages)
		}
		for _, s := range p.Stages {
			if !near(s.Seconds, c.stages[s.Name]) {
				t.Errorf("%s: %s takes %g s, want %g", c.name, s.Name, s.Seconds, c.stages[s.Name])
			}
		}
		if p.Changes[0].What != c.helps || p.Changes[0].Seconds >= p.Seconds {
			t.Errorf("%s: %+v, want %s", c.name, p.Changes, c.helps)
		}
		if p.Bound != Communication && p.Doubled >= p.Seconds {
			t.Errorf("%s: %g s on twice as many hosts", c.name, p.Doubled)
		}
	}
}

// TestHalved: work that is no communication takes half the time on twice as many hosts, and twice the ceilings half.
func TestHalved(t *testing.T) {
	for _, o := range []*op.Operation{op.Sum, op.Dot, op.Gemv} {
		for _, from := range []Place{File, Memory, Device} {
			w := Work{o, 0, 1 << 20, from}
			if o.Has(op.Matrix) {
				w.M = 1 << 10
			}
			m := Machine{4, 4, 2}
			c := ceilings
			c.Link, c.Latency = given(math.Inf(1)), given(0)
			p := Predict(w, m, c)
			if math.Abs(p.Doubled-p.Seconds/2) > 1e-9*p.Seconds {
				t.Errorf("%s from %s: %g s, on twice as many hosts %g", o.Name, from, p.Seconds, p.Doubled)
			}
		}
	}
}

// TestMeasureEngine: what is measured is the time of a run, over its terms; errors and the end come through.
func TestMeasureEngine(t *testing.T) {
	broken := errors.New("broken")
	for _, failed := range []string{"", "make", "prepare", "run", "end"} {
		runs, ends, terms := 0, 0, 0.0
		fail := func(what string) error {
			if failed == what {
				return broken
			}
			return nil
		}
		r := Runner(func(_ context.Context, p *op.Problem) (prepare, run, end func() error, err error) {
			terms = float64(p.A.Rows) * float64(p.A.Cols)
			return func() error { return fail("prepare") }, func() error { runs++; return fail("run") },
				func() error { ends++; return fail("end") }, fail("make")
		})
		engine, convert, err := MeasureEngine(context.Background(), Work{op.Gemv, 10, 3000, Memory}, r)
		if failed != "" {
			if !errors.Is(err, broken) || (failed == "make") != (ends == 0) {
				t.Errorf("%s fails: %v, %d ends", failed, err, ends)
			}
			continue
		}
		if err != nil || engine.Value <= 0 || engine.Value*terms > 1e9 || convert.From != Measured || ends == 0 ||
			runs <= ends || 4*terms <= mostTerms/2 {
			t.Errorf("%v: %+v, %+v; %d runs, %d ends, at last of %g terms", err, engine, convert, runs, ends, terms)
		}
	}
}

// TestMeasured: an answer about numbers is timed, a disk read whole, and errors of reading come through.
func TestMeasured(t *testing.T) {
	ctx := context.Background()
	for _, o := range []*op.Operation{op.Sum, op.Dot, op.Gemv} {
		m := 0
		if o.Has(op.Matrix) {
			m = 30
		}
		if s, err := Streamed(2).Time(ctx, Sample(o, m, 20)); err != nil || s <= 0 || s > 10 {
			t.Errorf("%s: %g s, %v", o.Name, s, err)
		}
	}
	x := Sample(op.Sum, 0, 1<<20).X.Source.(numbers.Float64s)
	if c, err := MeasureDisk(ctx, numbers.Vector(problems.OnDisk(x, len(x)))); err != nil || !(c.Value > 1e6) {
		t.Errorf("%+v, %v", c, err)
	}
	if _, err := MeasureDisk(ctx, numbers.Vector(problems.OnDisk(x, 7))); !errors.Is(err, problems.ErrBroken) {
		t.Errorf("a broken disk: %v", err)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := MeasureDisk(ended, numbers.Vector(problems.OnDisk(x, len(x)))); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if c := MeasureMemory(1); !(c.Value > 1e8) || c.From != Measured {
		t.Errorf("memory: %+v", c)
	}
}

func TestRate(t *testing.T) {
	for x, want := range map[float64]string{
		5e9: "5 GB/s", 12: "12 bytes/s", 1.234e12: "1.23 TB/s", 3e15: "3e+03 TB/s",
	} {
		if got := Rate(x); got != want {
			t.Errorf("%g: %s, want %s", x, got, want)
		}
	}
}
