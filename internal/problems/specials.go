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
	case op.Scal:
		return specialScals()
	case op.Asum, op.Nrm2:
		return specialNorms(o)
	case op.Gemv:
		return specialProducts()
	case op.Spmv:
		return specialSparses()
	case op.Symv, op.Trmv:
		return specialTriangles(o)
	case op.Gemm:
		return specialMatrices()
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

func specialScals() (list []Special) {
	for _, c := range []struct {
		alpha   float64
		x, want []float64
	}{
		{-2, []float64{inf, -inf, nan, 0, 3}, []float64{-inf, inf, nan, 0, -6}},
		{0, []float64{inf, nan, 1}, []float64{0, 0, 0}}, // x is not read
		{1, []float64{inf, nan, 1}, []float64{inf, nan, 1}},
		{inf, []float64{0, 1, -1}, []float64{nan, inf, -inf}},
		{nan, []float64{1}, []float64{nan}},
		{3, []float64{}, []float64{}},
	} {
		p := &op.Problem{Op: op.Scal, Alpha: numbers.Scalar(c.alpha), X: floats(c.x...)}
		list = append(list, Special{Name: "scal", Problem: p, Want: c.want})
	}
	return list
}

func specialNorms(o *op.Operation) (list []Special) {
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{[]float64{inf, 1, 2}, inf}, {[]float64{1, -inf, 2}, inf}, {[]float64{inf, 1, -inf}, inf},
		{[]float64{1, nan, 2}, nan}, {[]float64{-inf, nan}, nan}, {[]float64{nan}, nan},
		{[]float64{}, 0}, {[]float64{0, 0}, 0}, {[]float64{0, -0.75}, 0.75},
	} {
		p := &op.Problem{Op: o, X: floats(c.x...)}
		list = append(list, Special{Name: o.Name, Problem: p, Want: []float64{c.want}})
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

// specialSparses are the special products of gemv with all elements stored, and with fewer.
func specialSparses() (list []Special) {
	full := &numbers.Pattern{Start: []int{0, 2, 4}, Column: []int32{0, 1, 0, 1}}
	diagonal := &numbers.Pattern{Start: []int{0, 1, 2}, Column: []int32{0, 1}}
	for _, c := range specialProducts() {
		a := c.Problem.A.Source.(numbers.Float64s) // by columns
		c.Problem.Op, c.Problem.A = op.Spmv, numbers.Sparse(numbers.Float64s{a[0], a[2], a[1], a[3]}, 2, full)
		list = append(list, c)
	}
	for _, c := range []struct {
		name       string
		a          []float64
		pattern    *numbers.Pattern
		beta       float64
		x, y, want []float64
	}{
		{"infinity where nothing is stored", []float64{1, 4}, diagonal, 0, []float64{inf, 2}, []float64{nan, nan},
			[]float64{inf, 8}},
		{"NaN where nothing is stored", []float64{1, 4}, diagonal, 1, []float64{3, nan}, []float64{1, 1},
			[]float64{4, nan}},
		{"no elements", nil, &numbers.Pattern{Start: make([]int, 3)}, 2, []float64{nan, inf}, []float64{5, -inf},
			[]float64{10, -inf}},
		{"no elements, beta 0", nil, &numbers.Pattern{Start: make([]int, 3)}, 0, []float64{nan, inf}, []float64{nan, 6},
			[]float64{0, 0}},
		{"no rows", nil, &numbers.Pattern{Start: make([]int, 1)}, 1, []float64{nan, inf}, nil, nil},
	} {
		p := &op.Problem{
			Op: op.Spmv, Alpha: numbers.Scalar(1), Beta: numbers.Scalar(c.beta), X: floats(c.x...), Y: floats(c.y...),
			A: numbers.Sparse(numbers.Float64s(c.a), 2, c.pattern),
		}
		list = append(list, Special{Name: c.name, Problem: p, Want: c.want})
	}
	return list
}

// specialMatrices are the special products of gemv beside a column of ones, and what has no terms.
func specialMatrices() (list []Special) {
	square := func(x ...float64) numbers.Array {
		return numbers.Array{Source: numbers.Float64s(x), Layout: numbers.ColMajor(2, 2, 2)}
	}
	empty := numbers.Array{Source: numbers.Float64s{}, Layout: numbers.ColMajor(2, 0, 2)}
	for _, c := range []struct {
		name        string
		alpha, beta float64
		a, b, c     numbers.Array
		trans       bool // both
		want        []float64
	}{
		{"none", 2, 1, square(1, 2, 3, 4), square(1, 0, 1, 1), square(5, 6, 7, 8), false, []float64{7, 15, 10, 20}},
		{"transposed", 2, 1, square(1, 2, 3, 4), square(1, 0, 1, 1), square(5, 6, 7, 8), true, []float64{11, 11, 20, 16}},
		{"infinite element times zero", 2, 0, square(1, 2, 3, inf), square(1, 0, 1, 1), square(nan, nan, nan, nan), false,
			[]float64{2, 8, nan, inf}},
		{"zero times infinity", 1, 0, square(0, 2, 3, 4), square(inf, 1, 1, 1), square(nan, nan, nan, nan), false,
			[]float64{nan, 3, inf, 6}},
		{"NaN in B", 1, 1, square(1, 2, 3, 4), square(1, 0, nan, 1), square(5, 6, 7, 8), false, []float64{6, nan, 8, nan}},
		{"opposite infinities", 2, 1, square(1, 2, 3, 4), square(inf, 0, 1, 1), square(-inf, 6, 7, 8), false,
			[]float64{nan, 15, inf, 20}},
		{"NaN in A and B, alpha 0", 0, -1, square(1, nan, 3, 4), square(nan, 0, 1, inf), square(5, 6, 7, 8), false,
			[]float64{-5, -7, -6, -8}},
		{"NaN in A, alpha 0, beta 1", 0, 1, square(1, nan, 3, 4), square(nan, 0, 1, 1), square(5, inf, 7, 8), false,
			[]float64{5, 7, inf, 8}},
		{"nothing but zeros", 0, 0, square(1, nan, 3, 4), square(1, 0, 1, 1), square(nan, 6, 7, 8), false,
			make([]float64, 4)},
		{"no terms", 1, 2, empty, empty.Transposed(), square(5, 6, inf, nan), false, []float64{10, inf, 12, nan}},
		{"no terms, beta 0", 1, 0, empty, empty.Transposed(), square(5, 6, inf, nan), false, make([]float64, 4)},
		{"no columns", 1, 1, square(1, 2, 3, 4), empty, empty, false, nil},
	} {
		p := &op.Problem{
			Op: op.Gemm, Trans: c.trans, TransX: c.trans, Alpha: numbers.Scalar(c.alpha), Beta: numbers.Scalar(c.beta),
			A: c.a, X: c.b, Y: c.c,
		}
		list = append(list, Special{Name: c.name, Problem: p, Want: c.want})
	}
	return list
}

// specialTriangles are products with the upper triangle of (1 2; . 4), symmetric or triangular, of which the lower one
// is NaN.
func specialTriangles(o *op.Operation) (list []Special) {
	for _, c := range []struct {
		name           string
		a              [3]float64 // a_11, a_12, a_22
		x              [2]float64
		trans, unit    bool
		sym, tri       [2]float64
		onlyTriangular bool
	}{
		{"none", [3]float64{1, 2, 4}, [2]float64{1, 3}, false, false, [2]float64{7, 14}, [2]float64{7, 12}, false},
		{"infinite x", [3]float64{1, 2, 4}, [2]float64{inf, 3}, false, false, [2]float64{inf, inf},
			[2]float64{inf, 12}, false},
		{"NaN in x", [3]float64{1, 2, 4}, [2]float64{nan, 3}, false, false, [2]float64{nan, nan},
			[2]float64{nan, 12}, false},
		{"infinite element times zero", [3]float64{1, inf, 4}, [2]float64{1, 0}, false, false, [2]float64{nan, inf},
			[2]float64{nan, 0}, false},
		{"transposed", [3]float64{1, 2, 4}, [2]float64{1, inf}, true, false, [2]float64{}, [2]float64{1, inf}, true},
		{"unit", [3]float64{nan, 2, nan}, [2]float64{5, inf}, true, true, [2]float64{}, [2]float64{5, inf}, true},
		{"unit, finite", [3]float64{nan, 2, inf}, [2]float64{5, 3}, false, true, [2]float64{}, [2]float64{11, 3}, true},
	} {
		want := c.tri
		if o == op.Symv {
			if want = c.sym; c.onlyTriangular {
				continue
			}
		}
		p := &op.Problem{Op: o, Trans: c.trans, X: floats(c.x[0], c.x[1]), A: numbers.Array{
			Source: numbers.Float64s{c.a[0], nan, c.a[1], c.a[2]}, Layout: numbers.ColMajor(2, 2, 2),
		}}
		p.Store(true, c.unit)
		list = append(list, Special{Name: c.name, Problem: p, Want: want[:]})
	}
	return list
}

// SameClass tells whether a component is what was wanted: the same number, infinity, or NaN.
func SameClass(got, want float64) bool { return got == want || got != got && want != want }
