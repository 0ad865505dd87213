package plot

import (
	"math"

	"mpbench/pkg/record"
)

// drawError draws relative errors against condition numbers, both on logarithmic axes of any range. Exact results
// stand in a band below, results that are infinitely wrong (not 0 where 0 is exact, or no numbers) in a band above,
// infinite condition numbers at the right. Data sets of the same name are joined.
func drawError(records []*record.Record, _ Options) *chart {
	c := &chart{
		title: "Relative error against condition number",
		x: axis{label: "condition number", log: true, text: powerText, empty: [2]float64{0, 20},
			above: bandOf{label: "inf."}},
		y: axis{
			label: "relative error", log: true, text: powerText, empty: [2]float64{-20, 0},
			below: bandOf{label: "exact"}, above: bandOf{label: "infinite"},
		},
		guides: []string{"condition number times 2^-53"},
	}
	c = c.gather(records, source{
		panel:  operation,
		joined: func(r *record.Record) string { return r.Dataset.Name },
		point: func(r *record.Record) (point, bool) {
			x, ok := logOf(r.Condition)
			if !ok || math.IsInf(x, -1) || r.RelError == "" {
				return point{}, false
			}
			y := errorLog(r)
			return point{xy: xy{x, y}, lo: y, hi: y}, true
		},
	})
	if c != nil {
		c.addUnit()
	}
	return c
}

// addUnit draws the error that rounding the data to binary64 makes, over the condition numbers of each panel, as far
// as it is below 1.
func (c *chart) addUnit() {
	unit := -53 * math.Log10(2)
	for i := range c.panels {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, s := range c.panels[i].series {
			for _, l := range s.lines {
				for _, pt := range l.points {
					if !math.IsInf(pt.x, 0) {
						lo, hi = min(lo, pt.x), max(hi, pt.x)
					}
				}
			}
		}
		var path []xy
		if hi = min(hi, -unit); lo < hi {
			path = []xy{{lo, lo + unit}, {hi, hi + unit}}
		}
		c.panels[i].guides = [][]xy{path}
	}
}

// operation tells products with a matrix from those with its transpose.
func operation(r *record.Record) string {
	return r.Shape.Matrices()
}

// logOf returns the decimal logarithm of a record's number, whatever its size; false if it is not known or NaN.
func logOf(s string) (float64, bool) {
	d, err := record.ParseDecimal(s)
	if s == "" || err != nil || d.Special == "NaN" {
		return 0, false
	}
	return d.Log10(), true
}

// errorLog is the decimal logarithm of the relative error, -Inf for exact results, +Inf for what is no number.
func errorLog(r *record.Record) float64 {
	if r.ExactResult {
		return math.Inf(-1)
	}
	if y, ok := logOf(r.RelError); ok {
		return y
	}
	return math.Inf(1)
}

// severalConditions tells whether data sets of the same name differ in their parameters and have different condition
// numbers. Those of matrix-vector products differ from component to component, which alone says nothing.
func severalConditions(records []*record.Record) bool {
	records = filter(records, func(r *record.Record) bool {
		x, ok := logOf(r.Condition)
		return ok && !math.IsInf(x, 0)
	})
	key := func(r *record.Record) string { return r.Command + " " + r.Dataset.Name + " " + r.Method }
	return several(records, func(r *record.Record) (string, string) { return key(r), r.Condition }) &&
		several(records, func(r *record.Record) (string, string) { return key(r), title(r, false) })
}

// several tells whether some records with the same key differ in their value.
func several(records []*record.Record, of func(*record.Record) (key, value string)) bool {
	first := map[string]string{}
	for _, r := range records {
		key, value := of(r)
		if before, ok := first[key]; ok && before != value {
			return true
		}
		first[key] = value
	}
	return false
}
