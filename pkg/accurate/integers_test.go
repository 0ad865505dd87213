package accurate

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestAddIntegers: sums of integers of all sizes are exact, and count as many terms.
func TestAddIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	signed := []int64{math.MinInt64, math.MaxInt64, -1, 0, 1, 1<<53 + 1, -1<<53 - 1, 1 << 32, 1<<32 - 1, -1 << 32}
	unsigned := []uint64{math.MaxUint64, 0, 1, 1<<53 + 1, 1 << 63, 1<<63 - 1, 1 << 32, 1<<32 - 1}
	for range 1<<16 + 5 { // more than a block
		signed = append(signed, int64(r.Uint64())>>r.IntN(64))
		unsigned = append(unsigned, r.Uint64()>>r.IntN(64))
	}
	for _, n := range []int{0, 1, 2, 3, 7, 8, 1 << 16, len(unsigned)} {
		for _, threads := range []Threads{1, 3} {
			wantSigned, wantUnsigned := new(big.Int), new(big.Int)
			for i := range n {
				wantSigned.Add(wantSigned, big.NewInt(signed[i]))
				wantUnsigned.Add(wantUnsigned, new(big.Int).SetUint64(unsigned[i]))
			}
			var a, b Accumulator
			AddIntegers(threads, &a, signed[:n])
			AddIntegers(threads, &b, unsigned[:n])
			gotSigned, _ := a.Big(200).Int(nil)
			gotUnsigned, _ := b.Big(200).Int(nil)
			if gotSigned.Cmp(wantSigned) != 0 || gotUnsigned.Cmp(wantUnsigned) != 0 || a.Terms() != uint64(n) ||
				b.Terms() != uint64(n) {
				t.Errorf("%d integers: %v of %d, %v of %d; want %v, %v", n, gotSigned, a.Terms(), gotUnsigned, b.Terms(),
					wantSigned, wantUnsigned)
			}
		}
	}
}

// TestAddIntegerProducts: dot products of integers of all sizes are exact, and count as many terms.
func TestAddIntegerProducts(t *testing.T) {
	r := newRand()
	const n = 1<<17 + 3
	x, y := make([]int64, n), make([]uint64, n)
	want := new(big.Int)
	for i := range x {
		x[i], y[i] = int64(r.Uint64())>>r.IntN(64), r.Uint64()>>r.IntN(64)
		if i < 4 {
			x[i], y[i] = []int64{math.MinInt64, math.MaxInt64}[i%2], []uint64{math.MaxUint64, 1<<63 + 1}[i/2]
		}
		want.Add(want, new(big.Int).Mul(big.NewInt(x[i]), new(big.Int).SetUint64(y[i])))
	}
	for _, threads := range []Threads{1, 3} {
		var a, b Accumulator
		AddIntegerProducts(threads, &a, x, y)
		AddIntegerProducts(threads, &b, y, x)
		for _, sum := range []*Accumulator{&a, &b} {
			if got, _ := sum.Big(0).Int(nil); got.Cmp(want) != 0 || sum.Terms() != n {
				t.Errorf("%d threads: %v of %d terms, want %v", threads, got, sum.Terms(), want)
			}
		}
	}
}
