package format

import (
	"math"

	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
)

// Binary64 is IEEE 754 binary64, with recursive loops. A product is rounded before it is added: see [math.FMA] for why
// that has to be said.
var Binary64 = ieee(Format[[]float64, float64]{
	Name: "binary64", Bits: 53, Bytes: 8, Range: method.Binary64, Same: numbers.Array.Contiguous,
	Value: exact.FromFloat64,
}, exact.Value.Float64, 0x1p-1022)

// Binary32 is IEEE 754 binary32, with recursive loops.
var Binary32 = ieee(Format[[]float32, float32]{
	Name: "binary32", Bits: 24, Bytes: 4, Range: method.Binary32,
	Value: func(x float32) exact.Value { return exact.FromFloat64(float64(x)) },
}, exact.Value.Float32, 0x1p-126)

// ieee completes a format of the processor; least is its least normal number.
func ieee[T float32 | float64](f Format[[]T, T], round func(exact.Value) T, least float64) Format[[]T, T] {
	f.IEEE = true
	f.Loops = Loops[[]T, T]{
		Sum: func(x []T) (s T) {
			for _, v := range x {
				s += v
			}
			return s
		},
		Dot: func(x, y []T) (s T) {
			for i, v := range x {
				s += T(v * y[i])
			}
			return s
		},
		Axpy: func(z []T, a T, x, y []T) {
			for i, v := range x {
				z[i] = T(a*v) + y[i]
			}
		},
		Scal: func(z []T, a T, x []T) {
			for i, v := range x {
				z[i] = a * v
			}
		},
		Mul: func(x, y T) T { return x * y },
		Add: func(x, y T) T { return x + y },
	}
	return Elements(f, func(z *numbers.Number) (x T, rounded, lost bool) {
		v := z.Value()
		x = round(v)
		if !v.IsFinite() {
			return x, false, false
		}
		rounded = !exact.FromFloat64(float64(x)).Equal(v)
		return x, rounded, rounded && (math.IsInf(float64(x), 0) || math.Abs(float64(x)) <= least)
	})
}
