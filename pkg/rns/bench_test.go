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

// BenchmarkOperations times each operation on significands of full length.
func BenchmarkOperations(b *testing.B) {
	for _, p := range []int{120, 240, 424, 1696} {
		base := testBase(b, p, 31)
		c := NewContext(base, Truncate, Align2018)
		a := adversary(rand.New(rand.NewPCG(1, 2)), newModel(base.Moduli(), Truncate, Align2018))
		x, y, z := base.NewFloat(), base.NewFloat(), base.NewFloat()
		c.SetInt(x, a.Bits(p), 0)
		c.SetInt(y, a.Bits(p), 1)
		for name, op := range map[string]func(){
			"add": func() { c.Add(z, x, y) }, "sub": func() { c.Sub(z, x, y) }, "mul": func() { c.Mul(z, x, y) },
			"fromfloat64": func() { c.SetFloat64(z, 0.1) },
		} {
			b.Run(fmt.Sprintf("op=%s/precision=%d", name, p), func(b *testing.B) {
				for range b.N {
					op()
				}
			})
		}
	}
}
