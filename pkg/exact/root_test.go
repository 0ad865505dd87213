package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestRootRational: rational roots are exact, also those of fractions, and of nothing; special values stay, and what
// is finite beside them has its root.
func TestRootRational(t *testing.T) {
	for _, c := range [][2]string{
		{"0", "0"}, {"4", "2"}, {"1/9", "1/3"}, {"25/64", "5/8"}, {"1e400", "1e200"}, {"1e-602", "1e-301"},
	} {
		s := Summary{N: 3, Sum: FromRat(rat(t, c[0]))}.Root()
		want := FromRat(rat(t, c[1]))
		if !s.Sum.Equal(want) || !s.SumAbs.Equal(want) || !s.Finite.Equal(want) || s.Square != nil || s.N != 3 {
			t.Errorf("the root of %s: %+v", c[0], s)
		}
	}
	for _, x := range []float64{math.Inf(1), math.NaN()} {
		s := Summary{Sum: FromFloat64(x), Finite: FromFloat64(25)}.Root()
		if !s.Sum.Equal(FromFloat64(x)) || !s.SumAbs.Equal(s.Sum) || !s.Finite.Equal(FromFloat64(5)) {
			t.Errorf("the root of %v: %+v", x, s)
		}
	}
}

// roots are numbers whose roots are hard to round: beside squares of midpoints, of powers of two, of short numbers.
func roots() (list []*big.Rat) {
	r := rand.New(rand.NewPCG(5, 5))
	squares := 300
	if testing.Short() {
		squares = 60
	}
	for range squares {
		x := new(big.Rat).SetFrac64(int64(r.Uint64()>>r.IntN(62)|1)&math.MaxInt64, 1)
		x.Mul(x, x)
		x.Mul(x, PowerOfTwo(r.IntN(400)-200))
		for _, k := range []int{0, r.IntN(300) - 700, -2000} {
			beside := new(big.Rat).Add(x, PowerOfTwo(k))
			list = append(list, x, beside)
			if less := new(big.Rat).Sub(x, PowerOfTwo(k)); less.Sign() > 0 {
				list = append(list, less)
			}
		}
		list = append(list, new(big.Rat).Quo(x, big.NewRat(3, 7)))
	}
	return list
}

// TestRoundRoot compares rounded roots with the definition: the squares of the midpoints to the neighbours lie on both
// sides of the number.
func TestRoundRoot(t *testing.T) {
	for _, x := range roots() {
		for _, prec := range []uint{2, 3, 24, 53, 64, 113, 700} {
			z := RoundRoot(FromRat(x), prec)
			checkRoot(t, x, z, prec)
			s := Summary{Sum: FromRat(x)}.Root()
			if again := s.Round(prec); again.Cmp(z) != 0 {
				t.Fatalf("the root of %v at %d bits: %v, of a summary %v", x, prec, z, again)
			}
		}
	}
	if z := RoundRoot(Value{Class: PosInf}, 53); !z.IsInf() {
		t.Errorf("the root of an infinity: %v", z)
	}
	if z := RoundRoot(Value{Class: NaN}, 53); z != nil {
		t.Errorf("the root of NaN: %v", z)
	}
	if z := RoundRoot(Value{}, 53); z.Sign() != 0 {
		t.Errorf("the root of 0: %v", z)
	}
}

func checkRoot(t *testing.T, x *big.Rat, z *big.Float, prec uint) {
	t.Helper()
	value, _ := z.Rat(nil)
	mantissa := new(big.Float)
	exp := z.MantExp(mantissa) // unit in the last place: 2^(exp-prec), below a power of two half of that
	below := exp - int(prec) - 1
	if mantissa.Cmp(big.NewFloat(0.5)) == 0 {
		below--
	}
	low := new(big.Rat).Sub(value, PowerOfTwo(below))
	high := new(big.Rat).Add(value, PowerOfTwo(exp-int(prec)-1))
	last, _ := new(big.Float).SetMantExp(mantissa, int(prec)).Int(nil)
	even := last.Bit(0) == 0
	l, h := low.Mul(low, low).Cmp(x), high.Mul(high, high).Cmp(x)
	if l > 0 || h < 0 || !even && (l == 0 || h == 0) {
		t.Fatalf("the root of %v at %d bits: %v", x, prec, z)
	}
}

