package gemv

import (
	"fmt"
	"math"
	"testing"

	"mpbench/datasets"
	"mpbench/pkg/exact"
)

// fromDataset makes the problem of a generated matrix.
func fromDataset(t testing.TB, text string, opt datasets.MatrixOptions, alpha, beta float64) Problem {
	t.Helper()
	spec, err := datasets.ParseMatrix(text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.GenerateMatrix(spec, opt)
	if err != nil {
		t.Fatal(err)
	}
	op := NoTrans
	if d.Trans {
		op = Trans
	}
	return Problem{
		Op: op, M: d.M, N: d.N, Alpha: Number(alpha), A: Numbers{d.A, d.WideA}, LDA: d.M,
		X: Numbers{d.X, d.WideX}, IncX: 1, Beta: Number(beta), Y: Numbers{d.Y, d.WideY}, IncY: 1,
	}
}

// TestDatasets runs every method on every set of matrices: no error exceeds its bound, there is a bound for each, and
// the condition numbers of the sets cost the digits that they should.
func TestDatasets(t *testing.T) {
	for _, c := range []struct {
		spec      string
		condition float64 // at least this in some component
	}{
		{"uniform11:n=30", 1}, {"uniform11:bits=212,m=20,n=33", 1}, {"wide:n=30", 1}, {"hilbert:n=12", 1e13}, {"hilbert:bits=300,n=20", 1e20},
		{"vandermonde:n=20", 1e4}, {"vandermonde:bits=200,nodes=symmetric,m=10,n=25", 1e4}, {"blockcancel:n=30", 1e11},
		{"gengemv:cond=1e10,n=40", 1e9}, {"gengemv:cond=1e40,m=30,n=60", 1e39}, {"gengemv:cond=1e80,m=60,n=40", 1e79},
	} {
		for _, trans := range []bool{false, true} {
			p := fromDataset(t, c.spec, datasets.MatrixOptions{Seed: 1, Trans: trans}, 1, -1)
			reference, err := Exact(p, 0)
			if err != nil {
				t.Fatal(err)
			}
			worst := 0.0
			for i := range reference.Y {
				worst = max(worst, reference.Condition(i).Float64())
			}
			if worst < c.condition {
				t.Errorf("%s: condition number %g, want %g", c.spec, worst, c.condition)
			}
			for _, m := range Methods() {
				e := newEngine(t, m, Options{Precision: 212, Threads: 2})
				if err := e.Load(p); err != nil {
					t.Fatal(err)
				}
				e.Run()
				for i, errs := range Measure(e.Result(), reference).Components {
					if !errs.Within(e.ErrorBound(i, reference.Summary(i))) {
						t.Fatalf("%s, transposed %v, %s: component %d: error %v above the bound", c.spec, trans, m.Name, i, errs.Abs)
					}
				}
			}
		}
	}
}

// TestInfiniteAlpha: alpha multiplies x first, as in the paper, so opposite signs give NaN.
func TestInfiniteAlpha(t *testing.T) {
	p := Problem{
		M: 2, N: 2, LDA: 2, IncX: 1, IncY: 1, Alpha: Number(math.Inf(1)), A: Numbers{Float64: []float64{1, 2, 3, -1}},
		X: Numbers{Float64: []float64{1, 1}}, Y: Numbers{Float64: []float64{5, math.NaN()}},
	}
	for _, m := range Methods()[1:] {
		e := newEngine(t, m, Options{Precision: 60})
		if err := e.Load(p); err != nil {
			t.Fatal(err)
		}
		e.Run()
		if y := e.Result(); y[0].Class != exact.PosInf || y[1].Class != exact.NaN {
			t.Errorf("%s: %v", m.Name, y)
		}
	}
}

// TestLongSums checks the bounds on sums of more than a thousand terms, over many tiles and blocks.
func TestLongSums(t *testing.T) {
	for _, op := range []bool{false, true} {
		m, n := 37, 1500
		if op {
			m, n = n, m
		}
		p := fromDataset(t, fmt.Sprintf("uniform11:bits=106,m=%d,n=%d", m, n), datasets.MatrixOptions{Seed: 2, Trans: op}, 0.75, 3)
		for _, method := range Methods() {
			checkProblem(t, method, Options{Precision: 106, Threads: 2}, p, "long sums")
		}
	}
}
