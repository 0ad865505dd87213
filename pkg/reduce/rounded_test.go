package reduce

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"mpbench/pkg/superacc"
)

// roundedSums are sums that are correctly rounded, by their methods' names.
var roundedSums = map[string]func(x []float64) float64{
	"nearsum": nearSum, "distill": distill,
	"superacc": func(x []float64) float64 {
		var s superacc.Large
		s.AddSlice(x)
		return s.Float64()
	},
	"superacc-small": func(x []float64) float64 {
		var s superacc.Small
		s.AddSlice(x)
		return s.Float64()
	},
}

// exactly returns the sum of finite numbers.
func exactly(x []float64) *big.Rat {
	sum := new(big.Float).SetPrec(2300) // of which none is lost
	for _, v := range x {
		sum.Add(sum, big.NewFloat(v))
	}
	r, _ := sum.Rat(nil)
	return r
}

// checkRounded compares all sums with the exact one, and dot products with ones with it.
func checkRounded(t *testing.T, what string, x []float64) {
	t.Helper()
	sum := exactly(x)
	want, exact := sum.Float64()
	ones := slices.Repeat([]float64{1}, len(x))
	for name, f := range roundedSums {
		if got := f(x); got != want {
			t.Fatalf("%s, %s: %x, want %x", what, name, got, want)
		}
	}
	for name, f := range map[string]func(x, y []float64) float64{"nearsum": dotBy(nearSum), "distill": dotBy(distill)} {
		if got := f(x, ones); got != want {
			t.Fatalf("%s, dot product, %s: %x, want %x", what, name, got, want)
		}
	}
	for what, got := range map[string]float64{"accsum": accSum(x), "accsum of products": dotBy(accSum)(x, ones)} {
		difference := new(big.Rat).SetFloat64(got)
		if math.IsInf(want, 0) && got == want {
			continue
		}
		other := math.Nextafter(want, math.Inf(sum.Cmp(new(big.Rat).SetFloat64(want))))
		if difference.Sub(difference, sum).Sign() != 0 && exact || got != want && got != other {
			t.Fatalf("%s: %x is no faithful rounding of %v", what, got, sum)
		}
	}
}

// TestFsum has the cases of CPython's test of math.fsum (Lib/test/test_math.py), with the results that it gives.
func TestFsum(t *testing.T) {
	const two53 = 0x1p53
	powers := []float64{}
	for n := -1074; n < 972; n += 2 {
		powers = append(powers, math.Ldexp(1, n)-math.Ldexp(1, n+50)+math.Ldexp(1, n+52))
	}
	harmonic, alternating := make([]float64, 1000), make([]float64, 1000)
	for i := range harmonic {
		n := float64(i + 1)
		harmonic[i], alternating[i] = 1/n, float64(i%2*2-1)/n
	}
	for _, c := range []struct {
		x    []float64
		want float64
	}{
		{nil, 0}, {[]float64{0}, 0}, {[]float64{1e100, 1, -1e100, 1e-100, 1e50, -1, -1e50}, 1e-100},
		{[]float64{1e308, 1e308, -1e308}, 1e308}, {[]float64{-1e308, 1e308, 1e308}, 1e308},
		{[]float64{two53, -0.5, -0x1p-54}, two53 - 1}, {[]float64{two53, 1, 0x1p-100}, two53 + 2},
		{[]float64{two53 + 10, 1, 0x1p-100}, two53 + 12}, {[]float64{two53 - 4, 0.5, 0x1p-54}, two53 - 3},
		{harmonic, 0x1.df11f45f4e61ap+2}, {alternating, -0x1.62a2af1bd3624p-1},
		{[]float64{1e16, 1, 1e-16}, 10000000000000002},
		{[]float64{1e16 - 2, 1 - 0x1p-53, -(1e16 - 2), -(1 - 0x1p-53)}, 0},
		{append(powers, -0x1p1022), 0x1.5555555555555p+970},
	} {
		for name, f := range roundedSums {
			if got := f(c.x); got != c.want {
				t.Errorf("%s of %d terms: %x, want %x", name, len(c.x), got, c.want)
			}
		}
		checkRounded(t, "a case of fsum", c.x)
	}
}

