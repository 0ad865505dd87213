package binned

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// slicesOf is the definition, in rationals: what a term adds to the bins from the first one on, in units.
func slicesOf(x float64, first, fold int) (units []*big.Int) {
	rest := new(big.Rat).SetFloat64(x)
	for i := first; i < first+fold && i <= lastIndex; i++ {
		unit := new(big.Rat).SetFloat64(math.Ldexp(1, firstUnit-width*i))
		q := new(big.Rat).Quo(rest, unit)
		half := big.NewRat(int64(q.Sign()), 2)
		q.Add(q, half)
		n := new(big.Int).Quo(q.Num(), q.Denom()) // towards zero, of one half more: ties away from zero
		units = append(units, n)
		rest.Sub(rest, unit.Mul(unit, new(big.Rat).SetInt(n)))
	}
	return units
}

// binsOf adds terms by the definition.
func binsOf(x []float64, fold int) (first int, totals []*big.Int) {
	first = lastIndex
	for _, v := range x {
		for i := 0; i < lastIndex; i++ { // the first bin with 2^(984-40i) <= |v|
			if math.Abs(v) >= math.Ldexp(1, 984-width*i) {
				first = min(first, i)
				break
			}
		}
	}
	for range min(fold, lastIndex+1-first) {
		totals = append(totals, new(big.Int))
	}
	for _, v := range x {
		for k, n := range slicesOf(v, first, fold) {
			totals[k].Add(totals[k], n)
		}
	}
	return first, totals
}

func (x integer) big() *big.Int {
	z := new(big.Int).Lsh(big.NewInt(x.hi), 64)
	return z.Add(z, new(big.Int).SetUint64(x.lo))
}

// check compares a sum's bins and result with the definition.
func check(t *testing.T, what string, s *Sum, x []float64) {
	t.Helper()
	first, totals := binsOf(x, s.fold)
	if s.top != first {
		t.Fatalf("%s: the first bin is %d, want %d", what, s.top, first)
	}
	value := new(big.Rat)
	for k, n := range totals {
		if s.bins[k].big().Cmp(n) != 0 {
			t.Fatalf("%s: bin %d has %v units, want %v", what, first+k, s.bins[k].big(), n)
		}
		unit := new(big.Rat).SetFloat64(math.Ldexp(1, firstUnit-width*(first+k)))
		value.Add(value, unit.Mul(unit, new(big.Rat).SetInt(n)))
	}
	if want, _ := value.Float64(); s.Float64() != want {
		t.Fatalf("%s: %x, want %x", what, s.Float64(), want)
	}
}

// edges are numbers at which something changes: ends of bins, ties, the ends of the range.
func edges() (list []float64) {
	for _, e := range []int{1023, 984, 983, 944, 104, 64, 63, 25, 24, 0, -976, -1016, -1022, -1055, -1056, -1057, -1074} {
		for _, m := range []float64{1, 1.5, 1 + 0x1p-52, 2 - 0x1p-52, 1.25} {
			list = append(list, math.Ldexp(m, e), -math.Ldexp(m, e))
		}
	}
	for k := -3; k <= 3; k++ { // ties of the second and third bin, of numbers that start at bin 24, and neighbours
		tie := math.Ldexp(1, 64) + math.Ldexp(float64(2*k+1), 24)
		list = append(list, tie, math.Nextafter(tie, 0), -math.Nextafter(tie, math.Inf(1)))
	}
	return append(list, 0, math.Copysign(0, -1), math.MaxFloat64, -math.MaxFloat64)
}

// TestAdd: single terms, and pairs of them, in every fold.
func TestAdd(t *testing.T) {
	list := edges()
	for fold := 2; fold <= MaxFold; fold++ {
		for i, x := range list {
			s := New(fold)
			s.Add(x)
			check(t, fmt.Sprintf("fold %d, %x", fold, x), s, []float64{x})
			y := list[(i*7+3)%len(list)]
			s.Add(y)
			check(t, fmt.Sprintf("fold %d, %x and %x", fold, x, y), s, []float64{x, y})
		}
	}
}

// hostile returns n numbers within a range of exponents, ties and zeros among them.
func hostile(r *rand.Rand, n int) []float64 {
	lowest := r.IntN(2000) - 1060
	spread := 1 + r.IntN(min(200, 1023-lowest))
	list := edges()
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Ldexp(math.Float64frombits(r.Uint64()>>12|0x3ff<<52), lowest+r.IntN(spread))
		switch r.IntN(8) {
		case 0:
			x[i] = math.Float64frombits(math.Float64bits(x[i]) &^ (1<<(r.IntN(53)) - 1)) // few bits: ties
		case 1:
			if i > 0 {
				x[i] = -x[r.IntN(i)]
			}
		case 2:
			if v := list[r.IntN(len(list))]; math.Abs(v) < math.Ldexp(1, lowest+spread) {
				x[i] = v
			}
		}
	}
	return x
}

