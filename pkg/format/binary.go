package format

import (
	"math"

	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/sell"
)

// Binary64 is IEEE 754 binary64, with recursive loops. A product is rounded before it is added: see [math.FMA] for why
// that has to be said.
var Binary64 = func() Format[[]float64, float64] {
	f := ieee(Format[[]float64, float64]{
		Name: "binary64", Bits: 53, Bytes: 8, Range: method.Binary64, Same: numbers.Array.Contiguous,
		Value: exact.FromFloat64,
	}, exact.Value.Float64, 0x1p-1022)
	f.Rows = func(rows *numbers.Pattern, a []float64) func(z, x []float64, from, to int) {
		return sell.New(rows, a).Float64
	}
	return f
}()

// Binary32 is IEEE 754 binary32, with recursive loops.
var Binary32 = ieee(Format[[]float32, float32]{
	Name: "binary32", Bits: 24, Bytes: 4, Range: method.Binary32,
	Value: func(x float32) exact.Value { return exact.FromFloat64(float64(x)) },
}, exact.Value.Float32, 0x1p-126)

// ieee completes a format of the processor; least is its least normal number.
func ieee[T float32 | float64](f Format[[]T, T], round func(exact.Value) T, least float64) Format[[]T, T] {
	f.IEEE = true
	most := -math.Log2(least) // h * 2^exp is normal if 2^63 <= h < 2^64 and |exp + 63.5| < most
	f.Float64s = func(z []float64, x []T) {
		for i, v := range x {
			z[i] = float64(v)
		}
	}
	f.Loops = Loops[[]T, T]{
		Sum: func(x []T) (s T) {
			for _, v := range x {
				s += v
			}
			return s
		},
		Asum: func(x []T) (s T) {
			for _, v := range x {
				s += T(math.Abs(float64(v)))
			}
			return s
		},
		Dot: func(x, y []T) (s T) {
			for i, v := range x {
				s += T(v * y[i])
			}
			return s
		},
		Rows: func(rows *numbers.Pattern, a []T) func(z, x []T, from, to int) {
			return func(z, x []T, from, to int) {
				k := rows.Start[from]
				for i, end := range rows.Start[from+1 : to+1] {
					s := T(0)
					for ; k < end; k++ {
						s += T(a[k] * x[rows.Column[k]])
					}
					z[from+i] = s
				}
			}
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
		Products: func(z, x, y []T) {
			for i, v := range x {
				z[i] = v * y[i]
			}
		},
		Mul: func(x, y T) T { return x * y },
		Div: func(x, y T) T { return x / y },
		Add: func(x, y T) T { return x + y },
		// Rounding to binary32 after binary64 is rounding once, as 53 >= 2*24 + 2: S. A. Figueroa, "When is double rounding
		// innocuous?", SIGNUM Newsletter 30 (1995) 21-26, https://doi.org/10.1145/221332.221334.
		Sqrt: func(x T) T { return T(math.Sqrt(float64(x))) },
	}
	return Elements(f, func(z *numbers.Number) (x T, rounded, lost bool) {
		if v, ok := z.Binary64(); ok && float64(T(v)) == v { // most numbers are, and quickly found to be
			return T(v), false, false
		}
		if z.Class == numbers.Finite {
			if h, exp := z.Top(); math.Abs(float64(exp)+63.5) < most {
				x = T(math.Ldexp(float64(T(h)), exp))
				if z.Neg {
					x = -x
				}
				return x, h<<f.Bits != 0, false
			}
		}
		v := z.Value()
		x = round(v)
		if !v.IsFinite() {
			return x, false, false
		}
		rounded = !exact.FromFloat64(float64(x)).Equal(v)
		return x, rounded, rounded && (math.IsInf(float64(x), 0) || math.Abs(float64(x)) <= least)
	})
}
