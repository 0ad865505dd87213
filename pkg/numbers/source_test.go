package numbers

import (
	"math"
	"math/big"
	"testing"

	"mpbench/pkg/exact"
)

// want is a number as a test knows it: x, unless the class is that of infinities or NaN.
type want struct {
	class Class
	neg   bool
	x     *big.Rat
}

func finite(x *big.Rat) want {
	if x.Sign() == 0 {
		return want{x: x}
	}
	return want{Finite, x.Sign() < 0, x}
}

func float(x float64) want {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		class := Infinite
		if x != x {
			class = NaN
		}
		return want{class: class, neg: x < 0}
	}
	return finite(new(big.Rat).SetFloat64(x))
}

func (w want) value() exact.Value {
	switch {
	case w.class == NaN:
		return exact.Value{Class: exact.NaN}
	case w.class == Infinite && w.neg:
		return exact.Value{Class: exact.NegInf}
	case w.class == Infinite:
		return exact.Value{Class: exact.PosInf}
	}
	return exact.FromRat(w.x)
}

// ldexp returns n * 2^k.
func ldexp(n int64, k int) *big.Rat {
	x := new(big.Rat).SetInt64(n)
	power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(k, -k))))
	if k < 0 {
		power.Inv(power)
	}
	return x.Mul(x, power)
}

// checkSpan compares a span with its definition: the number is an odd multiple of 2^Low, and 2^(Top-1) <= |x| < 2^Top.
func checkSpan(t *testing.T, got Span, w want) {
	t.Helper()
	if got.Class != w.class || got.Neg != w.neg {
		t.Errorf("span %+v of %v", got, w.value())
	}
	if w.class != Finite {
		if got.Extent != (Extent{}) {
			t.Errorf("extent %+v of %v", got.Extent, w.value())
		}
		return
	}
	units := new(big.Rat).Mul(w.x, ldexp(1, -got.Low))
	if !units.IsInt() || units.Num().Bit(0) != 1 || units.Num().BitLen() != got.Bits() {
		t.Errorf("extent %+v of %v", got.Extent, w.value())
	}
}

// checkSource reads every number forwards and backwards into one Number and compares it with what it has to be.
func checkSource(t *testing.T, s Source, list []want) {
	t.Helper()
	if s.Len() != len(list) {
		t.Fatalf("%T: %d numbers, want %d", s, s.Len(), len(list))
	}
	var z Number
	for k := range 2 * len(list) {
		i := min(k, 2*len(list)-1-k)
		s.Read(&z, i)
		if z.Class != list[i].class || !z.Value().Equal(list[i].value()) {
			t.Errorf("%T: number %d is %v of class %d, want %v", s, i, z.Value(), z.Class, list[i].value())
		}
		if z.Class != NaN {
			checkSpan(t, z.Span(), list[i])
		}
		checkSpan(t, s.Span(i), list[i])
		if got := At(s, i); !got.Equal(list[i].value()) {
			t.Errorf("%T: At(%d) is %v, want %v", s, i, got, list[i].value())
		}
	}
}

// edges are the binary64 numbers at the ends of ranges.
var edges = []float64{
	0, math.Copysign(0, -1), 1, -1, 3, -0.1, 1 << 53, 1<<53 - 1, 0x1p1023, math.MaxFloat64, -math.MaxFloat64,
	0x1p-1022, -0x1.8p-1022, 0x0.fffffffffffffp-1022, 0x1p-1074, -0x1p-1074, 0x3p-1074, 0x1p-1073,
	math.Inf(1), math.Inf(-1), math.NaN(), math.Nextafter(1, 2), 1e-300, -1e300,
}

func TestFloat64s(t *testing.T) {
	var list []want
	for _, x := range edges {
		list = append(list, float(x))
	}
	checkSource(t, Float64s(edges), list)
	for _, x := range edges {
		if x-x != 0 {
			continue
		}
		magnitude := new(big.Rat).SetFloat64(math.Abs(x))
		if s, e := Significand(x); s >= 1<<53 || ldexp(int64(s), e).Cmp(magnitude) != 0 {
			t.Errorf("the significand of %g is %d*2^%d", x, s, e)
		}
	}
}

