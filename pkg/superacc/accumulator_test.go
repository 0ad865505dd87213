package superacc

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// sumOf adds x as one slice.
func sumOf(x ...float64) *Accumulator {
	a := new(Accumulator)
	a.AddSlice(x)
	return a
}

// checkSum compares all results of an accumulator with big.Float.
func checkSum(t testing.TB, a *Accumulator, x, y []float64) {
	t.Helper()
	finite, special, isSpecial := reference(x, y)
	want, want32 := special, float32(special)
	if !isSpecial {
		want, _ = finite.Float64()
		want32, _ = finite.Float32()
	}
	if got := a.Float64(); !same(got, want+0) {
		t.Fatalf("%d terms: %g (%x), want %g (%x)", len(x), got, got, want, want)
	}
	if got := a.Float32(); !same(float64(got), float64(want32+0)) {
		t.Fatalf("%d terms as float32: %g (%x), want %g (%x)", len(x), got, got, want32, want32)
	}
	if isSpecial {
		return
	}
	if got := a.Value(); !got.IsFinite() || got.Rat.Cmp(ratOf(finite)) != 0 {
		t.Fatalf("%d terms: exact value %v, want %v", len(x), got, finite)
	}
	for _, p := range []uint{1, 2, 24, 53, 106, 2000} {
		want := new(big.Float).SetPrec(p).Set(finite)
		if got := a.Round(p); got.Cmp(want) != 0 || got.Prec() != p {
			t.Fatalf("%d terms rounded to %d bits: %v, want %v", len(x), p, got, want)
		}
	}
}

func ratOf(x *big.Float) *big.Rat {
	r, _ := x.Rat(nil)
	if r == nil {
		return new(big.Rat)
	}
	return r
}

// TestSumKinds compares with big.Float over all kinds of terms and all lengths at which something changes.
func TestSumKinds(t *testing.T) {
	t.Logf("instruction set: %s", SIMD())
	rng := rand.New(rand.NewPCG(1, 2))
	for kind := range kinds {
		t.Run(fmt.Sprint("kind=", kind), func(t *testing.T) {
			for _, n := range lengths {
				if n > 5121 && testing.Short() {
					break
				}
				x := randomTerms(rng, n, kind)
				checkSum(t, sumOf(x...), x, nil)
			}
		})
	}
}

// TestDotKinds does the same for products.
func TestDotKinds(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for kind := range kinds {
		for other := range kinds {
			for range 3 {
				n := lengths[rng.IntN(len(lengths)-9)]
				x, y := randomTerms(rng, n, kind), randomTerms(rng, n, other)
				var a Accumulator
				a.AddProducts(x, y)
				checkSum(t, &a, x, y)
			}
		}
	}
	var a Accumulator
	a.AddProducts([]float64{math.MaxFloat64}, []float64{math.MaxFloat64})
	a.AddProducts([]float64{-math.MaxFloat64}, []float64{math.MaxFloat64})
	a.AddProduct(0x1p-1074, 0x1p-1074)
	if got := a.Value().Round(53); got.Cmp(new(big.Float).SetMantExp(big.NewFloat(1), -2148)) != 0 {
		t.Fatalf("%v, want 2^-2148", got)
	}
}
