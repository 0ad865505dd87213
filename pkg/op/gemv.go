package op

import (
	"mpbench/pkg/bound"
	"mpbench/pkg/numbers"
)

// Gemv is alpha*op(A)*x + beta*y.
var Gemv = &Operation{
	Name:    "gemv",
	Summary: "alpha*op(A)*x + beta*y",
	Operands: []Operand{
		{Name: "a", Kind: Matrix, Usage: "the matrix"},
		{Name: "x", Usage: "the vector that it is multiplied by"},
		{Name: "y", Usage: "the vector that is added, times beta", Optional: true},
		{Name: "alpha", Kind: Number, Default: "1", Usage: "factor of op(A)*x"},
		{Name: "beta", Kind: Number, Default: "0", Usage: "factor of y; with 0, y is overwritten"},
	},
	Split:           ByRow,
	Loop:            "row by row",
	Recursive:       bound.New("g(n+2)*S", "Isupov, Knyazkov 2020, DOI 10.25209/2079-3316-2020-11-3-61-84, (16) to (19)"),
	Products:        "(n+2+n*a+R)", // those of alpha*x are lost times elements of op(A)
	Multiplications: 2,
	Reference:       "exact sums of the exact products, nothing rounded",
	Shape: func(p *Problem) (Shape, error) {
		a := p.Matrix()
		s := Shape{
			M: p.A.Rows, N: p.A.Cols, Trans: letter(p.Trans), Rows: a.Rows, Components: a.Rows, Length: a.Cols,
			Elements: int64(a.Rows) * int64(a.Cols), PerElement: 1,
		}
		if p.X.Rows != a.Cols || p.Adds() && p.Y.Rows != a.Rows {
			return Shape{}, p.Op.errorf("op(A) is %d x %d, x has %d numbers and y has %d", a.Rows, a.Cols, p.X.Rows, p.Y.Rows)
		}
		return s, p.check()
	},
	Terms: func(p *Problem, i int, t *Terms) {
		if p.Multiplies() {
			t.Products(p.Alpha, p.Matrix().Row(i), p.X)
		}
		if p.Copies() {
			t.Sum(p.Y.Part(i, i+1))
		} else if p.Adds() {
			t.Products(p.Beta, p.Y.Part(i, i+1), numbers.Array{})
		}
	},
}
