package format_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/bound"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/format"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// recursive returns the recursive methods of the three formats, for all operations.
func recursive() map[string][]method.Method {
	return map[string][]method.Method{
		"binary32": format.Recursive(method.Method{Name: "b32", Bits: 24, Summary: "in single"}, "u = 2^-24",
			func(method.Config) format.Format[[]float32, float32] { return format.Binary32 }, op.All()...),
		"binary64": format.Recursive(method.Method{Name: "b64", Bits: 53, Summary: "in double"}, "u = 2^-53",
			func(method.Config) format.Format[[]float64, float64] { return format.Binary64 }, op.All()...),
		"big.Float": format.Recursive(method.Method{Name: "big", Least: 2, Most: 999, Summary: "by math/big"}, "u = 2^-p",
			format.BigFloat, op.All()...),
	}
}

// TestRecursive: bounds are those of the operations with the format's unit roundoff and twice its errors of underflow.
func TestRecursive(t *testing.T) {
	want := map[string][]string{
		"binary32": {
			"g(n-1)*S, u = 2^-24", "g(n)*S + n*2^-149, u = 2^-24", "g(2)*S + 1*2^-149, u = 2^-24",
			"g(1)*S + 1*2^-149, u = 2^-24", "g(n-1)*S, u = 2^-24",
			"g(ceil(n/2)+2)*S + 1*2^-149, u = 2^-24",
			"g(n+2)*S + (n+2+n*a+R)*2^-149, u = 2^-24", "g(n+2)*S + (n+2+n*a+R)*2^-149, u = 2^-24",
			"g(n)*S + n*2^-149, u = 2^-24", "g(n+2)*S + (n+2+n*a+R)*2^-149, u = 2^-24",
			"g(n+2)*S + (n+2+n*a+R)*2^-149, u = 2^-24",
		},
		"binary64": {
			"g(n-1)*S, u = 2^-53", "g(n)*S + n*2^-1074, u = 2^-53", "g(2)*S + 1*2^-1074, u = 2^-53",
			"g(1)*S + 1*2^-1074, u = 2^-53", "g(n-1)*S, u = 2^-53",
			"g(ceil(n/2)+2)*S + 1*2^-1074, u = 2^-53",
			"g(n+2)*S + (n+2+n*a+R)*2^-1074, u = 2^-53", "g(n+2)*S + (n+2+n*a+R)*2^-1074, u = 2^-53",
			"g(n)*S + n*2^-1074, u = 2^-53", "g(n+2)*S + (n+2+n*a+R)*2^-1074, u = 2^-53",
			"g(n+2)*S + (n+2+n*a+R)*2^-1074, u = 2^-53",
		},
		"big.Float": {"g(n-1)*S, u = 2^-p", "g(n)*S, u = 2^-p", "g(2)*S, u = 2^-p",
			"g(1)*S, u = 2^-p", "g(n-1)*S, u = 2^-p", "g(ceil(n/2)+2)*S, u = 2^-p", "g(n+2)*S, u = 2^-p",
			"g(n+2)*S, u = 2^-p", "g(n)*S, u = 2^-p", "g(n+2)*S, u = 2^-p", "g(n+2)*S, u = 2^-p"},
	}
	for name, list := range recursive() {
		for i, m := range list {
			o := op.All()[i]
			if m.Operation != o || m.Format != name || m.Bound.Source != o.Recursive.Source {
				t.Errorf("%s of %s: %s in %s by %q", o.Name, name, m.Operation.Name, m.Format, m.Bound.Source)
			}
			if got := m.Bound.Formula; got != want[name][i] {
				t.Errorf("%s of %s: %q, want %q", o.Name, name, got, want[name][i])
			}
			if m.Threads != o.Has(op.Matrix) || len(m.Kinds()) != 1 || !m.Runs(device.Set{}) {
				t.Errorf("%s of %s: threads %v, on %v", o.Name, name, m.Threads, m.Kinds())
			}
		}
	}
	if got := recursive()["binary32"][0].Summary; got != "recursive summation in single" {
		t.Errorf("summary %q", got)
	}
}

// rounder rounds to nearest even at some bits, with exponents without end.
type rounder uint

