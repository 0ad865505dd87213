package superacc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// termwise is what Small and Large have.
type termwise interface {
	AddSlice(x []float64)
	AddProducts(x, y []float64)
	Float64() float64
}

// TestTermwise: sums and dot products of numbers of all kinds, infinities and NaN are those of an Accumulator; halves
// that are merged, too.
func TestTermwise(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 5))
		x, y := make([]float64, r.IntN(300)), []float64(nil)
		for i := range x {
			x[i] = math.Ldexp(r.Float64()-0.5, r.IntN(1900)-1070)
			if r.IntN(4) == 0 {
				x[i] = edges[r.IntN(len(edges)-3)]
			}
			y = append(y, math.Ldexp(r.NormFloat64(), -r.IntN(100)))
		}
		if seed%5 == 4 && len(x) > 0 {
			x[r.IntN(len(x))] = edges[len(edges)-1-r.IntN(3)]
		}
		var want Accumulator
		want.AddSlice(x)
		want.AddProducts(x, y)
		var small, otherSmall Small
		var large, otherLarge Large
		half := len(x) / 2
		for i, sums := range [][]termwise{{&small, &large}, {&otherSmall, &otherLarge}} {
			for _, s := range sums {
				from, to := i*half, half+i*(len(x)-half)
				s.AddSlice(x[from:to])
				s.AddProducts(x[from:to], y[from:to])
			}
		}
		small.Merge(&otherSmall)
		large.Merge(&otherLarge)
		for _, s := range []termwise{&small, &large} {
			if got := s.Float64(); !same(got, want.Float64()) {
				t.Fatalf("seed %d, %T: %x, want %x", seed, s, got, want.Float64())
			}
		}
	}
}

// TestTermwiseMany: more terms than a word holds, and than a block has.
func TestTermwiseMany(t *testing.T) {
	for _, n := range []int{1<<11 - 1, 1 << 11, bucketBlock + 1, 5*bucketBlock + 3} {
		x := make([]float64, n)
		for i := range x {
			x[i] = -maxNormal * 0x1p-600
		}
		var want Accumulator
		want.AddSlice(x)
		for _, s := range []termwise{new(Small), new(Large)} {
			s.AddSlice(x)
			if got := s.Float64(); got != want.Float64() {
				t.Errorf("%d terms, %T: %x, want %x", n, s, got, want.Float64())
			}
		}
	}
}

// BenchmarkTermwise times a million numbers, 8 MB: uniform, and of many exponents.
func BenchmarkTermwise(b *testing.B) {
	const n = 1 << 20
	r := rand.New(rand.NewPCG(1, 1))
	uniform, wide := make([]float64, n), make([]float64, n)
	for i := range uniform {
		uniform[i], wide[i] = r.Float64(), math.Ldexp(r.NormFloat64(), r.IntN(200))
	}
	for name, x := range map[string][]float64{"uniform": uniform, "wide": wide} {
		for _, s := range []termwise{new(Small), new(Large)} {
			b.Run(fmt.Sprintf("%s/%T", name, s), func(b *testing.B) {
				for range b.N {
					s.AddSlice(x)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
			})
			b.Run(fmt.Sprintf("%s/dot/%T", name, s), func(b *testing.B) {
				for range b.N {
					s.AddProducts(x, x)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
			})
		}
	}
}

// TestBucketsNotNormal: zeros, subnormal numbers, infinities and NaN among normal numbers, in some blocks.
func TestBucketsNotNormal(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	others := []float64{0, math.Copysign(0, -1), minSubnormal, -maxSubnormal, math.Inf(1), math.Inf(-1), math.NaN()}
	for trial := range 300 {
		x := make([]float64, 1+r.IntN(3*bucketBlock))
		for i := range x {
			x[i] = math.Float64frombits(r.Uint64()&^(exponentMask<<fractionBits) | uint64(1+r.IntN(2046))<<fractionBits)
			if r.IntN(200) == 0 {
				x[i] = others[r.IntN(1+trial%len(others))]
			}
		}
		var small Small
		var large Large
		small.AddSlice(x)
		large.AddSlice(x)
		if want, got := small.Float64(), large.Float64(); !same(got, want) {
			t.Fatalf("trial %d: %x, want %x", trial, got, want)
		}
		var fast, slow termBuckets
		fast.add(x)
		slow.addGeneric(x)
		if fast != slow {
			t.Fatalf("trial %d: buckets differ from plain Go", trial)
		}
	}
}
