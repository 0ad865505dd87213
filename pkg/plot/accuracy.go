package plot

import (
	"fmt"
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
	}
	return c.gather(records, source{
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
}

// operation tells products with a matrix from those with its transpose.
func operation(r *record.Record) string {
	return map[string]string{"N": "op(A) = A", "T": "op(A) = A^T"}[r.Shape.Trans]
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

// drawBits draws correct bits against the precision asked for, a panel for each data set; exact results stand in a
// band above. A dotted line shows where every bit of the precision is correct.
func drawBits(records []*record.Record, _ Options) *chart {
	c := &chart{
		title: "Correct bits against precision",
		x:     precisionAxis(records),
		y: axis{label: "correct bits", text: plainText, empty: [2]float64{0, 64}, zero: true,
			above: bandOf{label: "exact"}},
		guides: []string{"every bit correct"},
	}
	c = c.gather(records, source{
		panel:  dataTitle,
		hidden: []string{"precision"},
		point: func(r *record.Record) (point, bool) {
			if r.PrecisionBits <= 0 || r.CorrectBits == nil && !r.ExactResult {
				return point{}, false
			}
			y := math.Inf(1)
			if !r.ExactResult {
				y = max(*r.CorrectBits, 0)
			}
			return point{xy: xy{math.Log10(float64(r.PrecisionBits)), y}, lo: y, hi: y}, true
		},
	})
	if c == nil {
		return nil
	}
	for i := range c.panels {
		c.panels[i].guides = [][]xy{everyBit(&c.panels[i])}
	}
	return c
}

// everyBit is the line y = 10^x over the precisions of a panel.
func everyBit(p *panel) []xy {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, s := range p.series {
		for _, l := range s.lines {
			lo, hi = min(lo, l.points[0].x), max(hi, l.points[len(l.points)-1].x)
		}
	}
	const steps = 32
	var path []xy
	for i := range steps + 1 {
		x := lo + (hi-lo)*float64(i)/steps
		path = append(path, xy{x, math.Pow(10, x)})
	}
	return path
}

// precisionAxis is a logarithmic axis with ticks at the precisions of the records.
func precisionAxis(records []*record.Record) axis {
	ticks := logTicks(records, func(r *record.Record) int { return r.PrecisionBits })
	return axis{label: "precision (bits)", log: true, text: countText, ticks: ticks}
}

// dataTitle names the data set and the shape of a record, without parameters that follow the precision.
func dataTitle(r *record.Record) string { return title(r, true) }

func title(r *record.Record, sizes bool) string {
	d := r.Dataset
	d.Params = map[string]string{}
	for key, value := range r.Dataset.Params {
		if key != "bits" && (key != "seed" || value != "1") && (sizes || key != "n" && key != "m") {
			d.Params[key] = value
		}
	}
	name := d.Label()
	switch {
	case !sizes:
	case r.Shape.M != 0:
		name += fmt.Sprintf(", %d x %d", r.Shape.M, r.Shape.N)
	default:
		name += fmt.Sprintf(", n = %s", countText(math.Log10(float64(max(r.Shape.N, 1)))))
	}
	if r.Shape.Trans == "T" {
		name += ", " + operation(r)
	}
	return name
}

// fullTitle names the problem with all parameters of its data set.
func fullTitle(r *record.Record) string {
	name := dataTitle(r)
	if bits, ok := r.Dataset.Params["bits"]; ok {
		name += ", numbers of " + bits + " bits"
	}
	return name
}

func severalPrecisions(records []*record.Record) bool {
	known := func(r *record.Record) bool { return r.CorrectBits != nil || r.ExactResult }
	return several(filter(records, known), precisionOf)
}

// precisionOf is the precision of a record, by its method and problem.
func precisionOf(r *record.Record) (key, value string) {
	return r.Command + r.Method + dataTitle(r), fmt.Sprint(r.PrecisionBits)
}
