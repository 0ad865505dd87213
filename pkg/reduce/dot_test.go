package reduce

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"mpbench/datasets"
	"mpbench/pkg/exact"
	"mpbench/pkg/rns"
)

func generatePair(t testing.TB, spec string) (x, y []float64) {
	t.Helper()
	s, err := datasets.ParsePair(spec)
	if err != nil {
		t.Fatal(err)
	}
	d, err := datasets.GeneratePair(s, datasets.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	return d.X, d.Y
}

func runDot(t testing.TB, m Method, o Options, x, y Terms) Dotter {
	t.Helper()
	d, err := m.NewDot(o)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Load(x, y); err != nil {
		t.Fatal(err)
	}
	d.Dot()
	return d
}

func dotSummary(x, y []float64) exact.Summary {
	var d exact.Dot
	for i := range x {
		d.Add(x[i], y[i])
	}
	return d.Summary()
}

// TestDotBounds compares every method's error with its bound, among them data whose products underflow.
func TestDotBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	tiny := func(n int) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Ldexp(rng.Float64()-0.5, -500-rng.IntN(60))
		}
		return x
	}
	pairs := map[string][2][]float64{"tiny": {tiny(300), tiny(300)}, "one": {{0.1}, {0.3}}, "none": {{}, {}}}
	for _, spec := range []string{"gendot:n=300,cond=1e8", "gendot:n=301,cond=1e40", "gendot:n=1000,cond=1e100", "uniform11:n=1000", "wide:n=500,range=300"} {
		x, y := generatePair(t, spec)
		pairs[spec] = [2][]float64{x, y}
	}
	for name, pair := range pairs {
		want := dotSummary(pair[0], pair[1])
		for _, m := range DotMethods() {
			for _, p := range []int{30, 53, 113, 424} {
				for _, r := range []rns.Rounding{rns.Truncate, rns.Nearest} {
					d := runDot(t, m, Options{Precision: p, Rounding: r, Blocks: 4, BlockSize: 8}, Terms{Float64: pair[0]}, Terms{Float64: pair[1]})
					checkDot(t, fmt.Sprintf("%s %s p=%d %v", name, m.Name, p, r), d, want)
				}
			}
		}
	}
}

func checkDot(t *testing.T, what string, d Dotter, want exact.Summary) {
	t.Helper()
	bound := d.ErrorBound(want)
	if bound == nil {
		t.Errorf("%s: no bound", what)
		return
	}
	if e := exact.Measure(d.Value(), want.Sum); !e.Within(bound) {
		t.Errorf("%s: error %s exceeds the bound %s", what, e.Abs.Text(3), exact.FormatRat(bound, 3))
	}
}

// TestDotWide multiplies decimals that no binary format holds.
func TestDotWide(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	wide := func() Terms {
		x := make([]*big.Rat, 100)
		for i := range x {
			x[i], _ = new(big.Rat).SetString(fmt.Sprintf("%d.%d%de%d", rng.IntN(100)-50, rng.Uint64(), rng.Uint64(), rng.IntN(20)-10))
		}
		return Terms{Wide: x}
	}
	x, y := wide(), wide()
	products := make([]*big.Rat, 100)
	for i := range products {
		products[i] = new(big.Rat).Mul(x.Wide[i], y.Wide[i])
	}
	for _, m := range DotMethods() {
		for _, p := range []int{30, 240} {
			d := runDot(t, m, Options{Precision: p, Blocks: 2, BlockSize: 4}, x, y)
			checkDot(t, fmt.Sprint(m.Name, p), d, exact.SumOfRats(products))
		}
	}
}

// TestDotWideExtremes: numbers beyond the ends of float64 that meet ones that bring the product back. A method over float64 loses
// them and must not state a bound that it does not keep.
func TestDotWideExtremes(t *testing.T) {
	for _, pair := range [][2]string{{"1e-400", "1e300"}, {"1e-310", "1e300"}, {"1e400", "1e-300"}} {
		x, _ := new(big.Rat).SetString(pair[0])
		y, _ := new(big.Rat).SetString(pair[1])
		want := exact.SumOfRats([]*big.Rat{new(big.Rat).Mul(x, y)})
		for _, m := range DotMethods() {
			d := runDot(t, m, Options{Precision: 60}, Terms{Wide: []*big.Rat{x}}, Terms{Wide: []*big.Rat{y}})
			bound := d.ErrorBound(want)
			if bound == nil && m.Format == "binary64" {
				continue
			}
			if bound == nil || !exact.Measure(d.Value(), want.Sum).Within(bound) {
				t.Errorf("%s of %s and %s: %v exceeds the bound %v", m.Name, pair[0], pair[1], d.Value(), bound)
			}
		}
	}
}

// TestDotSpecials gives every method infinities and NaN, also times zero.
func TestDotSpecials(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		x, y []float64
		want exact.Class
	}{
		{[]float64{inf, 1}, []float64{1, 1}, exact.PosInf},
		{[]float64{1, 2}, []float64{-inf, 1}, exact.NegInf},
		{[]float64{inf, inf}, []float64{1, -1}, exact.NaN},
		{[]float64{inf, 1}, []float64{0, 1}, exact.NaN},
		{[]float64{1, nan}, []float64{1, 1}, exact.NaN},
		{[]float64{inf, -2}, []float64{-3, 1}, exact.NegInf},
		{[]float64{inf, 1e300}, []float64{1e300, -1e300}, exact.PosInf},
	} {
		for _, m := range DotMethods() {
			if m.Format == "binary64" && c.x[1] == 1e300 { // a finite product overflows there, with the other sign
				continue
			}
			got := runDot(t, m, Options{Precision: 60}, Terms{Float64: c.x}, Terms{Float64: c.y}).Value()
			if got.Class != c.want {
				t.Errorf("%s of %v and %v: %v, want %v", m.Name, c.x, c.y, got, c.want)
			}
		}
	}
}

// TestDeferredIsCorrectlyRounded: the deferred sum and dot product are the exact ones rounded to nearest even, bit for bit.
func TestDeferredIsCorrectlyRounded(t *testing.T) {
	for _, p := range []int{24, 53, 64, 113, 240, 4096} {
		for _, spec := range testSets {
			terms := generate(t, spec)
			want := exact.FromBig(summary(terms).Sum.Round(uint(p)))
			if got := run(t, "deferred", Options{Precision: p}, terms).Value(); !got.Equal(want) {
				t.Errorf("sum of %s at %d bits: %v, want %v", spec, p, got, want)
			}
		}
		for _, spec := range []string{"gendot:n=1000,cond=1e100", "wide:n=777,range=400", "uniform11:n=70000"} {
			x, y := generatePair(t, spec)
			want := exact.FromBig(dotSummary(x, y).Sum.Round(uint(p)))
			m, _ := Lookup("deferred")
			if got := runDot(t, m, Options{Precision: p}, Terms{Float64: x}, Terms{Float64: y}).Value(); !got.Equal(want) {
				t.Errorf("dot product of %s at %d bits: %v, want %v", spec, p, got, want)
			}
		}
	}
}
