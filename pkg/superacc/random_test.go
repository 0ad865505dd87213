package superacc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"mpbench/datasets"
	"mpbench/pkg/exact"
)

// TestRandomSums compares 10^5 sums of all kinds with big.Float.
func TestRandomSums(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	var a Accumulator
	for i := range 100_000 {
		n := rng.IntN(50)
		if i%500 == 0 {
			n = rng.IntN(3001)
		}
		x := randomTerms(rng, n, rng.IntN(kinds))
		a.Reset()
		a.AddSlice(x)
		if got, want := a.Float64(), rounded(x, nil); !same(got, want) {
			t.Fatalf("%v: %g (%x), want %g (%x)", x, got, got, want, want)
		}
	}
}

// TestRandomDots compares dot products of all pairs of kinds with big.Float.
func TestRandomDots(t *testing.T) {
	rng := rand.New(rand.NewPCG(33, 34))
	var a Accumulator
	for i := range 30_000 {
		n := rng.IntN(40)
		if i%500 == 0 {
			n = rng.IntN(3001)
		}
		x, y := randomTerms(rng, n, rng.IntN(kinds)), randomTerms(rng, n, rng.IntN(kinds))
		a.Reset()
		a.AddProducts(x, y)
		if got, want := a.Float64(), rounded(x, y); !same(got, want) {
			t.Fatalf("%v . %v: %g (%x), want %g (%x)", x, y, got, got, want, want)
		}
	}
}

// TestLong makes the accumulator change its mind: stretches of easy, hard and special data after each other, long
// enough for buckets, for fewer levels after more, and for all their backing off.
func TestLong(t *testing.T) {
	rng := rand.New(rand.NewPCG(35, 36))
	var x []float64
	for range 24 {
		kind := []int{0, 1, 4, 5, 8, 8, 8, 12, 13}[rng.IntN(9)]
		part := randomTerms(rng, 1+rng.IntN(4000), kind)
		x = append(x, slices.Repeat(part, 1+rng.IntN(12))...)
	}
	checkLong(t, x)
	checkLong(t, append(randomTerms(rng, 70_000, 0), randomTerms(rng, 300_000, 8)...))
	checkLong(t, append(randomTerms(rng, 40_000, 12), randomTerms(rng, 40_000, 2)...))
}

// checkLong compares with package exact, which is faster than big.Float.
func checkLong(t *testing.T, x []float64) {
	t.Helper()
	d := exactSum(x)
	if got := sumOf(x...).Value(); !got.Equal(d) {
		t.Fatalf("%d terms: %v, want %v", len(x), got, d)
	}
	ones := slices.Repeat([]float64{-0.5}, len(x))
	var a Accumulator
	a.AddProducts(x, ones)
	a.AddProducts(ones, x)
	a.AddSlice(x)
	if got := a.Float64(); !same(got, 0) && d.IsFinite() {
		t.Fatalf("%d products cancelling as many terms: %g", len(x), got)
	}
}

// TestOrder sums permutations, splits over merged accumulators, and mixes of Add, AddSlice and products by 1.
func TestOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(37, 38))
	for kind := range kinds {
		x := randomTerms(rng, 3000, kind)
		want := sumOf(x...).Value()
		for range 6 {
			rng.Shuffle(len(x), func(i, j int) { x[i], x[j] = x[j], x[i] })
			var a Accumulator
			for rest := x; len(rest) > 0; {
				n := min(len(rest), rng.IntN(1+rng.IntN(1000)))
				var part Accumulator
				switch to := &part; rng.IntN(4) {
				case 0:
					a.AddSlice(rest[:n])
				case 1:
					a.AddProducts(rest[:n], slices.Repeat([]float64{1}, n))
				case 2:
					for _, v := range rest[:n] {
						a.Add(v)
					}
				default:
					to.AddSlice(rest[:n])
					part.Float64() // results may be asked for at any time
					a.Merge(to)
					a.Float64()
				}
				rest = rest[n:]
			}
			if got := a.Value(); !got.Equal(want) {
				t.Fatalf("kind %d: %v, want %v", kind, got, want)
			}
		}
	}
}

// TestSpecials puts infinities and NaN at every place of slices around the groups' lengths, and of long ones that need
// buckets.
func TestSpecials(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	rng := rand.New(rand.NewPCG(39, 40))
	for _, kind := range []int{0, 8} {
		for _, n := range []int{1, 2, 7, 8, 9, 31, 32, 33, 64, 100} {
			base := randomTerms(rng, n, kind)
			for i := range n {
				for _, s := range []float64{inf, -inf, nan} {
					for _, other := range []float64{1, inf, nan} {
						x := slices.Clone(base)
						x[i] = s
						x[rng.IntN(n)] *= other
						checkSpecial(t, x)
					}
				}
			}
		}
		for _, at := range []int{0, 5, 8191, 8192, 30_000, 49_999} {
			x := randomTerms(rng, 50_000, kind)
			x[at] = inf
			checkSpecial(t, x)
			x[at/2] = -inf
			checkSpecial(t, x)
			x[at/2], x[at] = -inf, math.Copysign(nan, -1)
			checkSpecial(t, x)
		}
	}
}

// TestMergeSpecials merges accumulators with special terms.
func TestMergeSpecials(t *testing.T) {
	values := []float64{1, math.Inf(1), math.Inf(-1), math.NaN()}
	for _, x := range values {
		for _, y := range values {
			a := sumOf(x)
			a.Merge(sumOf(y, 0))
			if got := a.Float64(); !same(got, x+y) {
				t.Errorf("%g merged with %g: %g", x, y, got)
			}
			a.AddSlice(make([]float64, 100))
			a.AddProducts(make([]float64, 100), make([]float64, 100))
			if got := a.Float64(); !same(got, x+y) {
				t.Errorf("%g merged with %g, and zeros: %g", x, y, got)
			}
		}
	}
}

