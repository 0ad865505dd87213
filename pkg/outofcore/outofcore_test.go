package outofcore

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"mpbench/pkg/accurate"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/partial"
)

// disk is numbers that are read in runs, of which so many succeed.
type disk struct {
	numbers.Float64s
	runs *atomic.Int64
	then func() // after every run
}

var errDisk = errors.New("broken disk")

func (d disk) ReadRun(x []float64, from int) error {
	if d.runs.Add(-1) < 0 {
		return errDisk
	}
	copy(x, d.Float64s[from:from+len(x)])
	if d.then != nil {
		d.then()
	}
	return nil
}

func diskOf(x []float64) disk {
	d := disk{Float64s: x, runs: new(atomic.Int64)}
	d.runs.Store(math.MaxInt64)
	return d
}

func random(r *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Ldexp(r.Float64()-0.5, r.IntN(120)-60)
	}
	return x
}

// problem is one of an operation on an m x n matrix, or on vectors of m*n numbers, with the result.
type problem struct {
	*op.Problem
	want []float64
	rows int // of the data
}

// problems are sums, dot products, and products of a matrix in both orders and its transpose.
func problems(r *rand.Rand, m, n int) map[string]problem {
	a, x, y := random(r, m*n), random(r, n), random(r, m)
	columns := make([]float64, m*n)
	for i := range m {
		for j := range n {
			columns[j*m+i] = a[i*n+j]
		}
	}
	byRows := numbers.Array{Source: diskOf(a), Layout: numbers.RowMajor(m, n, n)}
	byColumns := numbers.Array{Source: diskOf(columns), Layout: numbers.ColMajor(m, n, m)}
	product, transposed := make([]float64, m), make([]float64, n)
	accurate.MulVec(product, accurate.RowMajor(m, n, a), x)
	accurate.MulVec(transposed, accurate.RowMajor(m, n, a).T(), y)
	vectors := numbers.Vector(diskOf(a))
	xs, ys := numbers.Vector(numbers.Float64s(x)), numbers.Vector(numbers.Float64s(y))
	return map[string]problem{
		"sum": {&op.Problem{Op: op.Sum, X: vectors}, []float64{accurate.Sum(a)}, m * n},
		"dot": {&op.Problem{Op: op.Dot, X: vectors, Y: numbers.Vector(diskOf(columns))},
			[]float64{accurate.Dot(a, columns)}, m * n},
		"gemv":            {&op.Problem{Op: op.Gemv, A: byRows, X: xs}, product, m},
		"gemv, Fortran":   {&op.Problem{Op: op.Gemv, A: byColumns, X: xs}, product, m},
		"gemv T":          {&op.Problem{Op: op.Gemv, A: byRows, X: ys, Trans: true}, transposed, m},
		"gemv T, Fortran": {&op.Problem{Op: op.Gemv, A: byColumns, X: ys, Trans: true}, transposed, m},
	}
}

func add(t *testing.T, task Task, s *partial.State, from, to int) {
	t.Helper()
	if err := task.Add(t.Context(), s, partial.Range{From: from, To: to}); err != nil {
		t.Fatal(err)
	}
}

func newState(t *testing.T, p *op.Problem, rows int, pieces bool) *partial.State {
	t.Helper()
	q, err := ProblemOf(p, rows, pieces, "test")
	if err != nil {
		t.Fatal(err)
	}
	return partial.New(q)
}

// TestAdd: rows added in parts that overlap, read in tiles of several sizes by one goroutine and two, give the exact
// result, rounded once.
func TestAdd(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][2]int{{1, 1}, {3, 5}, {13, 17}, {40, 3}, {2, 100}} {
		for name, p := range problems(r, shape[0], shape[1]) {
			for _, size := range []int{1, 2, 7, 64, 0} {
				task := Task{Problem: p.Problem, Threads: 1 + size%2, size: size}
				done := int64(0)
				task.Progress = func(have, all int64) {
					if done = have; have > all {
						t.Errorf("%d of %d bytes", have, all)
					}
				}
				s := newState(t, p.Problem, 0, false)
				middle := r.IntN(p.rows + 1)
				if middle > 0 {
					add(t, task, s, 0, middle)
				}
				add(t, task, s, 0, p.rows)
				check(t, name, s, p.want)
				if done = 0; p.rows > 0 {
					add(t, task, s, 0, p.rows)
				}
				if done != 0 {
					t.Errorf("%s: %d bytes were added again", name, done)
				}
			}
		}
	}
}

