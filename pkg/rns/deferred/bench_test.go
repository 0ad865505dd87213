package deferred

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"mpbench/internal/parallel"
	"mpbench/pkg/numbers"
	"mpbench/pkg/rns/internal/operands"
)

// fullNumbers returns n numbers of full prec-bit significands in (-1, 1), a p-bit random integer each.
func fullNumbers(rng *rand.Rand, n int, prec uint) []*big.Float {
	x := make([]*big.Float, n)
	words := make([]big.Word, (prec+63)/64)
	for i := range x {
		for w := range words {
			words[w] = big.Word(rng.Uint64())
		}
		v := new(big.Int).SetBits(append([]big.Word(nil), words...))
		v.Rsh(v, uint(v.BitLen())-min(prec, uint(v.BitLen())))
		v.SetBit(v, int(prec-1), 1).SetBit(v, 0, 1)
		if rng.IntN(2) == 0 {
			v.Neg(v)
		}
		x[i] = new(big.Float).SetPrec(prec).SetInt(v)
		x[i].SetMantExp(x[i], -int(prec))
	}
	return x
}

// repeated presents few distinct numbers as many: the time of a product does not depend on the values.
type repeated struct {
	numbers.Source
	n int
}

func (r repeated) Len() int                      { return r.n }
func (r repeated) Span(i int) numbers.Span       { return r.Source.Span(i % r.Source.Len()) }
func (r repeated) Read(z *numbers.Number, i int) { r.Source.Read(z, i%r.Source.Len()) }

// BenchmarkGEMV times accumulate, reconstruct and round of a 1000 x 1000 product with full p-bit significands; the
// matrix was converted before. ns/elem is the mean, best-ns/elem that of the fastest call; GB/s are the bytes of the
// planes at the mean. See BenchmarkBandwidth for what the machine gives.
func BenchmarkGEMV(b *testing.B) {
	const size = 1000
	for _, prec := range []uint{53, 106, 212, 424, 848, 1696} {
		rng := rand.New(rand.NewPCG(1, 2))
		a := repeated{numbers.Bigs(fullNumbers(rng, 9973, prec)), size * size}
		x := fullNumbers(rng, size, prec)
		extent, err := Measure(numbers.Bigs(x), numbers.Strided(size, 1))
		if err != nil {
			b.Fatal(err)
		}
		for _, op := range []Op{NoTrans, Trans} {
			matrix, err := newMatrix(a, numbers.RowMajor(size, size, size), op, extent, Options{})
			if err != nil {
				b.Fatal(err)
			}
			vector, err := matrix.NewVector(numbers.Bigs(x), numbers.Strided(size, 1))
			if err != nil {
				b.Fatal(err)
			}
			s := matrix.NewAccumulator(op)
			y := make([]*big.Float, size)
			alpha, beta := big.NewFloat(1), big.NewFloat(0)
			for _, threads := range []int{1, 2} {
				for _, phase := range []string{"", "/phase=accumulate", "/phase=round"} {
					b.Run(fmt.Sprintf("op=%v/precision=%d/threads=%d%s", op, prec, threads, phase), func(b *testing.B) {
						b.ReportAllocs()
						s.Gemv(y, alpha, matrix, vector, beta, prec, threads)
						best := time.Duration(math.MaxInt64)
						for b.Loop() {
							start := time.Now()
							switch phase {
							case "":
								s.Gemv(y, alpha, matrix, vector, beta, prec, threads)
							case "/phase=accumulate":
								s.Reset()
								s.MulVec(matrix, vector, threads)
							default:
								s.Round(y, alpha, beta, prec, threads)
							}
							best = min(best, time.Since(start))
						}
						perElement := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / size / size
						b.ReportMetric(perElement, "ns/elem")
						b.ReportMetric(float64(best.Nanoseconds())/size/size, "best-ns/elem")
						if phase != "/phase=round" {
							b.ReportMetric(float64(matrix.Bytes())/size/size/perElement, "GB/s")
						}
						b.ReportMetric(float64(matrix.Moduli()), "moduli")
					})
				}
			}
		}
	}
}

// BenchmarkTruncated times products of float64 numbers of all exponents, rounded to 53 bits, with factors as
// NewPlanFor truncates them and with exact ones, and what comes before: plan and conversion. ns/elem is the mean;
// recomputed are the rows computed again.
func BenchmarkTruncated(b *testing.B) {
	const size, prec = 400, 53
	a, x := operands.CancellingRows(size, 0)
	l, xl := numbers.RowMajor(size, size, size), numbers.Strided(size, 1)
	extent, err := Measure(numbers.Float64s(x), xl)
	if err != nil {
		b.Fatal(err)
	}
	for name, plan := range map[string]func() (*Plan, error){
		"truncated": func() (*Plan, error) {
			return NewPlanFor(numbers.Float64s(a), l, NoTrans, numbers.Float64s(x), xl, prec, Options{Threads: 1})
		},
		"exact": func() (*Plan, error) { return NewPlan(numbers.Float64s(a), l, NoTrans, extent, Options{Threads: 1}) },
	} {
		p, err := plan()
		if err != nil {
			b.Fatal(err)
		}
		perElement := func(b *testing.B) {
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/size/size, "ns/elem")
			b.ReportMetric(float64(p.Moduli()), "moduli")
		}
		b.Run(name+"/product", func(b *testing.B) {
			runProduct(b, p, x)
			perElement(b)
		})
		b.Run(name+"/conversion", func(b *testing.B) {
			for b.Loop() {
				p, err := plan()
				if err != nil {
					b.Fatal(err)
				}
				p.Matrix()
			}
			perElement(b)
		})
	}
}

