package numbers

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestLevels: every row is in one level, behind those of its elements' columns, and no level could be left out.
func TestLevels(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for n := range 40 {
		for _, upper := range []bool{false, true} {
			p := &Pattern{Start: []int{0}}
			for i := range n {
				for j := range n {
					if (j < i != upper) && j != i && r.IntN(n) < 2 {
						p.Column = append(p.Column, int32(j))
					}
				}
				p.Start = append(p.Start, len(p.Column))
			}
			rows, starts := p.Levels(upper)
			if len(rows) != n || starts[0] != 0 || starts[len(starts)-1] != n {
				t.Fatalf("%d rows in levels from %v", len(rows), starts)
			}
			level := make([]int, n)
			for l, from := range starts[:len(starts)-1] {
				for _, i := range rows[from:starts[l+1]] {
					level[i] = l + 1
				}
			}
			for i := range n {
				last := 0
				for _, j := range p.Row(i) {
					last = max(last, level[j])
				}
				if level[i] != last+1 {
					t.Fatalf("upper %v: row %d is in level %d, the last of %v in %d", upper, i, level[i], p.Row(i), last)
				}
			}
		}
	}
	if rows, starts := (&Pattern{Start: []int{0}}).Levels(false); len(rows) != 0 || !slices.Equal(starts, []int{0}) {
		t.Errorf("no rows: %v, %v", rows, starts)
	}
}
