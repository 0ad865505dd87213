package deferred

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"mpbench/pkg/numbers"
	"testing"
	"time"
)

func ones(n int) []*big.Float {
	x := make([]*big.Float, n)
	for i := range x {
		x[i] = big.NewFloat(1)
	}
	return x
}

// TestSumAndDot compares sums and dots in limbs with exact ones.
func TestSumAndDot(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	rounds := 6000
	if testing.Short() {
		rounds = 600
	}
	zero, one := new(big.Float), big.NewFloat(1)
	for range rounds {
		g := generator{rng, uint(1 + rng.IntN([]int{64, 128, 500, 1700}[rng.IntN(4)])), []int{0, 3, 300, 20000}[rng.IntN(4)]}
		n := rng.IntN(40)
		x, y := g.numbers(n), g.numbers(n)
		if rng.IntN(2) == 0 {
			g.cancel(x, y)
		}
		prec := uint(1 + rng.IntN(2*int(g.prec)))
		threads := 1 + rng.IntN(3)
		check := func(name string, got, want *big.Float) {
			t.Helper()
			if got.Cmp(want) != 0 || got.Signbit() != want.Signbit() {
				t.Fatalf("%s of %d numbers of %d bits:\n got %v\nwant %v", name, n, g.prec, got.Text('p', 0), want.Text('p', 0))
			}
		}
		want := exactProduct(x, ones(n), one, zero, zero, prec)
		packed, err := Pack(numbers.Bigs(x), numbers.Strided(n, 1), 0)
		if err != nil {
			t.Fatal(err)
		}
		check("Packed.Sum", packed.Sum(threads).Round(nil, prec), want)

		want = exactProduct(x, y, one, zero, zero, prec)
		dot, err := Dot(numbers.Bigs(x), numbers.Strided(n, 1), numbers.Bigs(y), numbers.Strided(n, 1), threads)
		if err != nil {
			t.Fatal(err)
		}
		check("Dot", dot.Round(nil, prec), want)
	}
}

// TestLimbSumFloat64 sums and multiplies binary64 numbers of the whole range.
func TestLimbSumFloat64(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		n := rng.IntN(30)
		x, y := make([]float64, n), make([]float64, n)
		xb, yb := make([]*big.Float, n), make([]*big.Float, n)
		for i := range x {
			for _, v := range [][]float64{x, y} {
				for v[i] = math.NaN(); v[i]-v[i] != 0; {
					v[i] = math.Float64frombits(rng.Uint64())
				}
				if rng.IntN(4) == 0 {
					v[i] = math.Float64frombits(rng.Uint64() & (1<<63 | 1<<52 - 1)) // subnormal
				}
			}
			xb[i], yb[i] = big.NewFloat(x[i]), big.NewFloat(y[i])
		}
		for i := 1; i < n; i += 2 {
			if rng.IntN(3) > 0 {
				x[i], xb[i] = -x[i-1], new(big.Float).Neg(xb[i-1])
				y[i], yb[i] = y[i-1], yb[i-1]
			}
		}
		one, zero := big.NewFloat(1), new(big.Float)
		packed, err := Pack(numbers.Float64s(x), numbers.Strided(n, 1), 0)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := packed.Sum(1).Float64(), toFloat64(exactProduct(xb, ones(n), one, zero, zero, 5000)); got != want {
			t.Fatalf("sum of %v = %v, want %v", x, got, want)
		}
		dot, err := Dot(numbers.Float64s(x), numbers.Strided(n, 1), numbers.Float64s(y), numbers.Strided(n, 1), 1)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := dot.Float64(), toFloat64(exactProduct(xb, yb, one, zero, zero, 5000)); got != want {
			t.Fatalf("dot of %v and %v = %v, want %v", x, y, got, want)
		}
	}
}

func toFloat64(x *big.Float) float64 {
	f, _ := x.Float64()
	return f
}

// BenchmarkSum times the sum of 10^6 numbers of full p-bit significands in packed words.
func BenchmarkSum(b *testing.B) {
	const n = 1_000_000
	for _, prec := range []uint{53, 106, 212, 424, 848, 1696} {
		rng := rand.New(rand.NewPCG(1, 2))
		some := fullNumbers(rng, 9973, prec)
		for i := range some { // uniform in (-1, 1): the exponents of small numbers occur
			some[i].SetMantExp(some[i], -rng.IntN(2)*rng.IntN(2)*rng.IntN(8))
		}
		p, err := Pack(repeated{numbers.Bigs(some), n}, numbers.Strided(n, 1), 0)
		if err != nil {
			b.Fatal(err)
		}
		z := new(big.Float)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("precision=%d/threads=%d", prec, threads), func(b *testing.B) {
				b.ReportAllocs()
				best := time.Duration(math.MaxInt64)
				for b.Loop() {
					start := time.Now()
					p.Sum(threads).Round(z, prec)
					best = min(best, time.Since(start))
				}
				perElement := float64(b.Elapsed().Nanoseconds()) / float64(b.N) / n
				b.ReportMetric(perElement, "ns/elem")
				b.ReportMetric(float64(best.Nanoseconds())/n, "best-ns/elem")
				b.ReportMetric(float64(p.Bytes())/n/perElement, "GB/s")
			})
		}
	}
}

// BenchmarkDot times exact dots of binary64 vectors and of numbers of p bits as big.Float.
func BenchmarkDot(b *testing.B) {
	const n = 1_000_000
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i], y[i] = 2*rng.Float64()-1, 2*rng.Float64()-1
	}
	inputs := map[string]numbers.Source{"float64": numbers.Float64s(x)}
	other := map[string]numbers.Source{"float64": numbers.Float64s(y)}
	names := []string{"float64"}
	for _, prec := range []uint{106, 424, 1696} {
		name := fmt.Sprintf("big%d", prec)
		p, err := Pack(repeated{numbers.Bigs(fullNumbers(rng, 9973, prec)), n}, numbers.Strided(n, 1), 0)
		if err != nil {
			b.Fatal(err)
		}
		inputs[name], other[name], names = p, p, append(names, name)
	}
	for _, name := range names {
		b.Run(fmt.Sprintf("op=dot/input=%s", name), func(b *testing.B) {
			for b.Loop() {
				if _, err := Dot(inputs[name], numbers.Strided(n, 1), other[name], numbers.Strided(n, 1), 1); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/elem")
		})
	}
}
