package answer

import (
	"context"
	"math"
	"math/big"
	"math/rand/v2"
	"os"
	"reflect"
	"testing"

	"mpbench/pkg/measure"
	"mpbench/pkg/methods"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
)

// vectors are pairs of vectors on which a quick look may go wrong: cancellation, ties, numbers of all sizes, zeros,
// infinities, results that are powers of two, and errors that grow or fall from one component to the next.
var vectors = map[string]func(r *rand.Rand, i int) (x, y float64){
	"random":      func(r *rand.Rand, _ int) (x, y float64) { return r.Float64() - 0.5, r.Float64() - 0.5 },
	"positive":    func(r *rand.Rand, _ int) (x, y float64) { return r.Float64(), r.Float64() },
	"cancels":     func(r *rand.Rand, _ int) (x, y float64) { x = r.Float64(); return x, -0.3 * x * (1 + 0x1p-50) },
	"zeros":       func(r *rand.Rand, i int) (x, y float64) { return float64(i % 2), float64(i%3) * 0.5 },
	"to zero":     func(r *rand.Rand, i int) (x, y float64) { return 10, float64(i%5 - 3) },
	"integers":    func(r *rand.Rand, i int) (x, y float64) { return float64(r.IntN(19) - 9), float64(r.IntN(19) - 9) },
	"the same":    func(*rand.Rand, int) (x, y float64) { return 0.1, -0.7 },
	"ascending":   func(_ *rand.Rand, i int) (x, y float64) { return float64(i) / 6000, -2 },
	"powers":      func(r *rand.Rand, i int) (x, y float64) { return math.Ldexp(1, i%20), -math.Ldexp(0.3, i%20) + 1 },
	"all sizes":   func(r *rand.Rand, i int) (x, y float64) { return math.Ldexp(r.Float64()-0.5, r.IntN(2000)-1000), 1 },
	"tiny":        func(r *rand.Rand, i int) (x, y float64) { return math.Ldexp(r.Float64(), -1070), -0x1p-1071 },
	"large":       func(r *rand.Rand, i int) (x, y float64) { return math.Ldexp(r.Float64(), 1023), -0x1p1021 },
	"an infinity": func(r *rand.Rand, i int) (x, y float64) { return r.Float64(), 1 / float64(i-5000) },
}

// TestShortAnswers: an answer from short sums is the one from rationals, in all that it says.
func TestShortAnswers(t *testing.T) {
	alphas := []string{"3/10"}
	if os.Getenv("MPBENCH_FULL_TESTS") == "1" {
		alphas = append(alphas, "1", "-1/3", "3/2")
	}
	for name, next := range vectors {
		for _, alpha := range alphas {
			a, _ := new(big.Rat).SetString(alpha)
			p := vectorsOf(next, numbers.Vector(numbers.Rationals([]*big.Rat{a})))
			p.Op = op.Axpy
			compareAnswers(t, "axpy of "+name+", alpha = "+alpha, p)
			if len(alphas) == 1 && name != "all sizes" {
				continue
			}
			p.Op, p.Y = op.Scal, numbers.Array{}
			compareAnswers(t, "scal of "+name+", alpha = "+alpha, p)
		}
	}
}

func vectorsOf(next func(*rand.Rand, int) (x, y float64), alpha numbers.Array) *op.Problem {
	r := rand.New(rand.NewPCG(3, 4))
	const n = chunk + 300
	x, y := make(numbers.Float64s, n), make(numbers.Float64s, n)
	for i := range x {
		x[i], y[i] = next(r, i)
	}
	return &op.Problem{Alpha: alpha, X: numbers.Vector(x), Y: numbers.Vector(y)}
}

func compareAnswers(t *testing.T, name string, p *op.Problem) {
	t.Helper()
	var list [2]*Answer
	for i := range list {
		in, err := measure.NewInput(record.Dataset{}, p)
		if err != nil {
			t.Fatal(err)
		}
		if !in.Reference.HasShorts() {
			t.Fatal(name, "has no short sums")
		}
		if i == 1 {
			in.Reference.Keep()
		}
		if list[i], err = Of(context.Background(), in, methods.All(), 0); err != nil {
			t.Fatal(err)
		}
	}
	quick, slow := list[0], list[1]
	most := 0
	for i := range slow.Components() {
		if r := slow.Input.Reference; measure.Larger(r.Condition(i), r.Condition(most)) {
			most = i
		}
	}
	if quick.Worst != most {
		t.Errorf("%s: the condition number of y[%d] is not the largest, that of y[%d] is", name, quick.Worst, most)
	}
	if !quick.Condition.Equal(slow.Condition) || quick.Norm.Cmp(slow.Norm) != 0 {
		t.Errorf("%s: condition %v, norm %v; by rationals %v, %v",
			name, quick.Condition, quick.Norm, slow.Condition, slow.Norm)
	}
	for i, x := range quick.Float64s() {
		if y := slow.Value(i).Sum.Float64(); x != y && (x == x || y == y) {
			t.Fatalf("%s: y[%d] rounds to %v, not %v", name, i, y, x)
		}
	}
	if f, g := quick.Float64, slow.Float64; !f.NormError.Equal(g.NormError) || f.Judgment.Worst != g.Judgment.Worst ||
		f.Hash != g.Hash || f.Rounded != g.Rounded || !f.Errors.Rel.Equal(g.Errors.Rel) {
		t.Errorf("%s: float64 %+v\nby rationals %+v", name, f, g)
	}
	if !reflect.DeepEqual(quick.classes, slow.classes) {
		t.Errorf("%s: the classes differ", name)
	}
	if !reflect.DeepEqual(quick.Use, slow.Use) || quick.Worst != slow.Worst || quick.Special != slow.Special {
		t.Errorf("%s: %+v, by rationals %+v", name, quick, slow)
	}
}
