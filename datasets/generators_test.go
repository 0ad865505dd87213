package datasets

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"mpbench/pkg/exact"
)

func TestUniform(t *testing.T) {
	for _, x := range floats(generate(t, "uniform01:n=100000").X) {
		if !(x >= 0 && x < 1) || math.Ldexp(x, 53) != math.Trunc(math.Ldexp(x, 53)) {
			t.Fatalf("uniform01 has the term %x", x)
		}
	}
	low := 0
	for _, x := range floats(generate(t, "uniform11:n=100000").X) {
		if !(x >= -1 && x < 1) || math.Ldexp(x, 52) != math.Trunc(math.Ldexp(x, 52)) {
			t.Fatalf("uniform11 has the term %x", x)
		}
		if x < 0 {
			low++
		}
	}
	if low < 49000 || low > 51000 { // six standard deviations
		t.Errorf("uniform11: %d of 100000 terms are negative", low)
	}
}

// TestSource pins the stream: PCG is specified, and so is what is made of it.
func TestSource(t *testing.T) {
	s := newSource(1, "uniform01", 0)
	var got []string
	for range 3 {
		got = append(got, fmt.Sprintf("%x", s.unit()))
	}
	want := []string{"0x1.3bb7c5dba508ap-02", "0x1.ab99f54aae0d4p-01", "0x1.acdf39263baeep-02"}
	if !slices.Equal(got, want) {
		t.Errorf("the stream begins %q, want %q", got, want)
	}
	counts := make([]int, 7)
	for range 70000 {
		counts[s.below(7)]++
	}
	for i, c := range counts {
		if c < 9400 || c > 10600 {
			t.Errorf("below(7) gave %d %d times of 70000", i, c)
		}
	}
}

// TestZhuHayes checks signs, exponents and condition numbers of the four types.
func TestZhuHayes(t *testing.T) {
	for _, delta := range []int{0, 1, 10, 2000} {
		for i := 1; i <= 4; i++ {
			d := generate(t, fmt.Sprintf("zhuhayes%d:delta=%d,n=2000", i, delta))
			negative := 0
			for _, x := range floats(d.X) {
				if x < 0 {
					negative++
				}
				_, e := math.Frexp(x)
				e-- // of a significand in [1, 2)
				if i != 3 && (delta == 0 && e != 0 || delta > 0 && (e < -(delta/2) || e >= delta-delta/2)) {
					t.Fatalf("%s: the term %g has the exponent %d", d.Spec(), x, e)
				}
			}
			s := summaryOf(d)
			cond := s.Condition().Float64()
			switch {
			case i == 1 && (negative != 2000 || cond != 1):
				t.Errorf("%s: %d negative terms, condition %g", d.Spec(), negative, cond)
			case i == 2 && (negative < 850 || negative > 1150):
				t.Errorf("%s: %d negative terms", d.Spec(), negative)
			case i == 3 && !(cond > 1e11):
				t.Errorf("%s: condition %g", d.Spec(), cond)
			case i == 4 && (negative != 1000 || s.Sum.Sign() != 0 || s.SumAbs.Sign() == 0):
				t.Errorf("%s: %d negative terms, sum %v", d.Spec(), negative, s.Sum)
			}
		}
	}
}

func TestAnderson(t *testing.T) {
	for _, n := range []int{10, 1000, 100000} {
		d := generate(t, fmt.Sprintf("anderson:n=%d", n))
		s := summaryOf(d)
		// Each term is off by at most 2^-54, and the mean by (n-1)/2 * 2^-53 in relative terms.
		bound := float64(n)*0x1p-54 + float64(n)*float64(n)*0x1p-53
		if got := math.Abs(s.Sum.Float64()); got > bound {
			t.Errorf("n = %d: the sum %g is more than rounding errors (%g)", n, got, bound)
		}
	}
}

// TestGenSum checks the condition number that is reached against the target, over the range of both parameters.
func TestGenSum(t *testing.T) {
	for _, n := range []int{50, 101, 1000, 20000} {
		for _, target := range []float64{1, 3, 1e2, 1e4, 1e8, 1e16, 1e32, 1e64, 1e100, 1e200, 1e300} {
			if math.Log2(target) > 12*float64(n) {
				continue // each of the n/4 steps of the second half takes 53 bits at most
			}
			for seed := range uint64(3) {
				spec := mustParse(t, fmt.Sprintf("gensum:cond=%g,n=%d,seed=%d", target, n, seed))
				d, err := Generate(spec, Options{})
				if err != nil {
					t.Errorf("%s: %v", spec, err)
					continue
				}
				cond := summaryOf(d).Condition()
				off, _ := distance(cond.Float64(), target)
				if off > genSumGood {
					t.Errorf("%s: condition %v", spec, cond.Text(3))
				}
				if want := "condition number " + cond.Text(3); !slices.Contains(d.Notes, want) {
					t.Errorf("%s: notes %q, want %q", spec, d.Notes, want)
				}
			}
		}
	}
}

