package op

import (
	"mpbench/pkg/bound"
	"mpbench/pkg/numbers"
)

// Axpy is alpha*x + y.
var Axpy = &Operation{
	Name:    "axpy",
	Summary: "alpha*x + y",
	Operands: []Operand{
		{Name: "x", Usage: "the vector that is multiplied"},
		{Name: "y", Usage: "the vector that is added"},
		{Name: "alpha", Kind: Number, Default: "1", Usage: "factor of x"},
	},
	Split:           ByRow,
	Loop:            "element by element",
	Recursive:       bound.New("g(2)*S", higham),
	Products:        "1",
	Multiplications: 1,
	Reference:       "exact sums of the exact products, nothing rounded",
	Shape: func(p *Problem) (Shape, error) {
		n := p.X.Len()
		if p.Y.Len() != n {
			return Shape{}, p.Op.errorf("x has %d numbers and y has %d", n, p.Y.Len())
		}
		return Shape{N: n, Rows: n, Components: n, Length: 2, Elements: int64(n), PerElement: 3}, p.check()
	},
	Terms: func(p *Problem, i int, t *Terms) {
		if p.Multiplies() {
			t.Products(p.Alpha, p.X.Part(i, i+1), numbers.Array{})
		}
		t.Sum(p.Y.Part(i, i+1))
	},
}
