package op_test

import (
	"math/big"
	"slices"
	"testing"

	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// TestSampled: of a large problem so many components are compared, the same ones each time and in all parts of it; of
// others all are. Norms are those of the components that are compared.
func TestSampled(t *testing.T) {
	p := repeated(op.Axpy, 5000, numbers.Array{}, numbers.Array{}, []float64{1}, []float64{2})
	sample := func(elements int64, components int) (list []int) {
		r, err := op.Sampled(p, elements, components)
		if err != nil {
			t.Fatal(err)
		}
		norm := new(big.Rat)
		for i := range r.Shape.Components {
			if r.Compares(i) {
				list = append(list, i)
				norm.Add(norm, r.Component(i).Sum.Abs().Number())
			}
		}
		if n, _, finite := r.Norms(); !finite || n.Cmp(norm) != 0 || r.Compared() != len(list) {
			t.Errorf("%d of %d components have the norm %v, want %v", r.Compared(), len(list), n, norm)
		}
		return list
	}
	for _, c := range []struct {
		elements   int64
		components int
		want       int
	}{{4999, 200, 200}, {5000, 200, 5000}, {10, 5000, 5000}, {10, 4999, 4999}} {
		if list := sample(c.elements, c.components); len(list) != c.want {
			t.Errorf("above %d elements %d: %d components are compared, want %d", c.elements, c.components, len(list), c.want)
		}
	}
	list := sample(10, 200)
	if !slices.Equal(list, sample(10, 200)) || list[0] > 500 || list[len(list)-1] < 4500 {
		t.Errorf("a sample of 5000 is %v", list)
	}
}