// TestFixedSum compares the generator's running sum with exact.Sum.
func TestFixedSum(t *testing.T) {
	r := newSource(1, "test", 0)
	var f fixedSum
	var want exact.Sum
	for i := range 2000 {
		x := zhuHayesNumber(r, 2000)
		if i%10 == 0 {
			x = math.Float64frombits(r.uint64() &^ (0x7ff << 52)) // subnormal
		}
		f.add(x)
		want.Add(x)
		if i%50 != 0 {
			continue
		}
		v := zhuHayesNumber(r, 1000)
		var difference exact.Sum
		difference.Merge(&want)
		difference.Add(-v)
		if got := f.minus(v); got != difference.Value().Float64() {
			t.Fatalf("after %d terms: %g, want %g", i+1, got, difference.Value().Float64())
		}
	}
}

func TestExtremes(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for kind, want := range map[string]float64{
		"overflow": 0x1p-1074, "alternating": 0x1.5555555555555p1022, "powers": inf, "negzero": 0, "inf": inf, "infinf": nan,
		"nan": nan,
	} {
		d := generate(t, "extremes:kind="+kind)
		if got := summaryOf(d).Sum.Float64(); got != want && (got == got || want == want) {
			t.Errorf("%s: sum %g, want %g", kind, got, want)
		}
	}
	for _, x := range floats(generate(t, "extremes:kind=negzero,n=50").X) {
		if math.Float64bits(x) != 1<<63 {
			t.Fatalf("negzero has the term %x", x)
		}
	}
	for _, x := range floats(generate(t, "extremes:kind=subnormals,n=500").X) {
		if math.Abs(x) >= 0x1p-1022 {
			t.Fatalf("subnormals has the term %g", x)
		}
	}
	if d := generate(t, "extremes:kind=infinf,n=1"); !d.Known.Equal(summaryOf(d).Sum) {
		t.Errorf("infinf with one term: %v", summaryOf(d).Sum)
	}
}

// TestRepro checks the fills against their definitions where a formula says what to expect.
func TestRepro(t *testing.T) {
	const n = 4095
	repro := func(fill string) []float64 {
		return floats(generate(t, fmt.Sprintf("repro:fill=%s,n=%d", fill, n)).X)
	}
	inside := func(fill string, low, high float64) {
		t.Helper()
		for _, x := range repro(fill) {
			if !(x >= low && x <= high) {
				t.Fatalf("%s has the term %g", fill, x)
			}
		}
	}
	inside("rand", 0, 1+1e-9)
	inside("2rand-1", -1, 1+2e-9)
	inside("rand+rand-1", -1, 1+2e-9)
	inside("normal", -8.6, 8.6)
	inside("small+rand-big", reproSmall, reproBig*(1+1e-9))
	variance := 0.0
	for _, x := range repro("normal") {
		variance += x * x / n
	}
	if math.Abs(variance-1) > 0.12 { // five standard deviations
		t.Errorf("normal: variance %g", variance)
	}
	sine := repro("sine")
	for i, x := range sine {
		if want := math.Sin(2 * math.Pi * float64(i) / n); math.Abs(x-want) > 1e-15 {
			t.Fatalf("sine: term %d is %g, want %g", i, x, want)
		}
	}
	full := repro("full-range")
	if math.Abs(full[0]/0x1p-1022-1) > 1e-12 || math.Abs(full[n-1]) < 1e307 || full[1] >= 0 {
		t.Errorf("full-range goes from %g, %g to %g", full[0], full[1], full[n-1])
	}
	half := repro("half-range")
	if half[0] != 1 || half[1] >= 0 {
		t.Errorf("half-range begins %g, %g", half[0], half[1])
	}
	if grow := repro("small+grow-big"); !slices.IsSorted(grow) || grow[0] != reproSmall || grow[n-1] > reproBig {
		t.Errorf("small+grow-big goes from %g to %g", grow[0], grow[n-1])
	}
	if m := repro("mountain"); m[0] != 1 || m[1] != 0x1p-26 || m[n-1] != -1 || m[41] != 0x1p-1066 || m[42] != 0 {
		t.Errorf("mountain: %g %g ... %g, then %g at 41", m[0], m[1], m[n-1], m[41])
	}
	dropped := generate(t, "repro:fill=constant,drop=yes,n=7")
	if want := []float64{1, 1, 1, 1e-12, 1e-12, 1e-12, 1e-12}; !slices.Equal(floats(dropped.X), want) ||
		dropped.Known != nil {
		t.Errorf("constant with drop: %v, known %v", floats(dropped.X), dropped.Known)
	}
	small, big27 := big.NewRat(1, 1<<27), big.NewRat(1<<27, 1)
	for fill, want := range map[string]*big.Rat{
		"big":     new(big.Rat).Add(big27, new(big.Rat).Mul(small, big.NewRat(n-1, 1))),
		"big+big": new(big.Rat).Add(big.NewRat(1<<28, 1), new(big.Rat).Mul(small, big.NewRat(n-2, 1))),
		"big-big": new(big.Rat).Mul(small, big.NewRat(n-2, 1)),
	} {
		if got := exact.SumOf(repro(fill)).Sum; !got.Equal(exact.FromRat(want)) {
			t.Errorf("%s: sum %v, want %v", fill, got, exact.FromRat(want))
		}
	}
	for fill, want := range map[string]exact.Class{
		"inf": exact.PosInf, "inf+inf": exact.PosInf, "inf-inf": exact.NaN, "nan": exact.NaN, "inf+nan": exact.NaN,
		"inf+inf+nan": exact.NaN, "inf-inf+nan": exact.NaN,
	} {
		if got := exact.SumOf(repro(fill)).Sum.Class; got != want {
			t.Errorf("%s: sum %v, want %v", fill, got, want)
		}
	}
}

