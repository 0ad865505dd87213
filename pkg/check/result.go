package check

import "slices"

// A Result is a plan with its rows, judged.
type Result struct {
	Plan *Plan
	Rows []Row
}

// NewResult judges the rows of a plan by its limits and a baseline, which may be nil.
func NewResult(plan *Plan, rows []Row, b *Baseline) *Result {
	for i := range rows {
		r := &rows[i]
		r.Judge(b.Row(r.Check.Name, r.Case))
	}
	return &Result{plan, rows}
}

// Failed returns the number of rows that fail.
func (r *Result) Failed() int {
	n := 0
	for i := range r.Rows {
		if len(r.Rows[i].Failures) > 0 {
			n++
		}
	}
	return n
}

// Of returns the rows of a check.
func (r *Result) Of(c *Check) []Row {
	var list []Row
	for _, row := range r.Rows {
		if row.Check == c {
			list = append(list, row)
		}
	}
	return list
}

// Unchecked lists what could not be checked, each text once.
func (r *Result) Unchecked() []string {
	var list []string
	for _, row := range r.Rows {
		for _, text := range row.Unchecked {
			if !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	return list
}
