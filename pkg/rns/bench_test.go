package rns

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkAdd adds uniform numbers to a running sum: the inner step of reduce1.
func BenchmarkAdd(b *testing.B) {
	for _, p := range []int{30, 60, 120, 240, 480, 1696} {
		b.Run(fmt.Sprintf("precision=%d", p), func(b *testing.B) {
			base := testBase(b, p, 31)
			c := NewContext(base, Truncate, Align2018)
			rng := rand.New(rand.NewPCG(1, 2))
			terms := make([]*Float, 1024)
			for i := range terms {
				terms[i] = base.NewFloat()
				c.SetFloat64(terms[i], rng.Float64())
			}
			sum := base.NewFloat()
			b.ResetTimer()
			for i := range b.N {
				c.Add(sum, sum, terms[i%len(terms)])
			}
		})
	}
}