func TestReproCond(t *testing.T) {
	for _, target := range []float64{1e3, 1e6, 1e10} {
		d := generate(t, fmt.Sprintf("repro-cond:cond=%g", target))
		if off, _ := distance(summaryOf(d).Condition().Float64(), target); off > 1.5 {
			t.Errorf("%s: %v", d.Spec(), d.Notes)
		}
	}
}

func TestExBLAS(t *testing.T) {
	for _, x := range floats(generate(t, "exblas-fpuniform:range=4,emax=3,n=10000").X) {
		if !(x >= 0.5 && x < 2.02*4) {
			t.Fatalf("fpuniform has the term %g", x)
		}
	}
	mean := 0.0
	for _, x := range floats(generate(t, "exblas-lognormal:mean=2,stddev=0.5,n=10000").X) {
		mean += math.Log(x) / 10000
	}
	if math.Abs(mean-2) > 0.025 { // five standard deviations
		t.Errorf("lognormal: mean of the logarithms %g, want 2", mean)
	}
	widest := summaryOf(generate(t, "exblas-lognormal:mean=300,stddev=40,n=10000"))
	if !widest.Sum.IsFinite() {
		t.Errorf("lognormal overflows at the ends of its parameters")
	}
	ill := generate(t, "exblas-illcond:c=1e30,n=10000")
	if cond := summaryOf(ill).Condition().Float64(); cond > 1e6 {
		t.Errorf("illcond has the condition number %g: then it deserves its name", cond)
	}
}

// TestXsum checks the mirror and that a permutation changes the order only.
func TestXsum(t *testing.T) {
	plain := floats(generate(t, "xsum:n=1001").X)
	for i := range plain {
		if plain[i] != -plain[len(plain)-1-i] {
			t.Fatalf("term %d is %g, its mirror %g", i, plain[i], plain[len(plain)-1-i])
		}
	}
	permuted := floats(generate(t, "xsum:n=1001,permute=yes").X)
	if slices.Equal(plain, permuted) {
		t.Error("the permutation did nothing")
	}
	slices.Sort(plain)
	slices.Sort(permuted)
	if !slices.Equal(plain, permuted) {
		t.Error("the permutation changed the terms")
	}
	// The first two numbers of the generator, by hand.
	r1 := 2345678 * 8192 % 67101323
	r2 := r1 * 8192 % 67101323
	want := math.Exp(30*float64(r1)/67101323) * float64(r2) / 67101323
	if got := floats(generate(t, "xsum:n=2").X)[0]; math.Abs(got/want-1) > 1e-13 {
		t.Errorf("first term %g, want %g", got, want)
	}
}

// TestHash checks the byte order and the text form that are hashed.
func TestHash(t *testing.T) {
	// printf '\x00\x00\x00\x00\x00\x00\xf0\x3f' | sha256sum
	if got, want := hashFloat64([]float64{1}),
		"6c3c396ed6b5c36dcae172271f462051b1266b851e92df3deea8ac65478fd712"; got != want {
		t.Errorf("hash of 1: %s, want %s", got, want)
	}
	// printf -- '-a/3\n' | sha256sum
	if got, want := hashRationals([]*big.Rat{big.NewRat(-20, 6)}),
		"2bf92b6e9ad05fe440beccecefe150b417ff5398d87fd5bbd383469e4adfd112"; got != want {
		t.Errorf("hash of -10/3: %s, want %s", got, want)
	}
	long := floats(generate(t, "uniform01:n=10000").X)
	if hashFloat64(long) == hashFloat64(long[:9999]) {
		t.Error("the last term is not hashed")
	}
}
