package op_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/exact"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// TestExact compares the reference with the definition, whole and in parts.
func TestExact(t *testing.T) {
	problemsOfEach := uint64(400)
	if testing.Short() {
		problemsOfEach = 120
	}
	for _, o := range op.All() {
		for seed := range problemsOfEach {
			c := problems.Choice{
				Seed: seed, Kind: problems.Kind(seed) % problems.Kinds, Bits: []int{0, 100, 0, 424}[seed/4%4], Largest: 7,
				Decimal: seed%7 == 6,
			}
			p := c.Random(o)
			r, err := op.Exact(p)
			if err != nil {
				t.Fatal(err)
			}
			y, abs := problems.Naive(p)
			if r.Shape.Components != len(y) {
				t.Fatalf("%s %+v: %d components, want %d", o.Name, c, r.Shape.Components, len(y))
			}
			for i := range y {
				got := r.Component(i)
				if !problems.Agrees(o, got, y[i], abs[i]) {
					t.Fatalf("%s %+v, component %d: %v of %v, want %v of %v", o.Name, c, i, got.Sum, got.SumAbs, y[i], abs[i])
				}
			}
			checkParts(t, p, r)
		}
	}
}

// checkParts: the rows of a part are those of the whole, and the sums of parts of the terms add up.
func checkParts(t *testing.T, p *op.Problem, whole *op.Reference) {
	t.Helper()
	n := whole.Shape.Parts(p.Op)
	if n < 2 {
		return
	}
	at := n / 3
	first, err := op.Exact(p.Part(0, at))
	if err != nil {
		t.Fatal(err)
	}
	second, err := op.Exact(p.Part(at, n))
	if err != nil {
		t.Fatal(err)
	}
	if p.Op.Norm == 2 {
		return // its squares add up, as those of a dot product
	}
	if p.Op.Split == op.ByTerm {
		sum := new(big.Rat).Add(first.Component(0).Sum.Number(), second.Component(0).Sum.Number())
		if sum.Cmp(whole.Component(0).Sum.Number()) != 0 {
			t.Fatalf("%s: parts of %d terms do not add up", p.Op.Name, n)
		}
		return
	}
	for i := range whole.Shape.Components {
		part, k := first, i
		if begin := first.Shape.Components; i >= begin {
			part, k = second, i-begin
		}
		if !part.Component(k).Sum.Equal(whole.Component(i).Sum) {
			t.Fatalf("%s: component %d differs in a part", p.Op.Name, i)
		}
	}
}

// TestSpecials: infinities and NaN give what IEEE 754 arithmetic gives, and are found beforehand.
func TestSpecials(t *testing.T) {
	for _, o := range op.All() {
		for _, c := range problems.Specials(o) {
			r, err := op.Exact(c.Problem)
			if err != nil {
				t.Fatal(err)
			}
			special := op.Specials(c.Problem, r.Shape.Components)
			for i, want := range c.Want {
				got := r.Component(i).Sum
				if !problems.SameClass(got.Float64(), want) {
					t.Errorf("%s, %s: component %d is %v, want %v", o.Name, c.Name, i, got, want)
				}
				if found := special != nil && !special[i].IsFinite(); found == got.IsFinite() || found && !special[i].Equal(got) {
					t.Errorf("%s, %s: component %d is %v, known beforehand: %v", o.Name, c.Name, i, got, special)
				}
			}
		}
	}
}

