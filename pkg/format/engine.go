package format

import (
	"cmp"
	"context"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"

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
		formula, g := o.Recursive.Formula, f(method.Config{Precision: max(m.Bits, m.Least)})
		if g.Depth != nil && o.Storage != op.Sparse { // rows of sparse matrices are added from the first term to the last
			formula = terms.ReplaceAllString(formula, "m")
			row.Summary = strings.Replace(row.Summary, "recursive", "lane-by-lane", 1)
		}
		if g.Stored != "" {
			formula += stored(o, g.Stored, formula, g.Range.Tiny)
		}
		operations := o.Products
		if operations == "" && g.LosesSums {
			operations = "n"
		}
		if tiny := g.Range.Tiny; tiny != nil && operations != "" {
			formula += fmt.Sprintf(" + %s*2^-%d", operations, tiny.Denom().BitLen()-2) // twice, for errors of second order
		}
		row.Bound = bound.New(formula+", "+unit, o.Recursive.Source)
		list = append(list, Of(row, f))
	}
	return list
}

// stored bounds what storing numbers costs that registers hold with more digits, each time a relative error w and one
// of tiny: results alone, a sum of squares too before its root is taken; with a matrix alpha*x, the sum over a row and
// that plus beta*y, in terms of S for all that. computed bounds the error without it.
func stored(o *op.Operation, w, computed string, tiny *big.Rat) string {
	times, of := 1, "(|s| + "+computed+")"
	switch {
	case o.Has(op.Matrix):
		times, of = 3, "S"
	case o.Norm == 2:
		times = 2
	}
	return fmt.Sprintf(" + %d(%s*%s + 2^-%d)", times, w, of, tiny.Denom().BitLen()-1)
}

// terms is the n of bounds of recursive loops, in which a term goes through n-1 additions; elsewhere m stands for it,
// one more than the depth of a sum.
var terms = regexp.MustCompile(`\bn\b`)

// Method completes a method whose loops run on the CPU, in a format that does not depend on the configuration.
func (f Format[V, S]) Method(m method.Method, l Loops[V, S]) method.Method {
	f.Loops = l
	m.Bits = f.Bits
	return Of(m, func(method.Config) Format[V, S] { return f })
}

// Of completes a method that runs the loops of a format on the CPU.
func Of[V, S any](m method.Method, format func(method.Config) Format[V, S]) method.Method {
	f := format(method.Config{Precision: max(m.Bits, m.Least)})
	m.Format, m.Number = f.Name, cmp.Or(f.Parts, fmt.Sprint(f.Bytes, " bytes"))
	m.Threads = m.Operation.Has(op.Matrix)
	m.On = map[device.Kind]method.New{device.CPU: func(c method.Config) (method.Engine, error) {
		return NewEngine(m, c, format(c)), nil
	}}
	return m
}

// NewEngine returns an engine of a method that runs the loops of a format.
func NewEngine[V, S any](m method.Method, c method.Config, f Format[V, S]) method.Engine {
	if !slices.Contains(m.Bound.Needs(), "m") {
		f.Depth = nil
	}
	return &engine[V, S]{format: f, name: m.Name, config: c}
}

// engine runs the loops of a format.
type engine[V, S any] struct {
	format Format[V, S]
	name   string // of the method
	config method.Config

	run         func()
	alpha, beta *S // nil for 1 and for 0
	a, x, y     V  // a, y: row by row; x: column by column
	cols        int
	d, z        V   // alpha*x; the result
	n, length   int // components of the result, terms of each
	workspace   int // numbers of d
	rounded     method.Rounded
	apart       bool          // Dots is called for each row, for what is stored of it
	special     []exact.Value // nil where all components are finite, or the loops take care
}

