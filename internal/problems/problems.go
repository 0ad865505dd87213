// Package problems makes problems that strain methods, for tests and for the self-test: shapes and strides of all
// kinds, special factors, numbers that cancel or lie far apart, numbers of any length, and what must not be read
// beside them.
package problems

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"

	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// Kind is a kind of numbers.
type Kind int

// The kinds of numbers.
const (
	Simple     Kind = iota // uniform in [-1, 1), and 0, 1, 1/2 among them
	Far                    // exponents from -300 to 300
	Short                  // uniform, of at most 53 bits, also where longer ones are asked for
	Cancelling             // neighbours are nearly each other's negative
	Kinds                  // how many there are
)

// Choice is what problems are made of.
type Choice struct {
	Seed    uint64
	Kind    Kind
	Bits    int // of the numbers, 0 for binary64
	Largest int // extent of matrices; vectors without one are 8 times as long
	Least   int // that 7 of 8 extents have, where it is not 0
	Decimal bool
}

// Random returns a problem of an operation. Elements between the columns of a matrix, and a y that must not be read,
// are NaN or missing.
func (c Choice) Random(o *op.Operation) *op.Problem {
	r := maker{rand.New(rand.NewPCG(c.Seed, uint64(c.Kind)<<32|uint64(c.Bits))), c}
	p := &op.Problem{Op: o}
	for _, operand := range o.Operands {
		if operand.Kind == op.Number {
			*p.Operand(operand.Name) = r.factor()
		}
	}
	if o.Has(op.Matrix) {
		r.matrixProblem(p)
		return p
	}
	n := r.size(8*c.Least, 8*c.Largest)
	for _, a := range o.Arrays() {
		*p.Operand(a.Name) = r.vector(n)
	}
	return p
}

type maker struct {
	*rand.Rand
	Choice
}

func (r maker) size(least, largest int) int {
	if least > 0 && r.IntN(8) > 0 {
		return least + r.IntN(largest-least+1)
	}
	return []int{0, 1, 2, 1 + r.IntN(largest), 1 + r.IntN(largest), largest}[r.IntN(6)]
}

func (r maker) number() *big.Float {
	x := new(big.Float).SetPrec(uint(max(r.Bits, 53)))
	if r.Bits > 0 && r.Kind != Short {
		n := new(big.Int)
		for range r.Bits/64 + 1 {
			n.Lsh(n, 64).Add(n, new(big.Int).SetUint64(r.Uint64()))
		}
		x.SetInt(n)
		x.SetMantExp(x, -x.MantExp(nil))
	} else {
		x.SetFloat64([]float64{1, 1, 0, 0.5, r.Float64(), r.Float64()}[r.IntN(6)])
	}
	if r.IntN(2) == 0 {
		x.Neg(x)
	}
	switch r.Kind {
	case Far:
		x.SetMantExp(x, r.IntN(600)-300)
	case Cancelling:
		x.SetMantExp(x, r.IntN(20)-10)
	}
	return x
}

// factor returns 0, 1, -1 or a number.
func (r maker) factor() numbers.Array {
	if k := r.IntN(5); k < 3 {
		return numbers.Scalar(float64(k - 1))
	}
	x := r.number()
	if r.Bits > 0 && r.IntN(2) == 0 {
		return numbers.Vector(numbers.Bigs{x})
	}
	f, _ := x.Float64()
	return numbers.Scalar(f)
}

// source returns n numbers; every second one of those that cancel is nearly the negative of the one before it.
func (r maker) source(n int) numbers.Source {
	switch {
	case r.Decimal:
		x := make([]*big.Rat, n)
		for i := range x {
			text := fmt.Sprintf("%d.%d%de%d", r.IntN(100)-50, r.Uint64(), r.Uint64(), r.IntN(40)-20)
			x[i], _ = new(big.Rat).SetString(text)
		}
		return numbers.Rationals(x)
	case r.Bits > 0:
		x := make(numbers.Bigs, n)
		for i := range x {
			x[i] = r.number()
			if r.Kind == Cancelling && i%2 == 1 {
				x[i].Neg(x[i-1])
			}
		}
		return x
	}
	x := make(numbers.Float64s, n)
	for i := range x {
		x[i], _ = r.number().Float64()
		if r.Kind == Cancelling && i%2 == 1 {
			x[i] = math.Nextafter(-x[i-1], 9)
		}
	}
	return x
}

// vector returns n numbers with some increment.
func (r maker) vector(n int) numbers.Array {
	inc := []int{1, 1, 2, -1, -2, 3}[r.IntN(6)]
	if n == 0 {
		return numbers.Array{Source: r.source(0), Layout: numbers.Strided(0, inc)}
	}
	return numbers.Array{Source: r.source((n-1)*max(inc, -inc) + 1), Layout: numbers.Strided(n, inc)}
}