// TestRootErrors: the errors of computed numbers beside irrational roots, from below and above, zero and negative: at
// least the true ones, by little, as comparing squares shows.
func TestRootErrors(t *testing.T) {
	for _, x := range roots() {
		s := Summary{Sum: FromRat(x)}.Root()
		if s.Square == nil {
			continue
		}
		for _, prec := range []uint{4, 53, 900} {
			c := FromBig(s.Round(prec))
			for _, computed := range []Value{c, FromRat(new(big.Rat).Neg(c.Number())), {}} {
				checkRootError(t, s, computed)
			}
		}
		for _, c := range []Value{{Class: NaN}, {Class: PosInf}} {
			if e := s.Errors(c); e.Abs.Class != c.Class {
				t.Fatalf("the error of %v: %v", c, e.Abs)
			}
		}
	}
}

// checkRootError: the root is between c - e/(1+2^-200) and c - e, or the same above c.
func checkRootError(t *testing.T, s Summary, c Value) {
	t.Helper()
	e := s.Errors(c)
	abs := e.Abs.Number()
	less := new(big.Rat).Quo(abs, new(big.Rat).Add(big.NewRat(1, 1), PowerOfTwo(-200)))
	sign := big.NewRat(1, 1)
	if c.Sign() > 0 && new(big.Rat).Mul(c.Number(), c.Number()).Cmp(s.Square) > 0 {
		sign.SetInt64(-1)
	}
	side := func(e *big.Rat) int {
		at := new(big.Rat).Add(c.Number(), new(big.Rat).Mul(sign, e))
		if at.Sign() < 0 {
			return -1
		}
		return at.Mul(at, at).Cmp(s.Square)
	}
	if abs.Sign() <= 0 || side(abs)*sign.Sign() < 0 || side(less)*sign.Sign() > 0 {
		t.Fatalf("the error of %v, exact %v: %v", c, s.Text(30), e.Abs)
	}
	relative := new(big.Rat).Quo(abs, s.Sum.Number())
	if e.Rel.Number().Cmp(relative) != 0 || e.Exact() {
		t.Fatalf("the relative error of %v: %v", c, e.Rel)
	}
}

// TestRootText: the digits of roots, beyond what is kept of them and where the first bits are not enough to round.
func TestRootText(t *testing.T) {
	two := Summary{Sum: FromRat(big.NewRat(2, 1))}.Root()
	if got := two.Text(30); got != "1.41421356237309504880168872421e+00" {
		t.Errorf("the root of 2: %s", got)
	}
	long, half := rat(t, two.Text(1000)), rat(t, "5e-1000")
	low, high := new(big.Rat).Sub(long, half), new(big.Rat).Add(long, half)
	if low.Mul(low, low).Cmp(big.NewRat(2, 1)) > 0 || high.Mul(high, high).Cmp(big.NewRat(2, 1)) < 0 {
		t.Errorf("1000 digits of the root of 2: %s", two.Text(1000))
	}
	// (1.5 + 10^-900)^2 - 10^-2000: the root is just above the midpoint of 1 and 2
	x := rat(t, "1.5")
	x.Add(x, rat(t, "1e-900")).Mul(x, x).Sub(x, rat(t, "1e-2000"))
	if got := (Summary{Sum: FromRat(x)}).Root().Text(1); got != "2e+00" {
		t.Errorf("one digit of a root above 1.5: %s", got)
	}
	if got := (Summary{Sum: FromRat(big.NewRat(9, 1))}).Root().Text(3); got != "3.00e+00" {
		t.Errorf("the root of 9: %s", got)
	}
}
