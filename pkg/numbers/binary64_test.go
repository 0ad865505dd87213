package numbers

import (
	"math"
	"math/big"
	"testing"
)

// TestBinary64: numbers that are binary64 are read back with all of their bits, others are not.
func TestBinary64(t *testing.T) {
	for _, x := range []float64{0, 1, -1.5, 0x1p-1074, -0x1.fffffffffffffp1023, 0x1.8p-1060, math.Inf(1), math.Inf(-1),
		math.NaN(), 1e300, 3 << 50} {
		var z Number
		Float64s{x}.Read(&z, 0)
		if got, ok := z.Binary64(); !ok || got != x && x == x || got == got && x != x {
			t.Errorf("%v: %v, %v", x, got, ok)
		}
	}
	for _, exp := range []int{-1075, 1024} {
		var z Number
		z.SetBig(new(big.Float).SetMantExp(big.NewFloat(1), exp))
		if got, ok := z.Binary64(); ok {
			t.Errorf("2^%d is %v", exp, got)
		}
	}
	var z Number
	z.SetBig(new(big.Float).SetPrec(54).SetInt64(1<<53 + 1))
	if got, ok := z.Binary64(); ok {
		t.Errorf("2^53 + 1 is %v", got)
	}
}
