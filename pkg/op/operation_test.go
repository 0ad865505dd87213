package op_test

import (
	"math"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// TestTable: operations are found by their names, once each, and say all that commands and records need.
func TestTable(t *testing.T) {
	if got := strings.Join(op.Names(), " "); got != "sum dot axpy scal asum nrm2 gemv symv trmv gemm spmv" {
		t.Errorf("names: %s", got)
	}
	for _, o := range op.All() {
		if found, ok := op.Lookup(o.Name); !ok || found != o {
			t.Errorf("%s is not found", o.Name)
		}
		if o.Summary == "" || o.Reference == "" || o.Loop == "" || !o.Recursive.Proved() || o.Recursive.Source == "" {
			t.Errorf("%s is incomplete", o.Name)
		}
		matrices := o.Has(op.Matrix)
		if slices.Contains(op.Vectors(), o) == matrices {
			t.Errorf("%s has a matrix: %v", o.Name, matrices)
		}
		arrays := o.Arrays()
		for _, operand := range o.Operands {
			a := numbers.Scalar(7)
			p := &op.Problem{Op: o}
			*p.Operand(operand.Name) = a
			if got := p.Operand(operand.Name); got.Len() != 1 || operand.Usage == "" {
				t.Errorf("%s has no %s", o.Name, operand.Name)
			}
			array := slices.ContainsFunc(arrays, func(x op.Operand) bool { return x.Name == operand.Name })
			if array != (operand.Kind != op.Number) || array == (operand.Default != "") {
				t.Errorf("%s: operand %s is an array: %v", o.Name, operand.Name, array)
			}
		}
	}
	if _, ok := op.Lookup("SUM"); ok {
		t.Error("SUM is an operation")
	}
}

// TestShapes: what is divided among devices is terms of scalars and rows of vectors.
func TestShapes(t *testing.T) {
	a := numbers.Array{Source: make(numbers.Float64s, 6), Layout: numbers.ColMajor(2, 3, 2)}
	two, three := numbers.Vector(make(numbers.Float64s, 2)), numbers.Vector(make(numbers.Float64s, 3))
	for _, c := range []struct {
		problem *op.Problem
		want    op.Shape
		parts   int
	}{
		{
			&op.Problem{Op: op.Sum, X: three},
			op.Shape{N: 3, Rows: 1, Components: 1, Length: 3, Elements: 3, PerElement: 1}, 3,
		},
		{
			&op.Problem{Op: op.Dot, X: two, Y: two},
			op.Shape{N: 2, Rows: 1, Components: 1, Length: 2, Elements: 2, PerElement: 2}, 2,
		},
		{
			&op.Problem{Op: op.Axpy, X: three, Y: three},
			op.Shape{N: 3, Rows: 3, Components: 3, Length: 2, Elements: 3, PerElement: 3}, 3,
		},
		{
			&op.Problem{Op: op.Scal, X: three},
			op.Shape{N: 3, Rows: 3, Components: 3, Length: 1, Elements: 3, PerElement: 2}, 3,
		},
		{
			&op.Problem{Op: op.Gemv, A: a, X: three},
			op.Shape{M: 2, N: 3, Trans: "N", Rows: 2, Components: 2, Length: 3, Elements: 6, PerElement: 1}, 2,
		},
		{
			&op.Problem{Op: op.Gemv, A: a, X: two, Trans: true},
			op.Shape{M: 2, N: 3, Trans: "T", Rows: 3, Components: 3, Length: 2, Elements: 6, PerElement: 1}, 3,
		},
		{
			&op.Problem{Op: op.Gemm, A: a, X: a, TransX: true},
			op.Shape{M: 2, N: 3, K: 2, Trans: "NT", Rows: 2, Components: 4, Length: 3, Elements: 12}, 2,
		},
	} {
		got, err := c.problem.Op.Shape(c.problem)
		if err != nil || got != c.want || got.Parts(c.problem.Op) != c.parts {
			t.Errorf("%s: %+v, %v; want %+v", c.problem.Op.Name, got, err, c.want)
		}
	}
	rows := &numbers.Pattern{Start: []int{0, 2, 3}, Column: []int32{0, 2, 2}}
	sparse := &op.Problem{Op: op.Spmv, A: numbers.Sparse(make(numbers.Float64s, 3), 3, rows), X: two, Trans: true}
	if got, err := op.Spmv.Shape(sparse); err != nil || got != (op.Shape{
		M: 2, N: 3, Trans: "T", Rows: 3, Components: 3, Length: 2, Elements: 3, PerElement: 1, NNZ: 3, Places: 44,
	}) || got.MatrixBytes(8) != 68 {
		t.Errorf("spmv: %+v, %v", got, err)
	}
	for _, wrong := range []*numbers.Pattern{
		{Start: []int{0, 2}, Column: []int32{0, 1}}, {Start: []int{0, 2, 4}, Column: []int32{0, 1, 2}},
		{Start: []int{0, 2, 1}, Column: []int32{0, 1, 2}}, {Start: []int{0, 2, 3}, Column: []int32{0, 1, 3}},
		{Start: []int{0, 2, 3}, Column: []int32{0, 1, -1}}, {Start: []int{0, 2, 4}, Column: []int32{0, 1, 1, 0}},
		{Start: []int{0, 2, 3}, Column: []int32{0, 1, 2}, Number: []int{0, 1}},
	} {
		sparse.A.Pattern = wrong
		if _, err := op.Spmv.Shape(sparse); err == nil || !strings.HasPrefix(err.Error(), "spmv: a: ") {
			t.Errorf("%v: %v", wrong.Start, err)
		}
	}
	p := &op.Problem{Op: op.Axpy, X: two, Y: three}
	if _, err := op.Axpy.Shape(p); err == nil || err.Error() != "axpy: x has 2 numbers and y has 3" {
		t.Error(err)
	}
}

// TestSample: the components of a sample are those of the problem with only the first terms.
func TestSample(t *testing.T) {
	for _, o := range op.All() {
		for seed := range uint64(60) {
			p := problems.Choice{Seed: seed, Kind: problems.Simple, Largest: 6}.Random(o)
			shape, err := o.Shape(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, rows := range []int{0, 1, 2, 1000} {
				for _, terms := range []int{1, 3, 1000} {
					q := p.Sample(rows, terms)
					got, err := o.Shape(q)
					if err != nil {
						t.Fatal(err)
					}
					want := min(rows, shape.Rows)
					length := min(terms, shape.Length)
					if o.Split == op.ByTerm {
						want = 1
					} else if !o.Has(op.Matrix) {
						length = shape.Length
					} else if o.Storage == op.Sparse { // that of the longest row there is
						length = got.Length
					}
					if got.Rows != want || got.Length != length {
						t.Fatalf("%s, %d rows of %d terms: %+v of %+v", o.Name, rows, terms, got, shape)
					}
					checkSample(t, p, q, o.Storage != op.Sparse && length < shape.Length)
				}
			}
		}
	}
}

// checkSample compares a sample with the definition and, where it has all terms, with the problem.
func checkSample(t *testing.T, p, q *op.Problem, fewer bool) {
	t.Helper()
	r, err := op.Exact(q)
	if err != nil {
		t.Fatal(err)
	}
	whole, wholeAbs := problems.Naive(p)
	part, abs := problems.Naive(q)
	for i, y := range part {
		got := r.Component(i)
		if !problems.Agrees(p.Op, got, y, abs[i]) || !fewer && !problems.Agrees(p.Op, got, whole[i], wholeAbs[i]) {
			t.Fatalf("%s: component %d of a sample is %v", p.Op.Name, i, got.Sum)
		}
	}
}

// TestQuantityAlpha: a is |alpha|, 1 without one, and 0 where it is no number; infinities count in none; there are no
// other letters.
func TestQuantityAlpha(t *testing.T) {
	for _, c := range []struct {
		alpha numbers.Array
		want  *big.Rat
	}{
		{numbers.Array{}, big.NewRat(1, 1)}, {numbers.Scalar(-2.5), big.NewRat(5, 2)}, {numbers.Scalar(0), new(big.Rat)},
		{numbers.Vector(numbers.Rationals([]*big.Rat{big.NewRat(-1, 3)})), big.NewRat(1, 3)},
		{numbers.Scalar(math.Inf(-1)), new(big.Rat)}, {numbers.Vector(numbers.Bigs{nil}), new(big.Rat)},
	} {
		p := &op.Problem{Op: op.Axpy, Alpha: c.alpha}
		if got := p.Quantity("a"); got == nil || got.Cmp(c.want) != 0 {
			t.Errorf("a is %v, want %v", got, c.want)
		}
	}
	p := &op.Problem{Op: op.Sum, X: numbers.Vector(numbers.Float64s{1, math.Inf(1)})}
	if got := p.Quantity("X"); got == nil || got.Cmp(big.NewRat(2, 1)) < 0 || got.Cmp(big.NewRat(3, 1)) > 0 {
		t.Errorf("X is %v", got)
	}
	p.X = numbers.Vector(numbers.Bigs{new(big.Float).SetMantExp(big.NewFloat(1), 2000)})
	if p.Quantity("X") != nil || p.Quantity("B") != nil {
		t.Error("a quantity that is too large, or not known, has a value")
	}
}

// TestQuantityLargest: P is just above the largest term, whatever the layout; infinities count in none.
func TestQuantityLargest(t *testing.T) {
	x := numbers.Float64s{3, -5, 2, math.Inf(1), math.NaN(), 1}
	for _, c := range []struct {
		x, y numbers.Array
		want float64
	}{
		{numbers.Vector(x), numbers.Array{}, 5}, {numbers.Vector(x), numbers.Vector(x), 25},
		{numbers.Array{Source: x, Layout: numbers.Strided(3, 2)}, numbers.Array{}, 3},
		{numbers.Array{Source: problems.OnDisk(x, 6), Layout: numbers.Strided(6, 1)}, numbers.Array{}, 5},
		{numbers.Vector(numbers.Float64s{}), numbers.Array{}, 0},
		{numbers.Vector(numbers.Rationals([]*big.Rat{big.NewRat(-1, 3)})), numbers.Array{}, 1.0 / 3},
	} {
		p := &op.Problem{Op: op.Sum, X: c.x, Y: c.y}
		got, _ := p.Quantity("P").Float64()
		if got < c.want || got > c.want*(1+0x1p-49)+0x1p-1074 {
			t.Errorf("P is %g, want %g", got, c.want)
		}
	}
	p := &op.Problem{Op: op.Dot, X: numbers.Vector(numbers.Float64s{1e300}), Y: numbers.Vector(numbers.Float64s{1e300})}
	if got := p.Quantity("P"); got != nil {
		t.Errorf("P of a product beyond the range is %v", got)
	}
	p = &op.Problem{Op: op.Sum, X: numbers.Array{Source: problems.OnDisk(x, 2), Layout: numbers.Strided(6, 1)}}
	if got := p.Quantity("P"); got != nil {
		t.Errorf("P of numbers that cannot be read is %v", got)
	}
}

// TestLongSums: many terms, added by several goroutines, in memory and read in runs, give the sum that is known:
// 1 + 2 + ... + n beside numbers of 2^200 that cancel, and one of 2^-300.
func TestLongSums(t *testing.T) {
	n := 3<<16 + 5
	x := make(numbers.Float64s, n)
	for i := range x {
		x[i] = float64(i + 1)
	}
	x[0], x[7], x[n-1] = 0x1p200, 0x1p-300, -0x1p200
	want := new(big.Rat).SetInt64(int64(n) * int64(n+1) / 2)
	want.Sub(want, big.NewRat(int64(1+8+n), 1)).Add(want, new(big.Rat).SetFloat64(0x1p-300))
	magnitudes := new(big.Rat).Add(want, new(big.Rat).SetFloat64(0x1p201))
	ones := make(numbers.Float64s, n)
	halves := make(numbers.Bigs, n)
	for i := range ones {
		ones[i], halves[i] = 1, big.NewFloat(0.5)
	}
	for name, p := range map[string]*op.Problem{
		"sum":           {Op: op.Sum, X: numbers.Vector(x)},
		"sum of a file": {Op: op.Sum, X: numbers.Vector(problems.OnDisk(x, n))},
		"dot":           {Op: op.Dot, X: numbers.Vector(x), Y: numbers.Vector(ones)},
		"wide dot":      {Op: op.Dot, X: numbers.Vector(x), Y: numbers.Vector(halves)},
	} {
		r, err := op.Exact(p)
		if err != nil {
			t.Fatal(err)
		}
		scale := big.NewRat(1, 1)
		if name == "wide dot" {
			scale.SetFrac64(1, 2)
		}
		s := r.Component(0)
		if s.Sum.Number().Cmp(new(big.Rat).Mul(scale, want)) != 0 ||
			s.SumAbs.Number().Cmp(new(big.Rat).Mul(scale, magnitudes)) != 0 || s.N != n {
			t.Errorf("%s: %v of %v, n = %d", name, s.Sum, s.SumAbs, s.N)
		}
		if chunked := name == "sum of a file"; p.Chunked() != chunked {
			t.Errorf("%s: chunked is %v", name, !chunked)
		}
	}
}

// TestManyComponents: those of a result that is too large to keep are computed when they are asked for.
func TestManyComponents(t *testing.T) {
	n := 1<<20 + 1
	x, y := make(numbers.Float64s, n), make(numbers.Float64s, n)
	for i := range x {
		x[i], y[i] = float64(i), 0x1p-60
	}
	r, err := op.Exact(&op.Problem{Op: op.Axpy, Alpha: numbers.Scalar(-3), X: numbers.Vector(x), Y: numbers.Vector(y)})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []int{0, 1, 77, n - 1} {
		want := new(big.Rat).Sub(new(big.Rat).SetFloat64(0x1p-60), big.NewRat(int64(3*i), 1))
		if got := r.Component(i); got.Sum.Number().Cmp(want) != 0 || got.N != 2 {
			t.Errorf("component %d: %v, want %v", i, got.Sum, want)
		}
	}
}

// TestSignsOfInfinities: a factor turns infinities round, in binary64 and in wide numbers; 0 times one is NaN.
func TestSignsOfInfinities(t *testing.T) {
	inf := math.Inf(1)
	wide := func(x ...float64) numbers.Array {
		list := make(numbers.Bigs, len(x))
		for i, v := range x {
			list[i] = big.NewFloat(v)
		}
		return numbers.Vector(list)
	}
	floats := func(x ...float64) numbers.Array { return numbers.Vector(numbers.Float64s(x)) }
	for _, vector := range []func(...float64) numbers.Array{floats, wide} {
		for _, c := range []struct{ alpha, x, y, want float64 }{
			{-2, inf, 1, -inf}, {-2, -inf, 1, inf}, {3, -inf, 1, -inf}, {3, 2, -inf, -inf}, {-inf, 2, 7, -inf},
			{-inf, -2, 7, inf}, {2, inf, -inf, math.NaN()}, {-2, inf, -inf, -inf}, {inf, 0, 1, math.NaN()},
			{0, inf, 5, 5}, {2, 3, 4, 10},
		} {
			p := &op.Problem{Op: op.Axpy, Alpha: vector(c.alpha), X: vector(c.x, 1), Y: vector(c.y, 2)}
			r, err := op.Exact(p)
			if err != nil {
				t.Fatal(err)
			}
			want := exact.FromFloat64(c.want)
			if got := r.Component(0).Sum; !got.Equal(want) {
				t.Errorf("%v*%v + %v: %v", c.alpha, c.x, c.y, got)
			}
			known := exact.Value{}
			if special := op.Specials(p, 2); special != nil {
				known = special[0]
			}
			if known.IsFinite() != want.IsFinite() || !want.IsFinite() && !known.Equal(want) {
				t.Errorf("%v*%v + %v: %v beforehand", c.alpha, c.x, c.y, known)
			}
		}
		p := &op.Problem{Op: op.Sum, X: vector(1, -inf, 2)}
		if special := op.Specials(p, 1); special[0].Class != exact.NegInf {
			t.Errorf("sum: %v", special)
		}
	}
}

// TestStreamedParts: numbers that are read in runs, of which only some are elements, or that are multiplied.
func TestStreamedParts(t *testing.T) {
	x := problems.OnDisk(numbers.Float64s{1, 2, 4, 8, 16}, 5)
	for _, c := range []struct {
		p    op.Problem
		want float64
	}{
		{op.Problem{Op: op.Sum, X: numbers.Array{Source: x, Layout: numbers.Strided(3, 2)}}, 21},
		{op.Problem{Op: op.Sum, X: numbers.Array{Source: x, Layout: numbers.Strided(5, -1)}}, 31},
		{op.Problem{Op: op.Dot, X: numbers.Vector(x), Y: numbers.Vector(numbers.Float64s{1, 10, 100, 1000, 10000})}, 168421},
	} {
		r, err := op.Exact(&c.p)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Component(0).Sum; !got.Equal(exact.FromFloat64(c.want)) {
			t.Errorf("%s: %v, want %g", c.p.Op.Name, got, c.want)
		}
	}
}

// TestExactMemory: the exact result of an operation on elements takes little memory for each.
func TestExactMemory(t *testing.T) {
	const n, most = 2000, 16 << 10
	x := make(numbers.Float64s, n)
	for i := range x {
		x[i] = float64(i) + 0.3
	}
	p := &op.Problem{Op: op.Axpy, Alpha: numbers.Scalar(0.1), X: numbers.Vector(x), Y: numbers.Vector(x)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := op.Exact(p)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		r.Component(i)
	}
	runtime.ReadMemStats(&after)
	if bytes := (after.TotalAlloc - before.TotalAlloc) / n; bytes > most {
		t.Errorf("%d bytes for each element, want at most %d", bytes, most)
	}
}
