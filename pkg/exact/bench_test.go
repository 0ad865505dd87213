package exact

import (
	"math"
	"math/rand/v2"
	"testing"
)

// benchTerms returns n terms whose exponents are spread over the given number of binades.
func benchTerms(n, binades int) []float64 {
	rng := rand.New(rand.NewPCG(1, 2))
	xs := make([]float64, n)
	for i := range xs {
		e := 1023 - uint64(binades)/2 + rng.Uint64N(uint64(binades))
		xs[i] = math.Float64frombits(rng.Uint64()&(1<<63|fractionMask) | e<<fractionBits)
	}
	return xs
}

func BenchmarkAddSlice(b *testing.B) {
	uniform := make([]float64, 1<<20)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range uniform {
		uniform[i] = rng.Float64()
	}
	for _, c := range []struct {
		name  string
		terms []float64
	}{
		{"uniform", uniform},
		{"binades=1", benchTerms(1<<20, 1)},
		{"binades=64", benchTerms(1<<20, 64)},
		{"binades=2000", benchTerms(1<<20, 2000)},
	} {
		b.Run(c.name, func(b *testing.B) {
			var s Sum
			b.SetBytes(int64(8 * len(c.terms)))
			for b.Loop() {
				s.AddSlice(c.terms)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(c.terms)), "ns/term")
		})
	}
}

func BenchmarkSumOf(b *testing.B) {
	xs := benchTerms(1<<22, 64)
	b.SetBytes(int64(8 * len(xs)))
	for b.Loop() {
		SumOf(xs)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(xs)), "ns/term")
}

// BenchmarkSmall is a sum of three terms from nothing to its value: the cost that does not depend on n.
func BenchmarkSmall(b *testing.B) {
	xs := []float64{1, 1e100, -1e100}
	for b.Loop() {
		var s Sum
		s.AddSlice(xs)
		s.Value()
	}
}
