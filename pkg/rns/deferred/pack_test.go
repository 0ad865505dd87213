package deferred

import (
	"math/big"
	"math/rand/v2"
	"testing"

	"mpbench/pkg/numbers"
)

// TestPackMatrix: packed elements are the numbers themselves, of all lengths, signs, classes and layouts.
func TestPackMatrix(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	for trial := range 200 {
		rows, cols, gap := rng.IntN(70), rng.IntN(70), rng.IntN(3)
		l := numbers.RowMajor(rows, cols, cols+gap)
		if trial%2 == 0 {
			l = numbers.ColMajor(rows, cols, rows+gap)
		}
		if trial%5 == 0 && rows > 0 {
			l.Offset, l.RowStride = (rows-1)*l.RowStride, -l.RowStride
		}
		src := make(numbers.Bigs, (rows+gap)*(cols+gap)+1)
		for i := range src {
			n := new(big.Int)
			for range rng.IntN(1 + rng.IntN(6)) {
				n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(rng.Uint64()>>rng.IntN(64)<<rng.IntN(64)))
			}
			switch v := new(big.Float).SetInt(n); rng.IntN(12) {
			case 0: // NaN
			case 1:
				src[i] = new(big.Float).SetInf(rng.IntN(2) == 0)
			default:
				src[i] = v.SetMantExp(v, rng.IntN(2000)-1000)
				if rng.IntN(2) == 0 {
					v.Neg(v)
				}
			}
		}
		p, at := packMatrix(src, l, 1+rng.IntN(3))
		for i := range rows {
			for j := range cols {
				got, want := numbers.At(p, at.Index(i, j)), numbers.At(src, l.Index(i, j))
				if !got.Equal(want) {
					t.Fatalf("%d x %d, element (%d, %d): %v, want %v", rows, cols, i, j, got, want)
				}
			}
		}
	}
}
