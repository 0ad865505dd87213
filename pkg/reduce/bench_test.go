package reduce

import (
	"fmt"
	"math/big"
	"testing"

	"mpbench/pkg/rns"
)

// BenchmarkSum times the methods on 10^6 uniform terms, converted beforehand; one thread.
func BenchmarkSum(b *testing.B) {
	const n = 1_000_000
	terms := generate(b, fmt.Sprintf("uniform01:n=%d", n))
	for _, m := range cpuMethods() {
		for _, p := range []int{60, 120, 240, 480, 1696} {
			if m.FixedBits != 0 && p != 60 {
				continue
			}
			b.Run(fmt.Sprintf("method=%s/precision=%d", m.Name, max(p*(1-min(1, m.FixedBits)), m.FixedBits)), func(b *testing.B) {
				s, err := m.New(Options{Precision: p, Threads: 1})
				if err != nil {
					b.Fatal(err)
				}
				if err := s.Load(terms); err != nil {
					b.Fatal(err)
				}
				b.ResetTimer()
				for range b.N {
					s.Sum()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
			})
		}
	}
}

// BenchmarkConvertAndSum times reduce1 with the conversion of each term from float64 inside.
func BenchmarkConvertAndSum(b *testing.B) {
	const n = 1_000_000
	terms := generate(b, fmt.Sprintf("uniform01:n=%d", n)).Float64
	for _, p := range []int{120, 240, 480, 1696} {
		b.Run(fmt.Sprintf("method=reduce1/precision=%d", p), func(b *testing.B) {
			base, err := rns.NewBaseForPrecision(p, 0)
			if err != nil {
				b.Fatal(err)
			}
			c := rns.NewContext(base, rns.Truncate, rns.Align2018)
			sum, term := base.NewFloat(), base.NewFloat()
			for range b.N {
				sum.SetZero()
				for _, x := range terms {
					c.SetFloat64(term, x)
					c.Add(sum, sum, term)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
		})
	}
}

// BenchmarkBigFloat is math/big.Float at the same sum, without the method around it.
func BenchmarkBigFloat(b *testing.B) {
	const n = 1_000_000
	terms := generate(b, fmt.Sprintf("uniform01:n=%d", n)).Float64
	converted := make([]*big.Float, n)
	for i, x := range terms {
		converted[i] = big.NewFloat(x)
	}
	sum := new(big.Float).SetPrec(240)
	for range b.N {
		sum.SetInt64(0)
		for _, x := range converted {
			sum.Add(sum, x)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
}
