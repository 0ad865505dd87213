package format

import (
	"context"
	"fmt"
	"math/big"

	"mpbench/internal/parallel"
	"mpbench/pkg/bound"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// Recursive completes a method for each of some operations, of loops that round every operation: its summary goes on
// after what such a loop is called, its bound is the operation's with that unit roundoff, "u = 2^-53".
func Recursive[V, S any](
	m method.Method, unit string, f func(method.Config) Format[V, S], ops ...*op.Operation,
) (list []method.Method) {
	for _, o := range ops {
		row := m
		row.Operation, row.Summary = o, o.Loop+" "+m.Summary
		formula := o.Recursive.Formula
		if tiny := f(method.Config{Precision: max(m.Bits, m.Least)}).Range.Tiny; tiny != nil && o.Products != "" {
			formula += fmt.Sprintf(" + %s*2^-%d", o.Products, tiny.Denom().BitLen()-2) // twice, for errors of second order
		}
		row.Bound = bound.New(formula+", "+unit, o.Recursive.Source)
		list = append(list, Of(row, f))
	}
	return list
}

// Method completes a method whose loops run on the CPU, in a format that does not depend on the configuration.
func (f Format[V, S]) Method(m method.Method, l Loops[V, S]) method.Method {
	f.Loops = l
	m.Bits = f.Bits
	return Of(m, func(method.Config) Format[V, S] { return f })
}

// Of completes a method that runs the loops of a format on the CPU.
func Of[V, S any](m method.Method, format func(method.Config) Format[V, S]) method.Method {
	m.Format = format(method.Config{Precision: max(m.Bits, m.Least)}).Name
	m.Threads = m.Operation.Has(op.Matrix)
	m.On = map[device.Kind]method.New{device.CPU: func(c method.Config) (method.Engine, error) {
		e := &engine[V, S]{format: format(c), name: m.Name, config: c}
		return e, nil
	}}
	return m
}

// engine runs the loops of a format.
type engine[V, S any] struct {
	format Format[V, S]
	name   string // of the method
	config method.Config

	run         func()
	alpha, beta *S // nil for 1 and for 0
	a, x, y     V  // a: row by row
	cols        int
	d, z        V // alpha*x; the result
	n           int
	rounded     method.Rounded
	special     []exact.Value // nil where all components are finite, or the loops take care
}

// compose returns how an operation is made of the loops.
func (e *engine[V, S]) compose(p *op.Problem) func() {
	f := &e.format
	switch p.Op {
	case op.Sum:
		return func() { f.Set(e.z, 0, f.Sum(e.x)) }
	case op.Dot:
		return func() { f.Set(e.z, 0, f.Dot(e.x, e.y)) }
	case op.Axpy:
		return e.axpy(p)
	case op.Gemv:
		return e.gemv(p)
	}
	return nil
}

// axpy returns z = alpha*x + y.
func (e *engine[V, S]) axpy(p *op.Problem) func() {
	f := &e.format
	switch {
	case !p.Multiplies():
		return e.copyY
	case e.alpha == nil:
		return func() {
			for i := range e.n {
				f.Set(e.z, i, f.Add(f.Get(e.x, i), f.Get(e.y, i)))
			}
		}
	}
	return func() { f.Axpy(e.z, *e.alpha, e.x, e.y) }
}

func (e *engine[V, S]) copyY() {
	for i := range e.n {
		e.format.Set(e.z, i, e.format.Get(e.y, i))
	}
}

// gemv returns y = A*(alpha*x) + beta*y, row by row, in the order of the 2020 paper's formulas.
func (e *engine[V, S]) gemv(p *op.Problem) func() {
	f := &e.format
	if p.Copies() {
		return e.copyY
	}
	addend := func(i int) S { return f.Mul(*e.beta, f.Get(e.y, i)) }
	if !p.Multiplies() {
		return func() {
			for i := range e.n {
				if e.beta != nil {
					f.Set(e.z, i, addend(i))
				}
			}
		}
	}
	return func() {
		d := e.x
		if e.alpha != nil {
			f.Scal(e.d, *e.alpha, e.x)
			d = e.d
		}
		parallel.Ranges(parallel.Threads(e.config.Threads), e.n, rowGrain, func(_, from, to int) {
			for i := from; i < to; i++ {
				s := f.Dot(f.Slice(e.a, i*e.cols, (i+1)*e.cols), d)
				if e.beta != nil {
					s = f.Add(addend(i), s)
				}
				f.Set(e.z, i, s)
			}
		})
	}
}

// rowGrain is how many rows a goroutine computes at a time.
const rowGrain = 16

func (e *engine[V, S]) Prepare(_ context.Context, p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	if err == nil {
		err = e.checkMemory(p, shape)
	}
	if err != nil {
		return err
	}
	*e = engine[V, S]{format: e.format, name: e.name, config: e.config, n: shape.Components}
	if !e.format.IEEE {
		e.special = op.Specials(p, e.n)
	}
	var left, right method.Rounded // of alpha*a*x, and of beta*y
	if p.Multiplies() {
		a := p.Matrix()
		e.alpha, e.a, e.x, e.cols = e.scalar(p.Alpha, &left), e.load(a, &left), e.load(p.X, &left), a.Cols
		if e.alpha != nil && !a.Absent() {
			e.d = e.format.Make(p.X.Rows)
		}
	}
	switch {
	case p.Op.Split == op.ByTerm: // of x*y
		e.y = e.load(p.Y, &left)
	case p.A.Absent():
		e.y = e.load(p.Y, &right)
	case p.Adds():
		e.beta, e.y = e.scalar(p.Beta, &right), e.load(p.Y, &right)
	}
	e.rounded = method.Rounded{Factors: max(left.Factors, right.Factors), Lost: left.Lost || right.Lost}
	e.z = e.format.Make(e.n)
	e.run = e.compose(p)
	return nil
}

// checkMemory checks that what has to be converted fits.
func (e *engine[V, S]) checkMemory(p *op.Problem, shape op.Shape) error {
	need := int64(0)
	for _, a := range []numbers.Array{p.A, p.X, p.Y} {
		if _, same := e.same(a); !same && !a.Absent() {
			need += int64(a.Len()) * int64(e.format.Bytes)
		}
	}
	return e.config.CheckMemory(e.name, shape, need, "")
}

// same returns an array's numbers if they are of this format.
func (e *engine[V, S]) same(a numbers.Array) (v V, ok bool) {
	if e.format.Same == nil || a.Absent() {
		return v, false
	}
	return e.format.Same(a)
}

func (e *engine[V, S]) load(a numbers.Array, rounded *method.Rounded) (v V) {
	if a.Absent() {
		return v
	}
	if v, ok := e.same(a); ok {
		return v
	}
	if e.special != nil {
		a.Source = finiteOf(a)
	}
	v, r := e.format.Load(a)
	rounded.Add(r)
	return v
}

// scalar returns a factor, nil for the number 1.
func (e *engine[V, S]) scalar(a numbers.Array, rounded *method.Rounded) *S {
	if a.Absent() {
		return nil
	}
	x := e.format.Get(e.load(a, rounded), 0)
	return &x
}

// finiteOf returns the numbers of an array as finite ones.
func finiteOf(a numbers.Array) numbers.Source {
	if d := a.Denominator(); d != nil {
		return scaledFinite{finite{a.Source}, d}
	}
	return finite{a.Source}
}

// scaledFinite is finite for numbers that are no dyadic fractions.
type scaledFinite struct {
	finite
	denominator *big.Int
}

func (f scaledFinite) Denominator() *big.Int { return f.denominator }

// finite are numbers with 0 in place of infinities and NaN, whose components are known beforehand.
type finite struct{ numbers.Source }

func (f finite) Read(z *numbers.Number, i int) {
	if f.Source.Read(z, i); z.Class >= numbers.Infinite {
		z.Class = numbers.Zero
	}
}

func (e *engine[V, S]) Run(context.Context) error {
	e.run()
	return nil
}

func (e *engine[V, S]) Result() (numbers.Source, error) {
	values := make(numbers.Values, e.n)
	for i := range values {
		if e.special != nil && !e.special[i].IsFinite() {
			values[i] = e.special[i]
		} else {
			values[i] = e.format.Value(e.format.Get(e.z, i))
		}
	}
	return values, nil
}

func (e *engine[V, S]) Info() method.Info {
	threads := 1
	if e.cols > 0 {
		threads = parallel.Threads(e.config.Threads)
	}
	info := method.Info{
		Format: e.format.Name, Bits: e.format.Bits, NumberBytes: e.format.Bytes, Threads: threads,
		Rounded: e.rounded, Range: e.format.Range,
	}
	if e.alpha != nil {
		info.WorkspaceBytes = int64(e.cols * e.format.Bytes)
	}
	return info
}

func (e *engine[V, S]) Close() error { return nil }
