package lanes

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// hostile returns n numbers: of any exponent, cancelling, zeros of both signs, subnormal, infinite if asked for.
func hostile(r *rand.Rand, n int, specials bool) []float64 {
	x := make([]float64, n)
	for i := range x {
		switch r.IntN(6) {
		case 0:
			x[i] = math.Ldexp(r.Float64()-0.5, r.IntN(1900)-1000)
		case 1:
			x[i] = math.Float64frombits(r.Uint64()&(1<<63) | r.Uint64N(1<<52))
		case 2:
			x[i] = []float64{0, math.Copysign(0, -1), 1, -1, 0x1p-1074, 0x1p53}[r.IntN(6)]
		case 3:
			if i > 0 {
				x[i] = -x[r.IntN(i)]
			}
		default:
			x[i] = r.NormFloat64()
		}
	}
	if specials && n > 0 {
		x[r.IntN(n)] = []float64{math.Inf(1), math.Inf(-1), math.NaN(), math.MaxFloat64}[r.IntN(4)]
	}
	return x
}

// same tells whether numbers have the same bits, or are NaN both.
func same(x, y float64) bool {
	return math.Float64bits(x) == math.Float64bits(y) || math.IsNaN(x) && math.IsNaN(y)
}

// everySet runs a test for every instruction set that the processor has.
func everySet(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	for _, s := range instructionSets() {
		t.Run(s.name, func(t *testing.T) {
			defer s.choose()()
			test(t)
		})
	}
}

// TestCascade: the loops of all instruction sets give the bits of the plain ones, from any state of the lanes.
func TestCascade(t *testing.T) {
	everySet(t, func(t *testing.T) {
		for seed := range uint64(60) {
			r := rand.New(rand.NewPCG(seed, 1))
			for levels := 2; levels <= 5; levels++ {
				n := Count * r.IntN(20)
				x, y := hostile(r, n, seed%4 == 3), hostile(r, n, seed%5 == 4)
				got, want := make(Cascade, levels), make(Cascade, levels)
				for turn, add := range []func(){
					func() { got.AddSums(x); want.sumsGeneric(x) },
					func() { got.AddProducts(x, y); want.productsGeneric(x, y) },
					func() { got.AddSums(y); want.sumsGeneric(y) },
				} {
					add()
					for k := range want {
						for l := range want[k] {
							if !same(got[k][l], want[k][l]) {
								t.Fatalf("seed %d, %d levels, turn %d: level %d, lane %d: %x, want %x",
									seed, levels, turn, k, l, got[k][l], want[k][l])
							}
						}
					}
				}
			}
		}
	})
}

// TestLeaves: leaves of all sizes, by all instruction sets.
func TestLeaves(t *testing.T) {
	everySet(t, func(t *testing.T) {
		for seed := range uint64(100) {
			r := rand.New(rand.NewPCG(seed, 2))
			var groups []int
			n := 0
			for range r.IntN(9) {
				groups = append(groups, 1+r.IntN(17))
				n += LeafLanes * groups[len(groups)-1]
			}
			x := hostile(r, n, seed%4 == 3)
			got, want := make([]float64, len(groups)), make([]float64, len(groups))
			Leaves(x, groups, got)
			leavesGeneric(x, groups, want)
			for i := range want {
				if !same(got[i], want[i]) {
					t.Fatalf("seed %d: leaf %d is %x, want %x", seed, i, got[i], want[i])
				}
			}
		}
	})
}

// BenchmarkCascade times a million numbers, 8 MB, by level and instruction set.
func BenchmarkCascade(b *testing.B) {
	const n = 1 << 20
	x := make([]float64, n)
	r := rand.New(rand.NewPCG(1, 1))
	for i := range x {
		x[i] = r.Float64()
	}
	for _, s := range instructionSets() {
		for levels := 2; levels <= 4; levels++ {
			c := make(Cascade, levels)
			for name, add := range map[string]func(){
				"sums": func() { c.AddSums(x) }, "products": func() { c.AddProducts(x, x) },
			} {
				b.Run(fmt.Sprintf("%s/levels=%d/%s", name, levels, s.name), func(b *testing.B) {
					defer s.choose()()
					for range b.N {
						add()
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
				})
			}
		}
	}
}

// BenchmarkLeaves times leaves of 128 numbers, and of 120 and 128 in turn.
func BenchmarkLeaves(b *testing.B) {
	const n = 8192
	x := make([]float64, n)
	for name, sizes := range map[string][2]int{"equal": {16, 16}, "mixed": {15, 16}} {
		var groups []int
		for left := n / LeafLanes; left >= 16; left -= groups[len(groups)-1] {
			groups = append(groups, sizes[len(groups)%2])
		}
		sums := make([]float64, len(groups))
		for _, s := range instructionSets() {
			b.Run(name+"/"+s.name, func(b *testing.B) {
				defer s.choose()()
				for range b.N {
					Leaves(x, groups, sums)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
			})
		}
	}
}

// TestBins: the loops of all instruction sets give the totals of the plain ones, in units of the levels.
func TestBins(t *testing.T) {
	everySet(t, func(t *testing.T) {
		for seed := range uint64(100) {
			r := rand.New(rand.NewPCG(seed, 3))
			for levels := 2; levels <= 5; levels++ {
				n := Count * r.IntN(20)
				x, y := make([]float64, n), make([]float64, n)
				for i := range x {
					x[i], y[i] = math.Ldexp(r.NormFloat64(), r.IntN(30)-20), float64(r.IntN(9)-4)/2
					if r.IntN(4) == 0 {
						x[i] = float64(r.IntN(9)-4) * 0x1p-30 // a tie of the first level
					}
				}
				got, want := binsFrom(levels), binsFrom(levels)
				largest, most := got.AddSums(x), want.sumsGeneric(x)
				if d, m := got.AddProducts(x, y), want.productsGeneric(x, y); d != m || largest != most {
					t.Fatalf("seed %d, %d levels: largest %x and %x, want %x and %x", seed, levels, largest, d, most, m)
				}
				if totals(got) != totals(want) {
					t.Fatalf("seed %d, %d levels: %v units, want %v", seed, levels, totals(got), totals(want))
				}
			}
		}
	})
}

// TestBinsSpecials: an infinity is the largest magnitude, NaN is in a biased sum.
func TestBinsSpecials(t *testing.T) {
	everySet(t, func(t *testing.T) {
		for at := range 2 * Count {
			x := make([]float64, 2*Count)
			x[at] = math.Inf(-1)
			if got := binsFrom(3).AddSums(x); got != math.Inf(1) {
				t.Errorf("-Inf at %d: largest %g", at, got)
			}
			x[at] = math.NaN()
			b, found := binsFrom(3), false
			b.AddSums(x)
			for _, v := range b[0] {
				found = found || v != v
			}
			if !found {
				t.Errorf("NaN at %d got lost", at)
			}
		}
	})
}

// binAnchor is that of a level of test bins: units of 2^-29, 2^-69 and so on.
func binAnchor(level int) float64 { return math.Ldexp(1.5, 52-29-40*level) }

func binsFrom(levels int) Bins {
	b := make(Bins, levels)
	for k := range b {
		for l := range b[k] {
			b[k][l] = binAnchor(k)
		}
	}
	return b
}

func totals(b Bins) (sums [5]int64) {
	for k := range b {
		for _, v := range b[k] {
			sums[k] += int64(math.Float64bits(v) - math.Float64bits(binAnchor(k)))
		}
	}
	return sums
}
