package gemv

import (
	"context"
	"fmt"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

// fullPrecision is the paper's timing problem: numbers of [-1, 1) with p-bit significands.
func fullPrecision(n, p int, trans bool) *op.Problem {
	c := problems.Choice{Seed: 1, Bits: p}
	problem := c.Product(trans, n, n, 1, 1)
	problem.Alpha, problem.Beta = c.Number(2), c.Number(3)
	return problem
}

// BenchmarkGEMV times the methods on numbers converted beforehand; one thread. rns-split reports its stages in
// nanoseconds an element.
func BenchmarkGEMV(b *testing.B) {
	for _, m := range Methods() {
		for _, p := range []int{106, 212, 424, 848, 1696} {
			if m.Bits != 0 && p != 106 {
				continue
			}
			for _, trans := range []bool{false, true} {
				n := 1000
				if p > 424 {
					n = 400
				}
				letter := map[bool]string{false: "N", true: "T"}[trans]
				b.Run(fmt.Sprintf("method=%s/precision=%d/op=%s/n=%d", m.Name, p, letter, n), func(b *testing.B) {
					benchmark(b, m, p, fullPrecision(n, p, trans))
				})
			}
		}
	}
}

func benchmark(b *testing.B, m method.Method, precision int, p *op.Problem) {
	e := prepared(b, m.Name, method.Config{Precision: precision, Threads: 1}, p)
	run(b, e)
	staged, _ := e.(method.Staged)
	stages := map[string]float64{}
	ctx := context.Background()
	b.ResetTimer()
	for range b.N {
		if err := e.Run(ctx); err != nil {
			b.Fatal(err)
		}
		if staged == nil {
			continue
		}
		for _, s := range staged.Stages() {
			stages[s.Name] += float64(s.Time)
		}
	}
	elements := float64(b.N) * float64(p.A.Len())
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/elements, "ns/elem")
	for name, time := range stages {
		b.ReportMetric(time/elements, name+"-ns/elem")
	}
}
