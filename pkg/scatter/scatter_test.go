package scatter

import (
	"context"
	"math"
	"slices"
	"testing"

	"mpbench/pkg/bound"
	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// sums are recursive sums and dot products in binary64, and by math/big.
func sums(o *op.Operation) (binary, big method.Method) {
	row := method.Method{Operation: o, Name: "float64", Bound: bound.New("g(n)*S, u = 2^-53", "")}
	binary = format.Binary64.Method(row, format.Binary64.Loops)
	row.Name, row.Least, row.Most = "big", 2, 999
	return binary, format.Of(row, format.BigFloat)
}

func measure(t *testing.T, m method.Method, p *op.Problem) Spread {
	t.Helper()
	c, err := m.Complete(method.Config{Precision: max(m.Bits, 300)})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Measure(context.Background(), m, c, p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestMeasure: a sum that loses its small terms or not, as they come; one that loses nothing; the same of products.
func TestMeasure(t *testing.T) {
	x := numbers.Float64s{0x1p60, 1, 2, -0x1p60, 3}
	for _, p := range []*op.Problem{
		{Op: op.Sum, X: numbers.Vector(x)},
		{Op: op.Dot, X: numbers.Vector(x), Y: numbers.Vector(numbers.Float64s{1, 1, 1, 1, 1})},
	} {
		binary, big := sums(p.Op)
		s := measure(t, binary, p)
		if s.Runs != len(Names)*3 || s.Results < 2 || s.Same() || s.Orders < 2 || s.Blocks < 2 {
			t.Errorf("%s: %+v", p.Op.Name, s)
		}
		if s.Low.Float64() != 0 || s.High.Float64() <= 2 || s.Scatter() != s.High.Float64()/6 || s.WorstError() != 1 {
			t.Errorf("%s: from %v to %v, scatter %g, error %g", p.Op.Name, s.Low, s.High, s.Scatter(), s.WorstError())
		}
		s = measure(t, big, p)
		if !s.Same() || s.Orders != 1 || s.Blocks != 1 || s.Scatter() != 0 || s.WorstError() != 0 {
			t.Errorf("%s by math/big: %+v", p.Op.Name, s)
		}
	}
}

// TestSpecials: no terms; a sum of 0; infinities and NaN, which are the same in all orders.
func TestSpecials(t *testing.T) {
	for _, x := range []numbers.Float64s{
		{}, {1}, {0x1p60, 1, -0x1p60, -1}, {1, math.Inf(1), 2}, {math.NaN(), 1}, {math.MaxFloat64, math.MaxFloat64},
	} {
		binary, _ := sums(op.Sum)
		s := measure(t, binary, &op.Problem{Op: op.Sum, X: numbers.Vector(x)})
		switch finite := s.Low.IsFinite(); {
		case len(x) == 4:
			if s.Same() || !math.IsInf(s.Scatter(), 1) || !math.IsInf(s.WorstError(), 1) {
				t.Errorf("%v: %+v", x, s)
			}
		case !s.Same(), finite && s.Scatter() != 0, !finite && !math.IsNaN(s.Scatter()), !finite && s.Worst != nil:
			t.Errorf("%v: %+v", x, s)
		}
	}
}

// TestArrange: orders are permutations, sorted as they say; vectors stay together.
func TestArrange(t *testing.T) {
	x := numbers.Float64s{3, 9, -4, 9, 1, 9, -2}
	p := &op.Problem{
		Op: op.Dot, X: numbers.Array{Source: x, Layout: numbers.Strided(4, 2)},
		Y: numbers.Vector(numbers.Values{
			exact.FromFloat64(1), exact.FromFloat64(2), exact.FromFloat64(3), exact.FromFloat64(4),
		}),
	}
	products := func(q *op.Problem) (list []float64) {
		for i := range q.X.Rows {
			list = append(list, numbers.At(q.X.Source, q.X.Index(i, 0)).Float64()*
				numbers.At(q.Y.Source, q.Y.Index(i, 0)).Float64())
		}
		return list
	}
	for name, want := range map[string][]float64{
		"given": {3, -8, 3, -8}, "reversed": {-8, 3, -8, 3}, "ascending": {-8, -8, 3, 3}, "descending": {3, 3, -8, -8},
		"magnitude ascending": {3, 3, -8, -8}, "magnitude descending": {-8, -8, 3, 3},
	} {
		if got := products(Arrange(p, name)); !slices.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	for _, name := range Names {
		got := products(Arrange(p, name))
		slices.Sort(got)
		if !slices.Equal(got, []float64{-8, -8, 3, 3}) {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestApplies: sums of terms, not norms, and not what has several components.
func TestApplies(t *testing.T) {
	for _, o := range op.All() {
		if want := o == op.Sum || o == op.Dot; Applies(o) != want {
			t.Errorf("%s: %v", o.Name, !want)
		}
	}
}
