package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestFromFloat64(t *testing.T) {
	for _, x := range append([]float64{0.1, -2.5, 1e300}, edges...) {
		v := FromFloat64(x)
		want := x
		if x == 0 {
			want = 0
		}
		if got := v.Float64(); !same(got, want) {
			t.Errorf("FromFloat64(%g).Float64() = %g", x, got)
		}
		if w := FromBig(v.Round(53)); !w.Equal(v) {
			t.Errorf("FromBig(FromFloat64(%g).Round(53)) = %v", x, w)
		}
	}
}

// TestRounding checks the conversions against big.Float and strconv at numbers next to ties and to the ends of the
// formats.
func TestRounding(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for range 5000 {
		x := math.Float64frombits(rng.Uint64())
		if x != x || math.IsInf(x, 0) {
			continue
		}
		// A tie between x and its neighbour, and a little more and less.
		next := math.Nextafter(x, math.Inf(1))
		if math.IsInf(next, 0) {
			continue
		}
		tie := new(big.Rat).Add(new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(next))
		tie.Quo(tie, big.NewRat(2, 1))
		even := x
		if math.Float64bits(x)&1 == 1 {
			even = next
		}
		tiny := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Lsh(big.NewInt(1), 3000))
		for _, c := range []struct {
			v    *big.Rat
			want float64
		}{
			{tie, even},
			{new(big.Rat).Add(tie, tiny), next},
			{new(big.Rat).Sub(tie, tiny), x},
		} {
			if got := FromRat(c.v).Float64(); got != c.want {
				t.Fatalf("near %g: %g, want %g", x, got, c.want)
			}
		}
		v := FromFloat64(x)
		f32, _ := big.NewFloat(x).Float32()
		if got := v.Float32(); got != f32 {
			t.Fatalf("Float32 of %g: %g, want %g", x, got, f32)
		}
		for _, prec := range []uint{1, 2, 24, 30, 52, 53, 60} {
			want := new(big.Float).SetPrec(prec).SetFloat64(x)
			if got := v.Round(prec); got.Cmp(want) != 0 || got.Prec() != prec {
				t.Fatalf("%g rounded to %d bits: %g, want %g", x, prec, got, want)
			}
		}
	}
}

// TestFloat32Once: a number just above a binary32 tie that binary64 would round onto the tie.
func TestFloat32Once(t *testing.T) {
	v := FromRat(rat(t, "1.00000005960464477539062500000000000001")) // 1 + 2^-24 + 1e-38
	if got, want := v.Float32(), float32(1+0x1p-23); got != want {
		t.Errorf("%g, want %g", got, want)
	}
}

func TestEnds(t *testing.T) {
	two := func(e int) *big.Rat { return scaleExp2(big.NewRat(1, 1), e) }
	tie := new(big.Rat).Sub(two(1024), two(970)) // halfway between the largest finite number and 2^1024
	below := new(big.Rat).Sub(tie, two(-500))
	for _, c := range []struct {
		v    *big.Rat
		want float64
	}{
		{tie, math.Inf(1)}, {new(big.Rat).Neg(tie), math.Inf(-1)}, {below, math.MaxFloat64},
		{two(-1075), 0}, {new(big.Rat).Add(two(-1075), two(-5000)), 0x1p-1074}, {two(200000), math.Inf(1)},
		{two(-200000), 0},
	} {
		if got := FromRat(c.v).Float64(); got != c.want {
			t.Errorf("%s: %g, want %g", FromRat(c.v).Text(5), got, c.want)
		}
	}
	v := FromRat(two(-200000))
	if got := v.Round(10); got.Sign() == 0 || !FromBig(got).Equal(v) {
		t.Errorf("2^-200000 rounded to 10 bits: %v", got)
	}
}

// TestText compares with strconv, whose shortest and fixed conversions are correctly rounded.
func TestText(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	for range 5000 {
		x := math.Float64frombits(rng.Uint64())
		if x != x || math.IsInf(x, 0) || x == 0 {
			continue
		}
		digits := 1 + rng.IntN(40)
		want := strconv.FormatFloat(x, 'e', digits-1, 64)
		if got := FromFloat64(x).Text(digits); got != want {
			t.Fatalf("%x to %d digits: %s, want %s", x, digits, got, want)
		}
	}
}

