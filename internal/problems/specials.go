package problems

import (
	"math"

	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// Special is a problem with infinities and NaN, and what IEEE 754 arithmetic without overflow gives.
type Special struct {
	Name      string
	Problem   *op.Problem
	Want      []float64
	Overflows bool // in a format with the exponents of binary64, with another result
}

var inf, nan = math.Inf(1), math.NaN()

func floats(x ...float64) numbers.Array { return numbers.Vector(numbers.Float64s(x)) }

// Specials returns such problems of an operation.
func Specials(o *op.Operation) []Special {
	switch o {
	case op.Sum:
		return specialSums()
	case op.Dot:
		return specialDots()
	case op.Axpy:
		return specialAxpys()
	case op.Gemv:
		return specialProducts()
	}
	panic("problems: no special problems of " + o.Name)
}

func specialSums() (list []Special) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{inf, 1, 2}, inf}, {[]float64{1, -inf, 2}, -inf}, {[]float64{1, 2, inf}, inf},
		{[]float64{inf, inf, 1}, inf},
		{[]float64{inf, 1, -inf}, nan}, {[]float64{1, nan, 2}, nan}, {[]float64{inf, nan}, nan}, {[]float64{nan}, nan},
		{[]float64{}, 0}, {[]float64{0, 0}, 0}, {[]float64{0.5, 0.25}, 0.75},
	} {
		list = append(list, Special{Name: "sum", Problem: &op.Problem{Op: op.Sum, X: floats(c.x...)},
			Want: []float64{c.want}})
	}
	return list
}

func specialDots() (list []Special) {
	for _, c := range []struct {
		x, y      []float64
		want      float64
		overflows bool
	}{
		{[]float64{inf, 1}, []float64{1, 1}, inf, false},
		{[]float64{1, 2}, []float64{-inf, 1}, -inf, false},
		{[]float64{inf, inf}, []float64{1, -1}, nan, false},
		{[]float64{inf, 1}, []float64{0, 1}, nan, false},
		{[]float64{1, nan}, []float64{1, 1}, nan, false},
		{[]float64{inf, -2}, []float64{-3, 1}, -inf, false},
		{[]float64{inf, 1e300}, []float64{1e300, -1e300}, inf, true},
		{[]float64{}, []float64{}, 0, false},
	} {
		p := &op.Problem{Op: op.Dot, X: floats(c.x...), Y: floats(c.y...)}
		list = append(list, Special{"dot", p, []float64{c.want}, c.overflows})
	}
	return list
}

func specialAxpys() (list []Special) {
	for _, c := range []struct {
		alpha      float64
		x, y, want []float64
	}{
		{2, []float64{inf, -inf, nan, 0, 3}, []float64{1, 1, 1, inf, 4}, []float64{inf, -inf, nan, inf, 10}},
		{-1, []float64{inf, inf, 1}, []float64{inf, -inf, nan}, []float64{nan, -inf, nan}},
		{0, []float64{inf, nan, 1}, []float64{5, -inf, 6}, []float64{5, -inf, 6}}, // x is not read
		{inf, []float64{0, 1, -1}, []float64{1, 1, inf}, []float64{nan, inf, nan}},
		{nan, []float64{1}, []float64{1}, []float64{nan}},
		{1, []float64{}, []float64{}, []float64{}},
	} {
		p := &op.Problem{Op: op.Axpy, Alpha: numbers.Scalar(c.alpha), X: floats(c.x...), Y: floats(c.y...)}
		list = append(list, Special{Name: "axpy", Problem: p, Want: c.want})
	}
	return list
}

// specialProducts are of A = (1 3; 2 4) and x = (1, 0), changed here and there.
func specialProducts() (list []Special) {
	for _, c := range []struct {
		name        string
		alpha, beta float64
		a, x, y     []float64
		trans       bool
		want        []float64
	}{
		{"none", 2, 1, []float64{1, 2, 3, 4}, []float64{1, 0}, []float64{5, 6}, false, []float64{7, 10}},
		{"infinite element", 2, 1, []float64{-inf, 2, 3, 4}, []float64{1, 0}, []float64{5, 6}, false, []float64{-inf, 10}},
		{"infinite element times zero", 2, 1, []float64{1, 2, 3, inf}, []float64{1, 0}, []float64{5, 6}, false,
			[]float64{7, nan}},
		{"NaN times zero", 2, 1, []float64{1, 2, nan, 4}, []float64{1, 0}, []float64{5, 6}, false, []float64{nan, 10}},
		{"transposed", 2, 1, []float64{inf, 2, 3, 4}, []float64{1, 0}, []float64{5, 6}, true, []float64{inf, 12}},
		{"infinite x", 2, 1, []float64{1, 2, 3, 4}, []float64{1, inf}, []float64{5, 6}, false, []float64{inf, inf}},
		{"opposite infinities", 2, 1, []float64{inf, 2, 3, 4}, []float64{1, 0}, []float64{-inf, 6}, false,
			[]float64{nan, 10}},
		{"NaN in y", 2, 1, []float64{1, 2, 3, 4}, []float64{1, 0}, []float64{5, nan}, false, []float64{7, nan}},
		{"NaN in y, beta 0", 2, 0, []float64{1, 2, 3, 4}, []float64{1, 0}, []float64{5, nan}, false, []float64{2, 4}},
		{"NaN in A and x, alpha 0", 0, -1, []float64{1, nan, 3, 4}, []float64{nan, 0}, []float64{5, 6}, false,
			[]float64{-5, -6}},
		{"NaN in A, alpha 0, beta 1", 0, 1, []float64{1, nan, 3, 4}, []float64{1, 0}, []float64{5, 6}, false,
			[]float64{5, 6}},
		{"nothing but zeros", 0, 0, []float64{1, 2, 3, 4}, []float64{1, 0}, []float64{nan, 6}, false, []float64{0, 0}},
		{"infinite beta", 2, -inf, []float64{1, 2, 3, 4}, []float64{1, 0}, []float64{5, 6}, false, []float64{-inf, -inf}},
		{"infinite beta times zero", 2, inf, []float64{1, 2, 3, 4}, []float64{1, 0}, []float64{0, 6}, false,
			[]float64{nan, inf}},
		// alpha multiplies x first, as in the 2020 paper, so that opposite signs give NaN
		{"infinite alpha", inf, 0, []float64{1, 2, 3, -1}, []float64{1, 1}, []float64{5, nan}, false, []float64{inf, nan}},
	} {
		p := &op.Problem{
			Op: op.Gemv, Trans: c.trans, Alpha: numbers.Scalar(c.alpha), Beta: numbers.Scalar(c.beta),
			A: numbers.Array{Source: numbers.Float64s(c.a), Layout: numbers.ColMajor(2, 2, 2)}, X: floats(c.x...),
			Y: floats(c.y...),
		}
		list = append(list, Special{Name: c.name, Problem: p, Want: c.want})
	}
	return list
}

// SameClass tells whether a component is what was wanted: the same number, infinity, or NaN.
func SameClass(got, want float64) bool { return got == want || got != got && want != want }
