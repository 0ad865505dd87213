package exact

import (
	"math/big"
	"testing"
)

func TestGamma(t *testing.T) {
	u := PowerOfTwo(-3)
	for k, want := range map[int]*big.Rat{0: new(big.Rat), 1: big.NewRat(1, 7), 4: big.NewRat(1, 1), 7: big.NewRat(7, 1),
		8: nil, 9: nil} {
		got := Gamma(k, u)
		if (got == nil) != (want == nil) || got != nil && got.Cmp(want) != 0 {
			t.Errorf("gamma(%d) = %v, want %v", k, got, want)
		}
		if twice := GammaTimes(k, u, big.NewRat(2, 1)); (twice == nil) != (want == nil) || twice != nil &&
			twice.Cmp(new(big.Rat).Add(want, want)) != 0 {
			t.Errorf("2 gamma(%d) = %v", k, twice)
		}
	}
	if PowerOfTwo(10).Cmp(big.NewRat(1024, 1)) != 0 || PowerOfTwo(-1).Cmp(big.NewRat(1, 2)) != 0 ||
		PowerOfTwo(0).Cmp(big.NewRat(1, 1)) != 0 {
		t.Error("powers of two")
	}
}
