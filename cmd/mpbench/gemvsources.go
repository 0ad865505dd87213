package main

import (
	"fmt"
	"math/big"
	"mpbench/datasets"
	"mpbench/pkg/bench"
	"mpbench/pkg/gemv"
	"strconv"
)

// matrixSource is what makes a problem.
type matrixSource struct {
	key      string
	fromFile bool
	load     func() (any, error)
}

// matrixSources returns the problems for a precision, which matters with --full only.
func (o gemvOptions) matrixSources(precision int) ([]matrixSource, error) {
	general, err := o.matrixOptions(precision)
	if err != nil {
		return nil, err
	}
	shape, err := o.shape()
	if err != nil {
		return nil, err
	}
	specs, err := o.specs()
	if err != nil {
		return nil, err
	}
	var list []matrixSource
	for _, s := range specs {
		list = append(list, matrixSource{o.matrixKey(s, general), false, func() (any, error) {
			d, err := datasets.GenerateMatrix(s, general)
			if err != nil {
				return nil, err
			}
			return shape.input(d)
		}})
	}
	if o.inputA == "" && (o.inputX != "" || o.inputY != "") {
		return nil, usagef("--input-x and --input-y go with --input-a")
	}
	if o.inputA != "" && o.inputX == "" {
		return nil, usagef("--input-a needs --input-x, the vector to multiply by")
	}
	if o.inputA != "" {
		list = append(list, matrixSource{o.inputA + "*" + o.inputX + o.suffix(), true, func() (any, error) {
			d, err := o.loadFiles()
			if err != nil {
				return nil, err
			}
			return shape.input(d)
		}})
	}
	return list, nil
}

func (o gemvOptions) matrixOptions(precision int) (datasets.MatrixOptions, error) {
	general := datasets.MatrixOptions{Seed: o.seed, Trans: o.transpose}
	if o.full {
		general.Bits = precision
	}
	var err error
	if o.m != "" {
		if general.M, err = datasets.ParseCount(o.m); err != nil {
			return general, usagef("--m %s: want an integer of at least 1", o.m)
		}
	}
	if o.n != "" {
		if general.N, err = datasets.ParseCount(o.n); err != nil {
			return general, usagef("--n %s: want an integer of at least 1", o.n)
		}
	}
	return general, nil
}

// matrixKey names a data set with the general options.
func (o gemvOptions) matrixKey(s datasets.Spec, general datasets.MatrixOptions) string {
	key := s.String()
	for _, p := range []struct {
		name  string
		value int
	}{{"n", general.N}, {"m", general.M}, {"bits", general.Bits}} {
		if p.value != 0 {
			key = withParameter(key, p.name, strconv.Itoa(p.value))
		}
	}
	if o.seed != 1 {
		key = withParameter(key, "seed", strconv.FormatUint(o.seed, 10))
	}
	return key + o.suffix()
}

// suffix says what a problem has beside its data.
func (o gemvOptions) suffix() string {
	text := ""
	if o.inputY != "" {
		text = " + " + o.inputY
	}
	if o.transpose {
		text += " T"
	}
	if o.alpha != "1" || o.beta != "0" {
		text += " alpha=" + o.alpha + " beta=" + o.beta
	}
	if o.lda != 0 || o.incX != 1 || o.incY != 1 {
		text += fmt.Sprintf(" lda=%d incx=%d incy=%d", o.lda, o.incX, o.incY)
	}
	return text
}

// loadFiles reads the matrix and the vectors.
func (o gemvOptions) loadFiles() (*datasets.Matrix, error) {
	d, err := datasets.LoadMatrix(o.inputA)
	if err != nil {
		return nil, err
	}
	d.Trans = o.transpose
	rows, terms := d.M, d.N
	if o.transpose {
		rows, terms = terms, rows
	}
	d.X, d.SHA256X, err = loadVector(o.inputX, "x", terms, d)
	if err != nil {
		return nil, err
	}
	d.Y = make([]float64, rows)
	if o.inputY != "" {
		d.Y, d.SHA256Y, err = loadVector(o.inputY, "y", rows, d)
	}
	return d, err
}

func loadVector(path, name string, n int, d *datasets.Matrix) ([]float64, string, error) {
	v, err := datasets.Load(path, datasets.Double)
	switch {
	case err != nil:
		return nil, "", err
	case v.Wide != nil:
		return nil, "", inputOutputf("%s holds decimals wider than float64; a matrix from a file goes with float64 vectors", path)
	case v.N != n:
		return nil, "", inputOutputf("%s holds %d numbers; %s needs %d for the %d x %d matrix %s", path, v.N, name, n, d.M, d.N, d.Name)
	}
	return v.Float64, v.SHA256, nil
}

// problemShape is how a problem is laid out in memory, and its factors.
type problemShape struct {
	op              gemv.Op
	lda, incX, incY int
	alpha, beta     gemv.Scalar
}

func (o gemvOptions) shape() (problemShape, error) {
	s := problemShape{lda: o.lda, incX: o.incX, incY: o.incY}
	if o.transpose {
		s.op = gemv.Trans
	}
	var err error
	if s.alpha, err = parseScalar("alpha", o.alpha); err != nil {
		return s, err
	}
	if s.beta, err = parseScalar("beta", o.beta); err != nil {
		return s, err
	}
	if o.incX == 0 || o.incY == 0 {
		return s, usagef("--incx %d --incy %d: want increments that are not 0", o.incX, o.incY)
	}
	return s, nil
}

// parseScalar reads a factor: the nearest float64.
func parseScalar(name, text string) (gemv.Scalar, error) {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return gemv.Scalar{}, usagef("--%s %s: want a number in the range of float64", name, text)
	}
	return gemv.Number(x), nil
}

// input lays the data out and computes the reference.
func (s problemShape) input(d *datasets.Matrix) (any, error) {
	lda := s.lda
	if lda == 0 {
		lda = max(1, d.M)
	}
	if lda < max(1, d.M) {
		return nil, usagef("--lda %d: want at least the %d rows of A", lda, d.M)
	}
	return bench.NewGemvInput(d, gemv.Problem{
		Op: s.op, M: d.M, N: d.N, LDA: lda, IncX: s.incX, IncY: s.incY, Alpha: s.alpha, Beta: s.beta,
		A: gemv.Numbers{Float64: columnsApart(d.A, d.M, lda), Wide: columnsApart(d.WideA, d.M, lda)},
		X: gemv.Numbers{Float64: apart(d.X, s.incX), Wide: apart(d.WideX, s.incX)},
		Y: gemv.Numbers{Float64: apart(d.Y, s.incY), Wide: apart(d.WideY, s.incY)},
	})
}

// columnsApart lays out a matrix of m rows, stored by columns, with the leading dimension lda. Numbers between the columns are 0,
// or missing.
func columnsApart[T float64 | *big.Float](a []T, m, lda int) []T {
	if a == nil || lda == m || m == 0 {
		return a
	}
	wide := make([]T, len(a)/m*lda)
	for j := 0; j*m < len(a); j++ {
		copy(wide[j*lda:], a[j*m:(j+1)*m])
	}
	return wide
}

// apart lays out a vector with an increment.
func apart[T float64 | *big.Float](x []T, inc int) []T {
	if x == nil || inc == 1 {
		return x
	}
	step := max(inc, -inc)
	wide := make([]T, (len(x)-1)*step+1)
	for i, v := range x {
		if inc < 0 {
			i = len(x) - 1 - i
		}
		wide[i*step] = v
	}
	return wide
}
