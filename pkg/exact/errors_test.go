package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// rat reads a rational such as "1/3" or "1e-1000".
func rat(t interface{ Fatalf(string, ...any) }, text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		t.Fatalf("%q is no rational", text)
	}
	return r
}

func TestMeasure(t *testing.T) {
	inf, ninf, nan := Value{Class: PosInf}, Value{Class: NegInf}, Value{Class: NaN}
	num := func(s string) Value { return FromRat(rat(t, s)) }
	for _, c := range []struct {
		computed, exact Value
		abs, rel, ulp   string // ulp at 10 bits
	}{
		{num("3"), num("3"), "0", "0", "0"},
		{num("3"), num("4"), "1.0e+00", "2.5e-01", "1.3e+02"}, // 1/4 * 2^9 = 128
		{num("-3"), num("-4"), "1.0e+00", "2.5e-01", "1.3e+02"},
		{num("-4"), num("4"), "8.0e+00", "2.0e+00", "1.0e+03"},
		{num("0"), num("0"), "0", "0", "0"},
		{Value{}, num("0"), "0", "0", "0"},
		{num("1e-2000"), num("0"), "1.0e-2000", "+Inf", "+Inf"},
		{num("0"), num("1e-2000"), "1.0e-2000", "1.0e+00", "5.7e+02"},
		{inf, inf, "0", "0", "0"},
		{nan, nan, "0", "0", "0"},
		{inf, ninf, "+Inf", "+Inf", "+Inf"},
		{inf, num("1"), "+Inf", "+Inf", "+Inf"},
		{num("1"), ninf, "+Inf", "+Inf", "+Inf"},
		{nan, num("1"), "NaN", "NaN", "NaN"},
		{inf, nan, "NaN", "NaN", "NaN"},
	} {
		e := Measure(c.computed, c.exact)
		if got := e.Abs.Text(2); got != c.abs {
			t.Errorf("%v against %v: absolute error %s, want %s", c.computed, c.exact, got, c.abs)
		}
		if got := e.Rel.Text(2); got != c.rel {
			t.Errorf("%v against %v: relative error %s, want %s", c.computed, c.exact, got, c.rel)
		}
		if got := e.ULP(10).Text(2); got != c.ulp {
			t.Errorf("%v against %v: %s ulp, want %s", c.computed, c.exact, got, c.ulp)
		}
		if got, want := e.Exact(), c.abs == "0"; got != want {
			t.Errorf("%v against %v: Exact is %v", c.computed, c.exact, got)
		}
	}
}

// TestULPRounding: correct rounding is within half a unit in the last place, for every precision.
func TestULPRounding(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := big.NewRat(rapid.Int64().Draw(t, "num"), rapid.Int64Range(1, math.MaxInt64).Draw(t, "den"))
		prec := rapid.IntRange(1, 300).Draw(t, "precision")
		v := FromRat(x)
		ulp := Measure(FromBig(v.Round(uint(prec))), v).ULP(prec)
		if ulp.Number().Cmp(big.NewRat(1, 2)) > 0 {
			t.Fatalf("%v rounded to %d bits is off by %v ulp", v, prec, ulp)
		}
	})
}

func TestWithin(t *testing.T) {
	e := Measure(FromFloat64(1), FromFloat64(1.5))
	for text, want := range map[string]bool{"1/2": true, "0.499999999999999999999999": false, "1": true} {
		if got := e.Within(rat(t, text)); got != want {
			t.Errorf("error 1/2 within %s: %v", text, got)
		}
	}
	if e.Within(nil) {
		t.Error("an error is within a bound that is not known")
	}
	if Measure(Value{Class: NaN}, FromFloat64(1)).Within(rat(t, "1e999")) {
		t.Error("NaN is within a bound")
	}
	if !Measure(Value{Class: PosInf}, Value{Class: PosInf}).Within(new(big.Rat)) {
		t.Error("the right infinity is not within 0")
	}
}

func TestCorrectBits(t *testing.T) {
	for _, c := range []struct {
		rel  string
		want float64
	}{
		{"1", 0},
		{"574", 0},
		{"1/2", 1},
		{"1/8", 3},
		{"1/3", 1.584962500721156},
		{"0.999999", 1.4426957622368231e-06}, // -log2, next to 0
		{"6.2e-27", 87.059790346459266},
		{"1e-1000", 3321.928094887362},
		{"1e-20000", 66438.56189774725},
	} {
		exact := big.NewRat(1, 1)
		computed := new(big.Rat).Add(exact, rat(t, c.rel))
		got := Measure(FromRat(computed), FromRat(exact)).CorrectBits()
		if math.Abs(got-c.want) > 0x1p-59+0x1p-52*c.want {
			t.Errorf("relative error %s: %.17g correct bits, want %.17g", c.rel, got, c.want)
		}
	}
	if got := Measure(FromFloat64(3), FromFloat64(3)).CorrectBits(); !math.IsInf(got, 1) {
		t.Errorf("no error: %g correct bits, want +Inf", got)
	}
	if got := Measure(Value{Class: NaN}, FromFloat64(3)).CorrectBits(); got != 0 {
		t.Errorf("NaN: %g correct bits, want 0", got)
	}
	if got := Measure(FromFloat64(1), FromFloat64(0)).CorrectBits(); got != 0 {
		t.Errorf("1 for 0: %g correct bits, want 0", got)
	}
}

// TestLog2 compares with math.Log2 where that works.
func TestLog2(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 20000 {
		x := math.Ldexp(0.5+rng.Float64()/2, rng.IntN(2000)-1000)
		got, want := log2(new(big.Rat).SetFloat64(x)), math.Log2(x)
		if math.Abs(got-want) > 4e-16*math.Abs(want)+1e-16 {
			t.Fatalf("log2(%g) = %.17g, want %.17g", x, got, want)
		}
	}
}
