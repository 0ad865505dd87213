package op

import "mpbench/pkg/bound"

const higham = "Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2"

// Sum is the sum of the elements of x.
var Sum = &Operation{
	Name:      "sum",
	Summary:   "sum of the numbers of x",
	Operands:  []Operand{{Name: "x", Usage: "the numbers to be summed"}},
	Scalar:    true,
	Split:     ByTerm,
	Reference: "exact sum, nothing rounded",
	Loop:      "recursive summation", Recursive: bound.New("g(n-1)*S", higham),
	Shape: func(p *Problem) (Shape, error) {
		n := p.X.Len()
		return Shape{N: n, Rows: 1, Components: 1, Length: n, Elements: int64(n), PerElement: 1}, p.check()
	},
	Terms: func(p *Problem, _ int, t *Terms) { t.Sum(p.X) },
}
