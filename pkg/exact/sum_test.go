package exact

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// reference sums by another route: big.Float at 2300 bits, which nothing here can round, and IEEE rules for specials.
func reference(xs []float64) (sum, abs Value) {
	s, a := new(big.Float).SetPrec(2300), new(big.Float).SetPrec(2300)
	special := false
	naive := 0.0 // gets the specials right
	for _, x := range xs {
		if math.IsInf(x, 0) || x != x {
			special = true
			naive += x
			continue
		}
		s.Add(s, big.NewFloat(x))
		a.Add(a, big.NewFloat(math.Abs(x)))
	}
	if !special {
		return FromBig(s), FromBig(a)
	}
	abs = Value{Class: PosInf}
	if slices.ContainsFunc(xs, func(x float64) bool { return x != x }) {
		abs = Value{Class: NaN}
	}
	return FromFloat64(naive), abs
}

// sumOf adds xs one by one.
func sumOf(xs ...float64) *Sum {
	var s Sum
	for _, x := range xs {
		s.Add(x)
	}
	return &s
}

// check compares a Sum with the reference for its terms.
func check(t interface {
	Helper()
	Fatalf(string, ...any)
}, s *Sum, xs []float64) {
	t.Helper()
	sum, abs := reference(xs)
	if got := s.Value(); !got.Equal(sum) {
		t.Fatalf("sum of %d terms: %v, want %v", len(xs), got, sum)
	}
	if got := s.Abs(); !got.Equal(abs) {
		t.Fatalf("sum of magnitudes of %d terms: %v, want %v", len(xs), got, abs)
	}
	if s.N() != len(xs) {
		t.Fatalf("N = %d, want %d", s.N(), len(xs))
	}
}

// randomTerms returns n terms of one of several kinds, some of which cancel or sit at the ends of the format.
func randomTerms(rng *rand.Rand, n int) []float64 {
	kind := rng.IntN(6)
	xs := make([]float64, n)
	for i := range xs {
		b := rng.Uint64()
		switch kind {
		case 0: // any finite number
			for b>>52&exponentMask == exponentMask {
				b = rng.Uint64()
			}
			xs[i] = math.Float64frombits(b)
		case 1: // one binade, random signs
			xs[i] = math.Float64frombits(b&^(exponentMask<<52) | 1023<<52)
		case 2: // subnormals and zeros
			xs[i] = math.Float64frombits(b &^ (exponentMask << 52) >> rng.UintN(53))
		case 3: // the largest binade
			xs[i] = math.Float64frombits(b&^(exponentMask<<52) | 2046<<52)
		case 4: // exact cancellation but for a few
			xs[i] = math.Ldexp(float64(int64(b)), rng.IntN(100)-50)
			if i%2 == 1 {
				xs[i] = -xs[i-1]
			}
		case 5: // all ones in the significand
			xs[i] = math.Float64frombits(b | fractionMask&^(uint64(rng.UintN(2))) | 1<<62)
			if math.IsInf(xs[i], 0) || xs[i] != xs[i] {
				xs[i] = math.MaxFloat64
			}
		}
	}
	return xs
}

// TestSumRandom compares with big.Float, added one by one, as slices and in merged parts.
func TestSumRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 400 {
		xs := randomTerms(rng, rng.IntN(300))
		check(t, sumOf(xs...), xs)
		var slice Sum
		slice.AddSlice(xs)
		check(t, &slice, xs)
		cut := rng.IntN(len(xs) + 1)
		var merged, right Sum
		merged.AddSlice(xs[:cut])
		right.AddSlice(xs[cut:])
		merged.Merge(&right)
		check(t, &merged, xs)
		check(t, &right, xs[cut:]) // Merge leaves its argument as it was
	}
}

// TestSumOrder checks that any order gives the same value.
func TestSumOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	xs := randomTerms(rng, 1000)
	want := sumOf(xs...).Value()
	for range 20 {
		rng.Shuffle(len(xs), func(i, j int) { xs[i], xs[j] = xs[j], xs[i] })
		if got := sumOf(xs...).Value(); !got.Equal(want) {
			t.Fatalf("a permutation gave %v, want %v", got, want)
		}
	}
}

// TestSumParallel checks that the result does not depend on the number of goroutines, at lengths around the blocks.
func TestSumParallel(t *testing.T) {
	for _, n := range []int{0, 1, minBlock - 1, minBlock, 2*minBlock - 1, 2 * minBlock, 3*minBlock + 17} {
		xs := benchTerms(n, 200)
		want := sumParallel(xs, 1).Summary()
		for _, workers := range []int{2, 3, 7} {
			got := sumParallel(xs, workers).Summary()
			if got.N != n || !got.Sum.Equal(want.Sum) || !got.SumAbs.Equal(want.SumAbs) {
				t.Fatalf("n = %d, %d workers: %v, want %v", n, workers, got, want)
			}
		}
		if got := SumOf(xs); !got.Sum.Equal(want.Sum) {
			t.Fatalf("n = %d: SumOf gave %v, want %v", n, got.Sum, want.Sum)
		}
	}
}

// TestSumRepeated adds the same extreme term so often that every bucket carries into its upper word.
func TestSumRepeated(t *testing.T) {
	const n = 1 << 14
	for _, x := range []float64{math.MaxFloat64, -math.MaxFloat64, 0x1p-1074, -0x1.fffffffffffffp-1022, 1,
		0x1.fffffffffffffp0} {
		var s Sum
		xs := slices.Repeat([]float64{x}, n)
		s.AddSlice(xs)
		want := new(big.Rat).SetFloat64(x)
		want.Mul(want, big.NewRat(n, 1))
		if got := s.Value(); !got.Equal(FromRat(want)) {
			t.Errorf("%d times %g: %v", n, x, got)
		}
	}
}

