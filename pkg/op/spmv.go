package op

import "mpbench/pkg/numbers"

// Spmv is alpha*op(A)*x + beta*y for a sparse A, of which the stored elements are read: an infinity in x matters
// only to rows that have an element in its column.
//
// The n of bounds is the number of elements of the longest row: rows with fewer have fewer terms, and the bounds of
// n terms hold for them.
var Spmv = &Operation{
	Name:            "spmv",
	Summary:         "alpha*op(A)*x + beta*y, A sparse",
	Operands:        Gemv.Operands,
	Storage:         Sparse,
	Split:           ByRow,
	Loop:            Gemv.Loop,
	Recursive:       Gemv.Recursive,
	Products:        Gemv.Products,
	Multiplications: 2,
	Reference:       Gemv.Reference,
	Shape: func(p *Problem) (Shape, error) {
		if p.A.Pattern == nil {
			return Shape{}, p.Op.errorf("A is no sparse matrix")
		}
		if err := p.check(); err != nil {
			return Shape{}, err
		}
		s, err := Gemv.Shape(p)
		if err != nil {
			return Shape{}, err
		}
		s.NNZ = p.A.Len()
		s.Places = int64(4*s.NNZ) + int64(8*(s.Rows+1)) // columns and row pointers
		s.Elements, s.Length = int64(s.NNZ), p.Matrix().Pattern.Longest()
		return s, nil
	},
	Terms: func(p *Problem, i int, t *Terms) {
		if p.Multiplies() {
			a := p.Matrix()
			t.Products(p.Alpha, a.Row(i), numbers.Pick(p.X, a.Pattern.Row(i)))
		}
		if p.Copies() {
			t.Sum(p.Y.Part(i, i+1))
		} else if p.Adds() {
			t.Products(p.Beta, p.Y.Part(i, i+1), numbers.Array{})
		}
	},
}
