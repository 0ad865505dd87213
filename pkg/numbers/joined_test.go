package numbers

import (
	"math/big"
	"testing"

	"mpbench/pkg/exact"
)

// TestJoin: sources of different types and lengths, empty ones among them, are one.
func TestJoin(t *testing.T) {
	j := Join(Float64s{}, Float64s{1, -2.5}, Values{}, Values{At(Float64s{0.1}, 0)}, Float64s{7})
	want := Float64s{1, -2.5, 0.1, 7}
	if j.Len() != len(want) {
		t.Fatalf("%d numbers", j.Len())
	}
	for i, x := range want {
		if At(j, i).Float64() != x || j.Span(i) != want.Span(i) {
			t.Errorf("number %d is %v, %v; want %v", i, At(j, i), j.Span(i), x)
		}
	}
	third := exact.FromRat(big.NewRat(1, 3))
	if got := At(Join(want, Values{third}), 4); !got.Equal(third) {
		t.Errorf("a third is %v", got)
	}
	if Join().Len() != 0 {
		t.Error("nothing has a length")
	}
}
