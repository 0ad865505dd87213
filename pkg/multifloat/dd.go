// Package multifloat has number formats that are unevaluated sums of float64 numbers.
package multifloat

import (
	"math"
	"math/big"

	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/superacc"
)

// DD is a double-double, the number Hi + Lo, where Hi is that sum rounded to nearest.
type DD struct{ Hi, Lo float64 }

// Add returns x + y with a relative error of at most 3u^2/(1-4u) for u = 2^-53, below 13*2^-108, also where parts are
// subnormal: AccurateDWPlusDW.
//
// Source: M. Joldes, J.-M. Muller, V. Popescu, "Tight and rigorous error bounds for basic building blocks of
// double-word arithmetic", ACM TOMS 44 (2017) 15res, https://doi.org/10.1145/3121432, algorithm 6, theorem 3.1.
func (x DD) Add(y DD) DD {
	s, e := superacc.TwoSum(x.Hi, y.Hi)
	t, f := superacc.TwoSum(x.Lo, y.Lo)
	s, e = superacc.FastTwoSum(s, e+t)
	s, e = superacc.FastTwoSum(s, f+e)
	return DD{s, e}
}

// Mul returns x * y with a relative error of at most 5u^2 and an absolute one of at most 3*2^-1075, as each of three
// products may be rounded below the normal range: DWTimesDW2.
//
// Source: the same, algorithm 11, theorem 5.2.
func (x DD) Mul(y DD) DD {
	p, e := superacc.TwoProduct(x.Hi, y.Hi)
	p, e = superacc.FastTwoSum(p, e+math.FMA(x.Hi, y.Lo, float64(x.Lo*y.Hi)))
	return DD{p, e}
}

// Value returns the exact value.
func (x DD) Value() exact.Value {
	hi, lo := exact.FromFloat64(x.Hi), exact.FromFloat64(x.Lo)
	if !hi.IsFinite() || !lo.IsFinite() {
		return hi
	}
	return exact.FromRat(new(big.Rat).Add(hi.Number(), lo.Number()))
}

// DoubleDouble is the format, with recursive loops.
var DoubleDouble = format.Elements(format.Format[[]DD, DD]{
	Name: "double-double", Bits: 106, Bytes: 16, Value: DD.Value,
	Range: method.Range{
		Unit: exact.PowerOfTwo(-106), Tiny: exact.PowerOfTwo(-1073), Overflow: exact.PowerOfTwo(1023),
	},
	Loops: format.Loops[[]DD, DD]{
		Add: DD.Add, Mul: DD.Mul,
		Sum: func(x []DD) (s DD) {
			for _, v := range x {
				s = s.Add(v)
			}
			return s
		},
		Dot: func(x, y []DD) (s DD) {
			for i, v := range x {
				s = s.Add(v.Mul(y[i]))
			}
			return s
		},
		Axpy: func(z []DD, a DD, x, y []DD) {
			for i, v := range x {
				z[i] = a.Mul(v).Add(y[i])
			}
		},
		Scal: func(z []DD, a DD, x []DD) {
			for i, v := range x {
				z[i] = a.Mul(v)
			}
		},
	},
}, round)

// round returns a number rounded to nearest twice, a relative error of 2^-107 where both parts are normal.
func round(z *numbers.Number) (x DD, rounded, lost bool) {
	v := z.Value()
	x.Hi = v.Float64()
	if !v.IsFinite() || math.IsInf(x.Hi, 0) {
		return x, v.IsFinite(), v.IsFinite()
	}
	rest := exact.FromRat(new(big.Rat).Sub(v.Number(), exact.FromFloat64(x.Hi).Number()))
	x.Lo = rest.Float64()
	rounded = !exact.FromFloat64(x.Lo).Equal(rest)
	return x, rounded, rounded && math.Abs(x.Lo) <= 0x1p-1022
}

// Methods are the methods of the format.
func Methods() []method.Method {
	f := func(method.Config) format.Format[[]DD, DD] { return DoubleDouble }
	m := method.Method{Name: "dd", Summary: "in double-double", Bits: DoubleDouble.Bits}
	return append(format.Recursive(m, "u = 13*2^-108", f, op.Sum),
		format.Recursive(m, "u = 5*2^-106", f, op.Dot, op.Axpy, op.Gemv)...)
}
