package method

import (
	"math"
	"math/big"
	"testing"

	"mpbench/pkg/bound"
	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

func rat(text string) *big.Rat {
	x, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return x
}

func summary(n int, sum, abs string) exact.Summary {
	return exact.Summary{N: n, Sum: exact.FromRat(rat(sum)), SumAbs: exact.FromRat(rat(abs))}
}

func scalar(x float64) numbers.Array { return numbers.Scalar(x) }

// quarter is a range with a unit of 1/4, without the errors of underflow and without an end; eighth one of 1/8.
var quarter, eighth = Range{Unit: rat("1/4")}, Range{Unit: rat("1/8")}

// TestErrorBound compares bounds with their values by hand, for n = 3, s = -2, S = 8.
func TestErrorBound(t *testing.T) {
	x := numbers.Vector(numbers.Float64s{3, -5, 0})
	infinite := numbers.Vector(numbers.Float64s{3, math.Inf(1), 0})
	large := numbers.Vector(numbers.Float64s{3, math.MaxFloat64, 0})
	a := numbers.Array{Source: numbers.Float64s{3, -5, 0}, Layout: numbers.RowMajor(1, 3, 3)}
	empty := numbers.Array{Source: numbers.Float64s{}, Layout: numbers.RowMajor(1, 0, 1)}
	sum, dot := op.Problem{Op: op.Sum, X: x}, op.Problem{Op: op.Dot, X: x, Y: x}
	gemv := func(a, x, alpha, beta numbers.Array) op.Problem {
		return op.Problem{Op: op.Gemv, A: a, X: x, Alpha: alpha, Beta: beta, Y: scalar(1)}
	}
	small := Range{Tiny: rat("1/7")}
	once, twice := Rounded{Factors: 1}, Rounded{Factors: 2}
	for name, c := range map[string]struct {
		formula string
		info    Info
		problem op.Problem
		want    string // "" for none
	}{
		"nothing rounded":     {"g(n-1)*S, u = 1/8", Info{Range: quarter}, sum, "8/3"}, // 2/8 / (1 - 2/8) * 8
		"the engine's u":      {"g(n-1)*S, u = 1/8", Info{Unit: rat("1/16")}, sum, "8/7"},
		"bits":                {"2^-p*|s|", Info{Bits: 3}, sum, "1/4"},
		"the engine's letter": {"B*|s|", Info{Bound: map[string]int{"B": 5}}, sum, "10"},
		"a missing letter":    {"B*|s|", Info{}, sum, ""},
		"no bound":            {"", Info{}, sum, ""},
		"the problem's X":     {"X*S", Info{}, gemv(a, x, scalar(1), scalar(0)), "1048577/16384"}, // 8(1+2^-20) >= 5
		"the engine's X":      {"X*S", Info{Bound: map[string]int{"X": 1}}, gemv(a, x, scalar(1), scalar(0)), "8"},
		"alpha":               {"a*|s|", Info{}, gemv(a, x, scalar(-3), scalar(0)), "6"},

		"terms rounded once":   {"S/8", Info{Rounded: once, Range: quarter}, sum, "13/4"},   // S' = 10, 10/8 + 2
		"factors rounded":      {"S/8", Info{Rounded: twice, Range: quarter}, dot, "97/16"}, // S' = 25/2
		"the result is larger": {"|s|/8", Info{Rounded: once, Range: quarter}, sum, "5/2"},  // (2 + 2)/8 + 2
		"underflow of terms":   {"S/8", Info{Rounded: once, Range: Range{Unit: rat("1/4"), Tiny: rat("2")}}, sum, "10"},
		"no underflow of factors": {
			"S/8", Info{Rounded: twice, Range: Range{Unit: rat("1/4"), Tiny: rat("2")}}, dot, "97/16",
		},
		"lost terms":    {"S/8", Info{Rounded: Rounded{1, true}, Range: quarter}, sum, "13/4"},
		"lost factors":  {"S/8", Info{Rounded: Rounded{1, true}, Range: quarter}, dot, ""},
		"unknown range": {"S/8", Info{Rounded: once}, sum, ""},

		"no overflow":         {"S/8", Info{Range: Range{Overflow: rat("91/10")}}, sum, "1"}, // reaches 8 + 1
		"overflow":            {"S/8", Info{Range: Range{Overflow: rat("9")}}, sum, ""},
		"overflow of terms":   {"S/8", Info{Rounded: once, Range: Range{rat("1/4"), nil, rat("45/4")}}, sum, ""},
		"terms fit":           {"S/8", Info{Rounded: once, Range: Range{rat("1/4"), nil, rat("46/4")}}, sum, "13/4"},
		"overflow of A*x":     {"S/8", Info{Range: Range{Overflow: rat("49")}}, gemv(a, x, scalar(0.5), scalar(0)), ""},
		"A*x fits":            {"S/8", Info{Range: Range{Overflow: rat("50")}}, gemv(a, x, scalar(0.5), scalar(0)), "1"},
		"overflow of alpha*x": {"S/8", Info{Range: Range{Overflow: rat("77")}}, gemv(a, x, scalar(-4), scalar(0)), ""},
		"alpha*x fits":        {"S/8", Info{Range: Range{Overflow: rat("78")}}, gemv(a, x, scalar(-4), scalar(0)), "1"},
		"infinite x":          {"S/8", Info{Range: Binary64}, gemv(a, infinite, scalar(2), scalar(0)), "1"},
		"x is too large":      {"S/8", Info{Range: Binary64}, gemv(a, large, scalar(2), scalar(0)), ""},

		"alpha = 0":            {"g(n+2)*S, u = 1/8", Info{Range: eighth}, gemv(a, x, scalar(0), scalar(3)), "8/7"},
		"alpha = 0, stored":    {"g(n+2)*S, u = 1/8", Info{Range: quarter}, gemv(a, x, scalar(0), scalar(3)), "24/5"},
		"alpha = 0, underflow": {"g(n+2)*S, u = 1/8", Info{Range: small}, gemv(a, x, scalar(0), scalar(3)), "9/7"},
		"alpha = 0, small":     {"u*|s|, u = 1/8", Info{}, gemv(a, x, scalar(0), scalar(3)), "1/4"},
		"alpha = 0, no u":      {"|s|", Info{}, gemv(a, x, scalar(0), scalar(3)), "2"},
		"alpha = 0, large u":   {"|s|, u = 1", Info{}, gemv(a, x, scalar(0), scalar(3)), "2"},
		"alpha = 0, no bound":  {"g(n+9)*S, u = 1/8", Info{}, gemv(a, x, scalar(0), scalar(3)), "8/7"},
		"a copy of y":          {"g(n+2)*S, u = 1/8", Info{}, gemv(a, x, scalar(0), scalar(1)), "0"},
		"no columns":           {"g(n+2)*S, u = 1/8", Info{}, gemv(empty, x, scalar(7), scalar(3)), "0"},
		"a rounded copy of y": {
			"g(n+2)*S, u = 1/8", Info{Rounded: once, Range: quarter}, gemv(a, x, scalar(0), scalar(1)), "2",
		},
	} {
		m := Method{Operation: c.problem.Op}
		if c.formula != "" {
			m.Bound = bound.New(c.formula, "")
		}
		got := m.ErrorBound(c.info, &c.problem).Of(summary(3, "-2", "8"))
		if (got == nil) != (c.want == "") || got != nil && got.Cmp(rat(c.want)) != 0 {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// TestErrorBoundSpecials: a result that is no number must be returned, the bound is 0, unless the finite terms beside
// may overflow: 1 + u times their sum from 2 on here.
func TestErrorBoundSpecials(t *testing.T) {
	p := &op.Problem{Op: op.Sum, X: numbers.Vector(numbers.Float64s{1})}
	m := Method{Operation: op.Sum, Bound: bound.New("1, u = 1/8", "")}
	b := m.ErrorBound(Info{Range: Range{Overflow: rat("2")}}, p)
	number, inf, nan := exact.FromFloat64(1), exact.Value{Class: exact.NegInf}, exact.Value{Class: exact.NaN}
	for _, c := range []struct {
		sum, abs exact.Value
		finite   float64
		want     string // "" for none
	}{
		{number, exact.FromFloat64(0.5), 0.5, "1"}, {exact.Value{}, exact.Value{}, 0, "1"},
		{inf, inf, 0, "0"}, {nan, nan, 0, "0"}, {inf, inf, 0.75, "0"},
		{number, number, 1, ""}, {inf, inf, 1, ""}, {nan, nan, 1, ""},
	} {
		got := b.Of(exact.Summary{N: 1, Sum: c.sum, SumAbs: c.abs, Finite: exact.FromFloat64(c.finite)})
		if (got == nil) != (c.want == "") || got != nil && got.Cmp(rat(c.want)) != 0 {
			t.Errorf("%v of %v: %v, want %s", c.sum, c.abs, got, c.want)
		}
	}
	if got := b.Unit(); got.Cmp(rat("1/8")) != 0 {
		t.Errorf("unit %v", got)
	}
	if got := m.ErrorBound(Info{Unit: rat("1/3")}, p).Unit(); got.Cmp(rat("1/3")) != 0 {
		t.Errorf("the engine's unit is %v", got)
	}
	if got := (Method{Operation: op.Sum, Bound: bound.New("S", "")}).ErrorBound(Info{}, p).Unit(); got != nil {
		t.Errorf("unit %v of a formula without one", got)
	}
}

// TestErrorBoundKeepsSummary: the exact sums stay what they are.
func TestErrorBoundKeepsSummary(t *testing.T) {
	p := &op.Problem{Op: op.Sum, X: numbers.Vector(numbers.Float64s{1})}
	s := summary(3, "-2", "8")
	m := Method{Operation: op.Sum, Bound: bound.New("S + |s|", "")}
	for _, r := range []Rounded{{}, {Factors: 2}} {
		b := m.ErrorBound(Info{Rounded: r, Range: Binary64}, p)
		first := b.Of(s)
		second := b.Of(s)
		if first.Cmp(second) != 0 || s.Sum.Number().Cmp(rat("-2")) != 0 || s.SumAbs.Number().Cmp(rat("8")) != 0 {
			t.Errorf("%+v: %v, then %v for %v of %v", r, first, second, s.Sum, s.SumAbs)
		}
	}
}
