package superacc

import (
	"math"
	"math/big"
	"slices"
	"testing"
)

// TestWords takes sums of every kind apart and adds them again, and compares the words with the sum.
func TestWords(t *testing.T) {
	rng := newRand()
	for kind := range kinds {
		for _, n := range []int{0, 1, 2, 33, 1000} {
			x := randomTerms(rng, n, kind)
			a := sumOf(x...)
			words, special := a.Words()
			if special != 0 {
				t.Fatalf("kind %d: special %g of finite terms", kind, special)
			}
			value := new(big.Float).SetPrec(referencePrec).SetInt(twosComplement(&words))
			value.SetMantExp(value, UnitExponent)
			if want := a.Round(referencePrec); value.Cmp(want) != 0 {
				t.Fatalf("kind %d, n = %d: words %g, sum %g", kind, n, value, want)
			}
			var b Accumulator
			b.AddSlice(x)
			b.AddWords(&words, special)
			checkSum(t, &b, append(x, x...), nil)
		}
	}
	for _, want := range []float64{math.Inf(1), math.Inf(-1), math.NaN()} {
		words, special := sumOf(1, want, 2).Words()
		var b Accumulator
		b.AddWords(&words, special)
		if got := b.Float64(); !same(special, want) || !same(got, want) {
			t.Errorf("words of %g: special %g, sum %g", want, special, got)
		}
	}
}

// TestAddWordsOften adds the largest and the least words more often than chunks hold without carries.
func TestAddWordsOften(t *testing.T) {
	for _, x := range []float64{math.MaxFloat64, -math.MaxFloat64, -0x1p-1074} {
		var one, all Accumulator
		one.AddProduct(x, x)
		one.AddProduct(x, -0.5)
		words, _ := one.Words()
		const times = 3*maxAdds + 5
		for range times {
			all.AddWords(&words, 0)
			all.AddProduct(x, x)
			all.AddProduct(x, -0.5)
		}
		all.Merge(&one)
		all.Merge(&all)
		want := one.Round(referencePrec)
		want.Mul(want, big.NewFloat(2*(2*times+1)))
		if got := all.Round(referencePrec); got.Cmp(want) != 0 {
			t.Errorf("%d times %g: %g", times, want, got)
		}
	}
}

// TestMergeOften merges and adds in turns, so that chunks are full when carries are propagated.
func TestMergeOften(t *testing.T) {
	const full = 0x1.fffffffffffffp-17 // adds 2^52 - 1 to a chunk
	var part, all Accumulator
	part.fixed.chunk[3] = chunkMask
	for range 3 {
		all.Merge(&part)
		for range 2 * maxAdds {
			all.Add(full)
		}
	}
	x := slices.Repeat([]float64{full}, 6*maxAdds)
	want, _, _ := reference(x, nil)
	want.Add(want, new(big.Float).SetMantExp(big.NewFloat(3*chunkMask), 3*chunkBits+unitExponent))
	if got := all.Round(referencePrec); got.Cmp(want) != 0 {
		t.Errorf("%g, want %g", got, want)
	}
}

// TestLastWord adds the largest sums that words hold, of both signs.
func TestLastWord(t *testing.T) {
	for _, last := range []int32{math.MaxInt32, 1, -1, -2, math.MinInt32} {
		words := [WordCount]uint64{WordCount - 1: uint64(last)}
		var a Accumulator
		a.AddWords(&words, 0)
		want := new(big.Float).SetMantExp(big.NewFloat(float64(last)), 64*(WordCount-1)+unitExponent)
		if got := a.Round(32); got.Cmp(want) != 0 {
			t.Errorf("%d: %g, want %g", last, got, want)
		}
		if again, _ := a.Words(); again != words {
			t.Errorf("%d: words %x", last, again)
		}
	}
}

func twosComplement(words *[WordCount]uint64) *big.Int {
	x := new(big.Int)
	for i := len(words) - 1; i >= 0; i-- {
		x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(words[i]))
	}
	if words[len(words)-1]>>63 != 0 {
		x.Sub(x, new(big.Int).Lsh(big.NewInt(1), 64*WordCount))
	}
	return x
}
