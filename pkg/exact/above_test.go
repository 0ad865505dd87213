package exact

import (
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestAbove: at least the number, at most 1 + 2^-62 times it, 64 bits; short numbers and no binary fractions stay.
func TestAbove(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	largest := new(big.Rat).Add(big.NewRat(1, 1), PowerOfTwo(-62))
	for range 2000 {
		n := new(big.Int)
		for range 1 + r.IntN(4) {
			n.Lsh(n, uint(r.IntN(65))).Add(n, new(big.Int).SetUint64(r.Uint64()>>r.IntN(64)))
		}
		x := new(big.Rat).Mul(new(big.Rat).SetInt(n), PowerOfTwo(r.IntN(600)-300))
		got := Above(x)
		if got.Cmp(x) < 0 || got.Cmp(new(big.Rat).Mul(x, largest)) > 0 {
			t.Fatalf("Above(%v) = %v", x, got)
		}
		odd := new(big.Int).Rsh(got.Num(), got.Num().TrailingZeroBits())
		if odd.BitLen() > 64 {
			t.Fatalf("Above(%v) has %d bits", x, odd.BitLen())
		}
		if n.BitLen() <= 64 && got.Cmp(x) != 0 {
			t.Fatalf("Above(%v) = %v, which needs no rounding", x, got)
		}
	}
	third := new(big.Rat).SetFrac(new(big.Int).Lsh(big.NewInt(1), 200), big.NewInt(3))
	if Above(third) != third {
		t.Error("2^200/3 is rounded")
	}
}
