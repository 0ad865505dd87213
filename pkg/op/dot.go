package op

import (
	"mpbench/pkg/bound"
	"mpbench/pkg/numbers"
)

// Dot is the sum of the products of the elements of x and y.
var Dot = &Operation{
	Name:    "dot",
	Summary: "dot product of x and y",
	Operands: []Operand{
		{Name: "x", Usage: "the first vector"},
		{Name: "y", Usage: "the second vector"},
	},
	Scalar:          true,
	Split:           ByTerm,
	ConditionFactor: 2,
	Loop:            "recursive dot product",
	Recursive:       bound.New("g(n)*S", higham),
	Products:        "n",
	Multiplications: 1,
	Reference:       "exact sum of the exact products, nothing rounded",
	Shape: func(p *Problem) (Shape, error) {
		n := p.X.Len()
		if p.Y.Len() != n {
			return Shape{}, p.Op.errorf("x has %d numbers and y has %d", n, p.Y.Len())
		}
		return Shape{N: n, Rows: 1, Components: 1, Length: n, Elements: int64(n), PerElement: 2}, p.check()
	},
	Terms: func(p *Problem, _ int, t *Terms) { t.Products(numbers.Array{}, p.X, p.Y) },
}