func (p rounder) round(x *big.Rat) *big.Rat {
	r, _ := new(big.Float).SetPrec(uint(p)).SetRat(x).Rat(nil)
	return r
}
func (p rounder) add(x, y *big.Rat) *big.Rat { return p.round(new(big.Rat).Add(x, y)) }
func (p rounder) mul(x, y *big.Rat) *big.Rat { return p.round(new(big.Rat).Mul(x, y)) }

// at reads an element of an array, rounded; 1 for a factor that is absent.
func (p rounder) at(a numbers.Array, i, j int) *big.Rat {
	if a.Absent() {
		return big.NewRat(1, 1)
	}
	return p.round(numbers.At(a.Source, a.Index(i, j)).Number())
}

// dot adds products from the first to the last; y is nil for ones.
func (p rounder) dot(n int, x, y func(int) *big.Rat) *big.Rat {
	s := new(big.Rat)
	for i := range n {
		s = p.add(s, p.mul(x(i), y(i)))
	}
	return s
}

// compute is a problem as the loops are defined, in rationals that are rounded after every operation.
func (p rounder) compute(q *op.Problem) (y []*big.Rat) {
	column := func(a numbers.Array) func(int) *big.Rat { return func(i int) *big.Rat { return p.at(a, i, 0) } }
	one := func(int) *big.Rat { return big.NewRat(1, 1) }
	switch {
	case q.Op == op.Sum:
		return []*big.Rat{p.dot(q.X.Rows, column(q.X), one)}
	case q.Op == op.Asum:
		magnitude := func(i int) *big.Rat { return new(big.Rat).Abs(p.at(q.X, i, 0)) }
		return []*big.Rat{p.dot(q.X.Rows, magnitude, one)}
	case q.Op == op.Nrm2:
		square := p.dot(q.X.Rows, column(q.X), column(q.X))
		root, _ := exact.RoundRoot(exact.FromRat(square), uint(p)).Rat(nil)
		return []*big.Rat{root}
	case q.Op == op.Dot:
		return []*big.Rat{p.dot(q.X.Rows, column(q.X), column(q.Y))}
	}
	shape, err := q.Op.Shape(q)
	if err != nil {
		panic(err)
	}
	for i := range shape.Components {
		columns := max(1, shape.K)
		switch {
		case q.Op == op.Scal:
			y = append(y, p.scal(q, i))
		case q.Copies():
			y = append(y, p.at(q.Y, i/columns, i%columns))
		case q.Op == op.Axpy:
			y = append(y, p.add(p.mul(p.at(q.Alpha, 0, 0), p.at(q.X, i, 0)), p.at(q.Y, i, 0)))
		default:
			y = append(y, p.element(q, i/columns, i%columns))
		}
	}
	return y
}

// scal is alpha*x_i.
func (p rounder) scal(q *op.Problem, i int) *big.Rat {
	if !q.Multiplies() {
		return new(big.Rat)
	}
	return p.mul(p.at(q.Alpha, 0, 0), p.at(q.X, i, 0))
}

// element is one of A*(alpha*X) + beta*Y.
func (p rounder) element(q *op.Problem, i, column int) *big.Rat {
	s, a := new(big.Rat), q.Matrix()
	if q.Op == op.Trmv {
		return p.dot(a.Cols, func(j int) *big.Rat { return p.at(a, i, j) }, func(j int) *big.Rat { return p.at(q.X, j, 0) })
	}
	if q.Multiplies() {
		row, x := a.Row(i), q.Right().Column(column)
		if a.Pattern != nil {
			x = numbers.Pick(x, a.Pattern.Row(i))
		}
		s = p.dot(row.Rows, func(j int) *big.Rat { return p.at(row, j, 0) }, func(j int) *big.Rat {
			return p.mul(p.at(q.Alpha, 0, 0), p.at(x, j, 0))
		})
	}
	if q.Adds() {
		s = p.add(p.mul(p.at(q.Beta, 0, 0), p.at(q.Y, i, column)), s)
	}
	return s
}

// run computes a problem by an engine, twice.
func run(t *testing.T, e method.Engine, p *op.Problem) numbers.Source {
	t.Helper()
	if err := method.Run(context.Background(), e, p); err != nil {
		t.Fatal(err)
	}
	if err := e.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	y, err := e.Result()
	if err != nil {
		t.Fatal(err)
	}
	return y
}

