package accuratetest

import (
	"fmt"
	"testing"

	"mpbench/pkg/accurate"
)

// BenchmarkChecks times checks, for each number and each product.
func BenchmarkChecks(b *testing.B) {
	for _, n := range []int{10, 100_000} {
		x := make([]float64, n)
		for i := range x {
			x[i] = 1 / float64(i+1)
		}
		sum, dot := accurate.Sum(x), accurate.Dot(x, x)
		for name, check := range map[string]func(){
			"Sum": func() { Sum(b, sum, x, 53) },
			"Dot": func() { Dot(b, dot, x, x, 53) },
		} {
			b.Run(fmt.Sprintf("%s/n=%d", name, n), func(b *testing.B) {
				for b.Loop() {
					check()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/elem")
			})
		}
	}
}
