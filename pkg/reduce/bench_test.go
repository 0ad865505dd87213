package reduce

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"mpbench/datasets"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns"
)

// uniform returns n numbers uniform in [0, 1).
func uniform(b *testing.B, n int) []float64 {
	b.Helper()
	spec, err := datasets.Vectors.Parse("uniform01")
	if err != nil {
		b.Fatal(err)
	}
	d, err := datasets.Generate(spec, datasets.Options{N: n, Seed: 1})
	if err != nil {
		b.Fatal(err)
	}
	x, _ := d.X.Float64()
	return x
}

// BenchmarkSum times the methods on 10^6 uniform terms, converted beforehand; one thread.
func BenchmarkSum(b *testing.B) {
	const n = 1_000_000
	p := &op.Problem{Op: op.Sum, X: numbers.Vector(numbers.Float64s(uniform(b, n)))}
	for _, m := range method.Catalog(Methods()).Of(op.Sum) {
		for _, precision := range []int{60, 120, 240, 480, 1696} {
			if m.Bits != 0 && precision != 60 {
				continue
			}
			if m.Bits != 0 {
				precision = m.Bits
			}
			b.Run(fmt.Sprintf("method=%s/precision=%d", m.Name, precision), func(b *testing.B) {
				e, err := m.New(method.Config{Precision: precision, Threads: 1})
				if err != nil {
					b.Fatal(err)
				}
				ctx := context.Background()
				if err := e.Prepare(ctx, p); err != nil {
					b.Fatal(err)
				}
				b.ResetTimer()
				for range b.N {
					if err := e.Run(ctx); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
			})
		}
	}
}

// BenchmarkConvertAndSum times reduce1 with the conversion of each term from float64 inside.
func BenchmarkConvertAndSum(b *testing.B) {
	const n = 1_000_000
	terms := uniform(b, n)
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
	terms := uniform(b, n)
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
