package exact

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// anyFloat64 returns numbers from all of the format: random patterns, extremes, subnormals, zeros.
func anyFloat64(rng *rand.Rand) float64 {
	switch rng.IntN(8) {
	case 0:
		return []float64{0, math.Copysign(0, -1), math.MaxFloat64, -math.MaxFloat64, 0x1p-1074, -0x1p-1074, 0x1p-1022,
			1}[rng.IntN(8)]
	case 1:
		return math.Float64frombits(rng.Uint64() &^ (exponentMask << fractionBits))
	case 2:
		return float64(rng.IntN(7) - 3)
	}
	for {
		if x := math.Float64frombits(rng.Uint64()); x-x == 0 {
			return x
		}
	}
}

// TestDot compares sums of products with rationals, for products of float64 and of wider numbers in any mixture.
func TestDot(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 400 {
		var d Dot
		sum, abs := new(big.Rat), new(big.Rat)
		for range rng.IntN(30) {
			var x, y *big.Rat
			if round%3 > 0 && rng.IntN(2) == 0 {
				bx, by := randomBig(rng), randomBig(rng)
				d.AddBig(bx, by)
				x, _ = bx.Rat(nil)
				y, _ = by.Rat(nil)
			} else {
				fx, fy := anyFloat64(rng), anyFloat64(rng)
				d.Add(fx, fy)
				x, y = new(big.Rat).SetFloat64(fx), new(big.Rat).SetFloat64(fy)
			}
			p := new(big.Rat).Mul(x, y)
			sum.Add(sum, p)
			abs.Add(abs, p.Abs(p))
		}
		if got := d.Value(); !got.Equal(FromRat(sum)) {
			t.Fatalf("round %d: %v, want %v", round, got, FromRat(sum))
		}
		if got := d.Abs(); !got.Equal(FromRat(abs)) {
			t.Fatalf("round %d: magnitudes %v, want %v", round, got, FromRat(abs))
		}
	}
}

func randomBig(rng *rand.Rand) *big.Float {
	x := new(big.Float).SetPrec(uint(1 + rng.IntN(500)))
	n := new(big.Int).SetUint64(rng.Uint64())
	n.Lsh(n, uint(rng.IntN(400))).Add(n, big.NewInt(int64(rng.IntN(3)-1)))
	x.SetInt(n)
	if rng.IntN(2) == 0 {
		x.Neg(x)
	}
	return x.SetMantExp(x, rng.IntN(6000)-3000)
}

// TestDotLargest adds the largest products until carries run through several words.
func TestDotLargest(t *testing.T) {
	var d Dot
	for range 10_000 {
		d.Add(math.MaxFloat64, -math.MaxFloat64)
		d.Add(0x1p-1074, -0x1p-1074)
	}
	largest := new(big.Rat).SetFloat64(math.MaxFloat64)
	least := new(big.Rat).SetFloat64(0x1p-1074)
	want := largest.Mul(largest, largest).Add(largest, least.Mul(least, least))
	want.Mul(want, big.NewRat(-10_000, 1))
	if got := d.Value(); !got.Equal(FromRat(want)) || d.N() != 20_000 {
		t.Fatalf("%v, want %v", got, FromRat(want))
	}
}

func TestDotSpecials(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, c := range []struct {
		factors  []float64
		sum, abs Class
	}{
		{[]float64{inf, 1}, PosInf, PosInf}, {[]float64{inf, -1, 1, 1}, NegInf, PosInf}, {[]float64{inf, 0}, NaN, NaN},
		{[]float64{inf, 1, -inf, 1}, NaN, PosInf}, {[]float64{nan, 0}, NaN, NaN},
		{[]float64{-inf, -inf, 1, 1}, PosInf, PosInf},
	} {
		var d Dot
		for i := 0; i < len(c.factors); i += 2 {
			d.Add(c.factors[i], c.factors[i+1])
		}
		if d.Value().Class != c.sum || d.Abs().Class != c.abs {
			t.Errorf("%v: %v, magnitudes %v", c.factors, d.Value(), d.Abs())
		}
	}
}

// TestDotAllocations: adding allocates nothing once the accumulators have their size.
func TestDotAllocations(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	x, y := randomBig(rng), randomBig(rng)
	var d Dot
	d.Add(1, -1)
	d.Add(1, 1)
	d.AddBig(x, y)
	if n := testing.AllocsPerRun(1000, func() {
		d.Add(1.5, 0x1p-500)
		d.AddBig(x, y)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDot(b *testing.B) {
	rng := rand.New(rand.NewPCG(5, 6))
	xs := make([]float64, 1024)
	for i := range xs {
		xs[i] = rng.Float64() - 0.5
	}
	b.Run("float64", func(b *testing.B) {
		var d Dot
		for i := range b.N {
			d.Add(xs[i%1024], xs[(i+7)%1024])
		}
	})
	for _, p := range []uint{106, 424, 1696} {
		b.Run(fmt.Sprintf("precision=%d", p), func(b *testing.B) {
			terms := make([]*big.Float, 64)
			for i := range terms {
				n := new(big.Int)
				for range p/64 + 1 {
					n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(rng.Uint64()))
				}
				terms[i] = new(big.Float).SetPrec(p).SetInt(n)
			}
			var d Dot
			for i := range b.N {
				d.AddBig(terms[i%64], terms[(i+7)%64])
			}
		})
	}
}

// TestDotMerge: products in several sums that are merged, in any order, give the sum of all.
func TestDotMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for range 200 {
		var whole Dot
		parts := make([]Dot, 1+rng.IntN(4))
		for range rng.IntN(30) {
			p := &parts[rng.IntN(len(parts))]
			if rng.IntN(3) == 0 {
				x, y := randomBig(rng), randomBig(rng)
				whole.AddBig(x, y)
				p.AddBig(x, y)
				continue
			}
			x, y := anyFloat64(rng), anyFloat64(rng)
			whole.Add(x, y)
			p.Add(x, y)
		}
		rng.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		for i := range parts[1:] {
			parts[0].Merge(&parts[1+i])
		}
		got, want := parts[0].Summary(), whole.Summary()
		if got.N != want.N || !got.Sum.Equal(want.Sum) || !got.SumAbs.Equal(want.SumAbs) {
			t.Fatalf("%v, want %v", got, want)
		}
	}
}