// BenchmarkRecomputed is BenchmarkTruncated's product where every sum is exactly zero, so that every row is computed
// again.
func BenchmarkRecomputed(b *testing.B) {
	const size, prec = 400, 53
	a, x := operands.CancellingRows(size, size)
	xl := numbers.Strided(size, 1)
	p, err := NewPlanFor(numbers.Float64s(a), numbers.RowMajor(size, size, size), NoTrans, numbers.Float64s(x), xl, prec,
		Options{Threads: 1})
	if err != nil {
		b.Fatal(err)
	}
	runProduct(b, p, x)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/size/size, "ns/elem")
}

// runProduct times products with x, and reports how many rows were computed again.
func runProduct(b *testing.B, p *Plan, x []float64) {
	matrix := p.Matrix()
	vector, err := matrix.NewVector(numbers.Float64s(x), numbers.Strided(len(x), 1))
	if err != nil {
		b.Fatal(err)
	}
	s, y := matrix.NewAccumulator(NoTrans), make([]float64, len(x))
	for b.Loop() {
		s.GemvFloat64(y, 1, matrix, vector, 0, 1)
	}
	b.ReportMetric(float64(s.Recomputed()), "recomputed")
}

// BenchmarkBandwidth is what the figures of the other benchmarks are to be seen beside: bytes read by the plain
// summation of an array far beyond all caches, and bytes read and written by copying it.
func BenchmarkBandwidth(b *testing.B) {
	const n = 1 << 26
	for _, threads := range []int{1, 2} {
		for _, op := range []string{"read", "copy"} {
			b.Run(fmt.Sprintf("op=%s/threads=%d", op, threads), func(b *testing.B) {
				x, y := alignedUint32(n), alignedUint32(n)
				for i := range x {
					x[i], y[i] = uint32(i), 1
				}
				const chunk = n / 64
				best := time.Duration(math.MaxInt64)
				for b.Loop() {
					start := time.Now()
					parallel.Tasks(threads, n/chunk, func(_, task int) {
						part := x[task*chunk : (task+1)*chunk]
						if op == "read" {
							sumBlock(part)
						} else {
							copy(y[task*chunk:], part)
						}
					})
					best = min(best, time.Since(start))
				}
				bytes := 4 * n
				if op == "copy" {
					bytes *= 2
				}
				b.ReportMetric(float64(bytes)/float64(best.Nanoseconds()), "best-GB/s")
			})
		}
	}
}

// BenchmarkConvert times what comes before the first product of a 1000 x 1000 matrix: packing numbers that are neither
// binary64 nor packed, measuring, and converting to planes. The best times count.
func BenchmarkConvert(b *testing.B) {
	const size = 1000
	rng := rand.New(rand.NewPCG(1, 2))
	floats := make(numbers.Float64s, size*size)
	for i := range floats {
		floats[i] = 2*rng.Float64() - 1
	}
	l := numbers.RowMajor(size, size, size)
	for _, bits := range []int{53, 106, 212, 424, 848, 1696} {
		var src numbers.Source = floats
		if bits != 53 {
			src = repeated{numbers.Bigs(fullNumbers(rng, 9973, uint(bits))), size * size}
			b.Run(fmt.Sprintf("bits=%d/phase=pack", bits), func(b *testing.B) {
				best(b, size*size, func() { packMatrix(src, l, 1) })
			})
			src, l = packMatrix(src, l, 1)
		}
		for _, op := range []Op{NoTrans, Trans} {
			p, err := NewPlan(src, l, op, numbers.Extent{Low: 0, Top: bits}, Options{Threads: 1})
			if err != nil {
				b.Fatal(err)
			}
			b.Run(fmt.Sprintf("bits=%d/op=%v/phase=measure", bits, op), func(b *testing.B) {
				best(b, size*size, func() { p.measure() })
			})
			b.Run(fmt.Sprintf("bits=%d/op=%v/phase=convert", bits, op), func(b *testing.B) {
				best(b, size*size, func() { p.Matrix() })
				b.ReportMetric(float64(p.Moduli()), "moduli")
			})
			if p.limbs() > 0 {
				b.Run(fmt.Sprintf("bits=%d/op=%v/phase=limbs", bits, op), func(b *testing.B) {
					best(b, size*size, func() { p.LimbMatrix() })
				})
			}
		}
	}
}

// best reports the least time of a run for each of n elements.
func best(b *testing.B, n int, run func()) {
	least := time.Duration(math.MaxInt64)
	for b.Loop() {
		start := time.Now()
		run()
		least = min(least, time.Since(start))
	}
	b.ReportMetric(float64(least.Nanoseconds())/float64(n), "best-ns/elem")
}
