package record

import (
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseDecimal(t *testing.T) {
	for text, want := range map[string]Decimal{
		"0":                   {},
		"-0.000e55":           {Neg: true},
		"1":                   {Digits: "1"},
		"-120":                {Neg: true, Digits: "12", Exp: 2},
		"+0.00120":            {Digits: "12", Exp: -3},
		".5":                  {Digits: "5", Exp: -1},
		"5.":                  {Digits: "5"},
		"6.2e-27":             {Digits: "62", Exp: -27},
		"0012.50E+3":          {Digits: "125", Exp: 4},
		"1e-5000":             {Digits: "1", Exp: -5000},
		"1e1152921504606846":  {Digits: "1", Exp: 1152921504606846},
		"1e-1152921504606846": {Digits: "1", Exp: -1152921504606846},
		"NaN":                 {Special: "NaN"},
		"Inf":                 {Special: "Inf"},
		"+Inf":                {Special: "Inf"},
		"-Inf":                {Special: "Inf", Neg: true},
	} {
		if got, err := ParseDecimal(text); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{
		"", "-", ".", "e5", "1e", "1e+", "1e5.5", "1e5e5", "0x1p3", "1_000", " 1", "1 ", "--1", "1-", "nan", "+NaN", "-NaN",
		"inf",
		"Infinity", "1e99999999999999999999", "1e9223372036854775807", "1,5", "١", "1" + strings.Repeat("z", 100),
	} {
		if got, err := ParseDecimal(text); err == nil {
			t.Errorf("%q: %+v", text, got)
		} else if len(err.Error()) > 80 {
			t.Errorf("%q: long error %v", text, err)
		}
	}
}

func TestDecimalText(t *testing.T) {
	for _, c := range []struct {
		text   string
		digits int
		sci    string
		plain  string
	}{
		{"3.48733745022e-06", 4, "3.487e-06", "0.000003487"},
		{"-3.4875", 4, "-3.488e+00", "-3.488"},
		{"3.4865", 4, "3.486e+00", "3.486"},
		{"3.48650001", 4, "3.487e+00", "3.487"},
		{"9.9996", 4, "1.000e+01", "10.00"},
		{"1.00004", 4, "1.000e+00", "1.000"},
		{"120400", 3, "1.20e+05", "120000"},
		{"120", 2, "1.2e+02", "120"},
		{"120", 5, "1.2000e+02", "120"},
		{"1e-5000", 1, "1e-5000", "0." + strings.Repeat("0", 4999) + "1"},
		{"2.5", 1, "2e+00", "2"},
		{"3.5", 1, "4e+00", "4"},
		{"1.0000000001", 0, "1.0000000001e+00", "1.0000000001"},
		{"0", 3, "0", "0"},
		{"NaN", 3, "NaN", "NaN"},
		{"Inf", 3, "+Inf", "+Inf"},
		{"-Inf", 3, "-Inf", "-Inf"},
	} {
		d, err := ParseDecimal(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Sci(c.digits); got != c.sci {
			t.Errorf("%s with %d digits: %s, want %s", c.text, c.digits, got, c.sci)
		}
		if got := d.Plain(c.digits); got != c.plain {
			t.Errorf("%s with %d digits: %s, want %s", c.text, c.digits, got, c.plain)
		}
	}
}

// TestDecimalAgainstStrconv: the decimal expansion of a float64 is finite; rounding it must give the digits that
// strconv gives, which rounds the float64 itself.
func TestDecimalAgainstStrconv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
		n := rapid.IntRange(1, 40).Draw(t, "digits")
		if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
			t.Skip("no number")
		}
		d, err := ParseDecimal(new(big.Float).SetFloat64(x).Text('e', 800))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := d.Sci(n), strconv.FormatFloat(x, 'e', n-1, 64); got != want {
			t.Fatalf("%v: %s, want %s", x, got, want)
		}
		again, err := ParseDecimal(d.Sci(0))
		if err != nil || again != d {
			t.Fatalf("%v does not round-trip: %v, %v", x, again, err)
		}
		// math.Log10 is wrong for subnormal numbers on amd64, so it gets a normal one.
		fraction, exp := math.Frexp(math.Abs(x))
		got, want := d.Log10(), math.Log10(fraction)+float64(exp)*math.Log10(2)
		if math.Abs(got-want) > 1e-13*(1+math.Abs(want)) {
			t.Fatalf("log10 of %v: %v, want %v", x, got, want)
		}
	})
}

func TestDecimalLog10(t *testing.T) {
	for text, want := range map[string]float64{
		"1e-5000": -5000, "0": math.Inf(-1), "-1000": 3, "-Inf": math.Inf(1),
	} {
		d, err := ParseDecimal(text)
		if got := d.Log10(); err != nil || got != want {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	if d, _ := ParseDecimal("NaN"); !math.IsNaN(d.Log10()) || d.IsFinite() || d.IsZero() {
		t.Error("NaN is a number")
	}
}

// FuzzParseDecimal: what is accepted means the same as it does to math/big, and its text is read back.
func FuzzParseDecimal(f *testing.F) {
	for _, seed := range []string{"0", "-0.00e5", "1e-5000", "+12.50", ".5", "5.", "1e", "NaN", "-Inf", "0x1p3", "1_0",
		"99999.99995"} {
		f.Add(seed, 3)
	}
	f.Fuzz(func(t *testing.T, text string, digits int) {
		d, err := ParseDecimal(text)
		if err != nil || !d.IsFinite() {
			return
		}
		again, err := ParseDecimal(d.Sci(0))
		if err != nil || again != d && !d.IsZero() {
			t.Fatalf("%q: %+v becomes %+v, %v", text, d, again, err)
		}
		if d.Exp > 2000 || d.Exp < -2000 || len(text) > 2000 {
			return
		}
		want, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("%q is no number to math/big", text)
		}
		for _, s := range []string{d.Sci(0), d.Plain(0)} {
			if got, ok := new(big.Rat).SetString(s); !ok || got.Cmp(want) != 0 {
				t.Fatalf("%q became %s", text, s)
			}
		}
		digits = 1 + (digits&0xff)%40
		rounded, ok := new(big.Rat).SetString(d.Sci(digits))
		plain, okPlain := new(big.Rat).SetString(d.Plain(digits))
		if !ok || !okPlain || rounded.Cmp(plain) != 0 {
			t.Fatalf("%q with %d digits: %s and %s", text, digits, d.Sci(digits), d.Plain(digits))
		}
		// |rounded - want| <= half a unit of the last digit: 10^(Exp - digits + 1) / 2.
		half := new(big.Rat).SetFrac(big.NewInt(1), big.NewInt(2))
		ten := new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10),
			big.NewInt(max(d.Exp-int64(digits)+1, int64(digits)-1-d.Exp)), nil))
		if d.Exp-int64(digits)+1 < 0 {
			ten.Inv(ten)
		}
		if diff := rounded.Sub(rounded, want); diff.Abs(diff).Cmp(half.Mul(half, ten)) > 0 {
			t.Fatalf("%q with %d digits: %s", text, digits, d.Sci(digits))
		}
	})
}
