package reduce

import (
	"context"
	"slices"
	"testing"

	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// countsOf runs a method twice and returns how many alignments and roundings the last run had.
func countsOf(t *testing.T, name string, c method.Config, p *op.Problem) [2]int {
	t.Helper()
	m, ok := method.Catalog(Methods()).Lookup(p.Op, name)
	if !ok {
		t.Fatalf("no %s", name)
	}
	e, err := m.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := method.Run(context.Background(), e, p); err != nil {
			t.Fatal(err)
		}
	}
	if err := e.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	info := e.Info()
	return [2]int{info.Alignments, info.Roundings}
}

// TestCounts: numbers of one exponent are neither aligned nor rounded; each of another exponent is aligned once; sums
// of long numbers are rounded; and threads count together.
func TestCounts(t *testing.T) {
	ones := numbers.Float64s(slices.Repeat([]float64{1}, 64))
	for _, c := range []struct {
		method string
		x      numbers.Float64s
		want   [2]int
	}{
		{"reduce1", ones, [2]int{}}, {"reduce2", ones, [2]int{}}, {"reduce3", ones, [2]int{}},
		{"reduce1", numbers.Float64s{}, [2]int{}}, {"reduce1", numbers.Float64s{1, 0, 0.5}, [2]int{1, 0}},
		{"reduce2", numbers.Float64s{1, 0.5, 1, 0.5}, [2]int{2, 0}},
	} {
		p := &op.Problem{Op: op.Sum, X: numbers.Vector(c.x)}
		if got := countsOf(t, c.method, method.Config{Precision: 60}, p); got != c.want {
			t.Errorf("%s of %v: %d alignments and roundings, want %d", c.method, c.x, got, c.want)
		}
	}
	spread := make(numbers.Float64s, 1000)
	for i := range spread {
		spread[i] = 1 / float64(3+i*i)
	}
	p := &op.Problem{Op: op.Dot, X: numbers.Vector(spread), Y: numbers.Vector(spread)}
	options := map[string]string{"blocks": "8", "block-size": "16"}
	one := countsOf(t, "reduce3", method.Config{Precision: 60, Threads: 1, Options: options}, p)
	many := countsOf(t, "reduce3", method.Config{Precision: 60, Threads: 4, Options: options}, p)
	if one != many || one[1] < len(spread)/2 || one[0] < len(spread)/2 {
		t.Errorf("%d alignments and roundings by one thread, %d by four", one, many)
	}
}
