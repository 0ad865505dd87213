package answer_test

import (
	"context"
	"math/big"
	"testing"

	"mpbench/pkg/answer"
	"mpbench/pkg/methods"
	"mpbench/pkg/op"
)

// TestManyComponents: what is promised of a long result is no less than of any of its components, and no more than
// twice the most of them.
func TestManyComponents(t *testing.T) {
	for _, c := range []struct {
		op   *op.Operation
		spec string
	}{{op.Axpy, "uniform11:n=5000"}, {op.Scal, "uniform01:n=5000"}} {
		in := inputOf(t, c.op, c.spec)
		a, err := answer.Of(context.Background(), in, methods.All(), 0)
		if err != nil {
			t.Fatal(err)
		}
		m, _ := methods.All().Lookup(c.op, a.Float64.Method)
		u := big.NewRat(1, 1<<53)
		most := new(big.Rat)
		for i := range a.Components() {
			s := a.Value(i)
			bound := new(big.Rat).Quo(new(big.Rat).Mul(u, s.SumAbs.Number()), s.Sum.Abs().Number())
			if bound.Cmp(most) > 0 {
				most = bound
			}
		}
		least := new(big.Rat).Quo(a.Float64.Promised, big.NewRat(5, 1)) // g(2)*S, and twice that
		if a.Float64.Promised.Cmp(most) < 0 || least.Cmp(most) > 0 {
			t.Errorf("%s by %s: %s promised, the worst component has u*S/|s| = %s", c.op.Name, m.Name,
				a.Float64.Promised.FloatString(20), most.FloatString(20))
		}
	}
}
