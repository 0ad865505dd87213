package gemv

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// fullPrecision is the paper's timing problem: numbers of [-1, 1] with p-bit significands.
func fullPrecision(n, p int, op Op) Problem {
	r := random{rand.New(rand.NewPCG(1, uint64(p))), 0, p}
	return Problem{
		Op: op, M: n, N: n, LDA: n, IncX: 1, IncY: 1, Alpha: Scalar{Wide: r.number()}, Beta: Scalar{Wide: r.number()},
		A: r.numbers(n * n), X: r.numbers(n), Y: r.numbers(n),
	}
}

// BenchmarkGEMV times the methods on numbers converted beforehand; one thread. rns-split reports its phases in
// nanoseconds an element.
func BenchmarkGEMV(b *testing.B) {
	for _, m := range Methods() {
		for _, p := range []int{106, 212, 424, 848, 1696} {
			if m.FixedBits != 0 && p != 106 {
				continue
			}
			for _, op := range []Op{NoTrans, Trans} {
				n := 1000
				if p > 424 {
					n = 400
				}
				b.Run(fmt.Sprintf("method=%s/precision=%d/op=%v/n=%d", m.Name, p, op, n), func(b *testing.B) {
					e := newEngine(b, m, Options{Precision: p, Threads: 1})
					if err := e.Load(fullPrecision(n, p, op)); err != nil {
						b.Fatal(err)
					}
					e.Run()
					phases := map[string]float64{}
					b.ResetTimer()
					for range b.N {
						e.Run()
						for _, phase := range e.Phases() {
							phases[phase.Name] += float64(phase.Time.Nanoseconds())
						}
					}
					elements := float64(b.N) * float64(n*n)
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/elements, "ns/elem")
					if len(phases) > 1 {
						for name, time := range phases {
							b.ReportMetric(time/elements, name+"-ns/elem")
						}
					}
				})
			}
		}
	}
}

// BenchmarkExact times the reference; one thread.
func BenchmarkExact(b *testing.B) {
	for _, p := range []int{0, 106, 424, 1696} {
		b.Run(fmt.Sprintf("precision=%d/n=200", p), func(b *testing.B) {
			r := random{rand.New(rand.NewPCG(1, uint64(p))), 0, p}
			problem := Problem{M: 200, N: 200, LDA: 200, IncX: 1, IncY: 1, Alpha: Number(1), A: r.numbers(40_000), X: r.numbers(200), Y: r.numbers(200)}
			b.ResetTimer()
			for range b.N {
				if _, err := Exact(problem, 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/40_000, "ns/elem")
		})
	}
}
