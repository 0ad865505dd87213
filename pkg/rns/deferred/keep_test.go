package deferred

import (
	"math"
	"math/big"
	"math/rand/v2"
	"mpbench/pkg/numbers"
	"testing"
)

// TestKeepBits compares the choice with the best of all, on random rows.
func TestKeepBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	truncated := 0
	for range 3000 {
		prec, terms := 24+rng.IntN(500), 1+rng.IntN(1<<20)
		x := numbers.Extent{Low: -rng.IntN(3000), Top: rng.IntN(100)}
		rows, tops := make([]numbers.Extent, 1+rng.IntN(20)), make([]int, 20)
		spread := 1 + rng.IntN(3000)
		for i := range rows {
			rows[i] = numbers.Extent{Low: -rng.IntN(3000), Top: rng.IntN(100)}
			tops[i] = rows[i].Top + x.Top - rng.IntN(spread)
			switch rng.IntN(12) {
			case 0:
				tops[i] = NoTop
			case 1:
				rows[i] = numbers.Extent{}
			}
		}
		cost := func(keep int) float64 {
			redone := 0
			for i, e := range rows {
				if e.Bits() > 0 && (tops[i] == NoTop || e.Top+x.Top-tops[i] > keep-prec-guardBits) {
					redone++
				}
			}
			exact := moduliOf(widest(rows), x.Bits(), terms)
			return float64(moduliOf(min(keep, widest(rows)), min(keep, x.Bits()), terms)*len(rows) + redoFactor*exact*redone)
		}
		keep := KeepBits(rows, tops, terms, x, prec)
		least := float64(moduliOf(widest(rows), x.Bits(), terms)*len(rows)) / leastSaving
		if keep > 0 {
			truncated++
			if c := cost(keep); c > least {
				t.Fatalf("%d bits kept cost %v, more than half of all moduli, %v", keep, c, least)
			}
			least = cost(keep)
		}
		for other := prec + guardBits; other < prec+guardBits+spread; other++ {
			if cost(other) < least {
				t.Fatalf("%d bits kept of %v (ends of products %v) times %v for %d bits: %d would cost %v, less than %v", keep,
					rows, tops, x, prec, other, cost(other), least)
			}
		}
	}
	if truncated < 500 {
		t.Errorf("%d of 3000 truncated", truncated)
	}
}

// TestPlanFor makes plans of data of the whole range of float64 and of ordinary data, in both directions, and compares
// products with exact ones: those of the former are truncated and few of their rows computed again, the latter are
// exact.
func TestPlanFor(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	for _, op := range []Op{NoTrans, Trans} {
		for _, wide := range []bool{true, false} {
			m, n := 60, 80
			if op == Trans {
				m, n = n, m
			}
			a, x := make([]float64, m*n), make([]float64, 80)
			for _, list := range [][]float64{a, x} {
				for i := range list {
					list[i] = math.Ldexp(rng.Float64()+1, rng.IntN(20))
					for wide && i%7 != 3 {
						if list[i] = math.Float64frombits(rng.Uint64()); !math.IsNaN(list[i]) && !math.IsInf(list[i], 0) {
							break
						}
					}
				}
			}
			layout, xl := numbers.ColMajor(m, n, m), numbers.Strided(80, 1)
			extent, err := Measure(numbers.Float64s(x), xl)
			if err != nil {
				t.Fatal(err)
			}
			exact, err := NewPlan(numbers.Float64s(a), layout, op, extent, Options{})
			if err != nil {
				t.Fatal(err)
			}
			plan, err := NewPlanFor(numbers.Float64s(a), layout, op, numbers.Float64s(x), xl, 53, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if plan.Truncated() != wide || wide && leastSaving*plan.Moduli() > exact.Moduli() || !wide &&
				plan.Moduli() != exact.Moduli() {
				t.Fatalf("%v: truncated %v, %d moduli, %d for exact sums", op, plan.Truncated(), plan.Moduli(), exact.Moduli())
			}
			var results [2][]*big.Float
			recomputed := 0
			for i, p := range []*Plan{exact, plan} {
				v, err := p.NewVector(numbers.Float64s(x), xl)
				if err != nil {
					t.Fatal(err)
				}
				results[i] = make([]*big.Float, 60)
				matrix := p.Matrix()
				s := matrix.NewAccumulator(op)
				s.Gemv(results[i], big.NewFloat(1), matrix, v, new(big.Float), 53, 1)
				recomputed = s.Recomputed()
			}
			for i, y := range results[1] {
				if y.Cmp(results[0][i]) != 0 {
					t.Fatalf("%v, row %d: %v, want %v", op, i, y, results[0][i])
				}
			}
			t.Logf("%v: %d moduli for %d, %d rows computed again", op, plan.Moduli(), exact.Moduli(), recomputed)
			if recomputed > 6 {
				t.Errorf("%v: %d of 60 rows computed again", op, recomputed)
			}
		}
	}
}