// TestShapeErrors: arrays that do not fit each other or their sources are one clear error.
func TestShapeErrors(t *testing.T) {
	matrix := func(m, n, ld, count int) numbers.Array {
		return numbers.Array{Source: make(numbers.Float64s, count), Layout: numbers.ColMajor(m, n, ld)}
	}
	vector := func(n int) numbers.Array { return numbers.Vector(make(numbers.Float64s, n)) }
	for want, p := range map[string]*op.Problem{
		"dot: x has 2 numbers and y has 3":                  {Op: op.Dot, X: vector(2), Y: vector(3)},
		"gemv: op(A) is 2 x 3, x has 2 numbers and y has 0": {Op: op.Gemv, A: matrix(2, 3, 2, 6), X: vector(2)},
		"gemv: op(A) is 3 x 2, x has 2 numbers and y has 2": {
			Op: op.Gemv, Trans: true, A: matrix(2, 3, 2, 6), X: vector(2), Y: vector(2), Beta: numbers.Scalar(1),
		},
		"gemm: op(A) is 3 x 2, op(B) is 3 x 2 and C is 0 x 0": {
			Op: op.Gemm, Trans: true, A: matrix(2, 3, 2, 6), TransX: true, X: matrix(2, 3, 2, 6),
		},
		"gemm: op(A) is 2 x 3, op(B) is 3 x 4 and C is 2 x 3": {
			Op: op.Gemm, A: matrix(2, 3, 2, 6), X: matrix(3, 4, 3, 12), Y: matrix(2, 3, 2, 6), Beta: numbers.Scalar(1),
		},
		"symv: A is 2 x 3; want a square matrix, one triangle of which is read": {
			Op: op.Symv, A: matrix(2, 3, 2, 6), X: vector(3),
		},
		"gemm: b: ": {Op: op.Gemm, A: matrix(2, 3, 2, 6), X: matrix(3, 4, 4, 12)},
		"gemv: a: ": {Op: op.Gemv, A: matrix(2, 3, 4, 6), X: vector(3)},
		"sum: x: ":  {Op: op.Sum, X: numbers.Array{Source: make(numbers.Float64s, 5), Layout: numbers.Strided(3, 3)}},
	} {
		_, err := op.Exact(p)
		var e *op.Error
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// TestCondition: that of dot products has the factor 2, as is usual.
func TestCondition(t *testing.T) {
	x := numbers.Vector(numbers.Float64s{3, -1})
	for o, want := range map[*op.Operation]float64{op.Sum: 2, op.Dot: 4} {
		p := &op.Problem{Op: o, X: x}
		if o == op.Dot {
			p.Y = numbers.Vector(numbers.Float64s{1, 1})
		}
		r, err := op.Exact(p)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Condition(0).Float64(); got != want {
			t.Errorf("%s: condition number %v, want %v", o.Name, got, want)
		}
	}
	r, _ := op.Exact(&op.Problem{Op: op.Sum, X: numbers.Vector(numbers.Float64s{1, -1})})
	if got := r.Condition(0); got.Class != exact.PosInf {
		t.Errorf("of a sum of 0: %v", got)
	}
}

// TestQuantities: bounds on the largest row sum and element are above them, by less than a factor of 2.
func TestQuantities(t *testing.T) {
	for seed := range uint64(400) {
		o := []*op.Operation{op.Gemv, op.Gemm}[seed/4%2]
		p := problems.Choice{Seed: seed, Kind: problems.Kind(seed) % problems.Kinds, Largest: 9}.Random(o)
		r, x := new(big.Rat), new(big.Rat)
		a := p.Matrix()
		for i := range a.Rows {
			sum := new(big.Rat)
			for j := range a.Cols {
				v := numbers.At(a.Source, a.Index(i, j)).Abs().Number()
				sum.Add(sum, v)
			}
			if sum.Cmp(r) > 0 {
				r = sum
			}
		}
		p.X.Each(0, func(z *numbers.Number) {
			if v := z.Value().Abs().Number(); v.Cmp(x) > 0 {
				x = v
			}
		})
		for letter, want := range map[string]*big.Rat{"R": r, "X": x} {
			got := p.Quantity(letter)
			if got.Cmp(want) < 0 || got.Cmp(new(big.Rat).Mul(big.NewRat(21, 10), want)) > 0 {
				t.Fatalf("seed %d: %s is %v for %v", seed, letter, got, want)
			}
		}
	}
}
