package partial

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"mpbench/pkg/accurate"
)

var (
	_ encoding.BinaryMarshaler   = (*State)(nil)
	_ encoding.BinaryAppender    = (*State)(nil)
	_ encoding.BinaryUnmarshaler = (*State)(nil)
)

// product is an m x n matrix and a vector, by rows; a sum is the product of ones and a vector.
type product struct {
	problem Problem
	a, x    []float64
}

func newProduct(r *rand.Rand, m, n int, byTerm bool) product {
	p := product{Problem{"gemv", m, n, byTerm, false, "test"}, make([]float64, m*n), make([]float64, n)}
	for _, list := range [][]float64{p.a, p.x} {
		for i := range list {
			list[i] = math.Ldexp(r.Float64()-0.5, r.IntN(120)-60)
		}
	}
	return p
}

// part computes a block of the product.
func (p product) part(t *testing.T, b Block) *State {
	t.Helper()
	s, n := New(p.problem), p.problem.Terms
	sums := make([]*accurate.Accumulator, b.Components.Len())
	for i := range sums {
		sums[i] = new(accurate.Accumulator)
		row := p.a[(b.Components.From+i)*n:][:n]
		sums[i].AddProducts(row[b.Terms.From:b.Terms.To], p.x[b.Terms.From:b.Terms.To])
	}
	if err := s.Add(b, sums...); err != nil {
		t.Fatal(err)
	}
	return s
}

// cut divides a range at random into at most so many.
func cut(r *rand.Rand, whole Range, most int) []Range {
	at := []int{whole.From, whole.To}
	for range r.IntN(most) {
		at = append(at, whole.From+r.IntN(whole.Len()))
	}
	slices.Sort(at)
	at = slices.Compact(at)
	var list []Range
	for i := 1; i < len(at); i++ {
		list = append(list, Range{at[i-1], at[i]})
	}
	return list
}

// blocks divides a product at random: bands of components by terms, or bands of terms by components.
func blocks(r *rand.Rand, p Problem) (list []Block) {
	if r.IntN(2) == 0 {
		for _, c := range cut(r, Range{0, p.Components}, 5) {
			for _, t := range cut(r, Range{0, p.Terms}, 5) {
				list = append(list, Block{c, t})
			}
		}
		return list
	}
	for _, t := range cut(r, Range{0, p.Terms}, 5) {
		for _, c := range cut(r, Range{0, p.Components}, 5) {
			list = append(list, Block{c, t})
		}
	}
	return list
}

// group merges states in a random order and grouping, some of them by way of their bytes.
func group(t *testing.T, r *rand.Rand, parts []*State) *State {
	t.Helper()
	for len(parts) > 1 {
		r.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		last := len(parts) - 1
		if err := parts[0].Merge(again(t, parts[last])); err != nil {
			t.Fatal(err)
		}
		parts = parts[:last]
	}
	return parts[0]
}

// again returns a state by way of its bytes.
func again(t *testing.T, s *State) *State {
	t.Helper()
	b, err := s.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var back State
	if err := back.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	twice, err := back.AppendBinary([]byte("before"))
	if err != nil || !bytes.Equal(twice, append([]byte("before"), b...)) {
		t.Fatalf("%x came back as %x: %v", b, twice, err)
	}
	return &back
}

// TestOrders: parts merged in 100 random orders and groupings, of random divisions, give the same bytes and bits,
// which are those of each component computed at once.
func TestOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][2]int{{1, 40}, {7, 13}, {20, 1}} {
		p := newProduct(r, shape[0], shape[1], shape[0] == 1)
		whole := p.part(t, p.problem.Whole())
		want, _ := whole.MarshalBinary()
		for range 100 {
			var parts []*State
			for _, b := range blocks(r, p.problem) {
				parts = append(parts, p.part(t, b))
			}
			all, err := Merged(parts...)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range []*State{all, group(t, r, parts)} {
				if got, err := s.MarshalBinary(); err != nil || !bytes.Equal(got, want) {
					t.Fatalf("%v: %x, want %x, %v", shape, got, want, err)
				}
			}
			y, err := all.Result()
			if err != nil {
				t.Fatal(err)
			}
			values, _ := all.Values()
			for i, got := range y {
				exact := accurate.Dot(p.a[i*shape[1]:][:shape[1]], p.x)
				if got != exact || values[i].Float64() != exact {
					t.Fatalf("%v: component %d is %v, want %v", shape, i, got, exact)
				}
			}
			if got := all.Terms(); got != uint64(shape[0]*shape[1]) {
				t.Fatalf("%v: %d terms", shape, got)
			}
		}
	}
}

// TestMissing: what is missing is named, and with it the whole is there.
func TestMissing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	p := newProduct(r, 6, 9, false)
	whole, _ := p.part(t, p.problem.Whole()).MarshalBinary()
	for range 100 {
		list := blocks(r, p.problem)
		s := New(p.problem)
		for _, b := range list[:r.IntN(len(list))] {
			if err := s.Merge(p.part(t, b)); err != nil {
				t.Fatal(err)
			}
		}
		var missing *MissingError
		_, err := s.Result()
		if _, exactly := s.Values(); !errors.As(err, &missing) || exactly == nil {
			t.Fatalf("%v", err)
		}
		for _, b := range missing.Blocks {
			if err := s.Merge(p.part(t, b)); err != nil {
				t.Fatal(err)
			}
		}
		if got, _ := s.MarshalBinary(); !bytes.Equal(got, whole) {
			t.Fatalf("%v is not what was missing", missing.Blocks)
		}
	}
}