func check(t *testing.T, name string, s *partial.State, want []float64) {
	t.Helper()
	y, err := s.Result()
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for i := range want {
		if y[i] != want[i] {
			t.Fatalf("%s: component %d is %v, want %v", name, i, y[i], want[i])
		}
	}
}

// TestFirst: data that are some rows of all, or a piece, are put where they belong.
func TestFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, p := range problems(r, 4, 6) {
		s := newState(t, p.Problem, 100, false)
		add(t, Task{Problem: p.Problem, First: 30}, s, 1, p.rows)
		blocks := s.Blocks()
		if got := s.Problem().Rows(blocks[0]); len(blocks) != 1 || got != "rows "+(partial.Range{From: 31,
			To: 30 + p.rows}).String() {
			t.Errorf("%s: %v", name, got)
		}
		if !s.Problem().RowsAreTerms {
			continue
		}
		pieces := newState(t, p.Problem, 3, true)
		for k := range 3 {
			add(t, Task{Problem: p.Problem, First: k, size: 3}, pieces, 0, p.rows)
		}
		want := make([]float64, len(p.want))
		for i := range want {
			want[i] = 3 * p.want[i]
		}
		if s, err := partial.Merged(pieces); err != nil || s.Terms() != uint64(3*p.rows*len(want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestStopped: what a broken disk or an interruption leaves is continued, and what had been added is not read again.
func TestStopped(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for name, p := range problems(r, 12, 10) {
		whole := newState(t, p.Problem, 0, false)
		add(t, Task{Problem: p.Problem}, whole, 0, p.rows)
		want, _ := whole.MarshalBinary()
		source := p.X.Source
		if !p.A.Absent() {
			source = p.A.Source
		}
		d := source.(disk)
		for n := range int64(12) {
			s := newState(t, p.Problem, 0, false)
			var saved []byte
			task := Task{Problem: p.Problem, size: 10, Save: func(s *partial.State) (err error) {
				saved, err = s.MarshalBinary()
				return err
			}}
			d.runs.Store(n)
			if err := task.Add(t.Context(), s, partial.Range{To: p.rows}); !errors.Is(err, errDisk) {
				t.Fatalf("%s, %d runs: %v", name, n, err)
			}
			d.runs.Store(math.MaxInt64)
			if n > 5 && saved == nil {
				t.Errorf("%s, %d runs: nothing was saved", name, n)
			}
			add(t, task, s, 0, p.rows)
			if got, _ := s.MarshalBinary(); !bytes.Equal(got, want) {
				t.Fatalf("%s, stopped after %d runs: another result", name, n)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s := newState(t, p.Problem, 0, false)
		if err := (Task{Problem: p.Problem, size: 1}).Add(ctx, s, partial.Range{To: p.rows}); err != context.Canceled {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSupports: these operations and no others.
func TestSupports(t *testing.T) {
	var names string
	for _, o := range op.All() {
		if Supports(o) {
			names += o.Name + " "
		}
	}
	if names != "sum dot gemv " {
		t.Error(names)
	}
}

// TestBytes: sums are open for all components at once only where stored rows are terms.
func TestBytes(t *testing.T) {
	for name, p := range problems(rand.New(rand.NewPCG(7, 8)), 1000, 2000) {
		q, err := ProblemOf(p.Problem, 0, false, "test")
		if err != nil {
			t.Fatal(err)
		}
		open := name == "gemv, Fortran" || name == "gemv T"
		if got := Bytes(p.Problem, q); (got > 1<<20) != open {
			t.Errorf("%s: %d bytes", name, got)
		}
	}
}
