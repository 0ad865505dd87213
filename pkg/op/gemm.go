package op

import "mpbench/pkg/numbers"

// Gemm is alpha*op(A)*op(B) + beta*C: gemv with several columns. B is the x of a problem and C its y; the components
// of the result are those of C, row by row.
var Gemm = &Operation{
	Name:    "gemm",
	Summary: "alpha*op(A)*op(B) + beta*C",
	Operands: []Operand{
		{Name: "a", Kind: Matrix, Usage: "the left matrix"},
		{Name: "b", Kind: Matrix, Usage: "the right matrix"},
		{Name: "c", Kind: Matrix, Usage: "the matrix that is added, times beta", Optional: true},
		{Name: "alpha", Kind: Number, Default: "1", Usage: "factor of op(A)*op(B)"},
		{Name: "beta", Kind: Number, Default: "0", Usage: "factor of C; with 0, C is overwritten"},
	},
	Split:           ByRow,
	Loop:            "element by element",
	Recursive:       Gemv.Recursive,
	Products:        Gemv.Products,
	Multiplications: 2,
	Reference:       Gemv.Reference,
	Shape: func(p *Problem) (Shape, error) {
		a, b := p.Matrix(), p.Right()
		if b.Rows != a.Cols || p.Adds() && (p.Y.Rows != a.Rows || p.Y.Cols != b.Cols) {
			return Shape{}, p.Op.errorf("op(A) is %d x %d, op(B) is %d x %d and C is %d x %d",
				a.Rows, a.Cols, b.Rows, b.Cols, p.Y.Rows, p.Y.Cols)
		}
		return Shape{
			M: p.A.Rows, N: p.A.Cols, K: b.Cols, Trans: letter(p.Trans) + letter(p.TransX), Rows: a.Rows,
			Components: a.Rows * b.Cols, Length: a.Cols, Elements: int64(a.Rows) * int64(a.Cols) * int64(b.Cols),
		}, p.check()
	},
	Terms: func(p *Problem, i int, t *Terms) {
		b := p.Right()
		row, column := i/b.Cols, i%b.Cols
		if p.Multiplies() {
			t.Products(p.Alpha, p.Matrix().Row(row), b.Column(column))
		}
		if c := p.Y.Part(row, row+1); p.Copies() {
			t.Sum(c.Column(column))
		} else if p.Adds() {
			t.Products(p.Beta, c.Column(column), numbers.Array{})
		}
	},
}

// letter is that of BLAS for a matrix or its transpose.
func letter(trans bool) string {
	if trans {
		return "T"
	}
	return "N"
}
