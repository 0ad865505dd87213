package advise

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"

	"mpbench/datasets"
	"mpbench/pkg/bench"
	"mpbench/pkg/exact"
	"mpbench/pkg/gemv"
	"mpbench/pkg/reduce"
)

func sumOf(t *testing.T, text string) Operation { return sumBy(t, text, reduce.Methods()) }

func sumBy(t *testing.T, text string, methods []reduce.Method) Operation {
	t.Helper()
	spec, err := datasets.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.Generate(spec, datasets.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return Sum(bench.NewSumInput(d), methods)
}

func dotOf(t *testing.T, text string) Operation {
	t.Helper()
	spec, err := datasets.ParsePair(text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := datasets.GeneratePair(spec, datasets.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return Dot(bench.NewDotInput(p), reduce.DotMethods())
}

func gemvOf(t *testing.T, text string, op gemv.Op) Operation {
	t.Helper()
	spec, err := datasets.ParseMatrix(text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.GenerateMatrix(spec, datasets.MatrixOptions{Seed: 1, Trans: op == gemv.Trans})
	if err != nil {
		t.Fatal(err)
	}
	in, err := bench.NewGemvInput(d, gemv.Problem{
		Op: op, M: d.M, N: d.N, LDA: d.M, IncX: 1, IncY: 1, Alpha: gemv.Number(1),
		A: gemv.Numbers{Float64: d.A}, X: gemv.Numbers{Float64: d.X}, Y: gemv.Numbers{Float64: d.Y},
	})
	if err != nil {
		t.Fatal(err)
	}
	return Gemv(in, gemv.Methods(), 0)
}

func find(t *testing.T, op Operation, o Options) *Result {
	t.Helper()
	if o.Devices == nil {
		o.Devices = []string{"cpu"}
	}
	o.Reuse, o.effort = max(1, o.Reuse), effort{samples: 2, most: time.Microsecond}
	r, err := Find(context.Background(), op, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wellToIll are data from well conditioned to a condition number of 10^100, in all operations.
var wellToIll = []struct {
	op, data string
}{
	{"sum", "uniform01:n=20000"}, {"sum", "uniform11:n=1000"}, {"sum", "harmonic:n=5000"}, {"sum", "basel:n=5000"}, {"sum", "mcnamee1"}, {"sum", "mcnamee3"},
	{"sum", "anderson"}, {"sum", "zhuhayes1"}, {"sum", "zhuhayes3:n=500"}, {"sum", "zhuhayes4:n=500"}, {"sum", "repro-cond:cond=1e15"}, {"sum", "xsum"},
	{"sum", "gensum:cond=1e10"}, {"sum", "gensum:cond=1e20"}, {"sum", "gensum:cond=1e40"}, {"sum", "gensum:cond=1e60"}, {"sum", "gensum:cond=1e80"}, {"sum", "gensum:cond=1e100,n=100"},
	{"sum", "extremes:kind=overflow"}, {"sum", "extremes:kind=inf"}, {"sum", "extremes:kind=nan"}, {"sum", "uniform11:n=1"},
	{"dot", "uniform11:n=10000"}, {"dot", "gendot:cond=1e10"}, {"dot", "gendot:cond=1e30"}, {"dot", "gendot:cond=1e80"}, {"dot", "wide:range=200"},
	{"N", "uniform11:n=40"}, {"T", "uniform11:n=40,m=30"}, {"N", "gengemv:n=30,cond=1e20"}, {"N", "gengemv:n=30,cond=1e80"}, {"N", "hilbert:n=12"}, {"N", "uniform11:n=200"},
}

// TestEveryWishIsMet: on all data, for modest and for high wishes, there is a recommendation; it meets the wish, again when it is run once
// more, and promised ones are within their bounds.
func TestEveryWishIsMet(t *testing.T) {
	for _, c := range wellToIll {
		began := time.Now()
		var op Operation
		switch c.op {
		case "sum":
			op = sumOf(t, c.data)
		case "dot":
			op = dotOf(t, c.data)
		case "N":
			op = gemvOf(t, c.data, gemv.NoTrans)
		case "T":
			op = gemvOf(t, c.data, gemv.Trans)
		}
		for _, w := range []Wish{Digits(6), CorrectBits(50), Digits(40)} {
			for _, proved := range []bool{false, true} {
				special := op.Facts().Condition.Class == exact.NaN
				r := find(t, op, Options{Wish: w, Proved: proved, Reuse: 10})
				what := fmt.Sprintf("%s %s, %s, proved %v", c.op, c.data, w, proved)
				if special && proved {
					continue // no bound is proved for infinities and NaN
				}
				if r.Best == nil || r.Check == nil || !r.Check.Holds || !w.Met(r.Best.Found) {
					t.Errorf("%s: recommends %+v, check %+v", what, r.Best, r.Check)
					continue
				}
				if proved && !r.Best.Promised {
					t.Errorf("%s: %s does not promise it", what, r.Best.Method)
				}
				checkCandidates(t, what, r)
			}
		}
		t.Logf("%s %s %v", c.op, c.data, time.Since(began))
	}
}

// checkCandidates: a promise is kept, the order is by cost, and nothing that meets the wish was found cheaper by more than the factor
// that a promise is worth.
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
	}{{Digits(1), 4, true}, {Digits(2), 7, false}, {CorrectBits(3), 3, true}, {CorrectBits(4), 4, false}, {Digits(30), 100, false}, {CorrectBits(100), 100, false}} {
		if c.wish.Bits() != c.bits || c.wish.Met(tenth) != c.met {
			t.Errorf("%s: %d bits, met %v", c.wish, c.wish.Bits(), c.wish.Met(tenth))
		}
	}
	if w := Digits(3); !w.Met(exact.Value{}) || w.Met(exact.Value{Class: exact.PosInf}) || w.Met(exact.Value{Class: exact.NaN}) {
		t.Error("no error, infinite error, NaN")
	}
}

// forgetful is a method that is right only the first times.
type forgetful struct {
	reduce.Summer
	runs *int
}

func (f forgetful) Value() exact.Value {
	if *f.runs++; *f.runs > 1 {
		return exact.FromFloat64(7)
	}
	return f.Summer.Value()
}

// TestCheckFails: a recommendation that does not hold when it is run again is found out.
func TestCheckFails(t *testing.T) {
	m, _ := reduce.Lookup("deferred")
	construct, runs := m.New, 0
	m.New = func(o reduce.Options) (reduce.Summer, error) {
		s, err := construct(o)
		return forgetful{s, &runs}, err
	}
	r := find(t, sumBy(t, "gensum:n=100", []reduce.Method{m}), Options{Wish: Digits(10)})
	if r.Best == nil || r.Check == nil || r.Check.Holds {
		t.Errorf("%+v, %+v", r.Best, r.Check)
	}
}

// TestNothingMeets: methods of float64 have no 30 digits.
func TestNothingMeets(t *testing.T) {
	var methods []reduce.Method
	for _, name := range []string{"float64", "kahan", "neumaier"} {
		m, _ := reduce.Lookup(name)
		methods = append(methods, m)
	}
	r := find(t, sumBy(t, "harmonic:n=100", methods), Options{Wish: Digits(30)})
	if r.Best != nil || len(r.Candidates) != 3 || r.Check != nil {
		t.Errorf("%+v", r)
	}
}

type failing struct{ reduce.Summer }

func (failing) Load(reduce.Terms) error { return errors.New("reduce: does not fit") }

// TestProblems: methods that cannot be constructed, loaded or be precise enough are listed with the reason.
func TestProblems(t *testing.T) {
	broken, _ := reduce.Lookup("kahan")
	broken.New = func(reduce.Options) (reduce.Summer, error) { return failing{}, nil }
	missing, _ := reduce.Lookup("neumaier")
	missing.New = func(reduce.Options) (reduce.Summer, error) { return nil, errors.New("no such thing") }
	narrow, _ := reduce.Lookup("reduce1")
	r := find(t, sumBy(t, "uniform11:n=100", []reduce.Method{broken, missing, narrow}), Options{Wish: CorrectBits(9000)})
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
	m, _ := reduce.Lookup("deferred")
	construct := m.New
	told := map[string]bool{}
	m.Devices = []string{"cpu", "cuda"}
	m.New = func(o reduce.Options) (reduce.Summer, error) {
		told[o.Device], o.Device = true, "cpu"
		return construct(o)
	}
	r := find(t, sumBy(t, "uniform11:n=100", []reduce.Method{m}), Options{Wish: Digits(10), Devices: []string{"cpu", "cuda:0"}})
	if len(r.Candidates) != 2 || !told["cpu"] || !told["cuda:0"] {
		t.Errorf("%v, %+v", told, r.Candidates)
	}
}

// TestExhaustive: everything is run, and the ratio is to the cheapest of all.
func TestExhaustive(t *testing.T) {
	r := find(t, sumOf(t, "gensum:n=100,cond=1e40"), Options{Wish: Digits(20), Exhaustive: true})
	if r.Cheapest == nil || r.Ratio < 1 || len(r.Candidates) < 20 {
		t.Errorf("%+v, %g, %d candidates", r.Cheapest, r.Ratio, len(r.Candidates))
	}
	for _, c := range r.Candidates {
		if !c.Ran {
			t.Errorf("%s was not run", c.Method)
		}
	}
}

// TestFacts: sizes, condition and exponents.
func TestFacts(t *testing.T) {
	f := sumOf(t, "mcnamee1").Facts()
	if f.Size[0] != "n = 4096" || f.Condition.Text(2) != "2.0e+22" || f.Least != -60 || f.Most != 3 || f.Spread != 63 {
		t.Errorf("%+v", f)
	}
	if f := dotOf(t, "gendot:cond=1e30").Facts(); f.Condition.Text(1) != "1e+30" {
		t.Errorf("%s", f.Condition.Text(3))
	}
	wide := Sum(bench.NewSumInput(&datasets.Data{N: 2, Wide: []*big.Rat{big.NewRat(1, 3), big.NewRat(-1, 7)}}), reduce.Methods())
	if r := find(t, wide, Options{Wish: Digits(30)}); r.Best == nil || !r.Check.Holds {
		t.Errorf("%+v", r.Best)
	}
}

// TestInterrupted: what was found until then is kept, and nothing is recommended that was not compared.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	o := Options{Wish: Digits(5), Devices: []string{"cpu"}, Reuse: 1}
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
