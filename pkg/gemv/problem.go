package gemv

import (
	"errors"
	"fmt"
	"math"
	"math/big"
)

// Op says which matrix multiplies x.
type Op uint8

// NoTrans is A, Trans its transpose.
const (
	NoTrans Op = iota
	Trans
)

// String returns "N" or "T".
func (op Op) String() string {
	switch op {
	case NoTrans:
		return "N"
	case Trans:
		return "T"
	}
	return fmt.Sprintf("Op(%d)", uint8(op))
}

// Numbers is an array of numbers: Wide, finite numbers of any precision, or, where Wide is nil, Float64.
type Numbers struct {
	Float64 []float64
	Wide    []*big.Float
}

// Len returns the number of numbers.
func (x Numbers) Len() int {
	if x.Wide != nil {
		return len(x.Wide)
	}
	return len(x.Float64)
}

// Scalar is a number: Wide, or Float64 where Wide is nil. The zero Scalar is 0.
type Scalar struct {
	Float64 float64
	Wide    *big.Float
}

// Number returns the scalar x.
func Number(x float64) Scalar { return Scalar{Float64: x} }

// numbers returns the scalar as an array of one number.
func (x Scalar) numbers() Numbers {
	if x.Wide != nil {
		return Numbers{Wide: []*big.Float{x.Wide}}
	}
	return Numbers{Float64: []float64{x.Float64}}
}

// is reports whether x is the number n.
func (x Scalar) is(n float64) bool {
	if x.Wide != nil {
		return x.Wide.Cmp(big.NewFloat(n)) == 0
	}
	return x.Float64 == n
}

// Problem is y = Alpha*op(A)*x + Beta*y for an M x N matrix A; the package comment says how it is stored.
type Problem struct {
	Op    Op
	M, N  int
	Alpha Scalar
	A     Numbers
	LDA   int
	X     Numbers
	IncX  int
	Beta  Scalar
	Y     Numbers
	IncY  int
}

// ErrArgument is wrapped by every error about an argument of a Problem.
var ErrArgument = errors.New("gemv")

// The errors of Check, each wrapped with the values that are wrong.
var (
	ErrOp        = errors.New("gemv: bad operation")
	ErrNegativeM = errors.New("gemv: m < 0")
	ErrNegativeN = errors.New("gemv: n < 0")
	ErrLDA       = errors.New("gemv: lda < max(1, m)")
	ErrIncX      = errors.New("gemv: incx = 0")
	ErrIncY      = errors.New("gemv: incy = 0")
	ErrShortX    = errors.New("gemv: x is too short")
	ErrShortY    = errors.New("gemv: y is too short")
	ErrShortA    = errors.New("gemv: a is too short")
	ErrInfinite  = errors.New("gemv: infinity among wide numbers")
)

// argumentError is a message that is one of the errors of Check.
type argumentError struct {
	kind    error
	message string
}

func (e *argumentError) Error() string   { return "gemv: " + e.message }
func (e *argumentError) Unwrap() []error { return []error{e.kind, ErrArgument} }

func argumentf(kind error, format string, args ...any) error {
	return &argumentError{kind, fmt.Sprintf(format, args...)}
}

// Check checks the arguments in a fixed order: operation, m, n, lda, incx, incy; then the lengths of x, y and a, of which only
// y's matters if m or n is 0. What is not read for alpha = 0 or beta = 0 must be there nevertheless, as in BLAS.
func (p *Problem) Check() error {
	switch {
	case p.Op != NoTrans && p.Op != Trans:
		return argumentf(ErrOp, "operation %v is neither N nor T", p.Op)
	case p.M < 0:
		return argumentf(ErrNegativeM, "m = %d < 0", p.M)
	case p.N < 0:
		return argumentf(ErrNegativeN, "n = %d < 0", p.N)
	case p.LDA < max(1, p.M):
		return argumentf(ErrLDA, "lda %d < max(1, m) = %d", p.LDA, max(1, p.M))
	case p.IncX == 0:
		return argumentf(ErrIncX, "incx = 0")
	case p.IncY == 0:
		return argumentf(ErrIncY, "incy = 0")
	}
	empty := p.M == 0 || p.N == 0
	if err := checkNumbers(ErrShortX, "x", p.X, 1, p.Terms(), func(_, j int) int { return p.xIndex(j) }); err != nil && !empty {
		return err
	}
	if err := checkNumbers(ErrShortY, "y", p.Y, 1, p.Rows(), func(_, i int) int { return p.yIndex(i) }); err != nil || empty {
		return err
	}
	return checkNumbers(ErrShortA, "a", p.A, p.N, p.M, func(j, i int) int { return j*p.LDA + i })
}

// checkNumbers checks that x has the numbers of so many columns and rows, and that wide ones among them are finite.
func checkNumbers(kind error, name string, x Numbers, columns, rows int, index func(j, i int) int) error {
	if rows == 0 {
		return nil
	}
	want := max(index(columns-1, 0), index(columns-1, rows-1)) + 1
	if x.Len() < want {
		return argumentf(kind, "%s has %d numbers, fewer than %d", name, x.Len(), want)
	}
	if x.Wide == nil {
		return nil
	}
	for j := range columns {
		for i := range rows {
			if w := x.Wide[index(j, i)]; w == nil || w.IsInf() {
				return argumentf(ErrInfinite, "number %d of %s is infinite or missing", index(j, i), name)
			}
		}
	}
	return nil
}

// Rows returns the length of y.
func (p *Problem) Rows() int {
	if p.Op == Trans {
		return p.N
	}
	return p.M
}

// Terms returns the length of x, which is that of the sums.
func (p *Problem) Terms() int {
	if p.Op == Trans {
		return p.M
	}
	return p.N
}

// work is how much of the problem there is to do.
type work uint8

const (
	unchanged work = iota // y stays as it is
	scaleOnly             // y = beta*y
	full
)

func (p *Problem) work() work {
	switch {
	case p.M == 0 || p.N == 0, p.Alpha.is(0) && p.Beta.is(1):
		return unchanged
	case p.Alpha.is(0):
		return scaleOnly
	}
	return full
}

// readsY reports whether y matters.
func (p *Problem) readsY() bool { return p.work() == unchanged || !p.Beta.is(0) }

// aIndex returns where the factor of x_j in component i lies in A.
func (p *Problem) aIndex(i, j int) int {
	if p.Op == Trans {
		return i*p.LDA + j
	}
	return j*p.LDA + i
}

func (p *Problem) xIndex(j int) int { return place(j, p.Terms(), p.IncX) }
func (p *Problem) yIndex(i int) int { return place(i, p.Rows(), p.IncY) }

// place returns where element i of n lies in an array with increment inc.
func place(i, n, inc int) int {
	if inc < 0 {
		return (n - 1 - i) * -inc
	}
	return i * inc
}

// float returns number i as a big.Float, exactly, in z if it is a float64; infinities and NaN count as 0.
func (x Numbers) float(z *big.Float, i int) *big.Float {
	if x.Wide != nil {
		return x.Wide[i]
	}
	return z.SetPrec(53).SetFloat64(finite(x.Float64[i]))
}

// finite returns x, or 0 if x is infinite or NaN.
func finite(x float64) float64 {
	if math.IsInf(x, 0) || math.IsNaN(x) {
		return 0
	}
	return x
}
