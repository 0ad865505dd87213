package reduce

import (
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

// adder is a number format with a few slots for partial sums: what orders of additions use. Terms count from 0.
type adder interface {
	load(slot, i int)    // slot = term i
	addTerm(slot, i int) // slot = slot + term i
	addSlot(slot, j int) // slot = slot + slot j
}

// recursive adds n >= 1 terms to slot 0, one after the other: Reduce1 of the 2018 paper.
//
// A term takes part in at most n - 1 additions.
func recursive[A adder](a A, n int) {
	a.load(0, 0)
	for i := 1; i < n; i++ {
		a.addTerm(0, i)
	}
}

// Methods of loops that round every operation.
var (
	float32Methods = format.Recursive(method.Method{Name: "float32", Summary: "in binary32", Bits: 24}, "u = 2^-24",
		func(method.Config) format.Format[[]float32, float32] { return format.Binary32 }, op.All()...)
	float32In64Methods = format.Recursive(method.Method{
		Name: "float32-in-float64", Summary: "of binary32 in binary64", Bits: 24, Extra: true,
	}, "u = 2^-53", func(method.Config) format.Format[[]float32, float64] { return format.Binary32In64 }, op.All()...)
	float64Methods = format.Recursive(method.Method{Name: "float64", Summary: "in binary64", Bits: 53}, "u = 2^-53",
		func(method.Config) format.Format[[]float64, float64] { return format.Binary64 }, op.Vectors()...)
	bigfloatMethods = format.Recursive(method.Method{
		Name: "bigfloat", Summary: "with math/big.Float", Least: 2, Most: 1 << 16,
	}, "u = 2^-p", format.BigFloat, op.Vectors()...)
)