// TestAddSlice: slices of all lengths, in vector registers or not, have the bins of the definition.
func TestAddSlice(t *testing.T) {
	for seed := range uint64(150) {
		r := rand.New(rand.NewPCG(seed, 1))
		fold := 2 + int(seed%(MaxFold-1))
		x := hostile(r, []int{0, 1, 15, 16, 17, 100, 1000}[r.IntN(7)])
		s := New(fold)
		s.AddSlice(x)
		check(t, fmt.Sprintf("seed %d, fold %d, %d terms", seed, fold, len(x)), s, x)
		y := hostile(r, len(x))
		products, dot := make([]float64, len(x)), New(fold)
		for i := range x {
			if y[i] = math.Ldexp(y[i], -900-int(math.Ilogb(y[i]+0x1p-1074))/2); math.Abs(x[i]*y[i]) > math.MaxFloat64 {
				y[i] = 0
			}
			products[i] = x[i] * y[i]
		}
		dot.AddProducts(x, y)
		check(t, fmt.Sprintf("seed %d, fold %d, %d products", seed, fold, len(x)), dot, products)
	}
}

// TestLargest: as many of the largest terms of a bin as a block has, of one sign, and more.
func TestLargest(t *testing.T) {
	for _, x := range []float64{math.Nextafter(0x1p104, 0), -math.Nextafter(0x1p104, 0), 0x1.8p64} {
		for _, n := range []int{most, most + 1, 3*most - 5} {
			s := New(3)
			s.AddSlice(slices.Repeat([]float64{x}, n))
			check(t, fmt.Sprintf("%d times %x", n, x), s, slices.Repeat([]float64{x}, n))
		}
	}
}

// TestSpecials: infinities and NaN anywhere, in slices of any length; a largest term that comes last.
func TestSpecials(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, n := range []int{2, 16, 17, 100, 10_000} {
		for _, at := range []int{0, n / 2, n - 1} {
			for _, c := range []struct{ first, second, want float64 }{
				{inf, 1, inf}, {-inf, 1, -inf}, {inf, inf, inf}, {inf, -inf, nan}, {nan, 1, nan}, {nan, -inf, nan},
				{math.MaxFloat64, 1, math.MaxFloat64},
			} {
				x := make([]float64, n)
				x[(at+1)%n], x[at] = c.second, c.first
				s := New(2)
				s.AddSlice(x)
				if got := s.Float64(); got != c.want && !(got != got && c.want != c.want) {
					t.Errorf("%d terms, %g at %d, %g: %g, want %g", n, c.first, at, c.second, got, c.want)
				}
			}
		}
	}
	s := New(3)
	s.AddProducts([]float64{0x1p1000, 1}, []float64{0x1p1000, 1})
	if got := s.Float64(); got != inf {
		t.Errorf("a product that overflows: %g", got)
	}
}

// fills are those of ReproBLAS's tests, n numbers each: D. Demmel and Nguyen's generators by their definitions.
func fills(n int) map[string][]float64 {
	const small, large = 0x1p-27, 0x1p27
	r := rand.New(rand.NewPCG(1, 2))
	unit := func() float64 { return r.Float64() * (1 + 1e-9) }
	of := func(f func(i int) float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = f(i)
		}
		return x
	}
	with := func(x []float64, first, last float64) []float64 {
		x[0], x[n-1] = first, last
		return x
	}
	constant := func(v float64) []float64 { return of(func(int) float64 { return v }) }
	sine := of(func(i int) float64 {
		if i == 0 || i >= (n+1)/2 {
			return 0
		}
		return math.Sin(2 * math.Pi * float64(i) / float64(n))
	})
	for i := 1; i < (n+1)/2; i++ {
		sine[n-i] = -sine[i]
	}
	list := map[string][]float64{
		"constant": constant(1), "+big": with(constant(small), large, small), "++big": with(constant(small), large, large),
		"+-big": with(constant(small), large, -large),
		"rand":  of(func(int) float64 { return unit() }), "2rand-1": of(func(int) float64 { return 2*unit() - 1 }),
		"rand+(rand-1)": of(func(int) float64 { return unit() + (unit() - 1) }),
		"normal": of(func(int) float64 {
			return math.Sqrt(-2*math.Log(1-r.Float64())) * math.Cos(2*math.Pi*unit())
		}),
		"sine": sine, "N_cond": with(constant(1), -float64(n), 1), "N_cond+rand": with(constant(1), -float64(n), unit()),
		"full range": of(func(i int) float64 {
			return math.Copysign(math.Exp2(-1022+float64(2046*float64(i)/float64(n))), float64(1-i%2*2))
		}),
		"half range": of(func(i int) float64 {
			return math.Copysign(math.Exp2(1024*float64(i)/float64(n)), float64(1-i%2*2))
		}),
		"small+increasing big": of(func(i int) float64 { return small + float64((large-small)*float64(i)/float64(n)) }),
		"small+rand big":       of(func(int) float64 { return small + float64((large-small)*unit()) }),
	}
	mountain := make([]float64, n)
	for i, s := 0, 1.0; i < n/2; i++ {
		mountain[i], mountain[n-1-i] = s, -s
		s *= 0x1p-25 * 0.5
	}
	list["mountain"] = mountain
	for _, name := range []string{"rand", "2rand-1", "normal", "sine"} {
		drop := slices.Clone(list[name])
		for i := n / 2; i < n; i++ {
			drop[i] *= 1e-12
		}
		list[name+"_drop"] = drop
	}
	return list
}

