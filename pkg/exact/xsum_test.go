package exact

import (
	"math"
	"math/big"
	"slices"
	"testing"
)

// The classes of cases of Neal's xsum: one, two, three and ten terms, each also negated and repeated
// (R. M. Neal, arXiv 1505.05571, 2015). Cases are our own.

const (
	maxNormal    = math.MaxFloat64
	minNormal    = 0x1p-1022
	minSubnormal = 0x1p-1074
	maxSubnormal = 0x0.fffffffffffffp-1022
)

// edges are the numbers at which something changes.
var edges = []float64{
	0, math.Copysign(0, -1), minSubnormal, -minSubnormal, maxSubnormal, -maxSubnormal, minNormal, -minNormal,
	1, -1, 0x1p53, 0x1p53 + 2, 0x1p-53, 0x1p-54, maxNormal, -maxNormal, 0x1p1023, -0x1p1023, 0x1p970, -0x1p970,
	math.Inf(1), math.Inf(-1), math.NaN(),
}

// same compares a rounded result with an expected float64; NaN equals NaN, and a zero is always +0.
func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

// vary runs f on the terms, their negatives, and both repeated.
func vary(t *testing.T, terms []float64, want float64, repeat int) {
	t.Helper()
	negated := make([]float64, len(terms))
	for i, x := range terms {
		negated[i] = -x
	}
	minusWant := -want
	if want == 0 {
		minusWant = 0
	}
	for _, c := range []struct {
		terms []float64
		want  float64
	}{{terms, want}, {negated, minusWant}} {
		s := sumOf(c.terms...)
		if got := s.Value().Float64(); !same(got, c.want) {
			t.Errorf("%v: %g (%x), want %g", c.terms, got, got, c.want)
		}
		check(t, s, c.terms)
		repeated := SumOf(slices.Repeat(c.terms, repeat)).Sum
		single := s.Value()
		if single.IsFinite() {
			single = FromRat(new(big.Rat).Mul(single.Number(), big.NewRat(int64(repeat), 1)))
		}
		if !repeated.Equal(single) {
			t.Errorf("%v repeated %d times: %v, want %v", c.terms, repeat, repeated, single)
		}
	}
}

func TestOneTerm(t *testing.T) {
	for _, x := range append([]float64{0.1, 12345, 0x1.fffffffffffffp0, 5e-310}, edges...) {
		want := x
		if x == 0 {
			want = 0 // a sum of -0 is +0
		}
		vary(t, []float64{x}, want, 1<<13)
	}
	if got := sumOf().Value().Float64(); math.Float64bits(got) != 0 {
		t.Errorf("empty sum: %g, want +0", got)
	}
}

// TestTwoTerms: the rounded exact sum of two terms is what IEEE addition gives, for all pairs of edges and for the
// ties at 2^55.
func TestTwoTerms(t *testing.T) {
	add := func(x, y float64) {
		want := x + y
		if want == 0 { // also -0, which a Sum does not distinguish
			want = 0
		}
		vary(t, []float64{x, y}, want, 17)
	}
	for _, x := range edges {
		for _, y := range edges {
			add(x, y)
		}
	}
	for high := 0.0; high <= 24; high += 8 {
		for low := range 8 {
			add(0x1p55+high, float64(low))
			add(0x1p55+high, -float64(low))
		}
	}
}

// TestTwoTermsSticky puts a term far below a tie, which must decide it.
func TestTwoTermsSticky(t *testing.T) {
	for high := 0.0; high <= 24; high += 8 {
		for low := range 8 {
			for _, sticky := range []float64{1e-45, -1e-45, minSubnormal, -minSubnormal} {
				terms := []float64{0x1p55 + high, float64(low), sticky}
				want := new(big.Float).SetPrec(1200).SetFloat64(terms[0])
				want.Add(want, big.NewFloat(terms[1]))
				want.Add(want, big.NewFloat(sticky))
				f, _ := want.Float64()
				vary(t, terms, f, 17)
			}
		}
	}
}