// compose returns how an operation is made of the loops.
func (e *engine[V, S]) compose(p *op.Problem) func() {
	f := &e.format
	switch p.Op {
	case op.Sum:
		return func() { f.sum(e.z, e.x) }
	case op.Asum:
		return func() { f.asum(e.z, e.x) }
	case op.Dot:
		return func() { f.dot(e.z, e.x, e.y, p.X.Rows) }
	case op.Axpy:
		return e.axpy(p)
	case op.Scal:
		return e.scal(p)
	case op.Nrm2:
		return e.nrm2(p)
	case op.Gemv, op.Symv, op.Trmv, op.Gemm, op.Spmv:
		return e.gemm(p)
	}
	return nil
}

// axpy returns z = alpha*x + y.
func (e *engine[V, S]) axpy(p *op.Problem) func() {
	if !p.Multiplies() {
		return e.copy(e.y)
	}
	alpha := e.factor()
	return func() { e.format.Axpy(e.z, alpha, e.x, e.y) }
}

// scal returns z = alpha*x.
func (e *engine[V, S]) scal(p *op.Problem) func() {
	if !p.Multiplies() {
		return func() {} // zeros, as they were made
	}
	alpha := e.factor()
	return func() { e.format.Scal(e.z, alpha, e.x) }
}

// factor returns alpha.
func (e *engine[V, S]) factor() S {
	if e.alpha == nil {
		return e.power(0)
	}
	return *e.alpha
}

// copy returns z = x.
func (e *engine[V, S]) copy(x V) func() {
	one := e.power(0)
	return func() { e.format.Scal(e.z, one, x) }
}

// nrm2 returns z = sqrt(x'x), of x scaled by a power of two where squares might leave the format's range.
func (e *engine[V, S]) nrm2(p *op.Problem) func() {
	f := &e.format
	n, k := p.X.Rows, scaling(f.Range, f.Bits, p.X)
	if k == 0 {
		return func() {
			f.dot(e.z, e.x, e.x, n)
			f.Set(e.z, 0, f.Sqrt(f.Get(e.z, 0)))
		}
	}
	e.d = f.Make(n)
	up, down := e.power(k), e.power(-k)
	return func() {
		f.Scal(e.d, down, e.x)
		f.dot(e.z, e.d, e.d, n)
		f.Set(e.z, 0, f.Mul(up, f.Sqrt(f.Get(e.z, 0))))
	}
}

// power returns 2^k.
func (e *engine[V, S]) power(k int) S {
	x := numbers.Bigs{new(big.Float).SetMantExp(big.NewFloat(1), k)}
	return *e.scalar(numbers.Vector(x), new(method.Rounded))
}

// gemm returns Y = A*(alpha*X) + beta*Y, row by row, in the order of the 2020 paper's formulas; for gemv, X and Y have
// one column.
func (e *engine[V, S]) gemm(p *op.Problem) func() {
	f := &e.format
	switch {
	case p.Copies():
		return e.copy(e.y)
	case !p.Multiplies() && e.beta == nil:
		return func() {} // zeros, as they were made
	case !p.Multiplies():
		return func() { f.Scal(e.z, *e.beta, e.y) }
	}
	rows, columns := p.Matrix().Rows, p.Right().Cols
	switch {
	case f.Combine != nil:
		return e.combine(rows, columns)
	case f.CombineRows != nil:
		return e.combineRows(p)
	}
	multiply, starts := e.rows(p)
	part := func(d V, from, to int) {
		multiply(e.z, d, from, to)
		if e.beta != nil {
			z := f.Slice(e.z, from*columns, to*columns)
			f.Axpy(z, *e.beta, f.Slice(e.y, from*columns, to*columns), z)
		}
	}
	return func() {
		d := e.x
		if e.alpha != nil {
			f.Scal(e.d, *e.alpha, e.x)
			d = e.d
		}
		if f.Device != nil || f.Alone {
			part(d, 0, rows)
			return
		}
		parallel.Tasks(e.config.Threads, len(starts)-1, func(_, i int) { part(d, starts[i], starts[i+1]) })
	}
}

// added returns beta.
func (e *engine[V, S]) added() S {
	if e.beta == nil {
		return e.format.Get(e.format.Make(1), 0)
	}
	return *e.beta
}

