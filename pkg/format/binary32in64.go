package format

import (
	"math"

	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
)

// Binary32In64 is vectors of binary32, with recursive loops in binary64: products are exact, sums are rounded to
// binary64, and what is stored to binary32.
var Binary32In64 = Format[[]float32, float64]{
	Name: "binary32", Bits: 24, Bytes: 4, Range: method.Binary32, Stored: "2^-24", IEEE: true,
	Load: Binary32.Load, Make: Binary32.Make, Slice: Binary32.Slice, Float64s: Binary32.Float64s,
	Get:   func(v []float32, i int) float64 { return float64(v[i]) },
	Set:   func(v []float32, i int, x float64) { v[i] = float32(x) },
	Value: exact.FromFloat64,
	Loops: Loops[[]float32, float64]{
		Sum: func(x []float32) (s float64) {
			for _, v := range x {
				s += float64(v)
			}
			return s
		},
		Asum: func(x []float32) (s float64) {
			for _, v := range x {
				s += math.Abs(float64(v))
			}
			return s
		},
		Dot: func(x, y []float32) (s float64) {
			for i, v := range x {
				s += float64(float64(v) * float64(y[i]))
			}
			return s
		},
		Rows: func(rows *numbers.Pattern, a []float32) func(z, x []float32, from, to int) {
			return func(z, x []float32, from, to int) {
				k := rows.Start[from]
				for i, end := range rows.Start[from+1 : to+1] {
					s := 0.0
					for ; k < end; k++ {
						s += float64(float64(a[k]) * float64(x[rows.Column[k]]))
					}
					z[from+i] = float32(s)
				}
			}
		},
		Axpy: func(z []float32, a float64, x, y []float32) {
			for i, v := range x {
				z[i] = float32(float64(a*float64(v)) + float64(y[i]))
			}
		},
		Scal: func(z []float32, a float64, x []float32) {
			for i, v := range x {
				z[i] = float32(a * float64(v))
			}
		},
		Mul: Binary64.Mul, Div: Binary64.Div, Add: Binary64.Add, Sqrt: Binary64.Sqrt,
	},
}