// TestRounded: sums that cancel, ties and their neighbours, numbers of the whole range, zeros, one number.
func TestRounded(t *testing.T) {
	for seed := range uint64(400) {
		r := rand.New(rand.NewPCG(seed, 7))
		x := make([]float64, r.IntN(60))
		lowest := r.IntN(1900) - 1074
		spread := 1 + r.IntN(min(300, 980-lowest))
		for i := range x {
			x[i] = math.Ldexp(r.Float64()-0.5, lowest+r.IntN(spread))
			if r.IntN(3) == 0 && i > 0 {
				x[i] = -x[r.IntN(i)]
			}
		}
		checkRounded(t, fmt.Sprint("seed ", seed), x)
		tie := math.Ldexp(1+float64(r.IntN(4))*0x1p-52, lowest+60) // and half a unit of it, less or more by a little
		half := math.Ldexp(1, lowest+60-53)
		for _, rest := range []float64{0, math.Ldexp(1, lowest-20), -math.Ldexp(1, lowest-20)} {
			for _, sign := range []float64{1, -1} {
				parts := []float64{sign * tie, sign * half / 4, sign * half / 2, sign * half / 4, sign * rest}
				checkRounded(t, fmt.Sprint("tie of seed ", seed), append(parts, append(x, negated(x)...)...))
			}
		}
	}
	for _, x := range [][]float64{
		{math.MaxFloat64}, {0x1p-1074}, {0x1p-1074, -0x1p-1074}, {0, math.Copysign(0, -1)}, {0x1p-1022, -0x1p-1074},
		{math.MaxFloat64, math.MaxFloat64, -math.MaxFloat64}, {math.MaxFloat64, 0x1p970}, {math.MaxFloat64, 0x1p969},
		{0x1p1023, 0x1p1023, -0x1p1023, -0x1p1023, 0x1p-1074}, {1, 0x1p-53, 0x1p-106, -0x1p-106},
		slices.Repeat([]float64{1, -1}, 5000), append(slices.Repeat([]float64{1e300, -1e300}, 50), 1e-300),
	} {
		checkRounded(t, fmt.Sprintf("%d terms", len(x)), x)
	}
}

// negated returns -x.
func negated(x []float64) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = -v
	}
	return y
}

// TestRoundedProducts: products that underflow or overflow are exact, too.
func TestRoundedProducts(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		want float64
	}{
		{[]float64{0x1p-600}, []float64{0x1p-400}, 0x1p-1000}, {[]float64{0x1p-600}, []float64{0x1p-600}, 0},
		{[]float64{0x1p-537, 0x1p-537}, []float64{0x1p-538, 0x1p-538}, 0x1p-1074},
		{[]float64{0x1p1000, -0x1p1000, 3}, []float64{0x1p1000, 0x1p1000, 5}, 15},
		{[]float64{1 + 0x1p-52, -1}, []float64{1 - 0x1p-52, 1}, -0x1p-104},
		{[]float64{math.Inf(1), 1}, []float64{1, 1}, math.Inf(1)}, {nil, nil, 0},
	} {
		for name, f := range map[string]func(x []float64) float64{
			"accsum": accSum, "nearsum": nearSum, "distill": distill,
		} {
			if got := dotBy(f)(c.x, c.y); got != c.want {
				t.Errorf("%s of %x and %x: %x, want %x", name, c.x, c.y, got, c.want)
			}
		}
	}
	for name, f := range roundedSums {
		if got := f([]float64{math.Inf(1), 1, math.Inf(-1)}); !math.IsNaN(got) {
			t.Errorf("%s of infinities of both signs: %g", name, got)
		}
		if got := f([]float64{1, math.NaN()}); !math.IsNaN(got) {
			t.Errorf("%s of NaN: %g", name, got)
		}
	}
}
