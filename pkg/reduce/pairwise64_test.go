package reduce

import (
	"math"
	"math/rand/v2"
	"testing"
)

// numpySum is the definition of the order, over anything that can be added.
func numpySum[T any](x []T, add func(a, b T) T) T {
	n := len(x)
	if n > 128 {
		n2 := n / 2
		n2 -= n2 % 8
		return add(numpySum(x[:n2], add), numpySum(x[n2:], add))
	}
	var r []T
	if n < 8 {
		r, x = x[:1], x[1:]
	} else {
		for l := range 8 {
			s := x[l]
			for i := l + 8; i < n-n%8; i += 8 {
				s = add(s, x[i])
			}
			r = append(r, s)
		}
		x = x[n-n%8:]
	}
	for len(r) > 1 {
		var pairs []T
		for i := 0; i < len(r); i += 2 {
			pairs = append(pairs, add(r[i], r[i+1]))
		}
		r = pairs
	}
	sum := r[0]
	for _, v := range x {
		sum = add(sum, v)
	}
	return sum
}

// pairLengths are those at which the order changes, and others.
func pairLengths() (list []int) {
	for n := range 700 {
		list = append(list, n)
	}
	for _, n := range []int{planTerms, 2 * planTerms, 3 * planTerms, 1 << 16, 100_000} {
		for _, d := range []int{-9, -8, -1, 0, 1, 7, 8, 9, 17} {
			list = append(list, n+d)
		}
	}
	return list
}

// TestPairwise64: sums and dot products have the bits of the definition, for numbers whose sum depends on the order.
func TestPairwise64(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x, y := make([]float64, 100_100), make([]float64, 100_100)
	products := make([]float64, len(x))
	for i := range x {
		x[i], y[i] = math.Ldexp(r.NormFloat64(), r.IntN(60)), r.NormFloat64()
		products[i] = x[i] * y[i]
	}
	add := func(a, b float64) float64 { return a + b }
	for _, n := range pairLengths() {
		sum, dot := 0.0, 0.0
		if n > 0 {
			sum, dot = numpySum(x[:n], add), numpySum(products[:n], add)
		}
		if got := pairwise64(x[:n]); got != sum {
			t.Fatalf("sum of %d: %x, want %x", n, got, sum)
		}
		if got := pairwiseDot64(x[:n], y[:n]); got != dot {
			t.Fatalf("dot product of %d: %x, want %x", n, got, dot)
		}
	}
}

// TestPairwise64Depth: no term goes through more additions than the bound says, and one goes through as many.
func TestPairwise64Depth(t *testing.T) {
	for _, n := range pairLengths()[1:] {
		deepest := numpySum(make([]int, n), func(a, b int) int { return max(a, b) + 1 })
		if got := pairwise64Depth(n); got != deepest {
			t.Fatalf("%d terms: %d additions, want %d", n, got, deepest)
		}
	}
}