// checkSpecial compares sums and products with what IEEE arithmetic makes of the special terms.
func checkSpecial(t *testing.T, x []float64) {
	t.Helper()
	want, zeros := 0.0, make([]float64, len(x))
	for _, v := range x {
		if !finite(v) {
			want += v
		}
	}
	if finite(want) {
		want = rounded(x, nil)
	}
	if got := sumOf(x...).Float64(); !same(got, want) {
		t.Fatalf("%d terms: %g, want %g", len(x), got, want)
	}
	ones := slices.Repeat([]float64{1}, len(x))
	if got := Dot(x, ones, 1); !same(got, want) {
		t.Fatalf("%d products: %g, want %g", len(x), got, want)
	}
	if got := Dot(zeros, x, 1); got == got && slices.ContainsFunc(x, func(v float64) bool { return !finite(v) }) {
		t.Fatalf("0 * infinity: %g, want NaN", got)
	}
	a := sumOf(x...)
	if v := a.Value(); v.Float64() != want && want == want {
		t.Fatalf("value %v, want %g", v, want)
	}
	if r := a.Round(60); (r == nil) != (want != want) || r != nil && r.IsInf() != math.IsInf(want, 0) {
		t.Fatalf("rounded %v, want %g", r, want)
	}
}

// TestThreads checks that results are the same for any number of goroutines, at lengths around their shares.
func TestThreads(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	rng := rand.New(rand.NewPCG(41, 42))
	for _, kind := range []int{0, 1, 8, 12} {
		for _, n := range []int{0, 1, share - 1, share, 2*share - 1, 2 * share, 5*share + 17} {
			x, y := randomTerms(rng, n, kind), randomTerms(rng, n, 8)
			sum, dot := Sum(x, 1), Dot(x, y, 1)
			for _, threads := range []int{-1, 0, 2, 3, 8, 100} {
				if got := Sum(x, threads); !same(got, sum) {
					t.Fatalf("sum of %d terms, kind %d, %d threads: %g, want %g", n, kind, threads, got, sum)
				}
				if got := Dot(x, y, threads); !same(got, dot) {
					t.Fatalf("%d products, kind %d, %d threads: %g, want %g", n, kind, threads, got, dot)
				}
			}
		}
	}
}

// TestDatasets sums every data set, for several values of its parameters.
func TestDatasets(t *testing.T) {
	specs := []string{
		"zhuhayes1:delta=2000", "zhuhayes2:delta=2000", "zhuhayes3:delta=2000", "zhuhayes4:delta=2000", "zhuhayes3:delta=10",
		"gensum:cond=1e100",
	}
	for _, s := range datasets.Vectors.Sets() {
		specs = append(specs, s.Name)
	}
	for _, text := range specs {
		spec, err := datasets.Vectors.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		d, err := datasets.Generate(spec, datasets.Options{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		x, _ := d.X.Float64()
		t.Run(text, func(t *testing.T) {
			want := exact.SumOf(x).Sum
			for _, threads := range []int{1, 3} {
				if got := Sum(x, threads); !same(got, want.Float64()) {
					t.Errorf("%g, want %g", got, want.Float64())
				}
			}
			if got := sumOf(x...).Value(); !got.Equal(want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// TestAllocs: sums and dot products of any length allocate nothing where one window fits the data, and once where not.
func TestAllocs(t *testing.T) {
	rng := rand.New(rand.NewPCG(43, 44))
	for _, n := range []int{10, 1000, 200_000} {
		for _, c := range []struct{ kind, most int }{{8, 0}, {0, 1}} {
			t.Run(fmt.Sprintf("kind=%d/n=%d", c.kind, n), func(t *testing.T) {
				x := randomTerms(rng, n, c.kind)
				if got := testing.AllocsPerRun(5, func() { sink = Sum(x, 1) }); got > float64(c.most) {
					t.Errorf("Sum: %g allocations", got)
				}
				if SIMD() == "none" {
					c.most = 1 // the buckets of products
				}
				if got := testing.AllocsPerRun(5, func() { sink = Dot(x, x, 1) }); got > float64(c.most) {
					t.Errorf("Dot: %g allocations", got)
				}
				var a Accumulator
				if got := testing.AllocsPerRun(5, func() { a.AddSlice(x); a.AddProducts(x, x); sink = a.Float64() }); got != 0 {
					t.Errorf("a used accumulator: %g allocations", got)
				}
				a.Reset()
				if got := a.Float64(); got != 0 {
					t.Errorf("after Reset: %g", got)
				}
			})
		}
	}
}

// TestLengths: vectors of different lengths have no dot product.
func TestLengths(t *testing.T) {
	for _, add := range []func(a *Accumulator){
		func(a *Accumulator) { a.AddProducts(make([]float64, 3), make([]float64, 2)) },
		func(a *Accumulator) { a.AddProductsParallel(make([]float64, 3), make([]float64, 4), 1) },
		func(a *Accumulator) { a.AddProductsParallel(make([]float64, 3*share), make([]float64, 4*share), 2) },
		func(*Accumulator) { Dot(make([]float64, 9), nil, 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			add(new(Accumulator))
		}()
	}
	var a Accumulator
	a.AddSliceParallel([]float64{1, 2}, 2)
	a.AddProductsParallel([]float64{1, 2}, []float64{3, 4}, 2)
	if got := a.Float64(); got != 14 {
		t.Errorf("sum %g, want 14", got)
	}
}
