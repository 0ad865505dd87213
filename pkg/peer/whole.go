package peer

import (
	"cmp"
	"context"
	"math/big"

	"mpbench/internal/parallel"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// whole is a problem that is ready for functions of a library for whole arrays.
type whole interface {
	run(threads int)
	value(k int) exact.Value // component k of the result
	close()                  // gives memory of the library back
}

// operands are the numbers of a problem, exact: component (i, j) of the result is the sum of the products of row i of
// left and row j of right, and number i*columns+j of added, if there are these; without right it is the sum of the
// only row of left.
type operands struct {
	left, right, added             numbers.Array
	leftBits, rightBits, addedBits int // of the longest significands
	rows, columns, n               int
}

// source of functions: a function of a library, and the loop of helper/loops.c that calls it for every row, if any.
type source struct {
	library        *library
	function, loop string
	prepare        func(f functions, bits int, o operands) (whole, error)
}

// functions are the addresses of what a source names.
type functions struct{ function, loop uintptr }

func (s source) find() (f functions, err error) {
	list, err := s.library.functions(s.function)
	if err != nil {
		return f, err
	}
	f.function = list[0]
	if s.loop != "" {
		f.loop, err = loop(s.loop)
	}
	return f, err
}

// methods completes a method that calls a library's function for some operations.
func (s source) methods(m method.Method, ops ...*op.Operation) (list []method.Method) {
	for _, o := range ops {
		row := m
		row.Operation, row.Threads = o, o.Has(op.Matrix)
		row.On = map[device.Kind]method.New{device.CPU: func(c method.Config) (method.Engine, error) {
			f, err := s.find()
			return &wholeEngine{method: row, config: c, source: s, functions: f}, err
		}}
		list = append(list, row)
	}
	return of(list, func() error {
		_, err := s.find()
		return err
	})
}

// wholeEngine runs functions for whole arrays. Factors go into the exact numbers beforehand: alpha into x, beta into
// y. Decimals are rounded to the precision first.
type wholeEngine struct {
	method    method.Method
	config    method.Config
	source    source
	functions functions

	whole   whole
	special []exact.Value // nil where all components are finite
	copied  numbers.Source
	rounded method.Rounded
	rows    int
	n       int // components
}

func (e *wholeEngine) Prepare(_ context.Context, p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	if err != nil {
		return err
	}
	if err := e.CheckMemory(p); err != nil {
		return err
	}
	if err := e.Close(); err != nil {
		return err
	}
	*e = wholeEngine{method: e.method, config: e.config, source: e.source, functions: e.functions}
	e.n, e.rows, e.special = shape.Components, shape.Rows, op.Specials(p, shape.Components)
	if p.Copies() {
		var list numbers.Values
		e.rounded = each(e.finite(p.Y), e.config.Precision, func(z *numbers.Number) { list = append(list, z.Value()) })
		e.copied = list
		return nil
	}
	e.whole, err = e.source.prepare(e.functions, e.config.Precision, e.operands(p, shape))
	return err
}

// CheckMemory checks that the copies of all numbers fit.
func (e *wholeEngine) CheckMemory(p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	need := int64(p.A.Elements().Len()+p.X.Len()+p.Y.Len()) * int64(numberBytes(e.config.Precision))
	return cmp.Or(err, e.config.CheckMemory(e.method.Name, shape, need, ""))
}

// operands reads a problem.
func (e *wholeEngine) operands(p *op.Problem, shape op.Shape) operands {
	o := operands{rows: shape.Rows, columns: 1}
	var left, right method.Rounded
	switch {
	case !p.Op.Has(op.Matrix) && p.Op.Norm == 1:
		o.left = p.X.Magnitudes().Transposed()
	case !p.Op.Has(op.Matrix):
		o.left, o.right = p.X.Transposed(), p.Y.Transposed()
	default:
		o.columns = p.Right().Cols
		if p.Multiplies() {
			o.left = p.Matrix()
			o.right = e.scaled(p.Right().Transposed(), p.Alpha, &left)
		}
		if p.Adds() {
			o.added = e.scaled(p.Y, p.Beta, &right)
		}
	}
	o.left, o.leftBits = e.exact(o.left, &left)
	o.right, o.rightBits = e.exact(o.right, &left)
	o.added, o.addedBits = e.exact(o.added, &right)
	o.n = o.left.Cols
	e.rounded = method.Rounded{Factors: max(left.Factors, right.Factors)}
	return o
}

// finite returns the numbers that are computed with.
func (e *wholeEngine) finite(a numbers.Array) numbers.Array {
	if e.special == nil || a.Absent() {
		return a
	}
	return a.Finite()
}

// exact returns numbers of finitely many bits, and how many the longest has.
func (e *wholeEngine) exact(a numbers.Array, rounded *method.Rounded) (numbers.Array, int) {
	if a.Absent() {
		return a, 0
	}
	a = e.finite(a)
	if a.Denominator() != nil {
		a = e.bigs(a, rounded)
	}
	return a, widest(a)
}

// bigs returns the elements of an array, row by row, decimals rounded to the precision.
func (e *wholeEngine) bigs(a numbers.Array, rounded *method.Rounded) numbers.Array {
	bits := e.config.Precision
	if a.Denominator() == nil {
		bits = widest(a)
	}
	list := make(numbers.Bigs, 0, a.Len())
	rounded.Add(each(a, bits, func(z *numbers.Number) { list = append(list, new(big.Float).Copy(z.Big())) }))
	return numbers.Array{Source: list, Layout: numbers.RowMajor(a.Rows, a.Cols, max(1, a.Cols))}
}

// scaled returns the exact products of an array and a factor, 1 if it is absent.
func (e *wholeEngine) scaled(a, factor numbers.Array, rounded *method.Rounded) numbers.Array {
	if factor.Absent() || factor.Equals(1) {
		return a
	}
	a, factor = e.bigs(e.finite(a), rounded), e.bigs(e.finite(factor), rounded)
	by := factor.Source.(numbers.Bigs)[0]
	for _, x := range a.Source.(numbers.Bigs) {
		x.SetPrec(x.Prec()+by.Prec()).Mul(x, by)
	}
	return a
}

func (e *wholeEngine) Run(context.Context) error {
	if e.whole != nil {
		e.whole.run(parallel.Threads(e.config.Threads))
	}
	return nil
}

func (e *wholeEngine) Result() (numbers.Source, error) {
	values := make(numbers.Values, e.n)
	for i := range values {
		switch {
		case e.special != nil && !e.special[i].IsFinite():
			values[i] = e.special[i]
		case e.copied != nil:
			values[i] = numbers.At(e.copied, i)
		default:
			values[i] = e.whole.value(i)
		}
	}
	return values, nil
}

func (e *wholeEngine) Info() method.Info {
	info := method.Info{
		Format: e.method.Format, Bits: e.config.Precision, NumberBytes: numberBytes(e.config.Precision), Threads: 1,
		Rounded: e.rounded, Range: method.Range{Unit: exact.PowerOfTwo(-e.config.Precision)},
	}
	if e.method.Threads {
		info.Threads = parallel.Threads(e.config.Threads)
	}
	return info
}

func (e *wholeEngine) Close() error {
	if e.whole != nil {
		e.whole.close()
		e.whole = nil
	}
	return nil
}

// numberBytes is what a number of so many bits takes in memory, with a head of four words as in MPFR and FLINT.
func numberBytes(bits int) int { return 32 + 8*wordsOf(bits) }

// share calls do for ranges of the rows, on up to threads goroutines.
func share(threads, rows int, do func(worker, from, to int)) {
	parallel.Ranges(threads, rows, max(1, (rows+threads-1)/threads), do)
}
