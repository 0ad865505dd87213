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
// matter. With alpha = 0 and beta = 1 the result is y as it is, and where a full A has no elements and x is a
// vector; of matrices, and of a sparse A, it is beta*y then.
type Problem struct {
	Op     *Operation
	Trans  bool // op(A) is the transpose of A
	TransX bool // op(x) is the transpose of x, a matrix
	Alpha  numbers.Array
	A, X   numbers.Array
	Beta   numbers.Array
	Y      numbers.Array

	uplo, diag string // of A, once Store has been called
}

// Store makes a square A the symmetric or triangular matrix of the operation, of which the upper or the lower triangle
// is read; with unit, the diagonal of a triangular one is ones. It does nothing for operations on other matrices.
func (p *Problem) Store(upper, unit bool) {
	if p.A.Absent() || p.A.Rows != p.A.Cols {
		return // Shape says so
	}
	switch p.Op.Storage {
	case Symmetric:
		p.A = p.A.Symmetric(upper)
	case Triangular:
		p.A, p.diag = p.A.Triangular(upper, unit), "N"
		if unit {
			p.diag = "U"
		}
	default:
		return
	}
	if p.uplo = "L"; upper {
		p.uplo = "U"
	}
}

// checkStored checks that A was square when Store was called.
func (p *Problem) checkStored() error {
	if p.uplo == "" {
		return p.Op.errorf("A is %d x %d; want a square matrix, one triangle of which is read", p.A.Rows, p.A.Cols)
	}
	return nil
}

// Operand returns the array of an operand.
func (p *Problem) Operand(name string) *numbers.Array {
	switch name {
	case "alpha":
		return &p.Alpha
	case "a":
		return &p.A
	case "x", "b":
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

// Right returns what op(A) is multiplied by: x, or op(x).
func (p *Problem) Right() numbers.Array {
	if p.TransX {
		return p.X.Transposed()
	}
	return p.X
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
	return p.A.Len() == 0 && p.A.Pattern == nil && p.Op.Matrices() < 2 || !p.Beta.Absent() && p.Beta.Equals(1)
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

// Bytes returns how many bytes of memory the numbers take at least.
func (p *Problem) Bytes() (n int64) {
	for _, a := range p.arrays() {
		n += a.Bytes()
	}
	return n
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

// Sample returns a problem of the first rows of the result and the first terms of each, of a sparse matrix all
// terms, to estimate costs on.
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
	if a.Pattern != nil {
		terms = a.Cols
	}
	q.A, q.Trans = a.Part(0, rows), false
	q.A.Cols = terms
	q.X, q.TransX, q.Y = p.Right().Part(0, terms), false, p.Y.Part(0, rows)
	return &q
}

// Quantity returns what a letter stands for in formulas of error bounds, which speak of finite numbers: others count
// as 0. It is nil for other letters and where it exceeds the range of float64:
//
//	a   |alpha|
//	R   an upper bound, less than twice the value, on the largest sum of |op(A)_ij| over j
//	X   an upper bound, less than twice the value, on the largest magnitude in x
//	P   the largest magnitude of x_i, or of x_i*y_i if there is a y, in binary64: at most 2^-49 too large
func (p *Problem) Quantity(letter string) *big.Rat {
	switch letter {
	case "a":
		return p.alpha()
	case "R":
		return rational(largestRowSum(p.Matrix()))
	case "X":
		largest := 0.0
		for j := range p.X.Cols {
			largest = max(largest, largestRowSum(p.X.Column(j)))
		}
		return rational(largest)
	case "P":
		return rational(p.largestTerm())
	}
	return nil
}

// largestTerm returns the largest magnitude of x_i or of x_i*y_i.
func (p *Problem) largestTerm() (largest float64) {
	factor := func(int) float64 { return 1 }
	if !p.Y.Absent() {
		factor = func(i int) float64 { return numbers.At(p.Y.Source, p.Y.Index(i, 0)).Float64() }
	}
	note := func(i int, x float64) {
		if y := factor(i); x-x == 0 && y-y == 0 {
			largest = max(largest, math.Abs(x*y))
		}
	}
	if p.X.Chunked() && p.X.RowStride == 1 {
		run := make([]float64, 1<<16)
		for from := 0; from < p.X.Rows; from += len(run) {
			part := run[:min(len(run), p.X.Rows-from)]
			if p.X.ReadRun(part, from) != nil {
				return math.Inf(1) // nothing is known
			}
			for i, x := range part {
				note(from+i, x)
			}
		}
	} else {
		for i := range p.X.Rows {
			note(i, numbers.At(p.X.Source, p.X.Index(i, 0)).Float64())
		}
	}
	return largest*(1+0x1p-50) + 0x1p-1074
}

func (p *Problem) alpha() *big.Rat {
	if p.Alpha.Absent() {
		return big.NewRat(1, 1)
	}
	v := numbers.At(p.Alpha.Source, p.Alpha.Offset)
	if !v.IsFinite() {
		return new(big.Rat)
	}
	return new(big.Rat).Abs(v.Number())
}

// largestRowSum returns the largest sum over a row of 2^top, the least power of two above each number.
func largestRowSum(a numbers.Array) (largest float64) {
	if x, ok := a.Source.(numbers.Float64s); ok && a.Cols == 1 && a.Pattern == nil {
		return powerAbove(x, a.Layout) * (1 + 0x1p-20)
	}
	for i := range a.Rows {
		row, sum := a.Row(i), 0.0
		for j := range row.Rows {
			if s := row.SpanAt(j, 0); s.Class == numbers.Finite {
				sum += math.Ldexp(1, s.Top)
			}
		}
		largest = max(largest, sum*(1+0x1p-20)) // rounding errors of up to 2^32 additions
	}
	return largest
}

// powerAbove returns the least power of two above the largest finite magnitude in a column, 0 where that is 0.
func powerAbove(x numbers.Float64s, column numbers.Layout) float64 {
	largest := 0.0
	for i := range column.Rows {
		if v := math.Abs(x[column.Index(i, 0)]); v > largest && v <= math.MaxFloat64 {
			largest = v
		}
	}
	if largest == 0 {
		return 0
	}
	_, top := math.Frexp(largest)
	return math.Ldexp(1, top)
}

// rational returns x, or nil for an infinity.
func rational(x float64) *big.Rat { return new(big.Rat).SetFloat64(x) }