// combineRows returns y = alpha*A*x + beta*y of a sparse matrix by the loop of the format that does all of it.
func (e *engine[V, S]) combineRows(p *op.Problem) func() {
	alpha, beta := e.factor(), e.added()
	multiply := e.format.CombineRows(p.Matrix().Compressed().Pattern, e.cols, e.a)
	return func() { multiply(e.z, alpha, e.x, beta, e.y) }
}

// combine returns Y = alpha*A*X + beta*Y by the loop of the format that does all of it.
func (e *engine[V, S]) combine(rows, columns int) func() {
	f, alpha, beta, y := &e.format, e.factor(), e.added(), e.y
	if e.beta == nil {
		y = f.Make(e.n)
	}
	return func() {
		if f.Device != nil {
			f.Combine(e.z, alpha, e.a, e.x, beta, y, rows, columns, e.cols)
			return
		}
		parallel.Ranges(parallel.Threads(e.config.Threads), rows, rowGrain, func(_, from, to int) {
			z, added := f.Slice(e.z, from*columns, to*columns), f.Slice(y, from*columns, to*columns)
			f.Combine(z, alpha, f.Slice(e.a, from*e.cols, to*e.cols), e.x, beta, added, to-from, columns, e.cols)
		})
	}
}

// rows returns what sets rows from to to-1 of z to the products of those of op(A) and the columns of x, row by row,
// and where the rows begin that a goroutine computes at a time.
func (e *engine[V, S]) rows(p *op.Problem) (multiply func(z, x V, from, to int), starts []int) {
	f, a := &e.format, p.Matrix()
	if a.Pattern != nil {
		pattern := a.Compressed().Pattern
		return f.RowsOf(pattern, e.a), pattern.Windows()
	}
	for i := 0; i < a.Rows; i += rowGrain {
		starts = append(starts, i)
	}
	columns, stored := p.Right().Cols, storedOf(a)
	all := columnRange{0, e.cols}
	e.apart = f.Skips && e.rounded.Lost && slices.ContainsFunc(stored, func(r columnRange) bool { return r != all })
	return func(z, x V, from, to int) {
		e.dots(f.Slice(z, from*columns, to*columns), x, stored, from, to, columns)
	}, append(starts, a.Rows)
}

// dots sets z to the dot products of the rows from to to-1 of op(A) with the columns of x, row by row: of what is
// stored of a row, or of all of it, where loops for several rows take zeros in.
func (e *engine[V, S]) dots(z, x V, stored []columnRange, from, to, columns int) {
	f := &e.format
	if f.Dots != nil && !e.apart {
		f.Dots(z, f.Slice(e.a, from*e.cols, to*e.cols), x, to-from, columns, e.cols)
		return
	}
	for i := range (to - from) * columns {
		row, column, in := from+i/columns, i%columns*e.cols, stored[from+i/columns]
		left, right := f.Slice(e.a, row*e.cols+in.from, row*e.cols+in.to), f.Slice(x, column+in.from, column+in.to)
		if f.Dots != nil {
			f.Dots(f.Slice(z, i, i+1), left, right, 1, 1, in.to-in.from)
		} else {
			f.Set(z, i, f.Dot(left, right))
		}
	}
}

// columnRange are the columns from to to-1.
type columnRange struct{ from, to int }

// storedOf returns for each row of a matrix which columns there are.
func storedOf(a numbers.Array) []columnRange {
	list := make([]columnRange, a.Rows)
	for i := range list {
		list[i].from, list[i].to = a.Stored(i)
	}
	return list
}

// rowGrain is how many rows a goroutine computes at a time.
const rowGrain = 16

