package datasets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"mpbench/pkg/exact"
)

// TestMcNamee3Table computes the terms again from their definition: correctly rounded powers by big.Float at a
// precision where they are exact (63 factors of 53 bits), factorials accumulated in binary64.
func TestMcNamee3Table(t *testing.T) {
	x := new(big.Float).SetPrec(3500).SetFloat64(-4 * math.Pi)
	power, factorial := new(big.Float).SetPrec(3500).SetFloat64(1), 1.0
	var lines strings.Builder
	for i, term := range mcNamee3Terms {
		if i > 0 {
			power.Mul(power, x)
			factorial = float64(factorial * float64(i))
		}
		rounded, _ := power.Float64()
		if want := rounded / factorial; term != want {
			t.Errorf("term %d: %x, want %x", i, term, want)
		}
		fmt.Fprintf(&lines, "%s\n", c99(term))
	}
	const want = "9127e997b2d67537c1b76848918192c90228c5152c17bf843aee6c074f33ffe1"
	if sum := sha256.Sum256([]byte(lines.String())); hex.EncodeToString(sum[:]) != want {
		t.Errorf("SHA-256 of the terms in hexadecimal: %x, want %s", sum, want)
	}
}

// c99 writes x as C's %a with all 13 digits does, with the exponent in as few digits as it needs.
func c99(x float64) string {
	mantissa, exponent, _ := strings.Cut(fmt.Sprintf("%.13x", x), "p")
	return fmt.Sprintf("%sp%s%s", mantissa, exponent[:1], strings.TrimPrefix(exponent[1:], "0"))
}

// recursive sums in binary64 from left to right.
func recursive(xs []float64) float64 {
	s := 0.0
	for _, x := range xs {
		s += x
	}
	return s
}

// recursive32 rounds each term to binary32 and sums in binary32 from left to right.
func recursive32(xs []float64) float32 {
	s := float32(0)
	for _, x := range xs {
		s += float32(x)
	}
	return s
}

// TestGoldenSums compares exact sums with values computed independently, to 40 digits, and plain sums with the
// published ones.
func TestGoldenSums(t *testing.T) {
	for _, c := range []struct {
		spec, exact, plain, plain32 string
	}{
		{"mcnamee1", "2.000000000000000143084848109243849017056e-18", "0.000000000e+00", "0.000000000e+00"},
		{"mcnamee2", "1.000000000099999999999999997909778672403e+00", "1.000000000e+00", "1.000000000e+00"},
		{"mcnamee3", "3.487337450228913059890794547106030816614e-06", "3.487336498e-06", "2.006007824e-03"},
		{"harmonic:n=10^6", "1.439272672286572357721839938516153467596e+01", "1.439272672e+01", ""},
		{"basel:n=10^6", "1.644933066848726426752392029643416484232e+00", "1.644933067e+00", ""},
	} {
		d := generate(t, c.spec)
		if got := summaryOf(d).Sum.Text(40); got != c.exact {
			t.Errorf("%s: exact sum %s, want %s", c.spec, got, c.exact)
		}
		if got := fmt.Sprintf("%.9e", recursive(floats(d.X))); got != c.plain {
			t.Errorf("%s: binary64 sum %s, want %s", c.spec, got, c.plain)
		}
		if got := fmt.Sprintf("%.9e", recursive32(floats(d.X))); c.plain32 != "" && got != c.plain32 {
			t.Errorf("%s: binary32 sum %s, want %s", c.spec, got, c.plain32)
		}
	}
}

// TestSeriesOrders compares plain sums in both orders with known values.
func TestSeriesOrders(t *testing.T) {
	for spec, want := range map[string]float64{
		"harmonic":                14.392726722864989,
		"harmonic:order=backward": 14.392726722865772,
		"basel":                   1.6449330668487701,
		"basel:order=backward":    1.6449330668487263,
	} {
		if got := recursive(floats(generate(t, spec).X)); got != want {
			t.Errorf("%s: %.17g, want %.17g", spec, got, want)
		}
	}
}

// TestMcNameeErrors checks the relative errors of Table 1's float64 column.
func TestMcNameeErrors(t *testing.T) {
	d := generate(t, "mcnamee3")
	e := exact.Measure(exact.FromFloat64(recursive(floats(d.X))), summaryOf(d).Sum)
	if got := e.Rel.Text(4); got != "2.730e-07" {
		t.Errorf("mcnamee3: relative error %s, want 2.730e-07", got)
	}
	d = generate(t, "mcnamee2")
	e = exact.Measure(exact.FromFloat64(recursive(floats(d.X))), summaryOf(d).Sum)
	if got := e.Rel.Text(2); got != "1.0e-10" {
		t.Errorf("mcnamee2: relative error %s, want 1.0e-10", got)
	}
}