// TestOverlap: terms that are there are refused by name, whatever the blocks, and the state stays as it is.
func TestOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	p := newProduct(r, 6, 9, false)
	for range 200 {
		list := blocks(r, p.problem)
		s := New(p.problem)
		for _, b := range list {
			if err := s.Merge(p.part(t, b)); err != nil {
				t.Fatal(err)
			}
		}
		before, _ := s.MarshalBinary()
		c, k := r.IntN(6), r.IntN(9)
		b := Block{Range{c, c + 1 + r.IntN(6-c)}, Range{k, k + 1 + r.IntN(9-k)}}
		err := s.Merge(p.part(t, b))
		var overlap *OverlapError
		if !errors.As(err, &overlap) || overlap.Block.Components.From != c || overlap.Block.Terms.From != k {
			t.Fatalf("%v twice: %v", b, err)
		}
		if after, _ := s.MarshalBinary(); !bytes.Equal(after, before) {
			t.Fatal("the state has changed")
		}
	}
}

// TestErrors states what is said of parts that do not go together.
func TestErrors(t *testing.T) {
	base := Problem{"sum", 1, 100, true, false, "x"}
	one := func(p Problem, from, to int) *State {
		var a accurate.Accumulator
		a.AddSlice(make([]float64, to-from))
		s := New(p)
		if err := s.Add(Block{Range{0, 1}, Range{from, to}}, &a); err != nil {
			t.Fatal(err)
		}
		return s
	}
	with := func(f func(*Problem)) Problem {
		p := base
		f(&p)
		return p
	}
	for _, c := range []struct {
		parts []*State
		want  string
	}{
		{[]*State{one(base, 0, 10), one(with(func(p *Problem) { p.Operation = "dot" }), 10, 20)},
			"part 1 with part 0: partial: the operation is dot, not sum"},
		{[]*State{one(base, 0, 10), one(with(func(p *Problem) { p.Terms = 50 }), 10, 20)},
			"part 1 with part 0: partial: the number of terms is 50, not 100"},
		{[]*State{one(base, 0, 10), one(with(func(p *Problem) { p.Data = "y" }), 10, 20)},
			"part 1 with part 0: partial: the identity of the data is y, not x"},
		{[]*State{one(base, 0, 10), one(with(func(p *Problem) { p.Pieces = true }), 10, 20)},
			"part 1 with part 0: partial: the kind of rows is terms in pieces, not terms"},
		{[]*State{one(base, 0, 10), one(with(func(p *Problem) { p.Components = 2 }), 10, 20)},
			"part 1 with part 0: partial: the number of components is 2, not 1"},
		{[]*State{one(base, 0, 10), one(base, 20, 30), one(base, 25, 40)},
			"part 2 with part 1: partial: rows 25:30 are there already"},
	} {
		if _, err := Merged(c.parts...); err == nil || err.Error() != c.want {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
	all, err := Merged(one(base, 10, 20), one(base, 30, 40), one(base, 50, 60), one(base, 70, 80), one(base, 90, 95))
	if err != nil {
		t.Fatal(err)
	}
	want := "partial: rows 0:10, rows 20:30, rows 40:50, rows 60:70 and 2 more ranges are missing"
	if _, err := all.Result(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	var a accurate.Accumulator
	for _, b := range []Block{
		{}, {Range{0, 2}, Range{0, 1}}, {Range{0, 1}, Range{100, 101}}, {Range{0, 1}, Range{0, 2}},
	} {
		if err := all.Add(b, &a); err == nil {
			t.Errorf("%v was added", b)
		}
	}
	if err := all.Add(Block{Range{0, 1}, Range{0, 10}}); err == nil {
		t.Error("a block without a sum was added")
	}
	if s, err := Merged(); err != nil || s.Complete() == nil && s.Problem() != (Problem{}) {
		t.Errorf("nothing merged is %v, %v", s, err)
	}
}

// TestRows names blocks as rows of the data.
func TestRows(t *testing.T) {
	b := Block{Range{2, 4}, Range{10, 20}}
	for _, c := range []struct {
		p    Problem
		want string
	}{
		{Problem{Components: 5, Terms: 50}, "rows 2:4 of columns 10:20"},
		{Problem{Components: 5, Terms: 50, Pieces: true}, "rows 2:4 of pieces 10:20"},
		{Problem{Components: 5, Terms: 50, RowsAreTerms: true}, "rows 10:20 of columns 2:4"},
		{Problem{Components: 5, Terms: 50, RowsAreTerms: true, Pieces: true}, "pieces 10:20 of columns 2:4"},
	} {
		if got := c.p.Rows(b); got != c.want {
			t.Errorf("%+v: %s, want %s", c.p, got, c.want)
		}
	}
}

// TestProblems: what cannot be written is refused.
func TestProblems(t *testing.T) {
	good := Problem{Operation: "sum", Components: 1, Terms: 1, Data: "x"}
	if err := good.Check(); err != nil {
		t.Fatal(err)
	}
	for _, change := range []func(*Problem){
		func(p *Problem) { p.Operation = "" }, func(p *Problem) { p.Data = "" }, func(p *Problem) { p.Data = "a\nb" },
		func(p *Problem) { p.Data = "\xff" }, func(p *Problem) { p.Components = 0 }, func(p *Problem) { p.Terms = 1 << 62 },
		func(p *Problem) { p.Operation = fmt.Sprintf("%65d", 1) },
	} {
		p := good
		change(&p)
		if p.Check() == nil {
			t.Errorf("%+v is all right", p)
		}
	}
	if _, err := new(State).MarshalBinary(); err == nil {
		t.Error("a state of no problem has bytes")
	}
	defer func() {
		if recover() == nil {
			t.Error("New took a problem that is none")
		}
	}()
	New(Problem{})
}
