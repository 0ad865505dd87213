package superacc

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"mpbench/datasets"
	"mpbench/pkg/exact"
)

// benchSets are easy and hard: about 54, 54, 96, 30, 100 and 2050 bits from the largest term to the last place of the
// least.
var benchSets = []string{"uniform11", "uniform01", "xsum", "harmonic", "zhuhayes2:delta=50", "zhuhayes4:delta=2000"}

func benchTerms(b *testing.B, spec string, n int) []float64 {
	b.Helper()
	s, err := datasets.Vectors.Parse(spec)
	if err != nil {
		b.Fatal(err)
	}
	d, err := datasets.Generate(s, datasets.Options{N: n, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	x, _ := d.X.Float64()
	return x
}

// report adds the time and the memory read per element, which has the given size in bytes.
func report(b *testing.B, n, size int) {
	perElement := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / float64(n)
	b.ReportMetric(perElement, "ns/elem")
	b.ReportMetric(float64(size)/perElement, "GB/s")
}

var sink float64

// plainSum is the loop that everybody writes.
func plainSum(x []float64) float64 {
	s := 0.0
	for _, v := range x {
		s += v
	}
	return s
}

// plainDot is the loop that everybody writes.
func plainDot(x, y []float64) float64 {
	s := 0.0
	for i, v := range x {
		s += float64(v * y[i])
	}
	return s
}

func BenchmarkSum(b *testing.B) {
	for _, n := range []int{100, 10_000, 1_000_000} {
		for _, set := range benchSets {
			x := benchTerms(b, set, n)
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("data=%s/n=%d/threads=%d", set, n, threads), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						sink = Sum(x, threads)
					}
					report(b, n, 8)
				})
			}
		}
		x := benchTerms(b, "uniform11", n)
		b.Run(fmt.Sprintf("data=uniform11/n=%d/method=plain", n), func(b *testing.B) {
			for b.Loop() {
				sink = plainSum(x)
			}
			report(b, n, 8)
		})
	}
}

func BenchmarkDot(b *testing.B) {
	for _, n := range []int{100, 10_000, 1_000_000} {
		for _, set := range benchSets {
			x, y := benchTerms(b, set, n), benchTerms(b, set, n)
			rand.New(rand.NewPCG(1, 2)).Shuffle(n, func(i, j int) { y[i], y[j] = y[j], y[i] })
			for _, threads := range []int{1, 2} {
				b.Run(fmt.Sprintf("data=%s/n=%d/threads=%d", set, n, threads), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						sink = Dot(x, y, threads)
					}
					report(b, n, 16)
				})
			}
		}
		x := benchTerms(b, "uniform11", n)
		b.Run(fmt.Sprintf("data=uniform11/n=%d/method=plain", n), func(b *testing.B) {
			for b.Loop() {
				sink = plainDot(x, x)
			}
			report(b, n, 16)
		})
	}
}

// BenchmarkReference is the accumulator of package exact on the same data.
func BenchmarkReference(b *testing.B) {
	for _, set := range benchSets {
		x := benchTerms(b, set, 1_000_000)
		b.Run("data="+set, func(b *testing.B) {
			for b.Loop() {
				var s exact.Sum
				s.AddSlice(x)
				sink = s.Value().Float64()
			}
			report(b, len(x), 8)
		})
	}
}

// BenchmarkKernel adds one block that stays in the cache.
func BenchmarkKernel(b *testing.B) {
	x := benchTerms(b, "uniform11", 4096)
	var w window
	w.move(0)
	for _, k := range sumKernels {
		b.Run(fmt.Sprintf("op=sum/levels=%d/simd=%s", k.levels, SIMD()), func(b *testing.B) {
			for b.Loop() {
				sumBlock(k, x, &w.anchor, &w.out)
			}
			report(b, len(x), 8)
		})
	}
	for _, k := range dotKernels {
		x := x[:min(len(x), k.group*maxDotGroups)]
		b.Run(fmt.Sprintf("op=dot/levels=%d/simd=%s", k.levels, SIMD()), func(b *testing.B) {
			for b.Loop() {
				dotBlock(k, x, x, &w.anchor, &w.out)
			}
			report(b, len(x), 16)
		})
	}
}

// BenchmarkReader sums streams that are in memory.
func BenchmarkReader(b *testing.B) {
	x := benchTerms(b, "uniform11", 1_000_000)
	for _, e := range encodings {
		raw := encode(x, e)
		b.Run(fmt.Sprintf("encoding=%v/n=%d", e, len(x)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var err error
				if sink, err = SumReader(bytes.NewReader(raw), e); err != nil {
					b.Fatal(err)
				}
			}
			report(b, len(x), e.Size())
		})
	}
}
