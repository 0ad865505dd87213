package advise

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"

	"mpbench/datasets"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/methods"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
)

// cpuMethods returns methods of sums that run on the CPU, all without names.
func cpuMethods(t *testing.T, names ...string) method.Catalog {
	t.Helper()
	all := methods.All()
	if names == nil {
		return all
	}
	var list method.Catalog
	for _, name := range names {
		m, ok := all.Lookup(op.Sum, name)
		if !ok {
			t.Fatalf("no method %s", name)
		}
		m.On = map[device.Kind]method.New{device.CPU: m.On[device.CPU]}
		list = append(list, m)
	}
	return list
}

func problemOf(t *testing.T, o *op.Operation, text string, trans bool, catalog method.Catalog) *Problem {
	t.Helper()
	spec, err := datasets.For(o).Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.Generate(spec, datasets.Options{Seed: 1, Trans: trans})
	if err != nil {
		t.Fatal(err)
	}
	in, err := measure.NewInput(d.Record(), d.Problem(o))
	if err != nil {
		t.Fatal(err)
	}
	return NewProblem(in, catalog, 0)
}

func sumOf(t *testing.T, text string, names ...string) *Problem {
	t.Helper()
	return problemOf(t, op.Sum, text, false, cpuMethods(t, names...))
}

func find(t *testing.T, p *Problem, o Options) *Result {
	t.Helper()
	if o.Devices == nil {
		o.Devices = []device.Set{{}}
	}
	o.Reuse, o.effort = max(1, o.Reuse), effort{samples: 2, most: time.Microsecond}
	r, err := Find(context.Background(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wellToIll are data from well conditioned to a condition number of 10^100, in all operations.
var wellToIll = []struct {
	op    *op.Operation
	trans bool
	data  []string
}{
	{op.Sum, false, []string{
		"uniform01:n=20000", "uniform11:n=1000", "harmonic:n=5000", "basel:n=5000", "mcnamee1", "mcnamee3",
		"anderson", "zhuhayes1", "zhuhayes3:n=500", "zhuhayes4:n=500", "repro-cond:cond=1e15", "xsum",
		"gensum:cond=1e10", "gensum:cond=1e20", "gensum:cond=1e40", "gensum:cond=1e60", "gensum:cond=1e80",
		"gensum:cond=1e100,n=100", "extremes:kind=overflow", "extremes:kind=inf", "extremes:kind=nan",
		"uniform11:n=1",
	}},
	{op.Dot, false, []string{
		"uniform11:n=10000", "gendot:cond=1e10", "gendot:cond=1e30", "gendot:cond=1e80", "wide:range=200",
	}},
	{op.Gemv, false, []string{
		"uniform11:n=40", "gengemv:n=30,cond=1e20", "gengemv:n=30,cond=1e80", "hilbert:n=12", "uniform11:n=200",
	}},
	{op.Gemv, true, []string{
		"uniform11:n=40,m=30",
	}},
}

// TestEveryWishIsMet: on all data, for modest and for high wishes, there is a recommendation; it meets the wish, again
// when it is run once more, and promised ones are within their bounds.
func TestEveryWishIsMet(t *testing.T) {
	for _, c := range wellToIll {
		for _, data := range c.data {
			began := time.Now()
			p := problemOf(t, c.op, data, c.trans, methods.All())
			for _, w := range []Wish{Digits(6), CorrectBits(50), Digits(40)} {
				for _, proved := range []bool{false, true} {
					checkWish(t, fmt.Sprintf("%s %s, %s, proved %v", c.op.Name, data, w, proved), p, w, proved)
				}
			}
			t.Logf("%s %s %v", c.op.Name, data, time.Since(began))
		}
	}
}

func checkWish(t *testing.T, what string, p *Problem, w Wish, proved bool) {
	t.Helper()
	if proved && p.Facts().Condition.Class == exact.NaN {
		return // no bound is proved for infinities and NaN
	}
	r := find(t, p, Options{Wish: w, Proved: proved, Reuse: 10})
	if r.Best == nil || r.Check == nil || !r.Check.Holds || !w.Met(r.Best.Found) {
		t.Errorf("%s: recommends %+v, check %+v", what, r.Best, r.Check)
		return
	}
	if proved && !r.Best.Promised {
		t.Errorf("%s: %s does not promise it", what, r.Best.Method)
	}
	checkCandidates(t, what, r)
}

// checkCandidates: a promise is kept, the order is by cost, and nothing that meets the wish was found cheaper by more
// than the factor that a promise is worth.
func checkCandidates(t *testing.T, what string, r *Result) {
	t.Helper()
	last := 0.0
	for _, c := range r.Candidates {
		if c.Ran && c.Promised && !c.Meets {
			t.Errorf("%s: %s at %d bits promises what it does not have", what, c.Method, c.Precision)
		}
		if !c.Meets {
			break
		}
		if c.CostNs < last {
			t.Errorf("%s: %s is out of order", what, c.Method)
		}
		last = c.CostNs
		if !r.Options.Proved && r.Best.CostNs > promiseWorth*c.CostNs {
			t.Errorf("%s: %s costs %g, %s %g", what, r.Best.Method, r.Best.CostNs, c.Method, c.CostNs)
		}
	}
}

func TestWish(t *testing.T) {
	tenth := exact.FromRat(big.NewRat(1, 10))
	for _, c := range []struct {
		wish Wish
		bits int
		met  bool // by an error of 1/10
	}{{Digits(1), 4, true}, {Digits(2), 7, false}, {CorrectBits(3), 3, true}, {CorrectBits(4), 4, false},
		{Digits(30), 100, false}, {CorrectBits(100), 100, false}} {
		if c.wish.Bits() != c.bits || c.wish.Met(tenth) != c.met {
			t.Errorf("%s: %d bits, met %v", c.wish, c.wish.Bits(), c.wish.Met(tenth))
		}
	}
	if w := Digits(3); !w.Met(exact.Value{}) || w.Met(exact.Value{Class: exact.PosInf}) ||
		w.Met(exact.Value{Class: exact.NaN}) {
		t.Error("no error, infinite error, NaN")
	}
}

// forgetful is an engine that is right only the first times.
type forgetful struct {
	method.Engine
	runs *int
}

func (f forgetful) Result() (numbers.Source, error) {
	if *f.runs++; *f.runs > 1 {
		return numbers.Float64s{7}, nil
	}
	return f.Engine.Result()
}

// TestCheckFails: a recommendation that does not hold when it is run again is found out.
func TestCheckFails(t *testing.T) {
	list := cpuMethods(t, "deferred")
	construct, runs := list[0].On[device.CPU], 0
	list[0].On[device.CPU] = func(c method.Config) (method.Engine, error) {
		e, err := construct(c)
		return forgetful{e, &runs}, err
	}
	r := find(t, problemOf(t, op.Sum, "gensum:n=100", false, list), Options{Wish: Digits(10)})
	if r.Best == nil || r.Check == nil || r.Check.Holds {
		t.Errorf("%+v, %+v", r.Best, r.Check)
	}
}

// TestNothingMeets: methods of float64 have no 30 digits.
func TestNothingMeets(t *testing.T) {
	r := find(t, sumOf(t, "harmonic:n=100", "float64", "kahan", "neumaier"), Options{Wish: Digits(30)})
	if r.Best != nil || len(r.Candidates) != 3 || r.Check != nil {
		t.Errorf("%+v", r)
	}
}

type failing struct{ method.Engine }

func (failing) Prepare(context.Context, *op.Problem) error { return errors.New("does not fit") }

func (failing) Close() error { return nil }

// TestProblems: methods that cannot be constructed, prepared or be precise enough are listed with the reason.
func TestProblems(t *testing.T) {
	list := cpuMethods(t, "kahan", "neumaier", "reduce1")
	list[0].On[device.CPU] = func(method.Config) (method.Engine, error) { return failing{}, nil }
	list[1].On[device.CPU] = func(method.Config) (method.Engine, error) { return nil, errors.New("no such thing") }
	r := find(t, problemOf(t, op.Sum, "uniform11:n=100", false, list), Options{Wish: CorrectBits(9000)})
	if r.Best != nil || len(r.Candidates) != 3 {
		t.Fatalf("%+v", r)
	}
	for _, c := range r.Candidates {
		if c.Problem == "" {
			t.Errorf("%s has no problem", c.Method)
		}
	}
}

// TestDevices: a method runs on every device that it offers and that was asked for, and is told which.
func TestDevices(t *testing.T) {
	list := cpuMethods(t, "deferred")
	construct := list[0].On[device.CPU]
	told := map[string]bool{}
	on := func(c method.Config) (method.Engine, error) {
		told[c.Devices.String()] = true
		return construct(c)
	}
	list[0].On = map[device.Kind]method.New{device.CPU: on, device.CUDA: on}
	p := problemOf(t, op.Sum, "uniform11:n=100", false, list)
	r := find(t, p, Options{Wish: Digits(10), Devices: []device.Set{{}, device.GPU(0)}})
	if len(r.Candidates) != 2 || !told["cpu"] || !told["cuda:0"] {
		t.Errorf("%v, %+v", told, r.Candidates)
	}
}

// TestExhaustive: everything is run, and the ratio is to the cheapest of all that could be recommended.
func TestExhaustive(t *testing.T) {
	for _, proved := range []bool{false, true} {
		r := find(t, sumOf(t, "gensum:n=100,cond=1e40"), Options{Wish: Digits(20), Exhaustive: true, Proved: proved})
		if r.Cheapest == nil || r.Ratio < 1 || len(r.Candidates) < 20 || proved && !r.Cheapest.Promised {
			t.Errorf("%+v, %g, %d candidates", r.Cheapest, r.Ratio, len(r.Candidates))
		}
		for _, c := range r.Candidates {
			if !c.Ran {
				t.Errorf("%s was not run", c.Method)
			}
		}
	}
}

// TestFacts: sizes, condition and exponents.
func TestFacts(t *testing.T) {
	f := sumOf(t, "mcnamee1").Facts()
	if f.Size[0] != "n = 4096" || f.Condition.Text(2) != "2.0e+22" || f.Least != -60 || f.Most != 3 || f.Spread != 63 {
		t.Errorf("%+v", f)
	}
	if f := problemOf(t, op.Dot, "gendot:cond=1e30", false, methods.All()).Facts(); f.Condition.Text(1) != "1e+30" {
		t.Errorf("%s", f.Condition.Text(3))
	}
	thirds := numbers.Vector(numbers.Rationals([]*big.Rat{big.NewRat(1, 3), big.NewRat(-1, 7)}))
	in, err := measure.NewInput(record.Dataset{N: 2}, &op.Problem{Op: op.Sum, X: thirds})
	if err != nil {
		t.Fatal(err)
	}
	if r := find(t, NewProblem(in, methods.All(), 0), Options{Wish: Digits(30)}); r.Best == nil || !r.Check.Holds {
		t.Errorf("%+v", r.Best)
	}
}

// TestInterrupted: what was found until then is kept, and nothing is recommended that was not compared.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := Options{Wish: Digits(5), Devices: []device.Set{{}}, Reuse: 1}
	runs := 0
	o.Progress = func(string) {
		if runs++; runs == 3 {
			cancel()
		}
	}
	r, err := Find(ctx, sumOf(t, "uniform11:n=100"), o)
	if err != nil || len(r.Candidates) != 3 || r.Check != nil {
		t.Errorf("%v, %+v", err, r)
	}
	if _, err := Find(ctx, sumOf(t, "uniform11:n=100"), Options{Wish: Digits(5)}); err == nil {
		t.Error("a reuse of 0 is accepted")
	}
}
