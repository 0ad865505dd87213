package digits

import (
	"math/big"
	"math/rand/v2"
	"os"
	"testing"

	"mpbench/pkg/exact"
)

// operand returns a number of so many words that strains rounding: with words of zeros and ones, a first word that is
// 1, or full.
func operand(r *rand.Rand, words int) *Number {
	x := &Number{words: make([]uint64, words), exponent: int64(r.IntN(9) - 4), negative: r.IntN(2) == 0}
	for i := range x.words {
		switch r.IntN(4) {
		case 0:
			x.words[i] = 0
		case 1:
			x.words[i] = ^uint64(0) - uint64(r.IntN(2))
		case 2:
			x.words[i] = uint64(r.IntN(3))
		default:
			x.words[i] = r.Uint64()
		}
	}
	switch {
	case r.IntN(16) == 0:
		clear(x.words)
		x.exponent, x.negative = 0, false
	case r.IntN(3) == 0:
		x.words[0] = 1
	case x.words[0] == 0:
		x.words[0] = r.Uint64() | 1
	}
	return x
}

// near returns a number that x nearly cancels.
func near(r *rand.Rand, x *Number) *Number {
	y := &Number{words: append([]uint64{}, x.words...), exponent: x.exponent, negative: !x.negative}
	if i := r.IntN(len(y.words)); i > 0 && !x.isZero() {
		y.words[i] += uint64(r.IntN(3)) - 1
	}
	return y
}

// TestOperations compares single operations with exact ones: errors are below u, truncated results not above the exact
// ones in magnitude, and the worst error is no less than a quarter of the bound.
func TestOperations(t *testing.T) {
	runs := 20_000
	if os.Getenv("MPBENCH_FULL_TESTS") != "" {
		runs = 1_000_000
	}
	for _, words := range []int{2, 3, 5} {
		for _, nearest := range []bool{false, true} {
			testOperations(t, words, nearest, runs/4)
		}
	}
}

func testOperations(t *testing.T, words int, nearest bool, runs int) {
	r := rand.New(rand.NewPCG(uint64(words), 1))
	a := newArithmetic(words, nearest)
	unit := formatOf(words, nearest).Range.Unit
	worst := map[string]float64{}
	check := func(what string, z *Number, want *big.Rat) {
		t.Helper()
		got := z.Value().Number()
		if !z.isZero() && z.words[0] == 0 {
			t.Fatalf("%d words, %s: %v is not normalised", words, what, z)
		}
		e := new(big.Rat).Sub(want, got)
		if want.Sign() == 0 {
			if got.Sign() != 0 {
				t.Fatalf("%d words, %s: %v, want 0", words, what, z)
			}
			return
		}
		f, _ := e.Quo(e, new(big.Rat).Mul(want, unit)).Float64()
		if f > 1 || f < -1 || !nearest && f < 0 {
			t.Fatalf("%d words, %s: %v has an error of %g u", words, what, z, f)
		}
		worst[what] = max(worst[what], f, -f)
	}
	for range runs {
		x, y := operand(r, words), operand(r, words)
		if r.IntN(3) == 0 {
			y = near(r, x)
		}
		z := a.number()
		exactX, exactY := x.Value().Number(), y.Value().Number()
		a.add(z, x, y)
		check("+", z, new(big.Rat).Add(exactX, exactY))
		a.mul(z, x, y)
		check("*", z, new(big.Rat).Mul(exactX, exactY))
		if !y.isZero() {
			check("/", a.div(x, y), new(big.Rat).Quo(exactX, exactY))
		}
		if got, want := x.Cmp(y), exactX.Cmp(exactY); got != want {
			t.Fatalf("comparison of %v and %v: %d, want %d", x, y, got, want)
		}
		root := new(big.Rat).Abs(exactX)
		x.negative = false
		z = a.sqrt(x)
		got := z.Value().Number()
		check("sqrt, squared", &Number{words: z.words, exponent: z.exponent}, got) // is normalised
		testRoot(t, got, root, unit, nearest, worst)
	}
	for _, what := range []string{"+", "*", "/", "sqrt"} {
		t.Logf("%d words, nearest %v, %s: the worst error is %.3f u", words, nearest, what, worst[what])
		if worst[what] < 0.25 {
			t.Errorf("%d words, nearest %v: no %s has an error of a quarter of u, but %g", words, nearest, what, worst[what])
		}
	}
}

// testRoot compares a root with that of x by squares: |z - s| <= u*s.
func testRoot(t *testing.T, z, x, unit *big.Rat, nearest bool, worst map[string]float64) {
	t.Helper()
	if x.Sign() == 0 {
		if z.Sign() != 0 {
			t.Fatalf("the root of 0 is %v", z)
		}
		return
	}
	// (z^2 - x)/x = e(2 + e) for an error e.
	square := new(big.Rat).Mul(z, z)
	square.Quo(square.Sub(square, x), x)
	limit := new(big.Rat).Add(big.NewRat(2, 1), unit)
	limit.Mul(limit, unit)
	f, _ := new(big.Rat).Quo(square, limit).Float64()
	if f > 1.0000001 || f < -1.0000001 || !nearest && f > 0 {
		t.Fatalf("a root has an error of %g u", f)
	}
	worst["sqrt"] = max(worst["sqrt"], f, -f)
}

// TestConvert: numbers of any exponent become those of the format, exactly where they have the digits.
func TestConvert(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 2))
	for _, nearest := range []bool{false, true} {
		a := newArithmetic(3, nearest)
		unit := formatOf(3, nearest).Range.Unit
		for range 20_000 {
			x := new(big.Float).SetPrec(uint(1 + r.IntN(300)))
			x.SetMantExp(x.SetInt(integer([]uint64{r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64()})), r.IntN(600)-300)
			if r.IntN(2) == 0 {
				x.Neg(x)
			}
			z := a.number()
			rounded := a.convert(z, x)
			e := exact.Measure(z.Value(), exact.FromBig(x))
			limit := new(big.Rat).Mul(unit, new(big.Rat).Abs(exact.FromBig(x).Number()))
			if !e.Within(limit) || rounded != (e.Abs.Number().Sign() != 0) || int(x.MinPrec()) <= Bits(3) && rounded {
				t.Fatalf("%v becomes %v, rounded %v", x, z.float(), rounded)
			}
		}
	}
}

// TestWords: precision p gets words that have p bits for certain, and no word more.
func TestWords(t *testing.T) {
	for p := 2; p < 1000; p++ {
		if w := WordsFor(p); Bits(w) < p || Bits(w-1) >= p {
			t.Errorf("%d bits: %d words have %d", p, w, Bits(w))
		}
	}
}
