package deferred

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"mpbench/pkg/numbers"
)

// TestFixedSum compares sums of products with those of big.Float, of numbers with zeros above and below their bits.
func TestFixedSum(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var s fixedSum
	for range 300 {
		terms, spread := 1+rng.IntN(60), 1+rng.IntN(500)
		list := make([]numbers.Number, 2*terms)
		var extent numbers.Extent
		for i := range list {
			x := &list[i]
			x.Class, x.Neg, x.Exp = numbers.Finite, rng.IntN(2) == 0, rng.IntN(spread)-spread/2
			x.Words = make([]uint64, 1+rng.IntN(3))
			for h := range x.Words {
				x.Words[h] = []uint64{0, ^uint64(0), rng.Uint64(), 1 << rng.IntN(64)}[rng.IntN(4)]
			}
			x.Words[rng.IntN(len(x.Words))] |= 1 << rng.IntN(64)
			extent = extent.Union(x.Span().Extent)
		}
		s.reset(2*extent.Low, 2*extent.Top, terms)
		want := new(big.Float).SetPrec(4000)
		for i := range terms {
			x, y := &list[2*i], &list[2*i+1]
			s.add(x, y)
			want.Add(want, new(big.Float).SetPrec(4000).Mul(x.Big(), y.Big()))
		}
		got := s.term()
		z := new(big.Float).SetPrec(4000).SetInt(&got.x)
		if z.SetMantExp(z, got.exp); z.Cmp(want) != 0 {
			t.Fatalf("%d terms of extent %v: %v, want %v", terms, extent, z, want)
		}
	}
}
