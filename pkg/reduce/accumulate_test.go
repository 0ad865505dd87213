package reduce

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// accumulated are the methods of sums that may be divided at will.
func accumulated() (list []method.Method) {
	for _, m := range Methods() {
		if m.Operation == op.Sum && m.Threads && m.Bits == 53 {
			list = append(list, m)
		}
	}
	return list
}

// resultOf computes a problem.
func resultOf(t *testing.T, m method.Method, c method.Config, p *op.Problem) float64 {
	t.Helper()
	e, err := m.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := method.Run(context.Background(), e, p); err != nil {
		t.Fatal(err)
	}
	y, err := e.Result()
	if err != nil {
		t.Fatal(err)
	}
	return numbers.At(y, 0).Float64()
}

// TestDivided: any number of threads, numbers in memory, with gaps or in a file give the same bits.
func TestDivided(t *testing.T) {
	const n, few = accumulateChunk + 3*accumulateGrain + 5, 2*accumulateGrain + 3
	r := rand.New(rand.NewPCG(1, 1))
	x, gaps := make(numbers.Float64s, n), make(numbers.Float64s, 2*few)
	for i := range x {
		x[i] = math.Ldexp(r.NormFloat64(), r.IntN(100))
		if i < few {
			gaps[2*i], gaps[2*i+1] = x[i], math.NaN()
		}
	}
	if len(accumulated()) < 3 {
		t.Fatal("there are no methods")
	}
	for _, m := range accumulated() {
		one := method.Config{Threads: 1}
		want := resultOf(t, m, one, &op.Problem{Op: op.Sum, X: numbers.Vector(x)})
		for _, c := range []struct {
			what string
			x    numbers.Array
			c    method.Config
		}{
			{"on two threads", numbers.Vector(x), method.Config{Threads: 2}},
			{"on five threads", numbers.Vector(x), method.Config{Threads: 5}},
			{"in a file", numbers.Vector(problems.OnDisk(x, n)), method.Config{Threads: 3, Stream: true}},
		} {
			if got := resultOf(t, m, c.c, &op.Problem{Op: op.Sum, X: c.x}); got != want {
				t.Errorf("%s %s: %x, want %x", m.Name, c.what, got, want)
			}
		}
		p := &op.Problem{Op: op.Sum, X: numbers.Array{Source: gaps, Layout: numbers.Strided(few, 2)}}
		want = resultOf(t, m, one, &op.Problem{Op: op.Sum, X: numbers.Vector(x[:few])})
		if got := resultOf(t, m, method.Config{Threads: 2}, p); got != want {
			t.Errorf("%s with gaps: %x, want %x", m.Name, got, want)
		}
	}
}

// TestDividedErrors: a file that cannot be read, a run that is cancelled, and copies that do not fit.
func TestDividedErrors(t *testing.T) {
	x := make(numbers.Float64s, 100)
	for _, m := range accumulated() {
		e, err := m.New(method.Config{Stream: true})
		if err != nil {
			t.Fatal(err)
		}
		p := &op.Problem{Op: op.Sum, X: numbers.Vector(problems.OnDisk(x, 99))}
		if err := method.Run(context.Background(), e, p); !errors.Is(err, problems.ErrBroken) {
			t.Errorf("%s: a broken file: %v", m.Name, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := method.Run(ctx, e, p); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled: %v", m.Name, err)
		}
		e, err = m.New(method.Config{MaxBytes: 100})
		if err != nil {
			t.Fatal(err)
		}
		err = e.Prepare(context.Background(), &op.Problem{
			Op: op.Sum, X: numbers.Array{Source: x, Layout: numbers.Strided(50, 2)},
		})
		var memory *method.MemoryError
		if !errors.As(err, &memory) || memory.Need != 400 || !strings.Contains(err.Error(), m.Name) {
			t.Errorf("%s: copies that do not fit: %v", m.Name, err)
		}
	}
}
