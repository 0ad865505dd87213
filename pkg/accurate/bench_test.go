package accurate

import (
	"fmt"
	"testing"

	"gonum.org/v1/gonum/mat"
)

var (
	sink    float64
	sinkAny any
)

// perElement reports the time of one of n elements.
func perElement(b *testing.B, n int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/elem")
}

// benchmark times f on vectors of some lengths.
func benchmark(b *testing.B, name string, f func(x, y []float64)) {
	for _, n := range []int{10, 100, 1000, 1_000_000} {
		x, y := random(newRand(), n, 0), random(newRand(), n, 2)
		b.Run(fmt.Sprintf("%sn=%d", name, n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f(x, y)
			}
			perElement(b, n)
		})
	}
}

func BenchmarkSum(b *testing.B) {
	benchmark(b, "", func(x, _ []float64) { sink = Sum(x) })
	benchmark(b, "threads=2/", func(x, _ []float64) { sink = Threads(2).Sum(x) })
	benchmark(b, "loop/", func(x, _ []float64) {
		s := 0.0
		for _, v := range x {
			s += v
		}
		sink = s
	})
}

func BenchmarkSumPrec(b *testing.B) {
	benchmark(b, "", func(x, _ []float64) { sinkAny = SumPrec(x, 200) })
}

func BenchmarkDot(b *testing.B) {
	benchmark(b, "", func(x, y []float64) { sink = Dot(x, y) })
	benchmark(b, "loop/", func(x, y []float64) {
		s := 0.0
		for i, v := range x {
			s += float64(v * y[i])
		}
		sink = s
	})
}

func BenchmarkDotPrec(b *testing.B) {
	benchmark(b, "", func(x, y []float64) { sinkAny = DotPrec(x, y, 200) })
}

// BenchmarkMulVec times products of all kinds of matrices, and gonum's.
func BenchmarkMulVec(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		data, x, dst := random(newRand(), n*n, 0), random(newRand(), n, 0), make([]float64, n)
		dense := mat.NewDense(n, n, data)
		for _, c := range []struct {
			name string
			f    func()
		}{
			{"Dense", func() { MulVec(dst, dense, x) }},
			{"Dense.T", func() { MulVec(dst, dense.T(), x) }},
			{"SymDense", func() { MulVec(dst, mat.NewSymDense(n, data), x) }},
			{"gonum", func() { mat.NewVecDense(n, dst).MulVec(dense, mat.NewVecDense(n, x)) }},
		} {
			b.Run(fmt.Sprintf("%s/n=%d", c.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					c.f()
				}
				perElement(b, n*n)
			})
		}
	}
}

// BenchmarkGemv times a component, of a row of 10 elements.
func BenchmarkGemv(b *testing.B) {
	const m, n = 100, 10
	a, x, y := RowMajor(m, n, random(newRand(), m*n, 0)), random(newRand(), n, 0), make([]float64, m)
	for _, alpha := range []float64{1, 0.1} {
		b.Run(fmt.Sprintf("alpha=%g", alpha), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Gemv(alpha, a, x, 0.5, y)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/m, "ns/component")
		})
	}
}

func BenchmarkAccumulator(b *testing.B) {
	var a, other Accumulator
	other.AddProducts(random(newRand(), 100, 0), random(newRand(), 100, 0))
	code, _ := other.MarshalBinary()
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"Add", func() { a.Add(0.1) }},
		{"AddProduct", func() { a.AddProduct(0.1, 0.3) }},
		{"Merge", func() { a.Merge(&other) }},
		{"Float64", func() { sink = a.Float64() }},
		{"AppendBinary", func() { code, _ = other.AppendBinary(code[:0]) }},
		{"UnmarshalBinary", func() { _ = a.UnmarshalBinary(code) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.f()
			}
		})
	}
}
