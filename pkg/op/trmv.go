package op

import (
	"mpbench/pkg/bound"
	"mpbench/pkg/numbers"
)

// Trmv is op(A)*x for a triangular A, of which one triangle is read, or less where its diagonal is ones
// ([Problem.Store]). Zeros beside the triangle multiply nothing.
var Trmv = &Operation{
	Name:    "trmv",
	Summary: "op(A)*x, A triangular",
	Operands: []Operand{
		{Name: "a", Kind: Matrix, Usage: "the matrix"},
		{Name: "x", Usage: "the vector that it is multiplied by"},
	},
	Storage:         Triangular,
	Split:           ByRow,
	Loop:            Gemv.Loop,
	Recursive:       bound.New("g(n)*S", higham),
	Products:        "n",
	Multiplications: 1,
	Reference:       Gemv.Reference,
	Shape: func(p *Problem) (Shape, error) {
		if err := p.checkStored(); err != nil {
			return Shape{}, err
		}
		s, err := Gemv.Shape(p)
		s.Uplo, s.Diag = p.uplo, p.diag
		return s, err
	},
	Terms: func(p *Problem, i int, t *Terms) {
		if p.Multiplies() {
			a := p.Matrix()
			from, to := a.Stored(i)
			t.Products(numbers.Array{}, a.Row(i).Part(from, to), p.X.Part(from, to))
		}
	},
}
