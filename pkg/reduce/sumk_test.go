package reduce

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSumKExact: where K levels have room for everything, the result is the exact sum, in every order: two numbers
// that cancel, and others far below them.
func TestSumKExact(t *testing.T) {
	for k := 2; k <= mostLevels; k++ {
		var x []float64
		want := 0x1p-500 // and a multiple of it for every further level
		for level := range k {
			big := math.Ldexp(1, 100*level-500)
			x = append(x, big)
			if level > 0 {
				x = append(x, -big)
			}
		}
		for seed := range uint64(50) {
			r := rand.New(rand.NewPCG(seed, 1))
			r.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
			if got := sumK(k)(x); got != want {
				t.Fatalf("K = %d, %v: %g, want %g", k, x, got, want)
			}
			if got := dotK(k)(x, slices.Repeat([]float64{1}, len(x))); got != want {
				t.Fatalf("dot product, K = %d, %v: %g, want %g", k, x, got, want)
			}
		}
	}
}

// TestSumKShort: no terms, one of them, two of them at the ends of the range.
func TestSumKShort(t *testing.T) {
	for k := 2; k <= mostLevels; k++ {
		for _, c := range []struct {
			x    []float64
			want float64
		}{
			{nil, 0}, {[]float64{math.MaxFloat64}, math.MaxFloat64}, {[]float64{0x1p-1074}, 0x1p-1074},
			{[]float64{0x1p-1074, -0x1p-1074}, 0}, {[]float64{0x1p-1074, 0x1p-1022}, 0x1p-1022 + 0x1p-1074},
			{[]float64{math.MaxFloat64, math.MaxFloat64}, math.Inf(1)},
			{[]float64{math.MaxFloat64, math.Inf(-1)}, math.Inf(-1)}, {[]float64{1, math.Inf(1)}, math.Inf(1)},
		} {
			if got := sumK(k)(c.x); got != c.want {
				t.Errorf("K = %d, %v: %g, want %g", k, c.x, got, c.want)
			}
			if got := dotK(k)(c.x, slices.Repeat([]float64{1}, len(c.x))); got != c.want {
				t.Errorf("dot product, K = %d, %v: %g, want %g", k, c.x, got, c.want)
			}
		}
		if got := sumK(k)([]float64{1, math.NaN(), 2}); !math.IsNaN(got) {
			t.Errorf("K = %d, with NaN: %g", k, got)
		}
	}
}
