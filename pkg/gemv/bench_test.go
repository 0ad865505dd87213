package gemv

import (
	"context"
	"fmt"
	"testing"
	"time"

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

// product returns the product of an n x n matrix and one of n x columns, full p-bit significands.
func product(n, columns, p int) *op.Problem {
	c := problems.Choice{Seed: 1, Bits: p}
	a, b := c.Product(false, n, n, 1, 1).A, c.Product(false, n, columns, 1, 1).A
	return &op.Problem{Op: op.Gemm, A: a, X: b}
}

// BenchmarkGemm times deferred products of matrices, and their conversion; one thread. All three are of a product of
// two numbers: the conversion of both matrices divided by n^3 as well.
func BenchmarkGemm(b *testing.B) {
	const n = 512
	for _, p := range []int{53, 106, 212, 424} {
		b.Run(fmt.Sprintf("precision=%d/n=%d", p, n), func(b *testing.B) {
			problem := product(n, n, p)
			e := gemmEngine{deferredEngine: deferredEngine{config: method.Config{Precision: p, Threads: 1}}}
			start := time.Now()
			if err := e.Prepare(context.Background(), problem); err != nil {
				b.Fatal(err)
			}
			convert := time.Since(start)
			for b.Loop() {
				runAgain(b, &e)
			}
			products := float64(n * n * n)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/products, "ns/product")
			b.ReportMetric(float64(e.times.Reconstruct.Nanoseconds())/products, "round-ns/product")
			b.ReportMetric(float64(convert.Nanoseconds())/products, "convert-ns/product")
		})
	}
}

// BenchmarkColumns times both ways of computing a product with few columns (see fewColumns).
func BenchmarkColumns(b *testing.B) {
	const n = 512
	for _, p := range []int{53, 106, 212, 424} {
		for _, columns := range []int{1, 2, 4, 6, 8, 16} {
			problem := product(n, columns, p)
			config := method.Config{Precision: p, Threads: 1}
			single := &gemmEngine{deferredEngine: deferredEngine{config: config}}
			if err := single.deferredEngine.Prepare(context.Background(), problem); err != nil {
				b.Fatal(err)
			}
			blocks := &gemmEngine{deferredEngine: deferredEngine{config: config}}
			shape, err := op.Gemm.Shape(problem)
			if err != nil {
				b.Fatal(err)
			}
			blocks.shape = shape
			if done, err := blocks.prepareGemm(problem); !done || err != nil {
				b.Fatal(done, err)
			}
			for way, e := range map[string]*gemmEngine{"columns": single, "blocks": blocks} {
				b.Run(fmt.Sprintf("precision=%d/columns=%d/%s", p, columns, way), func(b *testing.B) {
					for b.Loop() {
						runAgain(b, e)
					}
				})
			}
		}
	}
}

func runAgain(b *testing.B, e method.Engine) {
	if err := e.Run(context.Background()); err != nil {
		b.Fatal(err)
	}
}
