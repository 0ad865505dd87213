package intmat

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

var sizes = []int{53, 106, 212, 424}

// words is a Source of random integers of so many bits.
func words(bits, n int) Source {
	rng := rand.New(rand.NewPCG(3, uint64(bits)))
	width := (bits + 63) / 64
	list := make([]uint64, n*width)
	for i := range list {
		if list[i] = rng.Uint64(); i%width == width-1 {
			list[i] >>= 64*width - bits
		}
	}
	return func(_ int, z *Integer, vector, term int) {
		at := (vector*512 + term) % n * width
		z.Words, z.Neg = list[at:at+width], list[at]&1 != 0
	}
}

// perProduct reports the time for one of so many multiply-adds or elements.
func perProduct(b *testing.B, n int, unit string) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), unit)
}

const benchN = 512

func BenchmarkMultiply(b *testing.B) {
	for _, bits := range sizes {
		p := NewPlan(bits, bits, benchN)
		src := words(bits, 1000)
		left, right := p.Left(benchN, src, 1), p.Right(benchN, src, 1)
		m := p.NewMultiplier(1)
		b.Run(fmt.Sprint(bits), func(b *testing.B) {
			for b.Loop() {
				m.Multiply(left, right, func(_, _, _ int, _ *big.Int) {})
			}
			perProduct(b, benchN*benchN*benchN, "ns/product")
		})
	}
}

func BenchmarkConvert(b *testing.B) {
	for _, bits := range sizes {
		p := NewPlan(bits, bits, benchN)
		src := words(bits, 1000)
		b.Run(fmt.Sprint(bits), func(b *testing.B) {
			for b.Loop() {
				p.Left(benchN, src, 1)
			}
			perProduct(b, benchN*benchN, "ns/element")
		})
	}
}

func BenchmarkReconstruct(b *testing.B) {
	for _, bits := range sizes {
		p := NewPlan(bits, bits, benchN)
		w := new(worker)
		w.begin(p, 0, 0, blockRows, blockCols)
		b.Run(fmt.Sprint(bits), func(b *testing.B) {
			for b.Loop() {
				w.reconstruct(func(_, _ int, _ *big.Int) {})
			}
			perProduct(b, blockRows*blockCols, "ns/element")
		})
	}
}
