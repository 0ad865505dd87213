package format

import (
	"math/big"
	"unsafe"

	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
)

// BigFloat is math/big.Float at the configuration's precision: binary, round to nearest even, p bits, exponents
// without end in practice. The loops are recursive.
func BigFloat(c method.Config) Format[[]big.Float, *big.Float] {
	p := uint(c.Precision)
	f := Format[[]big.Float, *big.Float]{
		Name: "big.Float", Bits: c.Precision, Bytes: int(unsafe.Sizeof(big.Float{})) + 8*((c.Precision+63)/64),
		Range: method.Range{Unit: exact.PowerOfTwo(-c.Precision)}, Parts: "W x 8 + 32 bytes",
		Make: func(n int) []big.Float {
			x := make([]big.Float, n)
			for i := range x {
				x[i].SetPrec(p)
			}
			return x
		},
		Slice: func(v []big.Float, from, to int) []big.Float { return v[from:to] },
		Get:   func(v []big.Float, i int) *big.Float { return &v[i] },
		Set:   func(v []big.Float, i int, x *big.Float) { v[i].Set(x) },
		Value: exact.FromBig,
		Float64s: func(z []float64, x []big.Float) {
			for i := range x {
				z[i], _ = x[i].Float64()
			}
		},
	}
	f.Load = func(a numbers.Array) ([]big.Float, method.Rounded) {
		list, any, i := f.Make(a.Len()), method.Rounded{}, 0
		a.Each(ReadBits(c.Precision), func(z *numbers.Number) {
			if list[i].Set(z.Big()); list[i].Acc() != big.Exact {
				any.Factors = 1
			}
			i++
		})
		return list, any
	}
	f.Loops = Loops[[]big.Float, *big.Float]{
		Sum: func(x []big.Float) *big.Float {
			// Two numbers in turn, as an addition in place allocates.
			sum, next := new(big.Float).SetPrec(p), new(big.Float).SetPrec(p)
			for i := range x {
				next.Add(sum, &x[i])
				sum, next = next, sum
			}
			return sum
		},
		Asum: func(x []big.Float) *big.Float {
			sum, next := new(big.Float).SetPrec(p), new(big.Float).SetPrec(p)
			for i := range x {
				if x[i].Signbit() {
					next.Sub(sum, &x[i])
				} else {
					next.Add(sum, &x[i])
				}
				sum, next = next, sum
			}
			return sum
		},
		Dot: func(x, y []big.Float) *big.Float {
			sum, next := new(big.Float).SetPrec(p), new(big.Float).SetPrec(p)
			product := new(big.Float).SetPrec(p)
			for i := range x {
				product.Mul(&x[i], &y[i])
				next.Add(sum, product)
				sum, next = next, sum
			}
			return sum
		},
		Rows: func(rows *numbers.Pattern, a []big.Float) func(z, x []big.Float, from, to int) {
			return func(z, x []big.Float, from, to int) {
				sum, next := new(big.Float).SetPrec(p), new(big.Float).SetPrec(p)
				product := new(big.Float).SetPrec(p)
				for i := from; i < to; i++ {
					sum.SetInt64(0)
					for k := rows.Start[i]; k < rows.Start[i+1]; k++ {
						product.Mul(&a[k], &x[rows.Column[k]])
						next.Add(sum, product)
						sum, next = next, sum
					}
					z[i].Set(sum)
				}
			}
		},
		Axpy: func(z []big.Float, a *big.Float, x, y []big.Float) {
			product := new(big.Float).SetPrec(p)
			for i := range x {
				product.Mul(a, &x[i])
				z[i].Add(product, &y[i])
			}
		},
		Scal: func(z []big.Float, a *big.Float, x []big.Float) {
			for i := range x {
				z[i].Mul(a, &x[i])
			}
		},
		Products: func(z, x, y []big.Float) {
			for i := range x {
				z[i].Mul(&x[i], &y[i])
			}
		},
		Mul:  func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(p).Mul(x, y) },
		Div:  func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(p).Quo(x, y) },
		Add:  func(x, y *big.Float) *big.Float { return new(big.Float).SetPrec(p).Add(x, y) },
		Sqrt: func(x *big.Float) *big.Float { return exact.RoundRoot(exact.FromBig(x), p) }, // Float.Sqrt proves nothing
	}
	return f
}