func (r maker) matrixProblem(p *op.Problem) {
	m, n := r.size(r.Least, r.Largest), r.size(r.Least, r.Largest)
	p.Trans = r.IntN(2) == 1
	if p.Op.Storage.Triangle() {
		m, p.Trans = n, p.Trans && p.Op.Storage == op.Triangular
	}
	p.A = r.matrix(m, n)
	if p.Op.Storage == op.Sparse {
		p.A = r.sparse(m, n)
	}
	lda := p.A.ColStride
	if p.Trans {
		m, n = n, m
	}
	if p.Op == op.Gemm {
		k := r.size(r.Least/2, r.Largest/2+1)
		p.Y = r.matrix(m, k)
		if p.TransX = r.IntN(2) == 1; p.TransX {
			p.X = r.matrix(k, n)
		} else {
			p.X = r.matrix(n, k)
		}
	} else {
		p.X, p.Y = r.vector(n), r.vector(m)
	}
	if r.Kind == Cancelling && !p.Trans && !r.Decimal && p.A.Pattern == nil {
		cancelRows(p.A, lda)
	}
	if !p.Adds() {
		spoil(p.Y.Source, func(int) bool { return true })
	}
	if p.Op.Storage.Triangle() {
		r.store(p)
	}
}

// store makes what is not in the triangle of A that is read what must not be read.
func (r maker) store(p *op.Problem) {
	upper, unit := r.IntN(2) == 1, r.IntN(2) == 1
	ld := p.A.ColStride
	spoil(p.A.Source, func(k int) bool {
		i, j := k%ld, k/ld
		return i != j && i < j != upper || i == j && unit && p.Op.Storage == op.Triangular
	})
	p.Store(upper, unit)
}

// matrix returns an m x n matrix by columns, with numbers that must not be read between them.
func (r maker) matrix(m, n int) numbers.Array {
	ld := max(1, m) + r.IntN(2)*r.IntN(5)
	a := numbers.Array{Source: r.source(ld * n), Layout: numbers.ColMajor(m, n, ld)}
	spoil(a.Source, func(i int) bool { return i%ld >= m })
	return a
}

// sparse returns a sparse m x n matrix, whose rows have from 0 to n elements, some of them in one column. It is what
// remains of a matrix with one row more, which must not be read.
func (r maker) sparse(m, n int) numbers.Array {
	p := &numbers.Pattern{Start: make([]int, m+2)}
	for i := range m + 1 {
		if n > 0 && r.IntN(4) > 0 {
			for range r.IntN(min(n, []int{2, 8, n}[r.IntN(3)]) + 1) {
				p.Column = append(p.Column, int32(r.IntN(n)))
			}
		}
		p.Start[i+1] = len(p.Column)
	}
	a := numbers.Sparse(r.source(len(p.Column)), n, p)
	spoil(a.Source, func(k int) bool { return k < p.Start[1] })
	return a.Part(1, m+1)
}

// cancelRows makes every second column nearly the negative of the one before it.
func cancelRows(a numbers.Array, lda int) {
	for i := range a.Rows {
		for j := 1; j < a.Cols; j += 2 {
			switch x := a.Source.(type) {
			case numbers.Float64s:
				x[j*lda+i] = math.Nextafter(-x[(j-1)*lda+i], 9)
			case numbers.Bigs:
				x[j*lda+i] = new(big.Float).Neg(x[(j-1)*lda+i])
			}
		}
	}
}

// spoil replaces numbers that must not be read.
func spoil(s numbers.Source, unread func(i int) bool) {
	for i := range s.Len() {
		if !unread(i) {
			continue
		}
		switch x := s.(type) {
		case numbers.Float64s:
			x[i] = math.NaN()
		case numbers.Bigs:
			x[i] = nil
		}
	}
}

