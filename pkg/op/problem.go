package op

import (
	"math"
	"math/big"

	"mpbench/pkg/numbers"
)

// Problem is an operation on numbers. Arrays that the operation does not have are absent; an absent Alpha is 1, an
// absent Beta 0.
//
// As in BLAS, neither A nor x is read where alpha = 0, and y is not read where beta = 0: an infinity there does not
// matter. With alpha = 0 and beta = 1, or where A has no elements, the result is y as it is.
type Problem struct {
	Op    *Operation
	Trans bool // op(A) is the transpose of A
	Alpha numbers.Array
	A, X  numbers.Array
	Beta  numbers.Array
	Y     numbers.Array
}

// Operand returns the array of an operand.
func (p *Problem) Operand(name string) *numbers.Array {
	switch name {
	case "alpha":
		return &p.Alpha
	case "a":
		return &p.A
	case "x":
		return &p.X
	case "beta":
		return &p.Beta
	}
	return &p.Y
}

// arrays returns the operands that there are.
func (p *Problem) arrays() (list []numbers.Array) {
	for _, a := range []numbers.Array{p.Alpha, p.A, p.X, p.Beta, p.Y} {
		if !a.Absent() {
			list = append(list, a)
		}
	}
	return list
}

// check checks that the elements of all arrays are there.
func (p *Problem) check() error {
	for _, o := range p.Op.Operands {
		a := p.Operand(o.Name)
		if a.Absent() {
			continue
		}
		if err := a.Check(a.Source.Len()); err != nil {
			return p.Op.errorf("%s: %v", o.Name, err)
		}
	}
	return nil
}

// Matrix returns op(A).
func (p *Problem) Matrix() numbers.Array {
	if p.Trans {
		return p.A.Transposed()
	}
	return p.A
}

// Multiplies tells whether x, and A, are read.
func (p *Problem) Multiplies() bool {
	if !p.A.Absent() && p.A.Len() == 0 {
		return false
	}
	return p.Alpha.Absent() || !p.Alpha.Equals(0)
}

// Copies tells whether the result is y as it is.
func (p *Problem) Copies() bool {
	if p.Multiplies() {
		return false
	}
	return p.A.Len() == 0 || !p.Beta.Absent() && p.Beta.Equals(1)
}

// Adds tells whether beta*y, or y, is read.
func (p *Problem) Adds() bool {
	return p.Copies() || !p.Beta.Absent() && !p.Beta.Equals(0)
}

// Chunked tells whether an array is not in memory.
func (p *Problem) Chunked() bool {
	for _, a := range p.arrays() {
		if a.Chunked() {
			return true
		}
	}
	return false
}

// Part returns the problem of rows from to to-1 of the result, or of those terms, as the operation splits.
func (p *Problem) Part(from, to int) *Problem {
	q := *p
	q.Y = p.Y.Part(from, to)
	if p.A.Absent() {
		q.X = p.X.Part(from, to)
	} else {
		q.A, q.Trans = p.Matrix().Part(from, to), false
	}
	return &q
}

// Sample returns a problem of the first rows of the result and the first terms of each, to estimate costs on.
func (p *Problem) Sample(rows, terms int) *Problem {
	q := *p
	if p.A.Absent() {
		n := terms
		if p.Op.Split == ByRow {
			n = rows
		}
		q.X, q.Y = p.X.Part(0, min(n, p.X.Rows)), p.Y.Part(0, min(n, p.Y.Rows))
		return &q
	}
	a := p.Matrix()
	rows, terms = min(rows, a.Rows), min(terms, a.Cols)
	q.A, q.Trans = a.Part(0, rows), false
	q.A.Cols = terms
	q.X, q.Y = p.X.Part(0, terms), p.Y.Part(0, rows)
	return &q
}

// Quantity returns what a letter stands for in formulas of error bounds; nil for other letters and where it is not
// finite:
//
//	a   |alpha|
//	R   an upper bound, less than twice the value, on the largest sum of |op(A)_ij| over j
//	X   an upper bound, less than twice the value, on the largest |x_j|
func (p *Problem) Quantity(letter string) *big.Rat {
	switch letter {
	case "a":
		return p.alpha()
	case "R":
		return rational(largestRowSum(p.Matrix()))
	case "X":
		return rational(largestRowSum(p.X.Column(0)))
	}
	return nil
}

func (p *Problem) alpha() *big.Rat {
	if p.Alpha.Absent() {
		return big.NewRat(1, 1)
	}
	v := numbers.At(p.Alpha.Source, p.Alpha.Offset)
	if !v.IsFinite() {
		return nil
	}
	return new(big.Rat).Abs(v.Number())
}

// largestRowSum returns the largest sum over a row of 2^top, the least power of two above each number.
func largestRowSum(a numbers.Array) (largest float64) {
	for i := range a.Rows {
		sum := 0.0
		for j := range a.Cols {
			switch s := a.SpanAt(i, j); s.Class {
			case numbers.Zero:
			case numbers.Finite:
				sum += math.Ldexp(1, s.Top)
			default:
				return math.Inf(1)
			}
		}
		largest = max(largest, sum*(1+0x1p-20)) // rounding errors of up to 2^32 additions
	}
	return largest
}

// rational returns x, or nil for an infinity.
func rational(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