func (e *engine[V, S]) Prepare(_ context.Context, p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	if err == nil {
		err = e.CheckMemory(p)
	}
	if err == nil {
		err = e.checkNumbers(p)
	}
	if err == nil {
		err = e.Close()
	}
	if err != nil {
		return err
	}
	*e = engine[V, S]{format: e.format, name: e.name, config: e.config, n: shape.Components, length: shape.Length}
	if !e.format.IEEE {
		e.special = op.Specials(p, e.n)
	}
	var left, right method.Rounded // of alpha*a*x, and of beta*y
	if p.Multiplies() {
		a, x := p.Matrix(), p.Right()
		if x.Cols != 1 {
			x = x.Transposed()
		}
		e.alpha, e.a, e.x, e.cols = e.scalar(p.Alpha, &left), e.load(a, &left), e.load(x, &left), a.Cols
		if e.alpha != nil && !a.Absent() && e.format.Combine == nil && e.format.CombineRows == nil {
			e.d, e.workspace = e.format.Make(x.Len()), x.Len()
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
	return e.wait()
}

// wait waits for a device.
func (e *engine[V, S]) wait() error {
	if e.format.Device == nil {
		return nil
	}
	return e.format.Device.Wait()
}

// CheckMemory checks that what has to be converted fits, with what is computed.
func (e *engine[V, S]) CheckMemory(p *op.Problem) error {
	shape, err := p.Op.Shape(p)
	if err != nil {
		return err
	}
	count := 0
	if !p.Op.Scalar {
		count = shape.Components
	}
	if !p.A.Absent() && !p.Alpha.Absent() && e.format.Combine == nil {
		count += p.X.Len() // alpha*x
	}
	for _, a := range []numbers.Array{p.A.Elements(), p.X, p.Y} {
		if !e.shares(a) {
			count += a.Len()
		}
	}
	return e.config.CheckMemory(e.name, shape, int64(count)*int64(e.format.Bytes), "")
}

// shares tells whether same returns an array's numbers, or would if those of an Outline were there.
func (e *engine[V, S]) shares(a numbers.Array) bool {
	if _, planned := a.Source.(numbers.Outline); planned {
		return e.format.Same != nil && a.Adjacent()
	}
	_, same := e.same(a)
	return same
}

// checkNumbers checks that all numbers are in the format's range.
func (e *engine[V, S]) checkNumbers(p *op.Problem) error {
	if e.format.Check == nil {
		return nil
	}
	for _, o := range p.Op.Operands {
		if a := *p.Operand(o.Name); !a.Absent() {
			if err := e.format.Check(a); err != nil {
				return &method.RangeError{Method: e.name, Text: o.Name + err.Error()}
			}
		}
	}
	return nil
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
	a = a.Elements()
	if v, ok := e.same(a); ok && e.special == nil {
		return v
	}
	if e.special != nil {
		a = a.Finite()
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

func (e *engine[V, S]) Run(context.Context) error {
	e.run()
	return e.wait()
}

func (e *engine[V, S]) Result() (numbers.Source, error) {
	if e.format.Device != nil {
		if err := e.format.Device.Fetch(e.z); err != nil {
			return nil, err
		}
	}
	if z, ok := any(e.z).([]float64); ok {
		return e.floats(z), nil
	}
	if z, ok := any(e.z).(interface{ Sums(n int) numbers.Source }); ok && e.special == nil {
		if list, ok := z.Sums(e.n).(numbers.Sums); ok && list.AllFinite() {
			return list.Clone(), nil
		}
	}
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

// floats returns a copy of a result of binary64 numbers.
func (e *engine[V, S]) floats(z []float64) numbers.Float64s {
	list := slices.Clone(z[:e.n])
	for i, v := range e.special {
		if !v.IsFinite() {
			list[i] = v.Float64()
		}
	}
	return list
}

func (e *engine[V, S]) Info() method.Info {
	threads := 1
	if e.cols > 0 {
		threads = parallel.Threads(e.config.Threads)
	}
	info := method.Info{
		Format: e.format.Name, Bits: e.format.Bits, NumberBytes: e.format.Bytes, Threads: threads,
		Rounded: e.rounded, Range: e.format.Range, WorkspaceBytes: int64(e.workspace * e.format.Bytes),
	}
	if e.format.Depth != nil {
		info.Bound = map[string]int{"m": e.format.Depth(e.length) + 1}
	}
	return info
}

func (e *engine[V, S]) Close() error {
	if e.format.Device == nil {
		return nil
	}
	return e.format.Device.Free()
}
