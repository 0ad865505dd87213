package plot

import (
	"fmt"
	"math"
	"strings"

	"mpbench/pkg/record"
)

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
	if strings.Contains(r.Shape.Trans, "T") {
		name += ", " + operation(r)
	}
	return name
}

// fullTitle names the problem with all parameters of its data set.
func fullTitle(r *record.Record) string {
	name := dataTitle(r)
	if bits, ok := r.Dataset.Params["bits"]; ok && bits != "0" {
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