func TestTextCases(t *testing.T) {
	for _, c := range []struct {
		value  string
		digits int
		want   string
	}{
		{"0", 5, "0"},
		{"1", 1, "1e+00"},
		{"1", 0, "1e+00"},
		{"-1", 3, "-1.00e+00"},
		{"9.995", 3, "1.00e+01"}, // a tie, to even, with a carry through all digits
		{"9.985", 3, "9.98e+00"},
		{"0.00099999", 2, "1.0e-03"},
		{"2.5", 1, "2e+00"},
		{"3.5", 1, "4e+00"},
		{"10", 1, "1e+01"},
		{"99", 1, "1e+02"},
		{"1e-1000", 2, "1.0e-1000"},
		{"1e1000", 2, "1.0e+1000"},
		{"123456789e50000", 4, "1.235e+50008"},
		{"1/3", 20, "3.3333333333333333333e-01"},
		{"1e100", 2, "1.0e+100"},
		{"1e9", 2, "1.0e+09"},
	} {
		if got := FromRat(rat(t, c.value)).Text(c.digits); got != c.want {
			t.Errorf("%s to %d digits: %s, want %s", c.value, c.digits, got, c.want)
		}
	}
	for v, want := range map[Value]string{{Class: PosInf}: "+Inf", {Class: NegInf}: "-Inf", {Class: NaN}: "NaN",
		{}: "0"} {
		if got := v.String(); got != want {
			t.Errorf("%v: %s, want %s", v.Class, got, want)
		}
	}
}

// TestTextPowers: the powers of ten and their neighbours are where the decimal exponent can be missed.
func TestTextPowers(t *testing.T) {
	for e := -700; e <= 700; e += 7 {
		p := rat(t, "1e"+strconv.Itoa(e))
		want := "1.0e" + map[bool]string{true: "+", false: "-"}[e >= 0]
		want += strings.Repeat("0", max(0, 2-len(strconv.Itoa(max(e, -e))))) + strconv.Itoa(max(e, -e))
		if got := FormatRat(p, 2); got != want {
			t.Errorf("10^%d: %s, want %s", e, got, want)
		}
		if got := decimalExponent(new(big.Rat).Mul(p, rat(t, "0.9999999999999999999999"))); got != e-1 {
			t.Errorf("just below 10^%d: exponent %d", e, got)
		}
	}
}

// TestTextRoundTrip: enough digits bring a rational with a short decimal expansion back.
func TestTextRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := rapid.Int64().Draw(t, "m")
		e := rapid.IntRange(-400, 400).Draw(t, "e")
		x := rat(t, strconv.FormatInt(m, 10)+"e"+strconv.Itoa(e))
		if back := rat(t, FormatRat(x, 19)); back.Cmp(x) != 0 {
			t.Fatalf("%v came back as %v", x, back)
		}
	})
}

func TestClassString(t *testing.T) {
	for c, want := range map[Class]string{Finite: "finite", PosInf: "+Inf", NegInf: "-Inf", NaN: "NaN", 9: "Class(9)"} {
		if got := c.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestSignAbs(t *testing.T) {
	for _, c := range []struct {
		v    Value
		sign int
		abs  Value
	}{
		{Value{}, 0, Value{}},
		{FromFloat64(-2), -1, FromFloat64(2)},
		{FromFloat64(2), 1, FromFloat64(2)},
		{Value{Class: PosInf}, 1, Value{Class: PosInf}},
		{Value{Class: NegInf}, -1, Value{Class: PosInf}},
		{Value{Class: NaN}, 0, Value{Class: NaN}},
	} {
		if got := c.v.Sign(); got != c.sign {
			t.Errorf("sign of %v: %d", c.v, got)
		}
		if got := c.v.Abs(); !got.Equal(c.abs) {
			t.Errorf("|%v| = %v", c.v, got)
		}
	}
}

// TestFromBig compares with big.Float.Rat, in value and in lowest terms.
func TestFromBig(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 11))
	for range 5000 {
		x := new(big.Float).SetPrec(uint(1 + r.IntN(300))).SetInt64(r.Int64() - r.Int64())
		if r.IntN(3) == 0 {
			x.SetInt64(int64(r.IntN(9) - 4))
		}
		x.Mul(x, x).SetMantExp(x, r.IntN(400)-300)
		if r.IntN(2) == 0 {
			x.Neg(x)
		}
		before := new(big.Float).Copy(x)
		got := FromBig(x).Rat
		want, _ := x.Rat(nil)
		if got.Num().Cmp(want.Num()) != 0 || got.Denom().Cmp(want.Denom()) != 0 || x.Cmp(before) != 0 ||
			x.Prec() != before.Prec() {
			t.Fatalf("%s: %v, want %v", before.Text('p', 0), got, want)
		}
	}
}
