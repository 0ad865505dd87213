package compare

import (
	"testing"

	"mpbench/pkg/record"
)

// TestRatio: ratios are compared where both runs have them to the same method, and a change counts only if the
// intervals tell the ratios apart.
func TestRatio(t *testing.T) {
	ratio := func(baseline string, lo, median, hi float64) *record.Ratio {
		return &record.Ratio{Baseline: baseline, Lo: lo, Median: median, Hi: hi, Confidence: 0.99}
	}
	for _, c := range []struct {
		old, now    *record.Ratio
		change      float64 // 0 for none
		significant bool
	}{
		{ratio("mpfr", 0.9, 1, 1.1), ratio("mpfr", 1.9, 2, 2.1), 2, true},
		{ratio("mpfr", 0.9, 1, 1.1), ratio("mpfr", 0.4, 0.5, 0.6), 0.5, true},
		{ratio("mpfr", 0.9, 1, 1.1), ratio("mpfr", 1.05, 1.2, 1.3), 1.2, false},
		{ratio("mpfr", 0.9, 1, 1.1), ratio("flint", 1.9, 2, 2.1), 0, false},
		{nil, ratio("mpfr", 1.9, 2, 2.1), 0, false},
		{ratio("mpfr", 1.9, 2, 2.1), nil, 0, false},
	} {
		a := record.Record{Method: "m", ResultHash: "h", Ratio: c.old}
		b := record.Record{Method: "m", ResultHash: "h", Ratio: c.now}
		row := newRow("case", &a, &b)
		switch {
		case row.Ratio == nil && c.change != 0, row.Ratio != nil && c.change == 0:
			t.Errorf("%+v and %+v: %+v", c.old, c.now, row.Ratio)
		case row.Ratio != nil && (row.Ratio.Change != c.change || row.Ratio.Significant != c.significant ||
			row.Ratio.Lo > c.change || row.Ratio.Hi < c.change || row.Ratio.Confidence > 0.981):
			t.Errorf("%+v and %+v: %+v", c.old, c.now, row.Ratio)
		}
	}
}
