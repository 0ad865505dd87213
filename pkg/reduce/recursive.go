package reduce

import (
	"mpbench/pkg/bound"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
)

// adder is a number format with a few numbered slots for partial sums: what an order of additions works on. Terms are
// numbered from 0.
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

const sourceHigham = "Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2"

// Recursive sums and dot products in formats with loops. An addition in binary64 is exact below the normal range; a
// product loses at most 2^-1075 there.
var (
	float32Method = format.Binary32.Method(method.Method{
		Operation: op.Sum, Name: "float32", Summary: "recursive summation in binary32",
		Bound: bound.New("g(n-1)*S, u = 2^-24", sourceHigham),
	}, format.Binary32.Loops)
	float64Methods = []method.Method{
		format.Binary64.Method(method.Method{
			Operation: op.Sum, Name: "float64", Summary: "recursive summation in binary64",
			Bound: bound.New("g(n-1)*S, u = 2^-53", sourceHigham),
		}, format.Binary64.Loops),
		format.Binary64.Method(method.Method{
			Operation: op.Dot, Name: "float64", Summary: "recursive dot product in binary64",
			Bound: bound.New("g(n)*S + n*2^-1074, u = 2^-53", sourceHigham),
		}, format.Binary64.Loops),
	}
	bigfloatMethods = []method.Method{
		format.Of(method.Method{
			Operation: op.Sum, Name: "bigfloat", Summary: "recursive summation with math/big.Float",
			Least: 2, Most: 1 << 16, Bound: bound.New("g(n-1)*S, u = 2^-p", sourceHigham),
		}, format.BigFloat),
		format.Of(method.Method{
			Operation: op.Dot, Name: "bigfloat", Summary: "recursive dot product with math/big.Float",
			Least: 2, Most: 1 << 16, Bound: bound.New("g(n)*S, u = 2^-p", sourceHigham),
		}, format.BigFloat),
	}
)
