package selftest

import (
	"math"
	"math/big"

	"mpbench/datasets"
	"mpbench/pkg/exact"
	"mpbench/pkg/gemv"
	"mpbench/pkg/reduce"
)

// A sumCase is data for sums.
type sumCase struct {
	name    string
	terms   reduce.Terms
	summary exact.Summary
	integer bool // small integers, whose sums no format rounds
	long    bool // too long for models of multiple precision
}

// integers returns n integers of magnitude below 2^10 whose sums binary32 holds, from a multiplicative generator.
func integers(n int, seed uint64) []float64 {
	x := make([]float64, n)
	for i := range x {
		seed = seed * 6364136223846793005 % (1<<61 - 1)
		x[i] = float64(int64(seed>>20%2048) - 1024)
	}
	return x
}

// ties are numbers whose sums lie half-way between two float64, or just beside: every way of rounding gives another sum.
func ties() []float64 {
	x := []float64{1}
	for range 20 {
		x = append(x, 0x1p-53, 0x1.8p-53, -0x1p-54, 0x1.0000000000001p-53, -0x1.8p-53)
	}
	return x
}

// generated are the sets of sums, from the registry.
var generated = []string{
	"mcnamee3", "uniform11:n=211", "gensum:n=200,cond=1e40", "zhuhayes2:n=150,delta=60", "extremes:kind=subnormals,n=100",
	"extremes:kind=inf,n=20", "extremes:kind=infinf,n=20", "extremes:kind=nan,n=20",
}

// longSums strain the vector kernels of exact sums: many blocks, all exponents, cancellation.
var longSums = []string{"uniform11:n=20011", "zhuhayes2:n=5003,delta=2000", "zhuhayes4:n=4002,delta=2000", "gensum:n=6001,cond=1e100", "xsum:n=3000"}

func sumCases() []sumCase {
	list := []sumCase{
		{name: "integers", terms: reduce.Terms{Float64: integers(257, 7)}, integer: true},
		{name: "ties", terms: reduce.Terms{Float64: ties()}},
		{name: "one term", terms: reduce.Terms{Float64: []float64{-0x1.8p3}}, integer: true},
	}
	for i, spec := range append(append([]string(nil), generated...), longSums...) {
		list = append(list, sumCase{name: spec, terms: reduce.Terms{Float64: generate(spec)}, long: i >= len(generated)})
	}
	for i := range list {
		list[i].summary = exact.SumOf(list[i].terms.Float64)
	}
	return list
}

// generate makes a set of the registry.
func generate(text string) []float64 {
	spec, err := datasets.Parse(text)
	if err != nil {
		panic(err) // the texts stand above
	}
	d, err := datasets.Generate(spec, datasets.Options{Seed: 1})
	if err != nil {
		panic(err)
	}
	return d.Float64
}

// A dotCase is a pair of vectors.
type dotCase struct {
	name    string
	x, y    []float64
	summary exact.Summary
	integer bool
	long    bool
}

func dotCases() []dotCase {
	list := []dotCase{{name: "integers", x: integers(129, 3), y: integers(129, 5), integer: true}}
	for _, c := range []struct {
		spec string
		long bool
	}{{"uniform11:n=203", false}, {"gendot:n=150,cond=1e30", false}, {"wide:n=120,range=40", false}, {"uniform11:n=20011", true}, {"wide:n=3001,range=300", true}, {"gendot:n=3001,cond=1e80", true}} {
		spec, err := datasets.ParsePair(c.spec)
		if err != nil {
			panic(err) // the texts stand above
		}
		p, err := datasets.GeneratePair(spec, datasets.Options{Seed: 1})
		if err != nil {
			panic(err)
		}
		list = append(list, dotCase{name: c.spec, x: p.X, y: p.Y, long: c.long})
	}
	list = append(list, dotCase{name: "an infinity", x: []float64{1, math.Inf(1), 2}, y: []float64{3, -1, 4}})
	for i := range list {
		var sum exact.Dot
		for j, x := range list[i].x {
			sum.Add(x, list[i].y[j])
		}
		list[i].summary = sum.Summary()
	}
	return list
}

// A gemvCase is a problem with its exact result.
type gemvCase struct {
	name    string
	problem gemv.Problem
	exact   *gemv.Reference
	integer bool
	long    bool
}

func gemvCases() []gemvCase {
	const m, n = 13, 19
	var list []gemvCase
	add := func(name string, p gemv.Problem, integer, long bool) {
		r, err := gemv.Exact(p, 0)
		if err != nil {
			panic(err) // the problems are made here
		}
		list = append(list, gemvCase{name + " " + p.Op.String(), p, r, integer, long})
	}
	random := generateMatrix("uniform11:n=19,m=13", false)
	wide := generateMatrix("gengemv:n=130,m=70,cond=1e40", false)
	for _, op := range []gemv.Op{gemv.NoTrans, gemv.Trans} {
		add("integers", gemv.Problem{
			Op: op, M: m, N: n, LDA: m, IncX: 1, IncY: 1, Alpha: gemv.Number(2), Beta: gemv.Number(-3),
			A: gemv.Numbers{Float64: integers(m*n, 11)}, X: gemv.Numbers{Float64: integers(n, 13)}, Y: gemv.Numbers{Float64: integers(n, 17)},
		}, true, false)
		add("random", gemv.Problem{
			Op: op, M: m, N: n, LDA: m, IncX: 1, IncY: 1, Alpha: gemv.Number(0.7), Beta: gemv.Number(-1.3),
			A: gemv.Numbers{Float64: random.A}, X: gemv.Numbers{Float64: random.X}, Y: gemv.Numbers{Float64: integers(n, 19)},
		}, false, false)
		add("ill-conditioned", gemv.Problem{
			Op: op, M: wide.M, N: wide.N, LDA: wide.M, IncX: 1, IncY: 1, Alpha: gemv.Number(1), Beta: gemv.Number(0),
			A: gemv.Numbers{Float64: wide.A}, X: gemv.Numbers{Float64: wide.X}, Y: gemv.Numbers{Float64: make([]float64, wide.N)},
		}, false, true)
	}
	return list
}

func generateMatrix(text string, trans bool) *datasets.Matrix {
	spec, err := datasets.ParseMatrix(text)
	if err != nil {
		panic(err) // the texts stand above
	}
	d, err := datasets.GenerateMatrix(spec, datasets.MatrixOptions{Seed: 1, Trans: trans})
	if err != nil {
		panic(err)
	}
	return d
}

// testReference compares the exact sums and dot products that everything is judged by with plain rational arithmetic.
func testReference(t *tester) {
	for _, c := range sumCases() {
		if c.long || !c.summary.Sum.IsFinite() {
			continue
		}
		want := new(big.Rat)
		for _, x := range c.terms.Float64 {
			want.Add(want, fromFloat(x).value().Rat)
		}
		t.compare(c.summary.Sum, expectation{what: c.name, summary: exact.Summary{Sum: exact.FromRat(want)}, nothing: true})
	}
	for _, c := range dotCases() {
		if c.long || !c.summary.Sum.IsFinite() {
			continue
		}
		want := new(big.Rat)
		for i, x := range c.x {
			want.Add(want, fromFloat(x).times(fromFloat(c.y[i])).value().Rat)
		}
		t.compare(c.summary.Sum, expectation{what: c.name, summary: exact.Summary{Sum: exact.FromRat(want)}, nothing: true})
	}
}