// TestBigs: numbers whose digits end at and beside the ends of words, far exponents, infinities, and nil for NaN.
func TestBigs(t *testing.T) {
	var x Bigs
	var list []want
	add := func(n *big.Int, exp int) {
		f := new(big.Float).SetPrec(uint(max(1, n.BitLen()))).SetInt(n)
		x = append(x, f.SetMantExp(f, exp))
		list = append(list, finite(new(big.Rat).Mul(new(big.Rat).SetInt(n), ldexp(1, exp))))
	}
	for _, bits := range []uint{1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200} {
		top := new(big.Int).Lsh(big.NewInt(1), bits-1)
		odd, ones := new(big.Int).Or(top, big.NewInt(1)), new(big.Int).Lsh(top, 1)
		for _, n := range []*big.Int{top, odd, ones.Sub(ones, big.NewInt(1))} {
			add(n, 0)
			add(new(big.Int).Neg(n), 7-int(bits))
			add(n, 5000)
			add(n, -20000)
		}
	}
	padded := new(big.Float).SetPrec(500).SetInt64(-5) // precision beyond its digits
	zero := new(big.Float)
	x = append(x, padded, zero, new(big.Float).Neg(zero), new(big.Float).SetInf(false), new(big.Float).SetInf(true), nil)
	list = append(list, finite(ldexp(-5, 0)), finite(new(big.Rat)), finite(new(big.Rat)), float(math.Inf(1)),
		float(math.Inf(-1)), float(math.NaN()))
	checkSource(t, x, list)
}

func TestValues(t *testing.T) {
	var values Values
	var list []want
	for _, x := range []want{
		finite(ldexp(3, -2000)), finite(ldexp(-1, 700)), finite(new(big.Rat)), float(math.Inf(1)), float(math.Inf(-1)),
		finite(ldexp(1<<62+1, 3)), float(math.NaN()), finite(ldexp(-7, 0)),
	} {
		list, values = append(list, x), append(values, x.value())
	}
	list, values = append(list, finite(new(big.Rat))), append(values, exact.Value{}) // 0 without a Rat
	checkSource(t, values, list)
}

// TestSums: an unevaluated sum is read exactly.
func TestSums(t *testing.T) {
	sum := new(big.Rat).Add(ldexp(1, 900), ldexp(-3, -900))
	sums := Sums{{0x1p900, 1, 3, math.Inf(1), math.NaN()}, {-0x3p-900, -1, 0, 5, 1}}
	checkSource(t, sums, []want{
		finite(sum), finite(new(big.Rat)), finite(ldexp(3, 0)), float(math.Inf(1)), float(math.NaN()),
	})
}

// TestRationals: fractions share their least common odd denominator, which numbers in binary do without.
func TestRationals(t *testing.T) {
	power := new(big.Int).Exp(big.NewInt(3), big.NewInt(80), nil)
	for _, c := range []struct {
		x    []*big.Rat
		want *big.Int // nil for 1
	}{
		{nil, nil},
		{[]*big.Rat{new(big.Rat)}, nil},
		{[]*big.Rat{ldexp(3, -70), ldexp(-5, 3), new(big.Rat), ldexp(1, -1074)}, nil},
		{[]*big.Rat{big.NewRat(1, 3), big.NewRat(-2, 5), big.NewRat(7, 12), new(big.Rat), big.NewRat(5, 1)}, big.NewInt(15)},
		{[]*big.Rat{big.NewRat(1, 9), big.NewRat(1, 6), big.NewRat(-1, 7)}, big.NewInt(63)},
		{[]*big.Rat{big.NewRat(1, 10), new(big.Rat).SetFrac(big.NewInt(-4), power)}, new(big.Int).Mul(power, big.NewInt(5))},
	} {
		s := Rationals(c.x)
		if s.Len() != len(c.x) {
			t.Fatalf("%d numbers of %v", s.Len(), c.x)
		}
		a := Vector(s)
		if got := a.Denominator(); (got == nil) != (c.want == nil) || got != nil && got.Cmp(c.want) != 0 {
			t.Errorf("%v: denominator %v, want %v", c.x, got, c.want)
		}
		var z Number
		for i, x := range c.x {
			if got := At(s, i); !got.Equal(exact.FromRat(x)) {
				t.Errorf("%v is %v", x, got)
			}
			s.Read(&z, i)
			over := new(big.Rat).Set(x)
			if c.want != nil {
				over.Mul(over, new(big.Rat).SetInt(c.want))
			}
			if !z.Value().Equal(exact.FromRat(over)) {
				t.Errorf("%v times %v was read as %v", x, c.want, z.Value())
			}
		}
	}
}

