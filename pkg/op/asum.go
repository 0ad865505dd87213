package op

import "mpbench/pkg/bound"

// Asum is the sum of the magnitudes of the elements of x, its 1-norm.
var Asum = &Operation{
	Name:      "asum",
	Summary:   "sum of the magnitudes of the numbers of x",
	Operands:  []Operand{{Name: "x", Usage: "the numbers whose magnitudes are summed"}},
	Scalar:    true,
	Split:     ByTerm,
	Norm:      1,
	Reference: "exact sum of the magnitudes, nothing rounded",
	Loop:      "recursive summation of magnitudes", Recursive: bound.New("g(n-1)*S", higham),
	Shape: Sum.Shape,
	Terms: Sum.Terms,
}
