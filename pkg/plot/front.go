package plot

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"mpbench/pkg/record"
)

// drawFront draws correct digits against time, a panel for each problem, with the Pareto front: the methods of which
// none that is as fast has more digits. From each point a line reaches down to the digits that its bound proves. Exact
// results stand in a band above.
func drawFront(records []*record.Record, _ Options) *chart {
	c := &chart{
		title: "Correct digits for time",
		x:     axis{label: "time (median)", log: true, text: timeText, empty: [2]float64{0, 3}},
		y: axis{label: "correct digits", text: plainText, empty: [2]float64{0, 16}, zero: true,
			above: bandOf{label: "exact"}},
		guides: []string{"Pareto front"},
		notes:  []string{"lines reach down from the digits that are correct to those that are proved"},
	}
	c = c.gather(records, source{panel: fullTitle, point: frontPoint})
	if c == nil {
		return nil
	}
	for i := range c.panels {
		c.panels[i].guides = [][]xy{front(&c.panels[i])}
	}
	return c
}

// frontPoint is the time and the correct digits of a record, with those that are proved below.
func frontPoint(r *record.Record) (point, bool) {
	if !hasTime(r) || r.CorrectBits == nil && !r.ExactResult {
		return point{}, false
	}
	y := math.Inf(1)
	if !r.ExactResult {
		y = max(*r.CorrectBits*math.Log10(2), 0)
	}
	p := point{xy: xy{math.Log10(r.Time.Median), y}, lo: y, hi: y}
	if proved, ok := logOf(r.Bound); ok && !math.IsInf(proved, 0) {
		p.lo = min(max(-proved, 0), y)
	}
	return p, true
}

// front is the steps from the axis below the fastest point of a panel to the most accurate one, through those with
// more digits than all that are as fast.
func front(p *panel) (path []xy) {
	var points []xy
	for _, s := range p.series {
		for _, l := range s.lines {
			for _, pt := range l.points {
				points = append(points, pt.xy)
			}
		}
	}
	slices.SortFunc(points, func(a, b xy) int { return cmp.Or(cmp.Compare(a.x, b.x), cmp.Compare(b.y, a.y)) })
	for _, pt := range points {
		if n := len(path); n == 0 {
			path = append(path, xy{pt.x, 0}, pt)
		} else if last := path[n-1]; pt.y > last.y {
			path = append(path, xy{pt.x, last.y}, pt)
		}
	}
	return path
}

// mostProblems is up to how many problems the front is what a run is about; more are a scan.
const mostProblems = 4

// hasFront tells whether some problem has points of several methods.
func hasFront(records []*record.Record) bool {
	drawn := filter(records, func(r *record.Record) bool {
		_, ok := frontPoint(r)
		return ok
	})
	return several(drawn, func(r *record.Record) (key, value string) {
		return r.Command + fullTitle(r), fmt.Sprint(r.Method, r.PrecisionBits)
	})
}

// fewProblems tells whether the records are of few problems.
func fewProblems(records []*record.Record) bool {
	var list []string
	for _, r := range records {
		list = appendNew(list, r.Command+fullTitle(r))
	}
	return len(list) <= mostProblems
}