func engineOf(t *testing.T, m method.Method, c method.Config) method.Engine {
	t.Helper()
	e, err := m.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// checkRun compares a result with the definition, bit by bit, and its error with the bound.
func checkRun(t *testing.T, what string, m method.Method, e method.Engine, bits int, p *op.Problem) {
	t.Helper()
	y := run(t, e, p)
	want := rounder(bits).compute(p)
	r, err := op.Exact(p)
	if err != nil {
		t.Fatal(err)
	}
	if y.Len() != len(want) {
		t.Fatalf("%s: %d components, want %d", what, y.Len(), len(want))
	}
	limits := m.ErrorBound(e.Info(), p)
	for i, x := range want {
		got := numbers.At(y, i)
		if !got.Equal(exact.FromRat(x)) {
			t.Fatalf("%s: component %d is %v, want %v", what, i, got, exact.FromRat(x))
		}
		s := r.Component(i)
		if limit := limits.Of(s); !s.Errors(got).Within(limit) {
			t.Fatalf("%s: component %d is %v, exact %v, bound %v", what, i, got, s.Sum, limit)
		}
	}
}

// bitsOf returns the precision of a method that is asked for one.
func bitsOf(m method.Method, precision int) int {
	if m.Bits != 0 {
		return m.Bits
	}
	return precision
}

// TestRandom: engines give what the loops are defined to give, also when they are prepared again and again. The
// numbers are far from the ends of binary32.
func TestRandom(t *testing.T) {
	for name, list := range recursive() {
		for _, m := range list {
			e := engineOf(t, m, method.Config{Precision: 90, Threads: 3})
			bits := bitsOf(m, 90)
			for seed := range uint64(90) {
				c := problems.Choice{
					Seed: seed, Kind: []problems.Kind{problems.Simple, problems.Cancelling, problems.Short}[seed%3],
					Bits: []int{0, 120}[seed/3%2], Largest: 7, Decimal: seed%10 == 9 && name != "binary32",
				}
				if c.Kind == problems.Cancelling {
					c.Bits = 120 // neighbours of 0 in binary64 underflow
				}
				checkRun(t, fmt.Sprintf("%s of %s, %+v", m.Operation.Name, name, c), m, e, bits, c.Random(m.Operation))
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestFactors: factors that are absent, 0, 1 or others, for matrices of all shapes, transposed or not, with strides.
// What must not be read is NaN.
func TestFactors(t *testing.T) {
	factors := []numbers.Array{{}, numbers.Scalar(0), numbers.Scalar(1), numbers.Scalar(-0.3)}
	for name, list := range recursive() {
		gemv, axpy, scal := methodOf(list, op.Gemv), methodOf(list, op.Axpy), methodOf(list, op.Scal)
		bits := bitsOf(gemv, 70)
		for _, alpha := range factors {
			for _, inc := range []int{1, -2} {
				p := &op.Problem{Op: op.Axpy, Alpha: alpha, X: thirds(5, inc), Y: thirds(5, 3)}
				if !p.Multiplies() {
					spoil(p.X)
				}
				checkRun(t, name+": axpy", axpy, engineOf(t, axpy, method.Config{Precision: 70}), bits, p)
				p = &op.Problem{Op: op.Scal, Alpha: alpha, X: p.X}
				checkRun(t, name+": scal", scal, engineOf(t, scal, method.Config{Precision: 70}), bits, p)
				for _, beta := range factors {
					for shape := range 2 * 4 * 3 {
						m, n, trans := []int{0, 1, 2, 18}[shape/2%4], []int{0, 1, 3}[shape/8], shape%2 == 1
						p := product(m, n, trans, inc)
						p.Alpha, p.Beta = alpha, beta
						if !p.Multiplies() {
							spoil(p.A)
							spoil(p.X)
						}
						if !p.Adds() {
							spoil(p.Y)
						}
						e := engineOf(t, gemv, method.Config{Precision: 70, Threads: 2})
						checkRun(t, fmt.Sprintf("%s: gemv %d x %d, %+v", name, m, n, p), gemv, e, bits, p)
					}
				}
			}
		}
	}
}

// methodOf returns the method of an operation.
func methodOf(list []method.Method, o *op.Operation) method.Method {
	m, _ := method.Catalog(list).Lookup(o, list[0].Name)
	return m
}

// thirds returns n numbers that no format holds, some apart.
func thirds(n, inc int) numbers.Array {
	l := numbers.Strided(n, inc)
	x := make(numbers.Float64s, max(0, n-1)*max(inc, -inc)+1)
	for i := range x {
		x[i] = math.NaN()
	}
	for i := range n {
		x[l.Index(i, 0)] = float64(2*i-3) / 3
	}
	return numbers.Array{Source: x, Layout: l}
}

// product returns a problem with an m x n matrix by columns.
func product(m, n int, trans bool, inc int) *op.Problem {
	a := thirds(max(1, (m+1)*n), 1)
	a.Layout = numbers.ColMajor(m, n, m+1)
	p := &op.Problem{Op: op.Gemv, A: a, Trans: trans, X: thirds(n, inc), Y: thirds(m, inc)}
	if trans {
		p.X, p.Y = p.Y, p.X
	}
	return p
}

func spoil(a numbers.Array) {
	x := a.Source.(numbers.Float64s)
	for i := range x {
		x[i] = math.NaN()
	}
}

// TestSmall: sums and dot products of no terms and of one.
func TestSmall(t *testing.T) {
	for name, list := range recursive() {
		for _, c := range []struct {
			x, y []float64
			want [2]float64 // the sum of x, and the dot product
		}{
			{nil, nil, [2]float64{0, 0}}, {[]float64{-3}, []float64{0.5}, [2]float64{-3, -1.5}},
			{[]float64{1, 2}, []float64{0, 4}, [2]float64{3, 8}},
		} {
			for k, m := range list[:2] {
				p := &op.Problem{Op: m.Operation, X: numbers.Vector(numbers.Float64s(c.x))}
				if k == 1 {
					p.Y = numbers.Vector(numbers.Float64s(c.y))
				}
				e := engineOf(t, m, method.Config{Precision: 9})
				if y := run(t, e, p); y.Len() != 1 || numbers.At(y, 0).Float64() != c.want[k] {
					t.Errorf("%s of %s: %v of %v and %v", m.Operation.Name, name, numbers.At(y, 0), c.x, c.y)
				}
			}
		}
	}
}

// TestSpecials: infinities and NaN in every place give what IEEE 754 arithmetic gives, in formats that have none too.
func TestSpecials(t *testing.T) {
	for name, list := range recursive() {
		for _, m := range list {
			e := engineOf(t, m, method.Config{Precision: 60})
			for _, c := range problems.Specials(m.Operation) {
				if m.Bits != 0 && (c.Overflows || c.Name == "infinite alpha") { // alpha*x comes first
					continue
				}
				y := run(t, e, c.Problem)
				for i, want := range c.Want {
					if got := numbers.At(y, i); !problems.SameClass(got.Float64(), want) {
						t.Errorf("%s of %s, %s: component %d is %v, want %v", m.Operation.Name, name, c.Name, i, got, want)
					}
				}
			}
		}
	}
}

// TestInfo: what was rounded, and whether too much was lost, is counted for the factors of a term.
func TestInfo(t *testing.T) {
	floats := func(x ...float64) numbers.Array { return numbers.Vector(numbers.Float64s(x)) }
	third := numbers.Vector(numbers.Rationals([]*big.Rat{big.NewRat(1, 3), big.NewRat(1, 1)}))
	long := numbers.Vector(numbers.Bigs{new(big.Float).SetInt(new(big.Int).SetBit(big.NewInt(1), 70, 1))})
	matrix := numbers.Array{Source: numbers.Float64s{0.1, 1}, Layout: numbers.RowMajor(1, 2, 2)}
	for _, c := range []struct {
		format  string
		problem op.Problem
		want    method.Rounded
	}{
		{"binary64", op.Problem{Op: op.Sum, X: floats(0.1, 1e-310)}, method.Rounded{}},
		{"binary64", op.Problem{Op: op.Sum, X: third}, method.Rounded{Factors: 1}},
		{"binary64", op.Problem{Op: op.Dot, X: third, Y: third}, method.Rounded{Factors: 2}},
		{"binary64", op.Problem{Op: op.Sum, X: long}, method.Rounded{Factors: 1}},
		{"binary32", op.Problem{Op: op.Sum, X: floats(0.5, 0x1p-149, 0x1.fffffep127)}, method.Rounded{}},
		{"binary32", op.Problem{Op: op.Sum, X: floats(0.1)}, method.Rounded{Factors: 1}},
		{"binary32", op.Problem{Op: op.Sum, X: floats(0x1.000001p-127, 0.1)}, method.Rounded{Factors: 1, Lost: true}},
		{"binary32", op.Problem{Op: op.Sum, X: floats(1e39)}, method.Rounded{Factors: 1, Lost: true}},
		{"binary32", op.Problem{Op: op.Axpy, Alpha: floats(0.1), X: floats(0.1), Y: floats(1)}, method.Rounded{Factors: 2}},
		{"binary32", op.Problem{Op: op.Axpy, Alpha: floats(0.5), X: floats(1), Y: floats(0.1)}, method.Rounded{Factors: 1}},
		{"binary32", op.Problem{Op: op.Axpy, Alpha: floats(0), X: floats(0.1), Y: floats(1)}, method.Rounded{}},
		{
			"binary32",
			op.Problem{Op: op.Gemv, A: matrix, X: floats(0.1, 1), Alpha: floats(0.1), Beta: floats(0.1), Y: floats(1)},
			method.Rounded{Factors: 3},
		},
		{
			"binary32", op.Problem{Op: op.Gemv, A: matrix, X: floats(1, 1), Beta: floats(0.1), Y: floats(1e-45)},
			method.Rounded{Factors: 2, Lost: true},
		},
		{"big.Float", op.Problem{Op: op.Sum, X: long}, method.Rounded{Factors: 1}}, // 71 bits
		{"big.Float", op.Problem{Op: op.Dot, X: third, Y: floats(0.1, 1)}, method.Rounded{Factors: 1}},
	} {
		list := recursive()[c.format]
		m := methodOf(list, c.problem.Op)
		e := engineOf(t, m, method.Config{Precision: 70})
		run(t, e, &c.problem)
		if got := e.Info().Rounded; got != c.want {
			t.Errorf("%s in %s of %+v: %+v, want %+v", c.problem.Op.Name, c.format, c.problem, got, c.want)
		}
	}
	gemv := methodOf(recursive()["binary32"], op.Gemv)
	e := engineOf(t, gemv, method.Config{Threads: 3})
	run(t, e, &op.Problem{Op: op.Gemv, A: matrix, X: floats(1, 1), Alpha: floats(2)})
	i := e.Info()
	if i.Format != "binary32" || i.Bits != 24 || i.NumberBytes != 4 || i.Threads != 3 || i.WorkspaceBytes != 8 {
		t.Errorf("%+v", i)
	}
	sum := recursive()["big.Float"][0]
	e = engineOf(t, sum, method.Config{Precision: 65, Threads: 3})
	run(t, e, &op.Problem{Op: op.Sum, X: third})
	i = e.Info()
	if i.Bits != 65 || i.Threads != 1 || i.WorkspaceBytes != 0 || i.Range.Unit.Cmp(exact.PowerOfTwo(-65)) != 0 {
		t.Errorf("%+v", i)
	}
}

// TestMemory: what has to be converted must fit, with the results; numbers that are of the format already need
// nothing.
func TestMemory(t *testing.T) {
	n := 10
	x := thirds(n, 1)
	decimals := make([]*big.Rat, n)
	for i := range decimals {
		decimals[i] = big.NewRat(1, int64(i)+2)
	}
	wide := numbers.Vector(numbers.Rationals(decimals))
	for _, c := range []struct {
		format  string
		problem *op.Problem
		need    int64 // in bytes; for big.Float, in numbers
	}{
		{"binary64", &op.Problem{Op: op.Sum, X: x}, 0},
		{"binary64", &op.Problem{Op: op.Sum, X: thirds(n, 2)}, 80},
		{"binary64", &op.Problem{Op: op.Dot, X: x, Y: wide}, 80},
		{"binary64", product(n, n, false, 1), 880},
		{"binary32", &op.Problem{Op: op.Axpy, X: x, Y: x}, 120},
		{"big.Float", &op.Problem{Op: op.Sum, X: x}, 10},
		{"big.Float", product(n, n, true, 1), 130},
	} {
		list := recursive()[c.format]
		m := methodOf(list, c.problem.Op)
		need := c.need
		if c.format == "big.Float" {
			e := engineOf(t, m, method.Config{Precision: 70})
			run(t, e, c.problem)
			need *= int64(e.Info().NumberBytes)
		}
		e := engineOf(t, m, method.Config{Precision: 70, MaxBytes: max(1, need)})
		if err := e.Prepare(context.Background(), c.problem); err != nil {
			t.Errorf("%s in %s: %v", c.problem.Op.Name, c.format, err)
		}
		if need == 0 {
			continue
		}
		e = engineOf(t, m, method.Config{Precision: 70, MaxBytes: need - 1})
		var memory *method.MemoryError
		err := e.Prepare(context.Background(), c.problem)
		if !errors.As(err, &memory) || memory.Need != need || memory.Method != m.Name {
			t.Errorf("%s in %s: %v, want %d bytes", c.problem.Op.Name, c.format, err, need)
		}
	}
	e := engineOf(t, recursive()["binary64"][1], method.Config{})
	var wrong *op.Error
	err := e.Prepare(context.Background(), &op.Problem{Op: op.Dot, X: x, Y: thirds(3, 1)})
	if !errors.As(err, &wrong) {
		t.Errorf("vectors of two lengths: %v", err)
	}
}

// TestElements: a format of one's own, integers in units of 1/4, cut off towards zero, that has no infinities.
func TestElements(t *testing.T) {
	quarters := format.Elements(format.Format[[]int64, int64]{
		Name: "quarters", Bits: 22, Bytes: 8,
		Value: func(x int64) exact.Value { return exact.FromRat(big.NewRat(x, 4)) },
	}, func(z *numbers.Number) (x int64, rounded, lost bool) {
		if z.Class >= numbers.Infinite {
			t.Error("a special number was loaded")
			return 0, true, true
		}
		f, _ := z.Big().Float64()
		return int64(4 * f), 4*f != math.Trunc(4*f), math.Abs(f) < 0.25
	})
	loops := format.Loops[[]int64, int64]{Sum: func(x []int64) (sum int64) {
		for _, v := range x {
			sum += v
		}
		return sum
	}}
	m := quarters.Method(method.Method{Operation: op.Sum, Name: "q", Bound: bound.New("S", "")}, loops)
	if m.Bits != 22 || m.Format != "quarters" || m.Threads || !m.Runs(device.Set{}) {
		t.Errorf("%+v", m)
	}
	for _, c := range []struct {
		x       []float64
		want    float64
		rounded method.Rounded
	}{
		{[]float64{1, 2.25, -7.5}, -4.25, method.Rounded{}},
		{[]float64{1.3, -1.3, 0.5}, 0.5, method.Rounded{Factors: 1}},
		{[]float64{0.1, 8, 0.3}, 8.25, method.Rounded{Factors: 1, Lost: true}},
		{[]float64{1, math.Inf(-1), 3}, math.Inf(-1), method.Rounded{}},
		{[]float64{math.Inf(-1), math.Inf(1), 0.25}, math.NaN(), method.Rounded{}},
	} {
		e := engineOf(t, m, method.Config{})
		y := run(t, e, &op.Problem{Op: op.Sum, X: numbers.Vector(numbers.Float64s(c.x))})
		if got := numbers.At(y, 0); !got.Equal(exact.FromFloat64(c.want)) || e.Info().Rounded != c.rounded {
			t.Errorf("%v: %v, %+v; want %v, %+v", c.x, got, e.Info().Rounded, c.want, c.rounded)
		}
	}
	v := quarters.Make(3)
	quarters.Set(v, 2, 7)
	if s := quarters.Slice(v, 1, 3); len(s) != 2 || quarters.Get(s, 1) != 7 {
		t.Errorf("%v of %v", s, v)
	}
}

// TestDecimalsBesideInfinities: numbers that are no dyadic fractions keep their denominator where others are infinite.
func TestDecimalsBesideInfinities(t *testing.T) {
	third := numbers.Rationals([]*big.Rat{big.NewRat(1, 3), big.NewRat(2, 3)})
	p := &op.Problem{Op: op.Axpy, X: numbers.Vector(third), Y: numbers.Vector(numbers.Float64s{math.Inf(1), 0})}
	for _, m := range recursive()["big.Float"] {
		if m.Operation != op.Axpy {
			continue
		}
		e, err := m.New(method.Config{Precision: 60})
		if err != nil {
			t.Fatal(err)
		}
		if err := method.Run(context.Background(), e, p); err != nil {
			t.Fatal(err)
		}
		y, err := e.Result()
		if err != nil {
			t.Fatal(err)
		}
		want := new(big.Float).SetPrec(60).Quo(big.NewFloat(2), big.NewFloat(3))
		if got := numbers.At(y, 1); !got.Equal(exact.FromBig(want)) {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
