package superacc

import (
	"math"
	"math/big"
	"slices"
	"testing"
)

// The classes of cases of Neal's xsum: one, two, three and ten terms, each also negated and repeated (R. M. Neal,
// arXiv 1505.05571, 2015). Cases are our own.

const (
	maxNormal    = math.MaxFloat64
	minNormal    = 0x1p-1022
	minSubnormal = 0x1p-1074
	maxSubnormal = 0x0.fffffffffffffp-1022
)

// edges are the numbers at which something changes.
var edges = []float64{
	0, math.Copysign(0, -1), minSubnormal, -minSubnormal, maxSubnormal, -maxSubnormal, minNormal, -minNormal,
	1, -1, 0x1p53, 0x1p53 + 2, 0x1p-53, 0x1p-54, maxNormal, -maxNormal, 0x1p1023, -0x1p1023, 0x1p970, -0x1p970, 0x1p1013,
	0x1p1014,
	0x1p-968, 0x1p-969, 0x1p-537, 0x1p512, math.Inf(1), math.Inf(-1), math.NaN(),
}

// vary checks the sum of the terms, of their negatives, and of both repeated, added as one slice and one by one.
func vary(t *testing.T, terms []float64, want float64, repeat int) {
	t.Helper()
	negated := slices.Clone(terms)
	for i := range negated {
		negated[i] = -negated[i]
	}
	for _, c := range []struct {
		terms []float64
		want  float64
	}{{terms, want + 0}, {negated, 0 - want}} {
		a := sumOf(c.terms...)
		if got := a.Float64(); !same(got, c.want) {
			t.Errorf("%v: %g (%x), want %g", c.terms, got, got, c.want)
		}
		checkSum(t, a, c.terms, nil)
		var single Accumulator
		for _, v := range c.terms {
			single.Add(v)
		}
		checkSum(t, &single, c.terms, nil)
		repeated, times := sumOf(slices.Repeat(c.terms, repeat)...).Value(), a.Value()
		if times.IsFinite() {
			times.Rat = new(big.Rat).Mul(times.Rat, big.NewRat(int64(repeat), 1))
		}
		if !repeated.Equal(times) {
			t.Errorf("%v repeated %d times: %v, want %v", c.terms, repeat, repeated, times)
		}
	}
}

func TestOneTerm(t *testing.T) {
	for _, x := range append([]float64{0.1, 12345, 0x1.fffffffffffffp0, 5e-310}, edges...) {
		vary(t, []float64{x}, x, 1<<13)
	}
	if got := new(Accumulator).Float64(); math.Float64bits(got) != 0 {
		t.Errorf("empty sum: %g, want +0", got)
	}
}

// TestTwoTerms: the rounded exact sum of two terms is what IEEE addition gives, for all pairs of edges and for the
// ties at 2^55.
func TestTwoTerms(t *testing.T) {
	for _, x := range edges {
		for _, y := range edges {
			vary(t, []float64{x, y}, x+y, 17)
		}
	}
	for high := 0.0; high <= 24; high += 8 {
		for low := range 8 {
			vary(t, []float64{0x1p55 + high, float64(low)}, 0x1p55+high+float64(low), 17)
			vary(t, []float64{0x1p55 + high, -float64(low)}, 0x1p55+high-float64(low), 17)
		}
	}
}

// TestSticky puts a term far below a tie, which must decide it.
func TestSticky(t *testing.T) {
	for high := 0.0; high <= 24; high += 8 {
		for low := range 8 {
			for _, sticky := range []float64{1e-45, -1e-45, minSubnormal, -minSubnormal} {
				terms := []float64{0x1p55 + high, float64(low), sticky}
				vary(t, terms, rounded(terms, nil), 17)
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

// TestEveryPower sums +-2^e over the whole range, and the overflow that cancels.
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
	checkSum(t, sumOf(powers...), powers, nil)
	checkSum(t, sumOf(alternating...), alternating, nil)
	vary(t, []float64{0x1p1023, 0x1p1023, -0x1p1023, -0x1p1023, minSubnormal}, minSubnormal, 1<<10)
}

// TestFloat32 rounds once: a sum just above a tie between two binary32 numbers is such a tie when rounded to binary64
// first.
func TestFloat32(t *testing.T) {
	for _, c := range []struct {
		terms []float64
		want  float32
	}{
		{[]float64{1, 0x1p-24, 0x1p-80}, 1 + 0x1p-23},
		{[]float64{1, 0x1p-24}, 1},
		{[]float64{math.MaxFloat32, 0x1p103}, float32(math.Inf(1))},
		{[]float64{math.MaxFloat32, 0x1p103, -0x1p-149}, math.MaxFloat32},
		{[]float64{-0x1p-150}, 0},
		{[]float64{0x1p-150, 0x1p-1074}, 0x1p-149},
		{[]float64{maxNormal, -maxNormal, 3}, 3},
	} {
		if got := sumOf(c.terms...).Float32(); got != c.want {
			t.Errorf("%v: %g, want %g", c.terms, got, c.want)
		}
	}
}
