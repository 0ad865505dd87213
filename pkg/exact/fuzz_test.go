package exact

import (
	"encoding/binary"
	"math"
	"math/big"
	"strconv"
	"testing"
)

// FuzzSum takes the input as bit patterns, the first byte as a place to split, and compares with big.Float.
func FuzzSum(f *testing.F) {
	seed := []byte{3}
	for _, x := range edges {
		seed = binary.LittleEndian.AppendUint64(seed, math.Float64bits(x))
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		var xs []float64
		for b := data[1:]; len(b) >= 8; b = b[8:] {
			xs = append(xs, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
		cut := min(int(data[0]), len(xs))
		left, right := sumOf(xs[:cut]...), sumOf(xs[cut:]...)
		left.Merge(right)
		check(t, left, xs)
	})
}

// FuzzSumRat compares the accumulator of rationals with big.Rat.
func FuzzSumRat(f *testing.F) {
	f.Add(int64(1), int64(3), int64(-1), int64(7), 0.5, uint8(3))
	f.Fuzz(func(t *testing.T, a, b, c, d int64, x float64, times uint8) {
		if b == 0 || d == 0 || b == math.MinInt64 || d == math.MinInt64 || x != x || math.IsInf(x, 0) {
			return
		}
		terms := []*big.Rat{big.NewRat(a, b), big.NewRat(c, d), new(big.Rat).SetFloat64(x)}
		var s Sum
		want := new(big.Rat)
		for range times % 16 {
			for _, r := range terms {
				s.AddRat(r)
				want.Add(want, r)
			}
			s.Add(x)
			want.Add(want, terms[2])
		}
		if got := s.Value(); !got.Equal(FromRat(want)) {
			t.Fatalf("sum %v, want %v", got, FromRat(want))
		}
	})
}

// FuzzText compares decimal output with strconv.
func FuzzText(f *testing.F) {
	f.Add(0.1, uint8(3))
	f.Add(9.995, uint8(3))
	f.Fuzz(func(t *testing.T, x float64, digits uint8) {
		if x == 0 {
			return
		}
		d := max(1, int(digits))
		want := strconv.FormatFloat(x, 'e', d-1, 64)
		if got := FromFloat64(x).Text(d); got != want {
			t.Fatalf("%x to %d digits: %s, want %s", x, d, got, want)
		}
	})
}
