package answer_test

import (
	"context"
	"math/big"
	"testing"

	"mpbench/datasets"
	"mpbench/pkg/answer"
	"mpbench/pkg/exact"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/methods"
	"mpbench/pkg/op"
)

func inputOf(t *testing.T, o *op.Operation, spec string) measure.Input {
	t.Helper()
	list, err := datasets.For(o).ParseList(spec)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.Generate(list[0], datasets.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	in, err := measure.NewInput(d.Record(), d.Problem(o))
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// TestChoice runs what an answer recommends, in every operation on data of every condition: each component has the 15
// digits that are promised, and the plain loop is recommended only where its bound proves them.
func TestChoice(t *testing.T) {
	catalog := methods.All()
	plain, once := 0, 0
	for _, o := range op.All() {
		for _, spec := range specs(o) {
			in := inputOf(t, o, spec)
			a, err := answer.Of(context.Background(), in, catalog, 0)
			if err != nil {
				t.Fatal(err)
			}
			if a.Float64 == nil || a.Use == nil && o.Split == op.ByTerm {
				t.Fatalf("%s of %s: no float64, or nothing to use", o.Name, spec)
			}
			if a.Float64.Promised != nil && a.Float64.Errors.Rel.Number().Cmp(a.Float64.Promised) > 0 {
				t.Errorf("%s of %s: float64 is further off than promised", o.Name, spec)
			}
			if a.Use == nil {
				continue
			}
			if a.Use.Plain {
				plain++
			}
			if a.Use.Once {
				once++
			}
			m, _ := catalog.Lookup(o, a.Use.Method)
			checkDigits(t, m, in, o.Name+" of "+spec)
		}
	}
	if plain == 0 || once == 0 {
		t.Errorf("the plain loop was recommended %d times, rounding once %d times", plain, once)
	}
}

func specs(o *op.Operation) []string {
	switch datasets.For(o) {
	case datasets.Vectors:
		return []string{"uniform01:n=100", "uniform01:n=1", "gensum:n=200,cond=1e30", "mcnamee3"}
	case datasets.Pairs:
		return []string{"uniform11:n=1", "gendot:n=100,cond=1e20", "gendot:n=100,cond=1e80"}
	case datasets.Sparses:
		return []string{"dominant:n=20", "tridiagonal:n=30"}
	}
	return []string{"uniform11:n=20", "wide:n=8"}
}

// checkDigits runs a method at 53 bits; every component must have 15 digits.
func checkDigits(t *testing.T, m method.Method, in measure.Input, name string) {
	t.Helper()
	engine, err := m.New(method.Config{Precision: 53})
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	if err := method.Run(context.Background(), engine, in.Problem); err != nil {
		t.Fatal(err)
	}
	y, err := engine.Result()
	if err != nil {
		t.Fatal(err)
	}
	limit := func(s exact.Summary) *big.Rat {
		return new(big.Rat).Mul(big.NewRat(1, 1e15), s.Sum.Abs().Number())
	}
	if j, err := in.Judge(y, limit); err != nil || j.Outside {
		t.Errorf("%s: %s has an error of %s: %v", name, m.Name, j.Errors.Rel.Text(3), err)
	}
}

// TestRoots: roots are rounded to float64 once.
func TestRoots(t *testing.T) {
	in := inputOf(t, op.Nrm2, "uniform01:n=50")
	a, err := answer.Of(context.Background(), in, methods.All(), 0)
	if err != nil {
		t.Fatal(err)
	}
	want, _ := exact.RoundRoot(exact.FromRat(a.Value(0).Square), 53).Float64()
	if got := a.Value(0).Sum.Float64(); got != want {
		t.Errorf("the norm is %v, want %v", got, want)
	}
}
