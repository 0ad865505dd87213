package deferred

import (
	"math/rand/v2"
	"mpbench/pkg/numbers"
	"testing"
)

// TestAssume: what is assumed contains the sample with room on both sides, or all of float64, is equally wide in all
// rows and takes at most two moduli more than the sample.
func TestAssume(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	for range 2000 {
		sample := make([]numbers.Extent, r.IntN(6))
		for i := range sample {
			if r.IntN(5) > 0 {
				low := lowestBit + r.IntN(highestBit-lowestBit)
				sample[i] = numbers.Extent{Low: low, Top: low + 1 + r.IntN(highestBit-low)}
				if r.IntN(2) == 0 {
					sample[i].Top = min(sample[i].Low+53, highestBit)
				}
			}
		}
		terms, x := 1+r.IntN(1<<20), numbers.Extent{Low: 0, Top: r.IntN(300)}
		rows := Assume(sample, terms, x)
		exact, err := PlanExtents(sample, terms, x, Options{})
		if err != nil {
			t.Fatal(err)
		}
		plan, err := PlanExtents(rows, terms, x, Options{})
		if err != nil {
			t.Fatal(err)
		}
		known := false
		for i, e := range rows {
			s := sample[i]
			known = known || s.Bits() > 0
			if e.Bits() != rows[0].Bits() || e.Low < lowestBit || e.Top > highestBit || plan.Lows()[i] != e.Low {
				t.Fatalf("%v of %v", rows, sample)
			}
			if s.Bits() > 0 && (e.Low > max(s.Low-roomBelow, lowestBit) || e.Top < min(s.Top+roomAbove, highestBit)) {
				t.Fatalf("row %d: %v has no room around %v", i, e, s)
			}
		}
		if known && plan.Moduli() > exact.Moduli()+2 {
			t.Fatalf("%d moduli for %d", plan.Moduli(), exact.Moduli())
		}
	}
	if got := Assume(nil, 5, numbers.Extent{}); len(got) != 0 {
		t.Error(got)
	}
}
