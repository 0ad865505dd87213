package report

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"mpbench/pkg/exact"
)

// TestNumber: as few digits as tell the nearest float64, or those that are asked for, none made up.
func TestNumber(t *testing.T) {
	for _, c := range []struct {
		value  string
		digits int
		want   string
	}{
		{"5050", 0, "5050"},
		{"3/10", 0, "0.3"},
		{"3/10", 3, "0.3"},
		{"1/3", 5, "0.33333"},
		{"2/3", 20, "0.66666666666666666667"},
		{"1000000000000000000000", 0, "1e+21"},
		{"1000000000000000000000", 30, "1000000000000000000000"},
		{"123456", 3, "1.23e+05"},
		{"1/1000000", 0, "1e-06"},
		{"999999999999999999", 0, "1e+18"},
		{"300001/3", 5, "1.0000e+05"},
		{"0", 7, "0"},
	} {
		x, _ := new(big.Rat).SetString(c.value)
		if got := Number(exact.Summary{Sum: exact.FromRat(x)}, c.digits); got != c.want {
			t.Errorf("Number(%s, %d) = %s, want %s", c.value, c.digits, got, c.want)
		}
	}
}

// TestNumberReadsBack: without a number of digits the text is that of the nearest float64, subnormal ones too.
func TestNumberReadsBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := new(big.Rat).SetFloat64(rapid.Float64Range(-1e300, 1e300).Draw(t, "x"))
		x.Add(x, big.NewRat(1, rapid.Int64Range(1, 1<<62).Draw(t, "d")))
		s := exact.Summary{Sum: exact.FromRat(x)}
		if got, err := strconv.ParseFloat(Number(s, 0), 64); err != nil || got != s.Sum.Float64() {
			t.Fatalf("%s reads as %v, not %v", Number(s, 0), got, s.Sum.Float64())
		}
	})
}

// TestResult: a result about which nothing else is known, of one number and of several.
func TestResult(t *testing.T) {
	var values []exact.Summary
	for _, x := range []float64{1.5, -2, math.NaN()} {
		values = append(values, exact.Summary{Sum: exact.FromFloat64(x)})
	}
	for _, c := range []struct {
		r    Result
		want string
	}{
		{Result{What: "sum", Scalar: true, Values: values[:1], More: [][2]string{{"read", "8 bytes"}}},
			"x.npy: sum\nresult  1.5 exactly\nread    8 bytes\n"},
		{Result{What: "product", Values: values},
			"x.npy: product\nresult  3 numbers, magnitudes sum to 3.50000e+00, 1 infinite or NaN\n"},
	} {
		var b strings.Builder
		if err := c.r.Write(&b, "x.npy", 0, Options{}); err != nil || b.String() != c.want {
			t.Errorf("%q, want %q, %v", b.String(), c.want, err)
		}
	}
}
