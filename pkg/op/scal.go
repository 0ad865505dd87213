package op

import (
	"mpbench/pkg/bound"
	"mpbench/pkg/numbers"
)

// Scal is alpha*x; with alpha = 0 it is 0, and x is not read.
var Scal = &Operation{
	Name:    "scal",
	Summary: "alpha*x",
	Operands: []Operand{
		{Name: "x", Usage: "the vector that is multiplied"},
		{Name: "alpha", Kind: Number, Default: "0.3", Usage: "factor of x"},
	},
	Split:     ByRow,
	Loop:      "element by element",
	Recursive: bound.New("g(1)*S", higham),
	Products:  "1",
	Reference: "exact products, nothing rounded",
	Shape: func(p *Problem) (Shape, error) {
		n := p.X.Len()
		return Shape{N: n, Rows: n, Components: n, Length: 1, Elements: int64(n), PerElement: 2}, p.check()
	},
	Terms: func(p *Problem, i int, t *Terms) {
		if p.Multiplies() {
			t.Products(p.Alpha, p.X.Part(i, i+1), numbers.Array{})
		}
	},
}