// Naive returns the components of a problem of finite numbers and the sums of the magnitudes of their terms, as the
// operation is defined, in rationals; of a Euclidean norm it is the square of both.
func Naive(p *op.Problem) (y, abs []*big.Rat) {
	var c component
	next := func() {
		y, abs = append(y, c.sum), append(abs, c.magnitude)
		c = component{}
	}
	switch p.Op {
	case op.Sum:
		for i := range p.X.Rows {
			c.add(at(p.X, i, 0))
		}
		next()
	case op.Asum:
		for i := range p.X.Rows {
			c.add(new(big.Rat).Abs(at(p.X, i, 0)))
		}
		next()
	case op.Nrm2:
		for i := range p.X.Rows {
			c.add(at(p.X, i, 0), at(p.X, i, 0))
		}
		next()
	case op.Dot:
		for i := range p.X.Rows {
			c.add(at(p.X, i, 0), at(p.Y, i, 0))
		}
		next()
	case op.Axpy:
		for i := range p.X.Rows {
			c.add(at(p.Alpha, 0, 0), at(p.X, i, 0))
			c.add(at(p.Y, i, 0))
			next()
		}
	case op.Scal:
		for i := range p.X.Rows {
			c.add(at(p.Alpha, 0, 0), at(p.X, i, 0))
			next()
		}
	case op.Trmv:
		a := p.Matrix()
		for i := range a.Rows {
			for j := range a.Cols {
				c.add(at(a, i, j), at(p.X, j, 0))
			}
			next()
		}
	case op.Gemv, op.Symv:
		a := p.Matrix()
		alpha, beta := at(p.Alpha, 0, 0), at(p.Beta, 0, 0)
		for i := range a.Rows {
			switch {
			case a.Cols == 0:
				c.add(at(p.Y, i, 0))
			case beta.Sign() != 0:
				c.add(beta, at(p.Y, i, 0))
			}
			for j := range a.Cols {
				c.add(alpha, at(a, i, j), at(p.X, j, 0))
			}
			next()
		}
	case op.Spmv:
		a := p.A
		alpha, beta := at(p.Alpha, 0, 0), at(p.Beta, 0, 0)
		list := make([]component, p.Matrix().Rows)
		for i := range list {
			if beta.Sign() != 0 {
				list[i].add(beta, at(p.Y, i, 0))
			}
		}
		for i := range a.Rows {
			row := a.Row(i)
			for k, j := range a.Pattern.Row(i) {
				to, from := i, int(j)
				if p.Trans {
					to, from = from, to
				}
				list[to].add(alpha, at(row, k, 0), at(p.X, from, 0))
			}
		}
		for _, c = range list {
			next()
		}
	case op.Gemm:
		a, b := p.Matrix(), p.Right()
		for i := range a.Rows * b.Cols {
			row, column := i/b.Cols, i%b.Cols
			if beta := at(p.Beta, 0, 0); beta.Sign() != 0 {
				c.add(beta, at(p.Y, row, column))
			}
			if alpha := at(p.Alpha, 0, 0); alpha.Sign() != 0 {
				for j := range a.Cols {
					c.add(alpha, at(a, row, j), at(b, j, column))
				}
			}
			next()
		}
	default:
		panic("problems: no definition of " + p.Op.Name)
	}
	return y, abs
}

func at(a numbers.Array, i, j int) *big.Rat { return numbers.At(a.Source, a.Index(i, j)).Number() }

// component is a sum of products in the making.
type component struct{ sum, magnitude *big.Rat }

func (c *component) add(factors ...*big.Rat) {
	if c.sum == nil {
		c.sum, c.magnitude = new(big.Rat), new(big.Rat)
	}
	term := big.NewRat(1, 1)
	for _, f := range factors {
		term.Mul(term, f)
	}
	c.sum.Add(c.sum, term)
	c.magnitude.Add(c.magnitude, term.Abs(term))
}

// Agrees tells whether an exact result is what Naive says.
func Agrees(o *op.Operation, got exact.Summary, y, abs *big.Rat) bool {
	if o.Norm != 2 || y == nil {
		return got.Sum.Equal(Value(y)) && got.SumAbs.Equal(Value(abs))
	}
	root := got.Sum.Number()
	next := new(big.Rat).Mul(root, new(big.Rat).Add(big.NewRat(1, 1), exact.PowerOfTwo(-256)))
	square := new(big.Rat).Mul(root, root)
	if got.Square == nil {
		return square.Cmp(y) == 0 && got.SumAbs.Equal(got.Sum)
	}
	return got.Square.Cmp(y) == 0 && square.Cmp(y) < 0 && next.Mul(next, next).Cmp(y) > 0 && got.SumAbs.Equal(got.Sum)
}

// Value returns a component as a value; that of no terms is 0.
func Value(x *big.Rat) exact.Value {
	if x == nil {
		return exact.Value{}
	}
	return exact.FromRat(x)
}

// Product returns alpha*op(A)*x + beta*y for an m x n matrix A, one number apart from column to column.
func (c Choice) Product(trans bool, m, n int, alpha, beta float64) *op.Problem {
	r := maker{rand.New(rand.NewPCG(c.Seed, 3)), c}
	rows, terms := m, n
	if trans {
		rows, terms = n, m
	}
	lda := m + 1
	return &op.Problem{
		Op: op.Gemv, Trans: trans, Alpha: numbers.Scalar(alpha), Beta: numbers.Scalar(beta),
		A: numbers.Array{Source: r.source(lda * n), Layout: numbers.ColMajor(m, n, lda)},
		X: numbers.Vector(r.source(terms)), Y: numbers.Vector(r.source(rows)),
	}
}

// Number returns a number of the kind, the k-th.
func (c Choice) Number(k uint64) numbers.Array {
	return numbers.Vector(maker{rand.New(rand.NewPCG(c.Seed, k)), c}.source(1))
}
