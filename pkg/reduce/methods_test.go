package reduce

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mpbench/datasets"
	"mpbench/pkg/exact"
	"mpbench/pkg/rns"
)

func generate(t testing.TB, spec string) Terms {
	t.Helper()
	s, err := datasets.Parse(spec)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.Generate(s, datasets.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return Terms{Float64: d.Float64, Wide: d.Wide}
}

func run(t testing.TB, method string, o Options, terms Terms) Summer {
	t.Helper()
	m, ok := Lookup(method)
	if !ok {
		t.Fatalf("no method %s", method)
	}
	s, err := m.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Load(terms); err != nil {
		t.Fatal(err)
	}
	s.Sum()
	return s
}

func summary(t Terms) exact.Summary {
	if t.Wide != nil {
		return exact.SumOfRats(t.Wide)
	}
	return exact.SumOf(t.Float64)
}

// TestPaperTables asserts the cells of Tables 1 and 2 of the 2018 paper that its algorithms reproduce; the digits
// printed there are given in full.
func TestPaperTables(t *testing.T) {
	for _, c := range []struct {
		set, method  string
		precision    int
		value, error string // "" is not asserted
	}{
		{"mcnamee1", "float32", 0, "0", "1e+00"},
		{"mcnamee1", "float64", 0, "0", "1e+00"},
		{"mcnamee2", "float32", 0, "1.00000000e+00", "1e-10"},
		{"mcnamee2", "float64", 0, "1.00000000e+00", "1e-10"},
		{"mcnamee3", "float32", 0, "2.00600782e-03", ""},
		{"mcnamee3", "float64", 0, "3.48733650e-06", "3e-07"},

		{"mcnamee1", "reduce1", 30, "0", "1e+00"},
		{"mcnamee1", "reduce2", 30, "0", "1e+00"},
		{"mcnamee1", "reduce3", 30, "0", "1e+00"},
		{"mcnamee2", "reduce1", 30, "1.00000000e+00", "1e-10"},
		{"mcnamee2", "reduce2", 30, "1.00000000e+00", "1e-10"},
		{"mcnamee2", "reduce3", 30, "1.00000000e+00", "1e-10"},
		{"mcnamee3", "reduce1", 30, "1.24597778e-05", ""},
		{"mcnamee3", "reduce2", 30, "1.31716952e-05", ""},

		{"mcnamee1", "reduce1", 60, "0", "1e+00"},
		{"mcnamee1", "reduce3", 60, "0", "1e+00"},
		{"mcnamee2", "reduce1", 60, "1.00000000e+00", ""},
		{"mcnamee3", "reduce1", 60, "3.48733745e-06", ""},
		{"mcnamee3", "reduce2", 60, "3.48733745e-06", "1e-10"},
		{"mcnamee3", "reduce3", 60, "3.48733738e-06", "2e-08"},

		{"mcnamee1", "reduce1", 120, "2.00000000e-18", ""},
		{"mcnamee1", "reduce2", 120, "2.00000000e-18", ""},
		{"mcnamee1", "reduce3", 120, "2.00000000e-18", ""},
		{"mcnamee2", "reduce1", 120, "", "0"},
		{"mcnamee3", "reduce1", 120, "3.48733745e-06", "0"},
		{"mcnamee3", "reduce2", 120, "3.48733745e-06", "0"},
		{"mcnamee3", "reduce3", 120, "3.48733745e-06", "6e-27"},

		{"mcnamee1", "reduce1", 240, "2.00000000e-18", "0"},
		{"mcnamee1", "reduce2", 240, "2.00000000e-18", "0"},
		{"mcnamee1", "reduce3", 240, "2.00000000e-18", "0"},
		{"mcnamee2", "reduce1", 240, "1.00000000e+00", "0"},
		{"mcnamee3", "reduce1", 240, "3.48733745e-06", "0"},
		{"mcnamee3", "reduce2", 240, "3.48733745e-06", "0"},
		{"mcnamee3", "reduce3", 240, "3.48733745e-06", "0"},
	} {
		name := fmt.Sprintf("%s/%s/%d", c.set, c.method, c.precision)
		terms := generate(t, c.set)
		s := run(t, c.method, Options{Precision: c.precision, ModuliBits: 16, Blocks: 256, BlockSize: 64}, terms)
		e := exact.Measure(s.Value(), summary(terms).Sum)
		if got := s.Value().Text(9); c.value != "" && got != c.value {
			t.Errorf("%s: value %s, want %s", name, got, c.value)
		}
		if got := strings.TrimSuffix(e.Rel.Text(1), "e+00"); c.error != "" && got != strings.TrimSuffix(c.error, "e+00") {
			t.Errorf("%s: relative error %s, want %s", name, got, c.error)
		}
	}
}

// cpuMethods are the methods that run without a GPU.
func cpuMethods() []Method {
	return slices.DeleteFunc(Methods(), func(m Method) bool { return !m.RunsOn("cpu") })
}

// testSets are data sets of every kind, small enough for all methods.
var testSets = []string{
	"mcnamee1", "mcnamee3", "uniform01:n=1000", "uniform11:n=1001", "anderson:n=777", "gensum:n=500,cond=1e40",
	"zhuhayes1:n=512", "zhuhayes2:n=512,delta=400", "zhuhayes3:n=512,delta=400", "zhuhayes4:n=512,delta=400", "harmonic:n=1000",
	"basel:n=1000", "extremes:kind=overflow", "extremes:kind=subnormals,n=100", "uniform01:n=1", "uniform11:n=2", "uniform11:n=63", "uniform11:n=129",
}

// TestErrorBounds compares every method's error on every kind of data with its bound, and requires that a bound exists
// unless the sum of the magnitudes is near the overflow threshold.
func TestErrorBounds(t *testing.T) {
	for _, spec := range testSets {
		terms := generate(t, spec)
		want := summary(terms)
		for _, m := range cpuMethods() {
			for _, p := range []int{30, 53, 113, 240, 1696} {
				if m.FixedBits != 0 && p != 53 {
					continue
				}
				for _, r := range []rns.Rounding{rns.Truncate, rns.Nearest} {
					for _, a := range []rns.Alignment{rns.Align2018, rns.AlignBLAS} {
						o := Options{Precision: p, Rounding: r, Alignment: a, Blocks: 4, BlockSize: 8}
						checkWithin(t, fmt.Sprintf("%s %s p=%d %v %v", spec, m.Name, p, r, a), run(t, m.Name, o, terms), want)
						if m.Format != "rns" {
							break
						}
					}
				}
			}
		}
	}
}

func checkWithin(t *testing.T, what string, s Summer, want exact.Summary) {
	t.Helper()
	bound := s.ErrorBound(want)
	if bound == nil {
		if f := want.SumAbs.Float64(); s.Format().Name[0] == 'b' && s.Format().Actual == 24 && f > math.MaxFloat32/2 || f > math.MaxFloat64/2 {
			return
		}
		t.Errorf("%s: no bound", what)
		return
	}
	if e := exact.Measure(s.Value(), want.Sum); !e.Within(bound) {
		t.Errorf("%s: error %s exceeds the bound %s", what, e.Abs.Text(3), exact.FormatRat(bound, 3))
	}
}

// TestWideTerms sums decimals that no binary format holds.
func TestWideTerms(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	wide := make([]*big.Rat, 300)
	for i := range wide {
		wide[i], _ = new(big.Rat).SetString(fmt.Sprintf("%d.%d%de%d", rng.IntN(100)-50, rng.Uint64(), rng.Uint64(), rng.IntN(60)-30))
	}
	terms := Terms{Wide: wide}
	for _, m := range cpuMethods() {
		for _, p := range []int{30, 240} {
			checkWithin(t, m.Name, run(t, m.Name, Options{Precision: p, Blocks: 2, BlockSize: 4}, terms), summary(terms))
		}
	}
}

// TestSpecials gives every method infinities and NaN in every place.
func TestSpecials(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		terms []float64
		want  exact.Class
	}{
		{[]float64{inf, 1, 2}, exact.PosInf},
		{[]float64{1, -inf, 2}, exact.NegInf},
		{[]float64{1, 2, inf}, exact.PosInf},
		{[]float64{inf, inf, 1}, exact.PosInf},
		{[]float64{inf, 1, -inf}, exact.NaN},
		{[]float64{1, nan, 2}, exact.NaN},
		{[]float64{inf, nan}, exact.NaN},
		{[]float64{nan}, exact.NaN},
	} {
		for _, m := range cpuMethods() {
			if got := run(t, m.Name, Options{Precision: 60}, Terms{Float64: c.terms}).Value(); got.Class != c.want {
				t.Errorf("%s of %v: %v, want %v", m.Name, c.terms, got, c.want)
			}
		}
	}
}

