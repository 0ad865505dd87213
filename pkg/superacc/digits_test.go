package superacc

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestDigits compares sums from digits of any size with integers.
func TestDigits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, bits := range []uint{1, 16, 40, 62} {
		var a Accumulator
		want := new(big.Int)
		for range 3000 { // more often than carries are propagated
			var d Digits
			d.Digit[r.IntN(DigitCount-4)] = int64(r.Uint64()) >> (64 - bits - 1)
			d.Digit[DigitCount-5] = r.Int64N(9) - 4
			e := Digits{}
			e.Digit[0] = -1
			d.Add(&e)
			a.AddDigits(&d)
			for i, v := range &d.Digit {
				want.Add(want, new(big.Int).Lsh(big.NewInt(v), uint(digitBits*i)))
			}
		}
		f := new(big.Float).SetInt(want)
		if got := a.Round(5000); got.Cmp(f.SetMantExp(f, unitExponent)) != 0 {
			t.Errorf("digits of %d bits: %g, want %g", bits, got, f)
		}
	}
}

func TestDigitsSpecial(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		d    Digits
		want float64
	}{{Digits{}, 0}, {Digits{PosInf: 2}, inf}, {Digits{NegInf: 1}, -inf}, {Digits{PosInf: 1, NegInf: 1}, math.NaN()},
		{Digits{NaNs: 1}, math.NaN()}} {
		var a Accumulator
		a.Add(1)
		a.AddDigits(&c.d)
		want := c.want
		if c.want == 0 {
			want = 1
		}
		if got := a.Float64(); got != want && (got == got || want == want) {
			t.Errorf("%+v: %g, want %g", []int64{c.d.PosInf, c.d.NegInf, c.d.NaNs}, got, want)
		}
	}
}
