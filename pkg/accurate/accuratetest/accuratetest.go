// Package accuratetest tells in a Go test how many bits of a sum, a dot product or a matrix-vector product are
// correct, whatever computed it, so that go test is a gate for accuracy:
//
//	func TestMean(t *testing.T) {
//		x := data()
//		accuratetest.Sum(t, mySum(x), x, 50) // fails unless 50 bits are correct
//	}
//
// A failure prints the result, how many of its bits are correct, the exact value, and the condition number, which says
// how hard the data are: a method that rounds every operation loses up to log2(condition number) bits.
//
// Correct bits are -log2(|got - exact| / |exact|). The nearest float64 to the exact value always passes, also where it
// has fewer bits, as subnormal numbers and infinities after an overflow do; more than 53 bits therefore ask for just
// that. NaN and infinities pass where IEEE 754 arithmetic that does not overflow on the way gives them.
//
// The exact value is that of package mpbench/pkg/exact, which shares no code with the sums of mpbench/pkg/accurate. A
// call takes about 0.1 ms, and less than 10 ns for each number or 30 ns for each product (BenchmarkChecks).
package accuratetest

import (
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/mat"

	"mpbench/pkg/exact"
)

// TB is what is used of a [testing.TB].
type TB interface {
	Helper()
	Errorf(format string, args ...any)
}

// Sum fails unless so many bits of got are correct, as the sum of x.
func Sum(t TB, got float64, x []float64, bits float64) {
	t.Helper()
	checkBits(t, bits)
	var s exact.Sum
	s.AddSlice(x)
	check(t, fmt.Sprintf("sum of %d numbers", len(x)), got, s.Summary(), bits)
}

// Dot fails unless so many bits of got are correct, as the dot product of x and y.
func Dot(t TB, got float64, x, y []float64, bits float64) {
	t.Helper()
	if len(x) != len(y) {
		t.Errorf("dot product of vectors of %d and %d elements", len(x), len(y))
		return
	}
	checkBits(t, bits)
	sum := dot(x, func(j int) float64 { return y[j] })
	check(t, fmt.Sprintf("dot product of %d terms", len(x)), got, sum, bits)
}

// dot returns the exact sum of x[j]*y(j).
func dot(x []float64, y func(j int) float64) exact.Summary {
	var d exact.Dot
	for j, v := range x {
		d.Add(v, y(j))
	}
	return d.Summary()
}

// MulVec fails unless so many bits of every component of got are correct, as a*x. It prints the worst component.
func MulVec(t TB, got []float64, a mat.Matrix, x []float64, bits float64) {
	t.Helper()
	rows, cols := a.Dims()
	if len(x) != cols || len(got) != rows {
		t.Errorf("product of a %d x %d matrix and a vector of %d elements, with a result of %d",
			rows, cols, len(x), len(got))
		return
	}
	checkBits(t, bits)
	wrong, worst, least, sum := 0, 0, math.Inf(1), exact.Summary{}
	for i, v := range got {
		s := dot(x, func(j int) float64 { return a.At(i, j) })
		c, ok := correctBits(v, s.Sum, bits)
		if ok {
			continue
		}
		if wrong++; wrong == 1 || c < least {
			worst, least, sum = i, c, s
		}
	}
	if wrong > 0 {
		check(t, fmt.Sprintf("component %d, the worst of %d wrong ones of %d", worst, wrong, rows), got[worst], sum, bits)
	}
}

// Near fails unless so many bits of got are correct, as the number want. A nil is NaN.
func Near(t TB, got, want *big.Float, bits float64) {
	t.Helper()
	checkBits(t, bits)
	g, w := exact.FromBig(got), exact.FromBig(want)
	if c := exact.Measure(g, w).CorrectBits(); !(c >= bits) && !g.Equal(w) {
		digits := 5 + int(math.Ceil(min(bits, 1e6)*math.Log10(2)))
		t.Errorf("%g correct bits, want %g\n\tgot    %s\n\twant   %s", cut(c), bits, g.Text(digits), w.Text(digits))
	}
}

// check fails unless so many bits of got are correct.
func check(t TB, what string, got float64, sum exact.Summary, bits float64) {
	t.Helper()
	c, ok := correctBits(got, sum.Sum, bits)
	if ok {
		return
	}
	t.Errorf("%s: %g correct bits, want %g\n\tgot               %g\n\tnearest float64   %g\n\texact             %s\n"+
		"\tcondition number  %s", what, cut(c), bits, got, sum.Sum.Float64(), sum.Sum.Text(40), sum.Condition().Text(2))
}

// cut returns a number of bits to two decimals, no more than there are.
func cut(bits float64) float64 { return math.Floor(bits*100) / 100 }

// checkBits fails for a number of bits that everything has.
func checkBits(t TB, bits float64) {
	t.Helper()
	if !(bits > 0) {
		t.Errorf("every result has %g correct bits: ask for more", bits)
	}
}

// correctBits returns how many bits of got are correct, and whether they are enough.
func correctBits(got float64, want exact.Value, bits float64) (c float64, ok bool) {
	c = exact.Measure(exact.FromFloat64(got), want).CorrectBits()
	nearest := want.Float64()
	return c, c >= bits || got == nearest || got != got && nearest != nearest
}
