// Package op says what is computed, apart from how: operations as data, problems, and their exact results.
//
// Every operation here is y = alpha*op(A)*x + beta*y or a part of it, on arrays of any format, strides and precision:
// a sum has only x, a dot product x and y, gemv has all, gemm has more columns (its B and C are x and y). An operation
// says which arrays it has ([Operation].Operands), checks them ([Operation].Shape), and lists the terms of each
// component of its result ([Operation].Terms): the exact result, the condition, the bounds and which components are
// infinite or NaN follow.
package op

import (
	"fmt"
	"slices"

	"mpbench/pkg/bound"
)

// Operation is one row of the table of operations. Everything that asks "sum, dot or gemv?" asks it instead.
type Operation struct {
	Name     string    // of the command and of records: "gemv"
	Summary  string    // what is computed, in one line
	Operands []Operand // in the order in which files are named, as in "dot:x.npy,y.npy"
	Scalar   bool      // the result is one number, not a vector of one

	// Shape checks a problem and tells its extents.
	Shape func(*Problem) (Shape, error)
	// Terms adds the terms of component i of the result to t.
	Terms func(p *Problem, i int, t *Terms)
	// Norm is 1 where the terms count by their magnitudes, 2 where the result is the square root of their sum.
	Norm int
	// Storage says which elements of the matrix there are.
	Storage Storage
	// Split says how devices share a problem.
	Split Split
	// ConditionFactor is what sum|terms| / |sum| is multiplied by: 2 for dot products; 0 stands for 1.
	ConditionFactor int64
	// Loop names what a loop over the terms does, from the first to the last; Recursive bounds its errors if it rounds
	// every operation with a unit roundoff u, of components and, with S the sum over all of them, of their 1-norm.
	// Products is how many products a component has, as a formula; "" for none. Multiplications is how many of them a
	// term goes through on its way to a component that is a sum; in Recursive they count as one addition each.
	Loop            string
	Recursive       bound.Bound
	Products        string
	Multiplications int
	// Reference says in records how the exact result was found.
	Reference string
}

// Operand is an input of an operation: a flag, a file, an array of a data set.
type Operand struct {
	Name    string // "a", "x", "alpha"
	Kind    Kind
	Default string // of numbers
	Usage   string

	Optional bool // an array that is not read with the default factors
}

// Kind is a kind of operands.
type Kind uint8

// The kinds of operands.
const (
	Vector Kind = iota
	Matrix
	Number
)

// Storage says which elements of a matrix there are.
type Storage uint8

// The ways of storing a matrix.
const (
	Full       Storage = iota
	Symmetric          // one triangle, the other is its mirror
	Triangular         // one triangle
	Sparse             // those of a pattern
)

// Triangle tells whether one triangle of a square matrix is stored.
func (s Storage) Triangle() bool { return s == Symmetric || s == Triangular }

// Split says which parts of a problem are problems of the same operation.
type Split uint8

// The ways in which devices share a problem.
const (
	ByRow  Split = iota // rows of the result are independent: each device computes some of them, by any method
	ByTerm              // parts of the terms; the partial sums must be merged exactly
)

// Shape gives the extents of a problem.
type Shape struct {
	M, N, K    int    // of the matrix; N alone is the length of vectors; K is the columns of the result, if several
	Trans      string // "N" or "T" where there is a matrix; of two matrices "NN", "NT", "TN" or "TT"
	Uplo, Diag string // "U" or "L" where one triangle is read; "U" or "N" for a diagonal of ones or not
	Rows       int    // of the result
	Components int    // numbers of the result, row by row
	Length     int    // terms of a component, the n of bounds
	Elements   int64  // that are processed, for throughput
	PerElement int    // numbers that are read or written for an element: 2 for a dot product; 0 where few are
	NNZ        int    // stored elements of a sparse matrix
	Places     int64  // bytes that say where the elements of a sparse matrix are
}

// Parts returns how many rows or terms devices can share.
func (s Shape) Parts(o *Operation) int {
	if o.Split == ByTerm {
		return s.Length
	}
	return s.Rows
}

// Bytes returns how many bytes of memory an operation on numbers of so many bytes reads and writes.
func (s Shape) Bytes(number int) int64 {
	return s.Elements*int64(s.PerElement)*int64(number) + s.Places
}

// MatrixBytes returns how many bytes the matrix A takes, of numbers of so many bytes.
func (s Shape) MatrixBytes(number int) int64 {
	if s.Places > 0 {
		return s.Bytes(number)
	}
	return int64(s.M) * int64(s.N) * int64(number)
}

// Has tells whether the operation has an operand of that kind.
func (o *Operation) Has(k Kind) bool {
	return slices.ContainsFunc(o.Operands, func(x Operand) bool { return x.Kind == k })
}

// Matrices returns how many operands are matrices.
func (o *Operation) Matrices() (n int) {
	for _, x := range o.Operands {
		if x.Kind == Matrix {
			n++
		}
	}
	return n
}

// Arrays returns the operands that are vectors or matrices.
func (o *Operation) Arrays() []Operand {
	return slices.DeleteFunc(slices.Clone(o.Operands), func(x Operand) bool { return x.Kind == Number })
}

// All returns all operations, in the order in which commands are listed.
func All() []*Operation {
	return []*Operation{Sum, Dot, Axpy, Scal, Asum, Nrm2, Gemv, Symv, Trmv, Gemm, Spmv}
}

// Vectors returns the operations without a matrix.
func Vectors() []*Operation {
	return slices.DeleteFunc(All(), func(o *Operation) bool { return o.Has(Matrix) })
}

// Names returns the names of all operations.
func Names() (names []string) {
	for _, o := range All() {
		names = append(names, o.Name)
	}
	return names
}

// Lookup returns the operation of a name.
func Lookup(name string) (*Operation, bool) {
	for _, o := range All() {
		if o.Name == name {
			return o, true
		}
	}
	return nil, false
}

// Error is an error about a problem.
type Error struct{ Operation, Text string }

func (e *Error) Error() string { return e.Operation + ": " + e.Text }

func (o *Operation) errorf(format string, args ...any) error {
	return &Error{o.Name, fmt.Sprintf(format, args...)}
}
