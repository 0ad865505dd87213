package gemv

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"mpbench/pkg/exact"
)

// TestMeasure checks norms, the worst component and specials.
func TestMeasure(t *testing.T) {
	values := func(x ...float64) (list []exact.Value) {
		for _, f := range x {
			list = append(list, exact.FromFloat64(f))
		}
		return list
	}
	r := &Reference{Y: values(1, -4, 0), Abs: values(2, 4, 1), terms: 2}
	a := Measure(values(1.5, -5, 0), r)
	if a.Norm.Float64() != 1.5 || a.Relative.Float64() != 0.3 || a.Worst != 0 {
		t.Errorf("norm %v, relative %v, worst %d", a.Norm, a.Relative, a.Worst)
	}
	if r.Condition(0).Float64() != 2 || r.Condition(1).Float64() != 1 || r.Condition(2).Class != exact.PosInf {
		t.Error("condition numbers")
	}
	if a = Measure(values(1, -4, math.NaN()), r); a.Worst != 2 || a.Norm.Class != exact.NaN || a.Relative.Class != exact.NaN {
		t.Errorf("%+v", a)
	}
	b := r.Bounds(big.NewRat(1, 8))
	if b.Norm.Cmp(big.NewRat(7, 1)) != 0 || b.Relative.Rat.Cmp(big.NewRat(7, 5)) != 0 || b.Components[0].Cmp(big.NewRat(2, 1)) != 0 {
		t.Errorf("%v %v %v", b.Norm, b.Relative, b.Components)
	}
	if b := r.Bounds(big.NewRat(1, 4)); b.Norm != nil || b.Components[0] != nil || b.Relative.Class != exact.NaN {
		t.Error("there is no gamma(4) for u = 1/4")
	}
}

// TestPhases checks names, order and that the parts of rns-split make up the whole.
func TestPhases(t *testing.T) {
	r := random{rand.New(rand.NewPCG(1, 1)), 0, 240}
	p := Problem{M: 60, N: 60, LDA: 60, IncX: 1, IncY: 1, Alpha: Number(2), Beta: Number(3), A: r.numbers(3600), X: r.numbers(60), Y: r.numbers(60)}
	for _, m := range Methods() {
		e := newEngine(t, m, Options{Precision: 240, Threads: 1})
		if err := e.Load(p); err != nil {
			t.Fatal(err)
		}
		e.Run()
		phases := e.Phases()
		want := map[string]int{"rns-split": len(splitPhases), "deferred": 2}[m.Name]
		want = max(want, 1)
		if len(phases) != want {
			t.Errorf("%s: %d phases", m.Name, len(phases))
		}
		for _, phase := range phases {
			if phase.Time <= 0 || phase.Summary == "" || phase.Name == "" {
				t.Errorf("%s: %+v", m.Name, phase)
			}
		}
	}
}

// TestAllocations: a run allocates nothing per element.
func TestAllocations(t *testing.T) {
	const n = 64
	r := random{rand.New(rand.NewPCG(1, 1)), 0, 0}
	p := Problem{M: n, N: n, LDA: n, IncX: 1, IncY: 1, Alpha: Number(0.3), Beta: Number(3), A: r.numbers(n * n), X: r.numbers(n), Y: r.numbers(n)}
	for _, m := range Methods() {
		for _, op := range []Op{NoTrans, Trans} {
			p.Op = op
			e := newEngine(t, m, Options{Precision: 106, Threads: 2})
			if err := e.Load(p); err != nil {
				t.Fatal(err)
			}
			e.Run()
			if got := testing.AllocsPerRun(5, e.Run); got > 4*n {
				t.Errorf("%s %v: %v allocations for %d numbers", m.Name, op, got, n*n)
			} else {
				t.Logf("%s %v: %v allocations", m.Name, op, got)
			}
		}
	}
}
