package peer_test

import (
	"context"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/device"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/peer"
)

// TestOnDevice compares results of cuBLAS and cuSPARSE with the bounds, on random problems and infinities; on the
// emulator libraries with the same functions stand for them.
func TestOnDevice(t *testing.T) {
	set := device.Must(gputest.Name(t))
	for _, m := range peer.Methods() {
		if !m.Runs(set) {
			continue
		}
		if err := m.Missing(); err != nil {
			t.Skip(err)
		}
		e, err := m.New(method.Config{Devices: set})
		if err != nil {
			t.Fatal(err)
		}
		for seed := range uint64(60) {
			c := problems.Choice{Seed: seed, Kind: problems.Kind(seed) % problems.Kinds, Largest: 24}
			checkProblem(t, m, e, c.Random(m.Operation))
			if seed%20 == 10 { // it may be prepared again
				if err := e.Close(); err != nil {
					t.Error(err)
				}
			}
		}
		for _, c := range problems.Specials(m.Operation) {
			if c.Overflows {
				continue
			}
			y := compute(t, e, c.Problem)
			for i, want := range c.Want {
				if got := numbers.At(y, i); !problems.SameClass(got.Float64(), want) {
					t.Errorf("%s, %s: component %d is %v, want %v", m.Operation.Name, c.Name, i, got, want)
				}
			}
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// compute runs a problem twice, once with the device's times.
func compute(t *testing.T, e method.Engine, p *op.Problem) numbers.Source {
	t.Helper()
	if err := method.Run(context.Background(), e, p); err != nil {
		t.Fatal(err)
	}
	if err := e.(method.Timed).RunTimed(context.Background()); err != nil {
		t.Fatal(err)
	}
	y, err := e.Result()
	if err != nil {
		t.Fatal(err)
	}
	return y
}

func checkProblem(t *testing.T, m method.Method, e method.Engine, p *op.Problem) {
	t.Helper()
	exactly, err := op.Exact(p)
	if err != nil {
		t.Fatal(err)
	}
	y := compute(t, e, p)
	bounds := m.ErrorBound(e.Info(), p)
	for i := range exactly.Shape.Components {
		s := exactly.Component(i)
		limit := bounds.Of(s)
		if limit != nil && !s.Errors(numbers.At(y, i)).Within(limit) {
			t.Fatalf("%s by %s: component %d is %v, exact %v, bound %v", m.Operation.Name, m.Name, i, numbers.At(y, i),
				s.Sum, limit)
		}
	}
}
