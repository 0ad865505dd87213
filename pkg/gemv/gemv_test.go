package gemv

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/exact"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
	"mpbench/pkg/rns/rnsop"
)

// prepared returns an engine of a method for a problem.
func prepared(t testing.TB, name string, c method.Config, p *op.Problem) method.Engine {
	t.Helper()
	m, ok := method.Catalog(Methods()).Lookup(op.Gemv, name)
	if !ok {
		t.Fatalf("no method %s", name)
	}
	e, err := m.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Prepare(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	return e
}

func run(t testing.TB, e method.Engine) numbers.Source {
	t.Helper()
	if err := e.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	y, err := e.Result()
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// choice varies roundings and alignments.
func choice(seed uint64, bits int) (problems.Choice, map[string]string) {
	c := problems.Choice{Seed: seed, Kind: problems.Kind(seed) % problems.Kinds, Bits: bits, Largest: 20}
	return c, map[string]string{
		"rounding": []string{"truncate", "nearest"}[seed&1], "alignment": []string{"2018", "blas"}[seed>>1&1],
	}
}

// TestSplitIsBasic: with one thread a block, both RNS methods do the same operations in the same order.
func TestSplitIsBasic(t *testing.T) {
	for seed := range uint64(100) {
		c, options := choice(seed, []int{0, 120, 300}[seed%3])
		p := c.Random(op.Gemv)
		options["block-size"] = "1"
		config := method.Config{Precision: 120, Threads: 2, Options: options}
		split, basic := run(t, prepared(t, "rns-split", config, p)), run(t, prepared(t, "rns-basic", config, p))
		for i := range split.Len() {
			if a, b := numbers.At(split, i), numbers.At(basic, i); !a.Equal(b) {
				t.Fatalf("seed %d, component %d: %v and %v", seed, i, a, b)
			}
		}
	}
}

// TestPaperBound: the errors of the RNS methods are within the 2020 paper's bounds, of components (15) and of their
// norm (19), where the inputs are kept as they are.
func TestPaperBound(t *testing.T) {
	for _, name := range []string{"rns-basic", "rns-split"} {
		m, _ := method.Catalog(Methods()).Lookup(op.Gemv, name)
		for seed := range uint64(200) {
			c, options := choice(seed, 0)
			p := c.Random(op.Gemv)
			in, err := measure.NewInput(record.Dataset{}, p)
			if err != nil {
				t.Fatal(err)
			}
			options["block-size"] = strconv.Itoa(1 + rand.New(rand.NewPCG(seed, 1)).IntN(12))
			e := prepared(t, name, method.Config{Precision: 106, Options: options}, p)
			y := run(t, e)
			unit := m.ErrorBound(e.Info(), p).Unit()
			limit := in.NormLimit(unit)
			for i := range in.Reference.Shape.Components {
				c := in.Compare(y, i, limit)
				if c.Bound == nil || !c.Errors.Within(c.Bound) {
					t.Fatalf("%s, seed %d, component %d: error %v, bound %v", name, seed, i, c.Errors.Abs, c.Bound)
				}
			}
		}
	}
}

// TestStages checks names, order and that the parts are timed.
func TestStages(t *testing.T) {
	p := problems.Choice{Seed: 1, Bits: 240}.Product(false, 60, 60, 2, 3)
	for name, want := range map[string]int{"rns-split": len(rnsop.SplitStages), "deferred": 2} {
		e := prepared(t, name, method.Config{Precision: 240, Threads: 1}, p)
		run(t, e)
		stages := e.(method.Staged).Stages()
		if len(stages) != want {
			t.Errorf("%s: %d stages, want %d", name, len(stages), want)
		}
		for _, s := range stages {
			if s.Time <= 0 || s.Summary == "" || s.Name == "" {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// TestAllocations: a run allocates nothing per element.
func TestAllocations(t *testing.T) {
	const n = 64
	for _, m := range method.Catalog(Methods()).Of(op.Gemv) {
		for _, trans := range []bool{false, true} {
			p := problems.Choice{Seed: 1}.Product(trans, n, n, 0.3, 3)
			e := prepared(t, m.Name, method.Config{Precision: 106, Threads: 2}, p)
			run(t, e)
			got := testing.AllocsPerRun(5, func() { _ = e.Run(context.Background()) })
			if got > 16*n {
				t.Errorf("%s: %v allocations for %d numbers", m.Name, got, n*n)
			}
		}
	}
}

// TestFloat64Alpha: Dgemv multiplies x by alpha first, so that an infinite factor gives NaN where signs differ.
func TestFloat64Alpha(t *testing.T) {
	for _, c := range problems.Specials(op.Gemv) {
		if c.Name != "infinite alpha" {
			continue
		}
		y := run(t, prepared(t, "float64", method.Config{}, c.Problem))
		if v := numbers.At(y, 0); v.Class != exact.PosInf {
			t.Errorf("component 0 is %v", v)
		}
	}
}
