package gemv

import (
	"cmp"
	"context"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"mpbench/pkg/bound"
	"mpbench/pkg/device"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// float64Method is gonum's Dgemv. Each of the n+1 products with alpha or beta, and of the n products with A, loses at
// most 2^-1075 below the normal range, beside its relative error; later it is multiplied by at most max(1, |alpha|) or
// |a_ij|.
func float64Method() method.Method {
	return method.Method{
		Operation: op.Gemv, Name: "float64", Summary: "gonum's Dgemv in binary64", Format: "binary64", Bits: 53,
		Bound: bound.New("g(n+2)*S + (n+2+n*a+R)*2^-1074, u = 2^-53, a the magnitude of alpha, "+
			"R the largest sum of magnitudes in a row of op(A)", "gonum.org/v1/gonum/blas/blas64; "+sourcePaper2020),
		On: map[device.Kind]method.New{device.CPU: func(c method.Config) (method.Engine, error) {
			return &float64Engine{config: c}, nil
		}},
	}
}

// float64Engine calls gonum's Dgemv. A matrix that is stored by columns is its transpose stored by rows, so the
// operation is swapped and nothing is converted.
type float64Engine struct {
	config      method.Config
	problem     *op.Problem
	alpha, beta float64
	a           general
	x, y        blas64.Vector // y as it was
	result      blas64.Vector
	rounded     method.Rounded
}

func (e *float64Engine) Prepare(_ context.Context, p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	if err := cmp.Or(err, e.CheckMemory(p)); err != nil {
		return err
	}
	*e = float64Engine{config: e.config, problem: p}
	left, right := method.Rounded{}, method.Rounded{}
	e.alpha, e.beta = 1, 0
	if p.Multiplies() {
		e.a = loadGeneral(p.Matrix(), &left)
		e.x = vector(p.X, &left)
		if !p.Alpha.Absent() {
			e.alpha = vector(p.Alpha, &left).Data[0]
		}
	}
	e.result = blas64.Vector{N: shape.Rows, Inc: 1, Data: make([]float64, shape.Rows)}
	e.y = e.result
	if p.Adds() {
		e.y = vector(p.Y, &right)
		if !p.Beta.Absent() {
			e.beta = vector(p.Beta, &right).Data[0]
		}
	}
	e.rounded = method.Rounded{Factors: max(left.Factors, right.Factors), Lost: left.Lost || right.Lost}
	return nil
}

// CheckMemory checks that a copy of the matrix fits, if it has to be made.
func (e *float64Engine) CheckMemory(p *op.Problem) error {
	return checkCopies("float64", e.config, p, p.Matrix())
}

// general is a matrix, by rows, and whether it is the transpose of the one that is meant.
type general struct {
	blas64.General
	trans blas.Transpose
}

// loadGeneral takes a matrix that has elements as it is, if its numbers are binary64 and its rows or columns are
// neighbours in memory; otherwise it makes a copy, row by row.
func loadGeneral(a numbers.Array, rounded *method.Rounded) (g general) {
	inPlace := byRows(a)
	g.trans = blas.NoTrans
	if a.RowStride == 1 && a.ColStride >= a.Rows {
		a, g.trans = a.Transposed(), blas.Trans
	}
	g.General = blas64.General{Rows: a.Rows, Cols: a.Cols, Stride: a.RowStride}
	if inPlace {
		g.Data = a.Source.(numbers.Float64s)[a.Offset : a.Index(a.Rows-1, a.Cols-1)+1]
		return g
	}
	copied, r := format.Binary64.Load(a)
	rounded.Add(r)
	g.Stride, g.Data = max(1, a.Cols), copied
	return g
}

// byRows tells whether a matrix or its transpose is stored in memory row by row, in binary64.
func byRows(a numbers.Array) bool {
	if a.RowStride == 1 && a.ColStride >= a.Rows {
		a = a.Transposed()
	}
	return a.Binary64() && a.ColStride == 1 && a.RowStride >= max(1, a.Cols)
}

// checkCopies checks that the copies of matrices fit that loadGeneral makes.
func checkCopies(name string, c method.Config, p *op.Problem, matrices ...numbers.Array) error {
	shape, err := p.Op.Shape(p)
	need := int64(0)
	for _, a := range matrices {
		if p.Multiplies() && !byRows(a) {
			need += int64(a.Len()) * int64(format.Binary64.Bytes)
		}
	}
	return cmp.Or(err, c.CheckMemory(name, shape, need, ""))
}

// vector takes a vector as it is, if its numbers are binary64; otherwise it makes a copy.
func vector(a numbers.Array, rounded *method.Rounded) blas64.Vector {
	if data, ok := a.Source.(numbers.Float64s); ok && a.Rows > 0 && a.RowStride > 0 {
		return blas64.Vector{N: a.Rows, Inc: a.RowStride, Data: data[a.Offset:]}
	}
	copied, r := format.Binary64.Load(a)
	rounded.Add(r)
	return blas64.Vector{N: a.Rows, Inc: 1, Data: copied}
}

func (e *float64Engine) Run(context.Context) error {
	blas64.Copy(e.y, e.result)
	if e.problem.Copies() {
		return nil
	}
	blas64.Scal(e.beta, e.result) // Dgemv takes a beta that is NaN for 0
	if e.problem.Multiplies() {
		blas64.Gemv(e.a.trans, e.alpha, e.a.General, e.x, 1, e.result)
	}
	return nil
}

func (e *float64Engine) Result() (numbers.Source, error) { return numbers.Float64s(e.result.Data), nil }

func (e *float64Engine) Info() method.Info {
	return method.Info{
		Format: "binary64", Bits: 53, NumberBytes: 8, Threads: 1, Rounded: e.rounded, Range: method.Binary64,
	}
}

func (e *float64Engine) Close() error { return nil }
