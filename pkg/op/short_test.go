package op_test

import (
	"math"
	"math/big"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// repeated returns a problem of so many equal components of few terms, on alpha, beta and numbers of x and y.
func repeated(o *op.Operation, n int, alpha, beta numbers.Array, x, y []float64) *op.Problem {
	same := func(x []float64) numbers.Array {
		return numbers.Array{Source: numbers.Float64s(x), Layout: numbers.Layout{Rows: n, Cols: 1, RowStride: 0}}
	}
	p := &op.Problem{Op: o, Alpha: alpha}
	switch o {
	case op.Axpy:
		p.X, p.Y = same(x), same(y)
	case op.Scal:
		p.X = same(x)
	default:
		p.A = numbers.Array{
			Source: numbers.Float64s(x), Layout: numbers.Layout{Rows: n, Cols: len(x), ColStride: 1},
		}
		p.X, p.Beta, p.Y = numbers.Vector(numbers.Float64s(y)), beta, same(y)
	}
	return p
}

// TestShorts compares components as short sums with the same as rationals, for factors of all kinds.
func TestShorts(t *testing.T) {
	decimal := func(text string) numbers.Array {
		r, _ := new(big.Rat).SetString(text)
		return numbers.Vector(numbers.Rationals([]*big.Rat{r}))
	}
	factors := []numbers.Array{
		{}, decimal("1"), decimal("0.3"), decimal("-7/3"), decimal("1e-30"), decimal("0"), decimal("1e-400"),
		decimal("1/5"), numbers.Scalar(math.Inf(1)),
	}
	values := []float64{1, 0.1, -0x1p53 + 1, 0, 0x1p-1074, -1e300, 3, math.Inf(1), 0x1.8p-600}
	short := map[string]int{}
	for _, o := range []*op.Operation{op.Axpy, op.Scal, op.Gemv} {
		for f, alpha := range factors {
			for v := range values {
				x := []float64{values[v], values[(v+1)%len(values)]}
				y := []float64{values[(v*4+f)%len(values)], -values[(v*4+f)%len(values)]}
				r, err := op.ExactShort(repeated(o, 4, alpha, factors[(f+v)%len(factors)], x, y))
				if err != nil {
					t.Fatal(err)
				}
				var s op.Short
				if r.Short(3, &s) {
					short[o.Name]++
					agree(t, o.Name, r, &s)
				}
			}
		}
	}
	for _, o := range []*op.Operation{op.Axpy, op.Scal, op.Gemv} {
		if short[o.Name] < 10 {
			t.Errorf("%s: %d components are short", o.Name, short[o.Name])
		}
	}
}

// TestHasShorts: only many components of few terms are short, until they are kept.
func TestHasShorts(t *testing.T) {
	for n, want := range map[int]bool{4: false, 5000: true} {
		r, err := op.Exact(repeated(op.Axpy, n, numbers.Array{}, numbers.Array{}, []float64{1}, []float64{2}))
		if err != nil || r.HasShorts() != want {
			t.Errorf("%d components: short %v, %v", n, r.HasShorts(), err)
		}
		if r.Keep(); r.HasShorts() || r.Component(n-1).Sum.Float64() != 3 {
			t.Errorf("%d components are short when they are kept, or wrong", n)
		}
	}
}

// agree compares a short sum with the component that it is.
func agree(t *testing.T, name string, r *op.Reference, s *op.Short) {
	t.Helper()
	want := r.Component(3)
	if sign, ok := s.Sign(); !want.Sum.IsFinite() || ok && sign != want.Sum.Sign() {
		t.Fatalf("%s: %v has the sign %d", name, want.Sum, sign)
	} else if ok {
		var total exact.Sum
		s.AddTo(&total)
		if new(big.Rat).Quo(total.Value().Number(), r.Divisor()).Cmp(want.Sum.Abs().Number()) != 0 {
			t.Fatalf("%s: %v is not %v", name, total.Value(), want.Sum)
		}
	}
	var magnitudes exact.Sum
	s.AddMagnitudesTo(&magnitudes)
	if sum := magnitudes.Value().Number(); new(big.Rat).Quo(sum, r.Divisor()).Cmp(want.SumAbs.Number()) != 0 {
		t.Fatalf("%s: magnitudes %v are not %v", name, magnitudes.Value(), want.SumAbs)
	}
	if s.OneSign() != want.Sum.Abs().Equal(want.SumAbs) {
		t.Fatalf("%s: %v of %v has one sign: %v", name, want.Sum, want.SumAbs, s.OneSign())
	}
}

// TestShortRows: sparse and dense rows of few elements, in all layouts, as short sums and as rationals.
func TestShortRows(t *testing.T) {
	n := 0
	for _, o := range op.All() {
		for seed := range uint64(200) {
			p := problems.Choice{Seed: seed, Kind: problems.Kind(seed) % problems.Kinds, Largest: 7}.Random(o)
			r, err := op.ExactShort(p)
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Shape.Components {
				var s op.Short
				if !r.Short(i, &s) {
					continue
				}
				n++
				if sign, ok := s.Sign(); ok && sign != r.Component(i).Sum.Sign() {
					t.Fatalf("%s, seed %d: component %d is %v, of sign %d", o.Name, seed, i, r.Component(i).Sum, sign)
				}
				low, high := s.Bounds()
				agreeNorms(t, r)
				size := r.Component(i).Sum.Abs()
				if size.Number().Cmp(new(big.Rat).SetFloat64(low)) < 0 || size.Number().Cmp(new(big.Rat).SetFloat64(high)) > 0 {
					t.Fatalf("%s, seed %d: component %d is %v, from %v to %v", o.Name, seed, i, size, low, high)
				}
			}
		}
	}
	if n < 1000 {
		t.Errorf("%d components are short", n)
	}
}

// agreeNorms compares norms with the sums over all components.
func agreeNorms(t *testing.T, r *op.Reference) {
	t.Helper()
	norm, abs := new(big.Rat), new(big.Rat)
	for i := range r.Shape.Components {
		c := r.Component(i)
		if !c.Sum.IsFinite() || !c.SumAbs.IsFinite() {
			if _, _, finite := r.Norms(); finite {
				t.Fatalf("norms are finite, and component %d is %v", i, c.Sum)
			}
			return
		}
		norm.Add(norm, c.Sum.Abs().Number())
		abs.Add(abs, c.SumAbs.Number())
	}
	if n, a, finite := r.Norms(); !finite || n.Cmp(norm) != 0 || a.Cmp(abs) != 0 {
		t.Fatalf("norms %v and %v, want %v and %v", n, a, norm, abs)
	}
}