// TestReload checks that a Summer can be loaded again, with specials and without, and summed twice.
func TestReload(t *testing.T) {
	for _, m := range cpuMethods() {
		s, err := m.New(Options{Precision: 240})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			terms []float64
			want  float64
		}{{[]float64{1, 2, 3}, 6}, {[]float64{math.Inf(1)}, math.Inf(1)}, {[]float64{0.5, 0.25}, 0.75}, {[]float64{}, 0}, {[]float64{0, 0}, 0}} {
			if err := s.Load(Terms{Float64: c.terms}); err != nil {
				t.Fatal(err)
			}
			s.Sum()
			s.Sum()
			if got := s.Value().Float64(); got != c.want {
				t.Errorf("%s of %v: %v", m.Name, c.terms, got)
			}
		}
	}
}

// TestThreads requires the same bits for any number of threads.
func TestThreads(t *testing.T) {
	terms := generate(t, "uniform11:n=20000")
	for _, p := range []int{30, 240} {
		var first exact.Value
		for _, threads := range []int{1, 2, 3, 7, 16} {
			v := run(t, "reduce3", Options{Precision: p, Blocks: 37, BlockSize: 16, Threads: threads}, terms).Value()
			if threads == 1 {
				first = v
			} else if !v.Equal(first) {
				t.Errorf("p = %d: %d threads give %v, 1 gives %v", p, threads, v, first)
			}
		}
	}
}

func TestOptionErrors(t *testing.T) {
	for _, c := range []struct {
		method string
		o      Options
		want   string
	}{
		{"reduce1", Options{Precision: 10}, "precision 10 is outside"},
		{"reduce1", Options{Precision: 240, ModuliBits: 40}, "moduli of 40 bits are outside"},
		{"reduce1", Options{Precision: 4000, ModuliBits: 8}, "not enough pairwise coprime moduli of 8 bits"},
		{"reduce3", Options{Precision: 240, Blocks: -1}, "-1 blocks"},
		{"reduce3", Options{Precision: 240, BlockSize: 48}, "block size 48; want a power of two"},
	} {
		m, _ := Lookup(c.method)
		if _, err := m.New(c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %+v: %v, want %q", c.method, c.o, err, c.want)
		}
	}
}