func TestThreeTerms(t *testing.T) {
	for _, c := range []struct {
		terms []float64
		want  float64
	}{
		{[]float64{maxNormal, minSubnormal, -maxNormal}, minSubnormal},
		{[]float64{maxNormal, maxNormal, -maxNormal}, maxNormal},
		{[]float64{maxNormal, 0x1p970, 0}, math.Inf(1)},           // a tie at the end of the format rounds to infinity
		{[]float64{maxNormal, 0x1p970, -minSubnormal}, maxNormal}, // just below it does not
		{[]float64{maxNormal, 0x1p969, minSubnormal}, maxNormal},
		{[]float64{1, 0x1p-53, minSubnormal}, 1 + 0x1p-52},
		{[]float64{1, 0x1p-53, -minSubnormal}, 1},
		{[]float64{1 + 0x1p-52, 0x1p-53, 0}, 1 + 0x1p-51}, // tie to even, upwards
		{[]float64{minNormal, -minSubnormal, 0}, maxSubnormal},
		{[]float64{maxSubnormal, minSubnormal, 0}, minNormal},
		{[]float64{0x1p53, 1, 0x1p-1000}, 0x1p53 + 2},
		{[]float64{0x1p53, 1, -1}, 0x1p53},
		{[]float64{math.Inf(1), maxNormal, -maxNormal}, math.Inf(1)},
		{[]float64{math.Inf(1), 1, math.Inf(-1)}, math.NaN()},
		{[]float64{math.Inf(1), math.NaN(), 1}, math.NaN()},
		{[]float64{0, math.Copysign(0, -1), 0}, 0},
	} {
		vary(t, c.terms, c.want, 1<<10)
	}
}

func TestTenTerms(t *testing.T) {
	powers := make([]float64, 10)
	for i := range powers {
		powers[i] = math.Pow10(i)
	}
	for _, c := range []struct {
		terms []float64
		want  float64
	}{
		{[]float64{maxNormal, maxNormal, maxNormal, maxNormal, 0.125, 0.125, -maxNormal, -maxNormal, -maxNormal, -maxNormal},
			0.25},
		{powers, 1111111111},
		{[]float64{1e-1, 2e-1, 3e-1, 4e-1, 5e-1, -1e-1, -2e-1, -3e-1, -4e-1, -5e-1}, 0},
		{[]float64{1, 0x1p-60, 0x1p-120, 0x1p-180, 0x1p-240, -1, -0x1p-60, -0x1p-120, -0x1p-180, 0}, 0x1p-240},
	} {
		vary(t, c.terms, c.want, 1<<13)
	}
}

// TestEveryPower sums +-2^e over the whole range and the overflow that cancels.
func TestEveryPower(t *testing.T) {
	var powers, alternating []float64
	for e := 1023; e >= -1074; e-- {
		x := math.Ldexp(1, e)
		powers = append(powers, x)
		if e%2 == 0 {
			x = -x
		}
		alternating = append(alternating, x)
	}
	check(t, sumOf(powers...), powers)
	check(t, sumOf(alternating...), alternating)
	overflow := []float64{0x1p1023, 0x1p1023, -0x1p1023, -0x1p1023, minSubnormal}
	vary(t, overflow, minSubnormal, 1<<10)
	one := big.NewInt(1)
	all := new(big.Int).Sub(new(big.Int).Lsh(one, 2098), one) // 2098 ones
	want := new(big.Rat).SetFrac(all, new(big.Int).Lsh(one, 1074))
	if got := sumOf(powers...).Value(); !got.Equal(FromRat(want)) {
		t.Errorf("sum of all powers: %v", got)
	}
	if got := sumOf(powers...).Value().Float64(); !math.IsInf(got, 1) {
		t.Errorf("sum of all powers, rounded: %g, want +Inf", got)
	}
}
