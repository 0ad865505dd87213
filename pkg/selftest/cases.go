package selftest

import (
	"fmt"
	"math"
	"math/big"

	"mpbench/datasets"
	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// A testCase is a problem with its exact result.
type testCase struct {
	name    string
	problem *op.Problem
	exact   *op.Reference
	integer bool // small integers, whose sums no format rounds
	long    bool // too long for models of multiple precision
}

// integers returns n integers of magnitude below 2^10 whose sums binary32 holds, from a multiplicative generator.
func integers(n int, seed uint64) numbers.Array {
	x := make(numbers.Float64s, n)
	for i := range x {
		seed = seed * 6364136223846793005 % (1<<61 - 1)
		x[i] = float64(int64(seed>>20%2048) - 1024)
	}
	return numbers.Vector(x)
}

func vector(x ...float64) numbers.Array { return numbers.Vector(numbers.Float64s(x)) }

// ties are numbers whose sums lie half-way between two float64, or just beside: each rounding has another sum.
func ties() []float64 {
	x := []float64{1}
	for range 20 {
		x = append(x, 0x1p-53, 0x1.8p-53, -0x1p-54, 0x1.0000000000001p-53, -0x1.8p-53)
	}
	return x
}

// sets are data sets that strain an operation.
type sets struct {
	short []string
	long  []string // many blocks, all exponents, cancellation: for the vector kernels of exact sums
}

var setsOf = map[*datasets.Family]sets{
	datasets.Vectors: {
		short: []string{
			"mcnamee3", "uniform11:n=211", "gensum:n=200,cond=1e40", "zhuhayes2:n=150,delta=60",
			"extremes:kind=subnormals,n=100", "extremes:kind=inf,n=20", "extremes:kind=infinf,n=20", "extremes:kind=nan,n=20",
		},
		long: []string{
			"uniform11:n=20011", "zhuhayes2:n=5003,delta=2000", "zhuhayes4:n=4002,delta=2000", "gensum:n=6001,cond=1e100",
			"xsum:n=3000",
		},
	},
	datasets.Pairs: {
		short: []string{"uniform11:n=203", "gendot:n=150,cond=1e30", "wide:n=120,range=40"},
		long:  []string{"uniform11:n=20011", "wide:n=3001,range=300", "gendot:n=3001,cond=1e80"},
	},
}

// casesOf lists the cases of an operation: integers, sets of numbers, what IEEE 754 arithmetic decides.
func casesOf(o *op.Operation) []testCase {
	var c cases
	family := datasets.For(o)
	switch family {
	case datasets.Matrices, datasets.Products:
		c.addProducts(o)
		return c.list
	case datasets.Sparses:
		c.addSparse(o)
		return c.list
	case datasets.Pairs:
		c.add(testCase{name: "integers", integer: true},
			scaled(&op.Problem{Op: o, X: integers(129, 3), Y: integers(129, 5)}, 2))
	default:
		c.add(testCase{name: "integers", integer: true}, scaled(&op.Problem{Op: o, X: integers(257, 7)}, 2))
		c.add(testCase{name: "ties"}, scaled(&op.Problem{Op: o, X: vector(ties()...)}, 1))
		c.add(testCase{name: "one term", integer: true}, scaled(&op.Problem{Op: o, X: vector(-0x1.8p3)}, 1))
	}
	for _, spec := range setsOf[family].short {
		c.add(testCase{name: spec}, scaled(generate(o, spec, false), 0.7))
	}
	for _, spec := range setsOf[family].long {
		c.add(testCase{name: spec, long: true}, scaled(generate(o, spec, false), 0.7))
	}
	if family == datasets.Pairs {
		c.add(testCase{name: "an infinity"},
			scaled(&op.Problem{Op: o, X: vector(1, math.Inf(1), 2), Y: vector(3, -1, 4)}, 1))
	}
	return c.list
}

func scaled(p *op.Problem, alpha float64) *op.Problem {
	for _, o := range p.Op.Operands {
		if o.Name == "alpha" {
			p.Alpha = numbers.Scalar(alpha)
		}
	}
	return p
}

type cases struct{ list []testCase }

func (c *cases) add(t testCase, p *op.Problem) {
	r, err := op.Exact(p)
	if err != nil {
		panic(err) // the problems are made here
	}
	t.problem, t.exact = p, r
	c.list = append(c.list, t)
}

// addProducts adds problems with a matrix, and with its transpose.
func (c *cases) addProducts(o *op.Operation) {
	m, n := 13, 19
	if o.Storage != op.Full {
		m = n
	}
	matrix := func(a numbers.Array) numbers.Array {
		return numbers.Array{Source: a.Source, Layout: numbers.ColMajor(m, n, m)}
	}
	columns, ill := 1, "gengemv:n=130,m=70,cond=1e40"
	switch {
	case o.Matrices() > 1:
		columns, ill = 3, "blockcancel:n=130,m=70,k=2"
	case o.Storage != op.Full:
		ill = "wide:n=90"
	}
	block := func(a numbers.Array, rows int) numbers.Array {
		return numbers.Array{Source: a.Source, Layout: numbers.ColMajor(rows, columns, rows)}
	}
	random := arrays(o, fmt.Sprintf("uniform11:n=%d,m=%d", n, m), false).Arrays(o)
	for _, trans := range []bool{false, true} {
		suffix, rows, terms := " N", m, n
		if trans {
			suffix, rows, terms = " T", n, m
		}
		if trans && o.Storage == op.Symmetric {
			break
		}
		c.add(testCase{name: "integers" + suffix, integer: true}, product(&op.Problem{
			Op: o, Trans: trans, A: matrix(integers(m*n, 11)),
			X: block(integers(terms*columns, 13), terms), Y: block(integers(rows*columns, 17), rows),
		}, 2, -3))
		c.add(testCase{name: "random" + suffix}, product(&op.Problem{
			Op: o, Trans: trans, A: matrix(random.A), X: block(random.X, terms), Y: block(integers(rows*columns, 19), rows),
		}, 0.7, -1.3))
		wide := *generate(o, ill, false)
		if wide.Trans = trans; trans {
			wide.X = wide.X.Part(0, wide.A.Rows)
		}
		wide.Y = numbers.Array{}
		c.add(testCase{name: "ill-conditioned" + suffix, long: true}, &wide)
	}
}

// addSparse adds problems with a sparse matrix, and with its transpose.
func (c *cases) addSparse(o *op.Operation) {
	const n = 19
	random := *generate(o, fmt.Sprintf("dominant:n=%d,row=5", n), false)
	whole := random
	whole.A.Source = integers(whole.A.Len(), 11).Source
	for _, trans := range []bool{false, true} {
		suffix := map[bool]string{false: " N", true: " T"}[trans]
		c.add(testCase{name: "integers" + suffix, integer: true},
			product(&op.Problem{Op: o, Trans: trans, A: whole.A, X: integers(n, 13), Y: integers(n, 17)}, 2, -3))
		c.add(testCase{name: "random" + suffix},
			product(&op.Problem{Op: o, Trans: trans, A: random.A, X: random.X, Y: integers(n, 19)}, 0.7, -1.3))
		for _, spec := range []string{"brusselator:n=578", "convdiff:n=961"} {
			long := *generate(o, spec, trans)
			long.Y = numbers.Array{}
			c.add(testCase{name: spec + suffix, long: true}, &long)
		}
	}
}

// product completes a problem with a matrix: with the factors that the operation has, and of a matrix of which one
// triangle is read the lower one.
func product(p *op.Problem, alpha, beta float64) *op.Problem {
	y := p.Y
	p.Y = numbers.Array{}
	for _, o := range p.Op.Operands {
		switch o.Name {
		case "alpha":
			p.Alpha = numbers.Scalar(alpha)
		case "beta":
			p.Beta, p.Y = numbers.Scalar(beta), y
		}
	}
	p.Store(false, p.Trans)
	return p
}

// generate makes the problem of a data set.
func generate(o *op.Operation, text string, trans bool) *op.Problem {
	return arrays(o, text, trans).Problem(o)
}

func arrays(o *op.Operation, text string, trans bool) *datasets.Data {
	spec, err := datasets.For(o).Parse(text)
	if err != nil {
		panic(err) // the texts stand above
	}
	d, err := datasets.Generate(spec, datasets.Options{Seed: 1, Trans: trans})
	if err != nil {
		panic(err)
	}
	return d
}

// testReference compares the exact results that everything is judged by with plain rational arithmetic.
func testReference(t *tester) {
	for _, o := range []*op.Operation{op.Sum, op.Dot} {
		for _, c := range casesOf(o) {
			s := c.exact.Component(0)
			if c.long || !s.Sum.IsFinite() {
				continue
			}
			want := new(big.Rat)
			for i := range c.problem.X.Rows {
				term := element(c.problem.X, i)
				if !c.problem.Y.Absent() {
					term = term.times(element(c.problem.Y, i))
				}
				want.Add(want, term.value().Number())
			}
			t.compare(s.Sum, expectation{what: c.name, summary: exact.Summary{Sum: exact.FromRat(want)}, nothing: true})
		}
	}
}

func element(x numbers.Array, i int) number {
	return fromFloat(numbers.At(x.Source, x.Index(i, 0)).Float64())
}
