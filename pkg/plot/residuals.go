package plot

import (
	"math"

	"mpbench/pkg/record"
)

// mostResiduals is about how many points of a history are drawn: of long ones, fewer towards the end.
const mostResiduals = 500

// divergence is the decimal logarithm of residuals beyond which they are in a band above.
const divergence = 8

// drawResiduals draws the residuals of iterative solvers against the iterations, a panel for each system.
func drawResiduals(records []*record.Record, _ Options) *chart {
	var points []*record.Record // one for each point
	for _, r := range records {
		if r.Solve == nil {
			continue
		}
		for i, last := 0, len(r.Solve.History)-1; i <= last; i = max(i+1, min(last, i+i/(mostResiduals/8))) {
			one, solve := *r, *r.Solve
			solve.Iterations, solve.History = i+1, r.Solve.History[i:i+1]
			one.Solve = &solve
			points = append(points, &one)
		}
	}
	c := &chart{
		title: "Residuals against iterations",
		x:     axis{label: "iterations", log: true, text: countText, empty: [2]float64{0, 2}},
		dense: true,
		y: axis{label: "||r|| / ||b|| of the recurrence", log: true, text: powerText, empty: [2]float64{-12, 0},
			above: bandOf{label: "> 1e8"}},
	}
	return c.gather(points, source{
		panel: dataTitle,
		point: func(r *record.Record) (point, bool) {
			v := r.Solve.History[0]
			if !(v > 0) {
				return point{}, false
			}
			y := math.Log10(v)
			if y > divergence {
				y = math.Inf(1)
			}
			return point{xy: xy{math.Log10(float64(r.Solve.Iterations)), y}, lo: y, hi: y}, true
		},
	})
}

func hasResiduals(records []*record.Record) bool {
	return len(filter(records, func(r *record.Record) bool { return r.Solve != nil && len(r.Solve.History) > 1 })) > 0
}
