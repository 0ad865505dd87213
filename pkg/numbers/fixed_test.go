package numbers

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// TestFixed: integers times a power of two are read as big.Floats with these values are.
func TestFixed(t *testing.T) {
	x := Fixed{[]int64{0, 1, -1, 40, math.MaxInt64, math.MinInt64}, -3}
	for i, n := range x.Integers {
		v := new(big.Float).SetPrec(64).SetInt64(n)
		want := Bigs{v.SetMantExp(v, x.Exp)}
		var z Number
		x.Read(&z, i)
		if !At(x, i).Equal(At(want, 0)) || x.Span(i) != want.Span(0) || z.Span() != want.Span(0) || x.Len() != 6 {
			t.Errorf("%d is %v, %+v", n, At(x, i), x.Span(i))
		}
	}
}

// TestTop: the highest 64 bits round as the number does, and quotients by words as those by long integers.
func TestTop(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.OneOf(rapid.Uint64(), rapid.SampledFrom([]uint64{0, 1, 1 << 63, math.MaxUint64}))
		words := rapid.SliceOfN(word, 0, 4).Draw(t, "low words")
		z := Number{Class: Finite, Exp: -7, Words: append(words, rapid.Uint64Min(1).Draw(t, "high word"), 0)}
		if rapid.Bool().Draw(t, "divided") {
			d := new(big.Int).SetUint64(rapid.Uint64().Draw(t, "divisor") | 1)
			exact := new(big.Rat).Quo(z.Value().Number(), new(big.Rat).SetInt(d))
			z.divide(d, 80)
			want, _ := new(big.Float).SetPrec(62).SetRat(exact).Float64()
			if got, _ := new(big.Float).SetPrec(62).Set(z.Big()).Float64(); got != want {
				t.Fatalf("the quotient rounds to %g, want %g", got, want)
			}
		}
		h, exp := z.Top()
		for _, p := range []uint{1, 24, 53, 62} {
			want := new(big.Float).SetPrec(p).Set(z.Big())
			if got := new(big.Float).SetPrec(p).SetUint64(h); got.SetMantExp(got, exp).Cmp(want) != 0 {
				t.Fatalf("%x * 2^%d rounds to %v with %d bits, want %v", h, exp, got, p, want)
			}
		}
	})
}