// TestNumberWords: zeros among the words do not matter, and Big and Span are those of the whole number.
func TestNumberWords(t *testing.T) {
	for _, c := range []struct {
		words []uint64
		exp   int
		want  Extent
	}{
		{[]uint64{1}, 0, Extent{0, 1}},
		{[]uint64{0, 6, 0}, -10, Extent{55, 57}},
		{[]uint64{0, 0, 1 << 63}, 5, Extent{196, 197}},
		{[]uint64{8, 0, 1, 0, 0}, -3, Extent{0, 126}},
	} {
		z := Number{Class: Finite, Neg: true, Exp: c.exp, Words: c.words}
		if got := z.Span(); got != (Span{c.want, Finite, true}) {
			t.Errorf("%v: %+v", c.words, got)
		}
		n := new(big.Int)
		for i := len(c.words) - 1; i >= 0; i-- {
			n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(c.words[i]))
		}
		x := new(big.Rat).Mul(new(big.Rat).SetInt(n.Neg(n)), ldexp(1, c.exp))
		if got, _ := z.Big().Rat(nil); got.Cmp(x) != 0 {
			t.Errorf("%v: %v, want %v", c.words, got, x)
		}
		var copied Number
		copied.SetBig(z.Big())
		if copied.Span() != z.Span() || !copied.Value().Equal(z.Value()) {
			t.Errorf("%v: a copy is %v", c.words, copied.Value())
		}
	}
	if got := (&Number{}).Big(); got.Sign() != 0 {
		t.Errorf("the zero Number is %v", got)
	}
}

func TestUnion(t *testing.T) {
	none := Extent{7, 7}
	for _, c := range []struct{ a, b, want Extent }{
		{none, Extent{1, 3}, Extent{1, 3}},
		{Extent{1, 3}, none, Extent{1, 3}},
		{Extent{-5, 3}, Extent{1, 9}, Extent{-5, 9}},
		{Extent{1, 2}, Extent{100, 101}, Extent{1, 101}},
		{Extent{-9, 9}, Extent{0, 1}, Extent{-9, 9}},
	} {
		if got := c.a.Union(c.b); got != c.want || got.Bits() != c.want.Top-c.want.Low {
			t.Errorf("%v and %v: %v, want %v", c.a, c.b, got, c.want)
		}
	}
}

// TestAppendParts: parts add up to the number, of each kind of sources; what has no parts is refused.
func TestAppendParts(t *testing.T) {
	wide := new(big.Float).SetPrec(300).Quo(new(big.Float).SetPrec(300).SetInt64(-7), big.NewFloat(3))
	for _, s := range []Source{
		Float64s{0, 1.5, -0x1p-1074}, Sums{{1, -3}, {0x1p-60, 0}}, Bigs{wide, new(big.Float), big.NewFloat(0x1p900)},
		Values{exact.FromFloat64(-0.1), exact.FromBig(wide)},
	} {
		for i := range s.Len() {
			var z Number
			parts, ok := AppendParts(nil, s, i, &z)
			sum := new(big.Rat)
			for _, x := range parts {
				sum.Add(sum, new(big.Rat).SetFloat64(x))
			}
			if want := At(s, i); !ok || sum.Cmp(want.Number()) != 0 {
				t.Errorf("%v: %v of %v", want, parts, ok)
			}
		}
	}
	long := new(big.Float).SetPrec(2000).Quo(new(big.Float).SetPrec(2000).SetInt64(1), big.NewFloat(3))
	for _, s := range []Source{
		Bigs{nil}, Bigs{new(big.Float).SetInf(true)}, Bigs{long}, Bigs{new(big.Float).SetMantExp(big.NewFloat(1), -1100)},
		Quotients(Float64s{1}, big.NewInt(3)),
	} {
		var z Number
		if parts, ok := AppendParts(nil, s, 0, &z); ok {
			t.Errorf("%v has the parts %v", At(s, 0), parts)
		}
	}
}
