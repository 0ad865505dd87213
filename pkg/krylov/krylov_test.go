package krylov_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"mpbench/datasets"
	"mpbench/pkg/krylov"
	"mpbench/pkg/methods"
	"mpbench/pkg/numbers"
)

// system makes a system of a data set.
func system(t testing.TB, text string) krylov.System {
	t.Helper()
	spec, err := datasets.Sparses.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.Generate(spec, datasets.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return krylov.System{A: numbers.Sparse(d.A.Source, d.N, d.Pattern), B: krylov.Ones(d.N)}
}

// small makes a system of a full matrix, row by row; zeros are not stored.
func small(n int, b []float64, a ...float64) krylov.System {
	p := &numbers.Pattern{Start: make([]int, 1, n+1)}
	values := numbers.Float64s{}
	for i := range n {
		for j := range n {
			if x := a[i*n+j]; x != 0 {
				p.Column, values = append(p.Column, int32(j)), append(values, x)
			}
		}
		p.Start = append(p.Start, len(values))
	}
	return krylov.System{A: numbers.Sparse(values, n, p), B: numbers.Vector(numbers.Float64s(b))}
}

// TestFormats: every format solves an easy system as far as its precision goes, with and without preconditioners, by
// both algorithms; residuals are those of the definition.
func TestFormats(t *testing.T) {
	for _, solver := range methods.Solvers() {
		if testing.Short() && strings.Contains(solver.Name, ":") {
			t.Logf("%s is left out with -short: it takes long", solver.Name)
			continue
		}
		bits := max(solver.Bits, 150*btoi(solver.Bits == 0))
		o := krylov.Options{Tolerance: math.Ldexp(1, 12-bits), Iterations: 300}
		if strings.HasPrefix(solver.Name, "expansion32") { // squares of smaller residuals are below the range of binary32
			o.Tolerance = max(o.Tolerance, 1e-15)
		}
		for _, precondition := range krylov.Preconditions() {
			o.Precondition = krylov.Precondition(precondition)
			for text, algorithm := range map[string]krylov.Algorithm{
				"dominant:n=60,row=5,margin=1": krylov.BiCGStab, "tridiagonal:n=40,cond=10": krylov.CG,
				"dominant:n=50,row=5,margin=1": krylov.BiCGStab2,
			} {
				o.Algorithm = algorithm
				s := system(t, text)
				r := solved(t, solver.Name, bits, s, o)
				if r.Status != krylov.Converged || r.True >= o.Tolerance || r.Backward > r.True*20 || r.Backward <= 0 ||
					len(r.History) != r.Iterations || r.History[r.Iterations-1] != r.Recurrence || !(r.Recurrence < o.Tolerance) {
					t.Errorf("%s, %s, %s, %s: %q after %d, recurrence %.2g, true %.2g, backward %.2g", solver.Name, text, algorithm,
						precondition, r.Status, r.Iterations, r.Recurrence, r.True, r.Backward)
				}
			}
		}
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// TestDeceived: a system does not count as solved because the residual of the recurrence says so.
func TestDeceived(t *testing.T) {
	for _, c := range []struct {
		text      string
		algorithm krylov.Algorithm
	}{{"tridiagonal:n=300,cond=1e10", krylov.CG}, {"tridiagonal:n=300,cond=1e10", krylov.BiCGStab}} {
		o := standard
		o.Algorithm = c.algorithm
		r := solved(t, "float64", 53, system(t, c.text), o)
		if r.Recurrence >= o.Tolerance || r.True < o.Tolerance || r.Status != krylov.Deceived {
			t.Errorf("%s of %s: %q, recurrence %.2g, true %.2g", c.algorithm, c.text, r.Status, r.Recurrence, r.True)
		}
		wide := solved(t, "qd", 212, system(t, c.text), o)
		if wide.Status != krylov.Converged {
			t.Errorf("%s of %s in qd: %q, recurrence %.2g, true %.2g", c.algorithm, c.text, wide.Status,
				wide.Recurrence, wide.True)
		}
	}
}

// TestEndings: breakdowns and limits are named, trivial systems are solved.
func TestEndings(t *testing.T) {
	cg := krylov.Options{Tolerance: 1e-12, Iterations: 100, Algorithm: krylov.CG}
	bi := krylov.Options{Tolerance: 1e-12, Iterations: 100}
	few := krylov.Options{Tolerance: 1e-12, Iterations: 4}
	two := krylov.Options{Tolerance: 1e-12, Iterations: 100, Algorithm: krylov.BiCGStab2}
	for _, c := range []struct {
		name       string
		system     krylov.System
		options    krylov.Options
		want       krylov.Status
		iterations int
	}{
		{"identity", small(2, []float64{3, 4}, 1, 0, 0, 1), bi, krylov.Converged, 1},
		{"identity", small(2, []float64{3, 4}, 1, 0, 0, 1), cg, krylov.Converged, 1},
		{"identity", small(2, []float64{3, 4}, 1, 0, 0, 1), two, krylov.Converged, 2},
		{"diagonal", small(2, []float64{3, 4}, 1, 0, 0, 2), two, krylov.Converged, 2},
		{"skew-symmetric", small(2, []float64{1, 1}, 0, 1, -1, 0), two, krylov.BreakAlpha, 0},
		{"zero right-hand side", small(2, []float64{0, 0}, 1, 2, 0, 1), bi, krylov.Converged, 0},
		{"skew-symmetric", small(2, []float64{1, 1}, 0, 1, -1, 0), bi, krylov.BreakAlpha, 0},
		{"skew-symmetric", small(2, []float64{1, 1}, 0, 1, -1, 0), cg, krylov.Indefinite, 0},
		{"negative", small(2, []float64{1, 1}, -1, 0, 0, -2), cg, krylov.Indefinite, 0},
		{"singular", small(2, []float64{1, 1}, 1, 0, 0, 0), bi, krylov.BreakAlpha, 1},
		{"orthogonal", small(2, []float64{1, 0}, 1, 1, 1, 0), bi, krylov.BreakOmega, 1},
		{"far too large", small(2, []float64{1e200, 1}, 1e200, 1, 1, 1), bi, krylov.Overflow, 1},
		{"few iterations", system(t, "tridiagonal:n=300,cond=1e6"), few, krylov.Stagnated, 4},
	} {
		r := solved(t, "float64", 53, c.system, c.options)
		if r.Status != c.want || r.Iterations != c.iterations {
			t.Errorf("%s: %q after %d iterations, want %q after %d", c.name, r.Status, r.Iterations, c.want, c.iterations)
		}
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := methods.Solvers()[1].Solve(canceled, 53, system(t, "tridiagonal:n=50"), bi)
	if err != nil || r.Status != krylov.Interrupt || r.Iterations != 1 {
		t.Errorf("interrupted: %q after %d, %v", r.Status, r.Iterations, err)
	}
}

// TestRefusals: what cannot be solved is an error of one line.
func TestRefusals(t *testing.T) {
	oblong := small(2, []float64{1, 1}, 1, 0, 0, 1)
	oblong.A.Cols = 3
	short := small(2, []float64{1}, 1, 0, 0, 1)
	jacobi := krylov.Options{Tolerance: 1e-12, Iterations: 9, Precondition: krylov.Jacobi}
	ilu := krylov.Options{Tolerance: 1e-12, Iterations: 9, Precondition: krylov.ILU0}
	for _, c := range []struct {
		system  krylov.System
		options krylov.Options
		want    string
	}{
		{oblong, standard, "want a square one"}, {short, standard, "2 x 2 elements and 1 right-hand sides"},
		{small(2, []float64{1, math.Inf(1)}, 1, 0, 0, 1), standard, "has an infinity or NaN"},
		{small(2, []float64{1, 1}, 1, 1, 1, 0), jacobi, "row 2 has no diagonal element, which jacobi divides by"},
		{small(2, []float64{1, 1}, 1, 1, 1, 1), ilu, "the diagonal element of row 2, or of its factor, is 0"},
	} {
		_, err := methods.Solvers()[1].Solve(context.Background(), 53, c.system, c.options)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
}

// TestForward: the error of a solution is that against one that is known.
func TestForward(t *testing.T) {
	r := solved(t, "float64", 53, small(2, []float64{3, 4}, 1, 0, 0, 1), standard)
	if e := r.Forward(numbers.Float64s{3, 4}); e != 0 {
		t.Errorf("error %g of a solution that is right", e)
	}
	if e := r.Forward(numbers.Float64s{3, 4.5}); math.Abs(e-0.5/math.Hypot(3, 4.5)) > 1e-15 {
		t.Errorf("error %g", e)
	}
}

// TestILU: of a tridiagonal matrix the factorisation is complete, and one iteration solves the system.
func TestILU(t *testing.T) {
	o := standard
	o.Precondition = krylov.ILU0
	for _, algorithm := range []krylov.Algorithm{krylov.BiCGStab, krylov.CG, krylov.BiCGStab2} {
		o.Algorithm = algorithm
		r := solved(t, "qd", 212, system(t, "tridiagonal:n=100,cond=1e4"), o)
		want := 1
		if algorithm == krylov.BiCGStab2 {
			want = 2
		}
		if r.Status != krylov.Converged || r.Iterations != want {
			t.Errorf("%s: %q after %d iterations", algorithm, r.Status, r.Iterations)
		}
	}
}

// TestThreads: the bits of a solution and its residuals do not depend on the number of threads, in formats whose dot
// products are in segments and in others.
func TestThreads(t *testing.T) {
	s := system(t, "convdiff:n=22500")
	for _, name := range []string{"float64", "deferred", "float64-lanes", "dd"} {
		o := standard
		o.Iterations = 2
		var first krylov.Result
		for _, threads := range []int{1, 3} {
			o.Threads = threads
			r := solved(t, name, 0, s, o)
			if threads == 1 {
				first = r
				continue
			}
			for i := range first.X.Len() {
				if !numbers.At(first.X, i).Equal(numbers.At(r.X, i)) {
					t.Fatalf("%s, %d threads: unknown %d differs", name, threads, i)
				}
			}
			if !slices.Equal(first.History, r.History) || first.True != r.True || first.Backward != r.Backward {
				t.Errorf("%s, %d threads: residuals differ", name, threads)
			}
		}
	}
}

// TestRefined: refinement solves a system on which binary64 fails; where its corrections do not converge, it says so.
func TestRefined(t *testing.T) {
	s := system(t, "tridiagonal:n=300,cond=1e10")
	o := standard
	o.Algorithm = krylov.CG
	for _, name := range []string{"refined", "refined-exact"} {
		r := solved(t, name, 0, s, o)
		if r.Status != krylov.Converged || r.True >= o.Tolerance || len(r.History) != r.Iterations {
			t.Errorf("%s: %q after %d iterations, true residual %.2g", name, r.Status, r.Iterations, r.True)
		}
		few := o
		few.Iterations = r.Iterations - 1
		if r = solved(t, name, 0, s, few); r.Status != krylov.Limit || r.Iterations != few.Iterations {
			t.Errorf("%s: %q after %d of %d iterations", name, r.Status, r.Iterations, few.Iterations)
		}
		r = solved(t, name, 0, small(2, []float64{0, 0}, 1, 0, 0, 1), o)
		if r.Status != krylov.Converged || r.Iterations != 0 {
			t.Errorf("%s of b = 0: %q after %d iterations", name, r.Status, r.Iterations)
		}
		if r = solved(t, name, 0, small(2, []float64{1, 1}, 1, 0, 0, -1), o); r.Status != krylov.Indefinite {
			t.Errorf("%s of an indefinite matrix: %q", name, r.Status)
		}
	}
}

// TestPermuted: the order of the unknowns changes the order of the solution alone.
func TestPermuted(t *testing.T) {
	s := small(3, []float64{4, 10, 18}, 4, 0, 0, 1, 4.5, 0, 0, 3, 4) // x = 1, 2, 3
	seen := map[string]bool{}
	for seed := range uint64(9) {
		r := solved(t, "qd", 212, s.Permuted(seed), standard)
		var list []float64
		for i := range 3 {
			list = append(list, math.Round(1e9*numbers.At(r.X, i).Float64())/1e9)
		}
		seen[fmt.Sprint(list)] = true
		if slices.Sort(list); !slices.Equal(list, []float64{1, 2, 3}) {
			t.Errorf("order %d: the solution is %v", seed, list)
		}
	}
	if len(seen) < 3 {
		t.Errorf("nine orders gave %v", seen)
	}
}
