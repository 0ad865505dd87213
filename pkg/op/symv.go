package op

// Symv is alpha*A*x + beta*y for a symmetric A, of which one triangle is read ([Problem.Store]).
var Symv = &Operation{
	Name:            "symv",
	Summary:         "alpha*A*x + beta*y, A symmetric",
	Operands:        Gemv.Operands,
	Storage:         Symmetric,
	Split:           ByRow,
	Loop:            Gemv.Loop,
	Recursive:       Gemv.Recursive,
	Products:        Gemv.Products,
	Multiplications: 2,
	Reference:       Gemv.Reference,
	Shape: func(p *Problem) (Shape, error) {
		if err := p.checkStored(); err != nil {
			return Shape{}, err
		}
		s, err := Gemv.Shape(p)
		s.Trans, s.Uplo = "", p.uplo
		return s, err
	},
	Terms: Gemv.Terms,
}
