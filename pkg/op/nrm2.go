package op

import (
	"mpbench/pkg/bound"
	"mpbench/pkg/numbers"
)

// Nrm2 is the Euclidean norm of x: the square root of the sum of the squares.
//
// Its bound: a loop that rounds every operation computes sum x_i^2*(1+e_i) with (1-u)^n <= 1+e_i <= (1+u)^n, and so do
// all of them together, as no square is negative. The root halves the exponents and adds one. Numbers whose squares
// would leave the range are scaled by a power of two before; what is then lost below the range is less than u, too.
var Nrm2 = &Operation{
	Name:      "nrm2",
	Summary:   "Euclidean norm of x",
	Operands:  []Operand{{Name: "x", Usage: "the vector"}},
	Scalar:    true,
	Split:     ByTerm,
	Norm:      2,
	Reference: "exact sum of the exact squares; its square root, if irrational, compared by squares",
	Loop:      "recursive sum of squares and its root",
	Recursive: bound.New("g(ceil(n/2)+2)*S", higham+", with lemma 3.1"),
	Products:  "1", // of the scaled root and the power of two
	Shape:     Sum.Shape,
	Terms:     func(p *Problem, _ int, t *Terms) { t.Products(numbers.Array{}, p.X, p.X) },
}
