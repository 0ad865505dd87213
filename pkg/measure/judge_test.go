package measure_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// TestOutside: a component is outside its limit where its error is larger, also by a last place.
func TestOutside(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	u := big.NewRat(1, 1<<30)
	limit := func(s exact.Summary) *big.Rat { // at most that of larger magnitudes
		b := new(big.Rat).Mul(u, s.SumAbs.Number())
		return b.Add(b, new(big.Rat).Mul(big.NewRat(1, 1<<40), s.Sum.Abs().Number()))
	}
	outside := 0
	for range 3000 {
		x := floats(math.Ldexp(r.Float64()-0.5, r.IntN(40)), 0)
		z := floats(math.Ldexp(r.Float64()-0.5, r.IntN(40)), 0)
		in := inputOf(t, &op.Problem{Op: op.Axpy, X: x, Y: z})
		s := in.Reference.Component(0)
		step := new(big.Rat).SetFloat64([]float64{1, 1 - 0x1p-50, 1 + 0x1p-50, r.Float64() * 2, 0}[r.IntN(5)])
		step.Mul(step, limit(s))
		want := step.Cmp(limit(s)) > 0
		y := numbers.Values{exact.FromRat(step.Add(step, s.Sum.Number())), exact.FromFloat64(0)}
		j, err := in.Judge(y, limit)
		if err != nil || j.Outside != want {
			t.Fatalf("%v: %v instead of %v is outside: %v, %v", j.Bound, y[0], s.Sum, j.Outside, err)
		}
		if want {
			outside++
		}
	}
	if outside < 500 {
		t.Errorf("%d results are outside", outside)
	}
}
