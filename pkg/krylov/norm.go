package krylov

import (
	"math"

	"mpbench/internal/parallel"
)

// Squares returns the sum of the squares of numbers times a scale, in binary64 and in the order of all formats of
// package multifloat: lane l of 32 adds the terms l, l + 32, ... of a segment of 2048, then lanes l + 16, ..., l + 1;
// segments are added in pairs of neighbours until one is left.
func Squares(x []float64, scale float64, threads int) float64 {
	const segment = 2048
	parts := make([]float64, max(1, (len(x)+segment-1)/segment))
	parallel.Ranges(threads, len(x), segment, func(_, from, to int) {
		parts[from/segment] = segmentSquares(x[from:to], scale)
	})
	return addPairs(parts, func(x, y float64) float64 { return x + y })
}

func segmentSquares(x []float64, scale float64) float64 {
	var sums [32]float64
	for ; len(x) >= len(sums); x = x[len(sums):] {
		for l, v := range (*[len(sums)]float64)(x) {
			v *= scale
			sums[l] += float64(v * v)
		}
	}
	for l, v := range x {
		v *= scale
		sums[l] += float64(v * v)
	}
	for half := len(sums) / 2; half > 0; half /= 2 {
		for l := range half {
			sums[l] += sums[l+half]
		}
	}
	return sums[0]
}

// norm returns the 2-norm of numbers, whose squares have a sum in binary64, scaled where squares leave its range.
func norm(sum float64, x func() []float64) float64 {
	if sum >= 0x1p-900 && sum <= 0x1p900 || sum != sum {
		return math.Sqrt(sum)
	}
	largest, list := 0.0, x()
	for _, v := range list {
		largest = max(largest, math.Abs(v))
	}
	if largest == 0 || math.IsInf(largest, 0) {
		return largest
	}
	_, e := math.Frexp(largest)
	e = max(e, -1000)
	return math.Ldexp(math.Sqrt(Squares(list, math.Ldexp(1, -e), 1)), e)
}
