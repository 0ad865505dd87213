package measure

import (
	"testing"

	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
)

// TestSettings: problems that differ in a factor or an increment alone are different cases.
func TestSettings(t *testing.T) {
	x := numbers.Float64s{1, 2, 3, 4}
	problem := func(alpha float64, inc, ld int) *op.Problem {
		return &op.Problem{
			Op: op.Gemv, Alpha: numbers.Vector(numbers.Float64s{alpha}), Beta: numbers.Vector(numbers.Float64s{0}),
			A: numbers.Array{Source: x, Layout: numbers.ColMajor(1, 2, ld)},
			X: numbers.Array{Source: x, Layout: numbers.Strided(2, inc)},
			Y: numbers.Array{Source: x, Layout: numbers.Strided(1, 1)},
		}
	}
	seen := map[string]bool{}
	for _, p := range []*op.Problem{problem(1, 1, 1), problem(0.3, 1, 1), problem(1, -2, 1), problem(1, 1, 3)} {
		r := record.Record{Command: "gemv", Factors: factors(p), Strides: strides(p)}
		if seen[r.Case()] {
			t.Errorf("two problems are the case %s", r.Case())
		}
		seen[r.Case()] = true
	}
	if !seen["gemv/method=/precision=0/dataset=/n=0/threads=0"] {
		t.Errorf("the usual settings are named: %v", seen)
	}
}
