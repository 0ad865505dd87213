package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestRationals compares sums, products and bounds on quotients with those of big.Rat: of dyadic numbers and decimals,
// of denominators with large odd factors, of numbers that cancel, and of zeros.
func TestRationals(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	random := func() *big.Rat {
		x := new(big.Rat).SetFrac64(r.Int64N(1<<r.IntN(62)+1)-r.Int64N(1<<20), 1)
		odd := []int64{1, 1, 3, 5, 25, 1 << 20, 4294967295, 4294967297, 1<<61 - 1}[r.IntN(9)]
		x.Quo(x, new(big.Rat).SetInt64(odd))
		return x.Mul(x, PowerOfTwo(r.IntN(200)-100))
	}
	same := func(what string, got, want *big.Rat) {
		t.Helper()
		if got.Num().Cmp(want.Num()) != 0 || got.Denom().Cmp(want.Denom()) != 0 { // in lowest terms
			t.Fatalf("%s is %v, want %v", what, got, want)
		}
	}
	pairs := 100_000
	if testing.Short() {
		pairs = 10_000
	}
	for range pairs {
		x, y := random(), random()
		if r.IntN(8) == 0 {
			y.Neg(x)
		}
		a, b := new(big.Rat).Set(x), new(big.Rat).Set(y)
		same("a sum", Add(x, y), new(big.Rat).Add(x, y))
		same("a product", Mul(x, y), new(big.Rat).Mul(x, y))
		same("the first operand", x, a)
		same("the second operand", y, b)
		if y.Sign() == 0 {
			continue
		}
		q := new(big.Rat).Quo(x, y)
		q.Abs(q)
		above := QuotientAbove(FromRat(x), FromRat(y))
		if most := new(big.Rat).SetFloat64(above); most == nil || most.Cmp(q) < 0 ||
			q.Sign() > 0 && most.Quo(most, q).Cmp(big.NewRat(1+1<<48, 1<<48)) > 0 {
			t.Fatalf("|%v / %v| is at most %v", x, y, above)
		}
		below := Below(FromRat(q))
		if least := new(big.Rat).SetFloat64(below); least.Cmp(q) > 0 ||
			q.Sign() > 0 && least.Quo(least, q).Cmp(big.NewRat(1<<49-1, 1<<49)) < 0 {
			t.Fatalf("%v is at least %v", q, below)
		}
	}
	for _, e := range []int{-2000, -1075, -1074, -1022, -1000, 1000, 1023, 1024, 2000} {
		for _, factor := range []int64{1, 3, 5, 7} {
			x := new(big.Rat).Mul(big.NewRat(factor, 4), PowerOfTwo(e))
			if below := new(big.Rat).SetFloat64(Below(FromRat(x))); below == nil || below.Cmp(x) > 0 {
				t.Errorf("%d/4 * 2^%d is at least %v", factor, e, below)
			}
		}
	}
	inf := Value{Class: PosInf}
	for _, c := range []struct{ x, y Value }{
		{inf, FromFloat64(1)}, {FromFloat64(1), inf}, {FromFloat64(1), Value{}},
		{FromRat(PowerOfTwo(-2000)), FromFloat64(1)}, {FromFloat64(1), FromRat(PowerOfTwo(-2000))},
	} {
		if above := QuotientAbove(c.x, c.y); !math.IsInf(above, 1) {
			t.Errorf("|%v / %v| is at most %v, want nothing said", c.x, c.y, above)
		}
	}
}