// orders returns the numbers in the orders of ReproBLAS's protocol.
func orders(x []float64) map[string][]float64 {
	sorted := func(less func(a, b float64) int) []float64 {
		y := slices.Clone(x)
		slices.SortFunc(y, less)
		return y
	}
	up := func(a, b float64) int {
		if a < b {
			return -1
		}
		return 1
	}
	magnitude := func(a, b float64) int { return up(math.Abs(a), math.Abs(b)) }
	list := map[string][]float64{
		"as given": x, "ascending": sorted(up), "by magnitude": sorted(magnitude),
		"descending":              sorted(func(a, b float64) int { return up(b, a) }),
		"by magnitude, backwards": sorted(func(a, b float64) int { return magnitude(b, a) }),
	}
	reversed := slices.Clone(x)
	slices.Reverse(reversed)
	list["reversed"] = reversed
	for seed := range uint64(3) {
		shuffled := slices.Clone(x)
		rand.New(rand.NewPCG(seed, 3)).Shuffle(len(x), func(i, j int) {
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		})
		list[fmt.Sprint("shuffled ", seed)] = shuffled
	}
	return list
}

// TestReproducible is ReproBLAS's protocol: every order, in 1 to 1024 blocks that are merged, has the same bits; and
// the error is within the bound.
func TestReproducible(t *testing.T) {
	const n = 4095
	for name, x := range fills(n) {
		for _, fold := range []int{2, 3} {
			first, totals := binsOf(x, fold)
			for what, y := range orders(x) {
				for blocks := 1; blocks <= 1024; blocks *= 2 {
					s := New(fold)
					for b := range blocks {
						part := New(fold)
						part.AddSlice(y[b*n/blocks : (b+1)*n/blocks])
						s.Merge(part)
					}
					for k := range totals {
						if s.top != first || s.bins[k].big().Cmp(totals[k]) != 0 {
							t.Fatalf("%s, fold %d, %s, %d blocks: other bins than by the definition", name, fold, what, blocks)
						}
					}
				}
			}
			checkBound(t, name, x, fold)
		}
	}
}

// checkBound compares the error with the bound of the package.
func checkBound(t *testing.T, name string, x []float64, fold int) {
	t.Helper()
	s := New(fold)
	s.AddSlice(x)
	exactly, largest := new(big.Rat), 0.0
	for _, v := range x {
		exactly.Add(exactly, new(big.Rat).SetFloat64(v))
		largest = max(largest, math.Abs(v))
	}
	u := big.NewRat(1, 1<<53)
	dropped := new(big.Rat).SetFloat64(math.Ldexp(largest, -40*(fold-1)))
	dropped.Add(dropped, new(big.Rat).SetFloat64(0x1p-1056)).Mul(dropped, big.NewRat(int64(len(x)), 1))
	limit := new(big.Rat).Mul(u, new(big.Rat).Abs(exactly))
	limit.Add(limit, dropped).Add(limit, new(big.Rat).Mul(u, dropped))
	failure := new(big.Rat).SetFloat64(s.Float64())
	failure.Abs(failure.Sub(failure, exactly))
	if failure.Cmp(limit) > 0 {
		t.Errorf("%s, fold %d: error %v, bound %v", name, fold, failure.FloatString(60), limit.FloatString(60))
	}
}

// BenchmarkSum times a million numbers, 8 MB.
func BenchmarkSum(b *testing.B) {
	const n = 1 << 20
	x := make([]float64, n)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range x {
		x[i] = r.Float64()
	}
	for fold := 2; fold <= MaxFold; fold++ {
		for name, add := range map[string]func(s *Sum){
			"sum": func(s *Sum) { s.AddSlice(x) }, "dot": func(s *Sum) { s.AddProducts(x, x) },
		} {
			b.Run(fmt.Sprintf("%s/fold=%d", name, fold), func(b *testing.B) {
				for range b.N {
					add(New(fold))
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
			})
		}
	}
}
