package intmat

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"
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

// shapes are a square matrix, and a part of a larger one: as many terms, fewer rows and columns.
var shapes = []struct {
	name              string
	rows, terms, cols int
}{{"512", benchN, benchN, benchN}, {"2048", 192, 2048, 512}}

func BenchmarkMultiply(b *testing.B) {
	for _, s := range shapes {
		for _, bits := range sizes {
			b.Run(fmt.Sprintf("%s/%d/%s", s.name, bits, fastest().name), func(b *testing.B) {
				p := NewPlan(bits, bits, s.terms)
				src := words(bits, 1000)
				left, right := p.Left(s.rows, src, 1), p.Right(s.cols, src, 1)
				m := p.NewMultiplier(1)
				var products time.Duration
				b.ResetTimer()
				for range b.N {
					products += m.Multiply(left, right, func(_, _, _ int, _ *big.Int) {}).Products
				}
				n := s.rows * s.terms * s.cols
				perProduct(b, n, "ns/product")
				b.ReportMetric(float64(products.Nanoseconds())/float64(b.N)/float64(n), "ns/residues")
			})
		}
	}
}

func BenchmarkConvert(b *testing.B) {
	for _, bits := range sizes {
		p := NewPlan(bits, bits, benchN)
		src := words(bits, 1000)
		for name, convert := range map[string]func(int, Source, int) *Operand{"left": p.Left, "right": p.Right} {
			b.Run(fmt.Sprintf("%s/%d", name, bits), func(b *testing.B) {
				for b.Loop() {
					convert(benchN, src, 1)
				}
				perProduct(b, benchN*benchN, "ns/element")
			})
		}
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
