package superaccgpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/superacc"
)

// family is a kind of test data: term i of n.
type family struct {
	name string
	term func(r *rand.Rand, i, n int) float64
}

// families reach every path of the kernels: bins alone, rising limits, remainders, terms beyond the bins, infinities
// and NaN.
var families = []family{
	{"uniform11", func(r *rand.Rand, _, _ int) float64 { return 2*r.Float64() - 1 }},
	{"integers", func(r *rand.Rand, _, _ int) float64 { return float64(r.IntN(200) - 100) }},
	{"gaps", func(r *rand.Rand, _, _ int) float64 { return math.Ldexp(r.Float64()-0.5, r.IntN(400)-200) }},
	{"patterns", func(r *rand.Rand, _, _ int) float64 { return finite(r.Uint64()) }},
	{"subnormal", func(r *rand.Rand, _, _ int) float64 { return math.Float64frombits(r.Uint64() & (1<<63 | 1<<54 - 1)) }},
	{"extremes", func(r *rand.Rand, _, _ int) float64 { return math.Copysign(math.MaxFloat64, r.Float64()-0.5) }},
	{"huge", func(r *rand.Rand, _, _ int) float64 { return math.Ldexp(r.Float64()-0.5, 1005+r.IntN(19)) }},
	{"rising", func(_ *rand.Rand, i, n int) float64 { return math.Ldexp(1+0x1p-52, 2090*i/n-1070) }},
	{"falling", func(_ *rand.Rand, i, n int) float64 { return math.Ldexp(-1-0x1p-52, 1020-2090*i/n) }},
	{"cancelling", func(_ *rand.Rand, i, n int) float64 {
		x := math.Ldexp(1+float64(min(i, n-1-i))*0x1p-40, min(i, n-1-i)%600-300)
		if i >= n/2 {
			x = -x
		}
		return x
	}},
	{"zeros", func(r *rand.Rand, _, _ int) float64 { return math.Copysign(0, r.Float64()-0.5) }},
	{"mostly zeros", func(r *rand.Rand, _, _ int) float64 {
		if r.IntN(10) > 0 {
			return 0
		}
		return r.NormFloat64()
	}},
	{"units", func(r *rand.Rand, i, _ int) float64 { return math.Ldexp(1, 43*(i%5)-100) * (1 - 0x1p-53) }},
	// What bins and digits hold at most: remainders of just under half a unit of the first level, terms just below the
	// limit that the first ones set, digits of ones alone.
	{"half units", func(*rand.Rand, int, int) float64 { return 1 + 0x1p-38 - 0x1p-52 }},
	{"at the limit", func(_ *rand.Rand, i, _ int) float64 {
		if i < 1024 {
			return 1
		}
		return 32 * (1 - 0x1p-53)
	}},
	{"largest", func(*rand.Rand, int, int) float64 { return math.MaxFloat64 }},
	// Lane digits: words as full as they can get, with a term that no bin takes in each turn of a warp; and back to bins.
	{"full words", func(_ *rand.Rand, i, _ int) float64 { return fullWord(i, 1091, 1) }},
	{"full low words", func(_ *rand.Rand, i, _ int) float64 { return fullWord(i, 1040, 1) }},
	{"full negative words", func(_ *rand.Rand, i, _ int) float64 { return fullWord(i, 1091, -1) }},
	{"wide at times", func(r *rand.Rand, i, _ int) float64 {
		if i/3000%3 == 1 {
			return math.Ldexp(r.Float64()-0.5, r.IntN(900)-450)
		}
		return r.NormFloat64()
	}},
	{"wide with an infinity", func(r *rand.Rand, i, n int) float64 {
		if i == 2*n/3 {
			return math.Inf(1)
		}
		return math.Ldexp(r.Float64()-0.5, r.IntN(900)-450)
	}},
	{"any bits", func(r *rand.Rand, _, _ int) float64 { return math.Float64frombits(r.Uint64()) }},
	{"one infinity", func(r *rand.Rand, i, n int) float64 { return withAt(r, i, n/2, math.Inf(-1)) }},
	{"one NaN", func(r *rand.Rand, i, n int) float64 { return withAt(r, i, n-1, math.NaN()) }},
	{"both infinities", func(r *rand.Rand, i, n int) float64 { return math.Inf(1 - 2*(i%2)) }},
}

// fullWord returns the greatest number of an exponent field, which fills a word of 52 bits if field mod 52 is 0 or 51,
// with the sign; one of 256 is much smaller.
func fullWord(i, field int, sign float64) float64 {
	if i%256 == 100 {
		return 0x1p-600
	}
	return math.Copysign(math.Float64frombits(uint64(field)<<52|(1<<52-1)), sign)
}

// finite returns the number of a bit pattern with another exponent if it is infinite or NaN.
func finite(pattern uint64) float64 {
	if pattern>>52&0x7ff == 0x7ff {
		pattern &^= 1 << 62
	}
	return math.Float64frombits(pattern)
}

func withAt(r *rand.Rand, i, at int, x float64) float64 {
	if i == at {
		return x
	}
	return r.Float64()
}

func (f family) make(seed uint64, n int) []float64 {
	r := rand.New(rand.NewPCG(seed, 5))
	x := make([]float64, n)
	for i := range x {
		x[i] = f.term(r, i, n)
	}
	return x
}

// compare fails the test unless both sums are the same, exactly.
func compare(t *testing.T, name string, got, want *superacc.Accumulator) {
	t.Helper()
	g, w := got.Round(4400), want.Round(4400) // exact
	if (g == nil) != (w == nil) || g != nil && (g.Cmp(w) != 0 || g.Signbit() != w.Signbit()) {
		t.Errorf("%s: got %.20g, want %.20g", name, g, w)
	}
	if a, b := got.Float64(), want.Float64(); math.Float64bits(a) != math.Float64bits(b) && !(a != a && b != b) {
		t.Errorf("%s: rounded %g, want %g", name, a, b)
	}
}

func cpuSum(x []float64) *superacc.Accumulator {
	a := new(superacc.Accumulator)
	a.AddSlice(x)
	return a
}

func cpuDot(x, y []float64) *superacc.Accumulator {
	a := new(superacc.Accumulator)
	a.AddProducts(x, y)
	return a
}

// deviceSum sums on the device with blocks of so many threads; y is nil for a sum.
func deviceSum(t *testing.T, x, y []float64, threads int) *superacc.Accumulator {
	t.Helper()
	v, err := newVector(gputest.Device(t), x, y, threads)
	if err != nil {
		t.Fatal(err)
	}
	defer v.Free()
	a := new(superacc.Accumulator)
	times, err := v.Sum(a, false)
	if err != nil {
		t.Fatal(err)
	}
	if times.Kernel < 0 || times.Download < 0 {
		t.Errorf("times %+v", times)
	}
	return a
}
