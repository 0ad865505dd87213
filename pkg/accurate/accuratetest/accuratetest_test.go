package accuratetest

import (
	"fmt"
	"math"
	"math/big"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// recorder notes failures.
type recorder struct{ failures []string }

func (r *recorder) Helper() {}
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

var _ TB = (testing.TB)(nil)

// expect runs a check that must pass, if want is "", or fail with one text that has all lines of want.
func expect(t *testing.T, want string, run func(TB)) {
	t.Helper()
	var r recorder
	run(&r)
	text := strings.Join(r.failures, "\n")
	if want == "" && text != "" || want != "" && len(r.failures) != 1 {
		t.Errorf("%d failures: %s, want %q", len(r.failures), text, want)
	}
	for _, line := range strings.Split(want, "\n") {
		if !strings.Contains(text, line) {
			t.Errorf("%q is missing in: %s", line, text)
		}
	}
}

func TestSum(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		got  float64
		x    []float64
		bits float64
		want string
	}{
		{1, []float64{1e16, 1, -1e16}, 53, ""},
		{0, []float64{1e16, 1, -1e16}, 1, "sum of 3 numbers: 0 correct bits, want 1\n\tgot               0\n" +
			"\tnearest float64   1\n\texact             1.000000000000000000000000000000000000000e+00\n" +
			"\tcondition number  2.0e+16"},
		{1 + 0x1p-50, []float64{1}, 50, ""},
		{1 + 0x1p-50, []float64{1}, 50.01, "50 correct bits, want 50.01"},
		{1 - 0x1p-49, []float64{1}, 50, "49 correct bits"},
		{1 + 0x1p-52, []float64{1, 0x1p-53, 0x1p-60}, 60, ""}, // the nearest
		{1, []float64{1, 0x1p-53, 0x1p-60}, 53, "52.98 correct bits, want 53"},
		{0, nil, 53, ""},
		{math.Copysign(0, -1), []float64{1, -1}, 53, ""},
		{0x1p-1074, []float64{1, -1}, 1, "condition number  +Inf"},
		{inf, []float64{math.MaxFloat64, math.MaxFloat64}, 53, ""},
		{math.MaxFloat64, []float64{math.MaxFloat64, 0x1p969}, 53, ""},
		{math.MaxFloat64, []float64{math.MaxFloat64, math.MaxFloat64}, 10,
			"1 correct bits, want 10\n\tnearest float64   +Inf"},
		{inf, []float64{inf, 1}, 53, ""},
		{-inf, []float64{inf, 1}, 1, "0 correct bits"},
		{nan, []float64{inf, -inf}, 53, ""},
		{nan, []float64{1}, 1, "got               NaN"},
		{1, []float64{nan}, 1, "exact             NaN"},
		{1, []float64{1}, 0, "every result has 0 correct bits"},
		{1, []float64{1}, nan, "every result has NaN correct bits"},
	} {
		expect(t, c.want, func(tb TB) { Sum(tb, c.got, c.x, c.bits) })
	}
}

func TestDot(t *testing.T) {
	tiny := []float64{0x1p-1074, 0x1p-535}
	expect(t, "", func(tb TB) { Dot(tb, 11, []float64{1, 2}, []float64{3, 4}, 53) })
	expect(t, "dot product of 2 terms: 3.45 correct bits, want 4",
		func(tb TB) { Dot(tb, 12, []float64{1, 2}, []float64{3, 4}, 4) })
	expect(t, "", func(tb TB) { Dot(tb, 0, tiny[:1], tiny[:1], 53) }) // it underflows
	expect(t, "exact             7.905", func(tb TB) { Dot(tb, 0, tiny[1:], tiny[1:], 1) })
	expect(t, "every result has 0 correct bits", func(tb TB) { Dot(tb, 0, tiny[:1], tiny[:1], 0) })
	expect(t, "of 1 and 2 elements", func(tb TB) { Dot(tb, 0, tiny[:1], tiny, 1) })
}

func TestMulVec(t *testing.T) {
	a, x := mat.NewDense(3, 2, []float64{1, 2, 3, 4, 5, 6}), []float64{1, -1}
	expect(t, "", func(tb TB) { MulVec(tb, []float64{-1, -1, -1}, a, x, 53) })
	expect(t, "component 2, the worst of 2 wrong ones of 3: 2 correct bits, want 10\n\tgot               -1.25\n"+
		"\tcondition number  1.1e+01", func(tb TB) { MulVec(tb, []float64{-1, -1 - 0x1p-9, -1.25}, a, x, 10) })
	expect(t, "a 3 x 2 matrix and a vector of 2 elements, with a result of 2",
		func(tb TB) { MulVec(tb, []float64{-1, -1}, a, x, 53) })
	expect(t, "every result has 0 correct bits", func(tb TB) { MulVec(tb, []float64{-1, -1, -1}, a, x, 0) })
	expect(t, "a vector of 1 elements", func(tb TB) { MulVec(tb, []float64{-1, -1, -1}, a, x[:1], 53) })
}

func TestNear(t *testing.T) {
	third := new(big.Float).SetPrec(200).Quo(big.NewFloat(1), big.NewFloat(3))
	rounded := new(big.Float).SetPrec(100).Set(third)
	expect(t, "", func(tb TB) { Near(tb, rounded, third, 100) })
	expect(t, "correct bits, want 103\n\tgot    3.333333333333333333333333333334648102e-01",
		func(tb TB) { Near(tb, rounded, third, 103) })
	expect(t, "", func(tb TB) { Near(tb, third, third, 1000) })
	expect(t, "", func(tb TB) { Near(tb, nil, nil, 1000) })
	expect(t, "want   NaN", func(tb TB) { Near(tb, third, nil, 1) })
	expect(t, "every result has -1 correct bits", func(tb TB) { Near(tb, third, third, -1) })
}