// TestSumHeadroom merges a sum with itself 60 times: 2^60 * 8 terms, the least capacity that is promised.
func TestSumHeadroom(t *testing.T) {
	for _, x := range []float64{math.MaxFloat64, -math.MaxFloat64} {
		s := sumOf(slices.Repeat([]float64{x}, 4)...)
		for range 60 {
			var twice Sum
			twice.Merge(s)
			twice.Merge(s)
			s = &twice
		}
		want := new(big.Rat).SetFloat64(x)
		want.Mul(want, new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), 62)))
		if got := s.Value(); !got.Equal(FromRat(want)) {
			t.Errorf("2^62 times %g: %v, want %v", x, got, FromRat(want))
		}
		if s.N() != 1<<62 {
			t.Errorf("N = %d, want 2^62", s.N())
		}
	}
}

// TestSumRat mixes float64 and rationals.
func TestSumRat(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	var s, other Sum
	sum, abs := new(big.Rat), new(big.Rat)
	for i := range 500 {
		var r *big.Rat
		if i%3 == 0 {
			x := math.Ldexp(float64(rng.Int64()), rng.IntN(200)-100)
			s.Add(x)
			r = new(big.Rat).SetFloat64(x)
		} else {
			r = big.NewRat(rng.Int64()-1<<62, rng.Int64N(1000)+1)
			if i%3 == 1 {
				s.AddRat(r)
			} else {
				other.AddRat(r)
			}
		}
		sum.Add(sum, r)
		abs.Add(abs, new(big.Rat).Abs(r))
	}
	s.Merge(&other)
	if got := s.Value(); !got.Equal(FromRat(sum)) {
		t.Errorf("sum %v, want %v", got, FromRat(sum))
	}
	if got := s.Abs(); !got.Equal(FromRat(abs)) {
		t.Errorf("sum of magnitudes %v, want %v", got, FromRat(abs))
	}
	if s.N() != 500 {
		t.Errorf("N = %d, want 500", s.N())
	}
}

// TestSumRatKeepsArgument checks that AddRat neither changes nor keeps its argument.
func TestSumRatKeepsArgument(t *testing.T) {
	r := big.NewRat(-1, 3)
	var s Sum
	s.AddRat(r)
	s.AddRat(big.NewRat(1, 7))
	if r.Cmp(big.NewRat(-1, 3)) != 0 {
		t.Fatalf("the argument became %v", r)
	}
	r.SetInt64(5)
	if got, want := s.Value(), FromRat(big.NewRat(-4, 21)); !got.Equal(want) {
		t.Errorf("sum %v, want %v", got, want)
	}
}

// TestAddValue adds specials and numbers as values.
func TestAddValue(t *testing.T) {
	inf, ninf, nan := Value{Class: PosInf}, Value{Class: NegInf}, Value{Class: NaN}
	one := FromFloat64(1)
	for _, c := range []struct {
		terms     []Value
		sum, abs_ Value
	}{
		{nil, Value{}, Value{}},
		{[]Value{one, one}, FromFloat64(2), FromFloat64(2)},
		{[]Value{one, {}}, one, one},
		{[]Value{one, inf}, inf, inf},
		{[]Value{ninf, one}, ninf, inf},
		{[]Value{inf, ninf}, nan, inf},
		{[]Value{inf, nan}, nan, nan},
	} {
		var s, merged Sum
		for _, v := range c.terms {
			s.AddValue(v)
		}
		merged.Merge(&s)
		for _, s := range []*Sum{&s, &merged} {
			if got := s.Value(); !got.Equal(c.sum) {
				t.Errorf("%v: sum %v, want %v", c.terms, got, c.sum)
			}
			if got := s.Abs(); !got.Equal(c.abs_) {
				t.Errorf("%v: sum of magnitudes %v, want %v", c.terms, got, c.abs_)
			}
			if s.N() != len(c.terms) {
				t.Errorf("%v: N = %d", c.terms, s.N())
			}
		}
	}
}

// TestCondition checks the condition number and its conventions.
func TestCondition(t *testing.T) {
	for _, c := range []struct {
		xs   []float64
		want string
	}{
		{nil, "1.0e+00"},
		{[]float64{0, 0}, "1.0e+00"},
		{[]float64{1, 2}, "1.0e+00"},
		{[]float64{-1, -2}, "1.0e+00"},
		{[]float64{-3, 1}, "2.0e+00"},
		{[]float64{1, -1}, "+Inf"},
		{[]float64{0x1p1000, 0x1p-1000, -0x1p1000}, "2.3e+602"},
		{[]float64{1, math.Inf(1)}, "NaN"},
		{[]float64{math.NaN()}, "NaN"},
	} {
		if got := SumOf(c.xs).Condition().Text(2); got != c.want {
			t.Errorf("%v: condition %s, want %s", c.xs, got, c.want)
		}
	}
	var rats Sum
	rats.AddRat(big.NewRat(1, 3))
	rats.AddRat(big.NewRat(-1, 4))
	if got := rats.Summary().Condition(); !got.Equal(FromRat(big.NewRat(7, 1))) {
		t.Errorf("1/3 - 1/4: condition %v, want 7", got)
	}
}

// TestSumProperty lets rapid choose terms, specials included, and a split.
func TestSumProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		xs := rapid.SliceOf(rapid.OneOf(
			rapid.Float64(),
			rapid.SampledFrom(edges),
			rapid.Map(rapid.Uint64(), math.Float64frombits),
		)).Draw(t, "terms")
		check(t, sumOf(xs...), xs)
		cut := rapid.IntRange(0, len(xs)).Draw(t, "cut")
		left, right := sumOf(xs[:cut]...), sumOf(xs[cut:]...)
		right.Merge(left)
		check(t, right, xs)
	})
}
