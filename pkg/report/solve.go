package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"mpbench/pkg/record"
)

// SolveSchema is the schema of the objects of solved systems.
const SolveSchema = "mpbench-solve/1"

// A SolveRow is one solved system, for programs.
type SolveRow struct {
	Matrix       string  `json:"matrix"`
	Rows         int     `json:"rows"`
	NNZ          int     `json:"nnz"`
	Method       string  `json:"method"`
	Bits         int     `json:"bits"`
	Device       string  `json:"device"`
	Algorithm    string  `json:"algorithm"`
	Precondition string  `json:"precondition"`
	Status       string  `json:"status"`
	Converged    bool    `json:"converged"`
	Iterations   int     `json:"recurrence_iterations"`
	TimeNs       float64 `json:"time_ns"`
	Product      float64 `json:"spmv_ns"`
	Dot          float64 `json:"dot_ns"`
	Norm         float64 `json:"norm_ns"`
	Prepared     float64 `json:"precondition_ns"`
	Rest         float64 `json:"rest_ns"`
	Flops        float64 `json:"spmv_flops_per_s"`
	Recurrence   string  `json:"recurrence_residual"`
	True         string  `json:"true_residual"`
	Backward     string  `json:"backward_error"`
	Forward      string  `json:"forward_error"`
	Orders       string  `json:"iterations_of_orders"` // separated by spaces; negative where they fail
}

// areSolved tells whether all records are solved systems.
func areSolved(run *record.Run) bool {
	return len(run.Records) > 0 && !slices.ContainsFunc(run.Records, func(r record.Record) bool { return r.Solve == nil })
}

// Solve returns solved systems as a document: a table for each matrix, and how the methods compare over several.
func Solve(records []record.Record) *Document {
	d := &Document{Schema: SolveSchema}
	several := severalOf(records)
	for i := range records {
		r := &records[i]
		if i == 0 || r.Dataset.Label() != records[i-1].Dataset.Label() {
			title := fmt.Sprintf("%s, n = %d, %d stored, %s", r.Dataset.Label(), r.Shape.N, r.Shape.NNZ, r.Solve.Algorithm)
			if r.Solve.Precondition != "none" && !several.preconditions {
				title += ", " + r.Solve.Precondition
			}
			if r.Device != "cpu" && !several.devices {
				title += ", " + r.Device
			}
			title += fmt.Sprintf(", limit %g", r.Solve.Tolerance)
			d.Sheets = append(d.Sheets, Sheet{Title: title, Columns: solveColumns(records)})
		}
		s := &d.Sheets[len(d.Sheets)-1]
		s.Rows = append(s.Rows, solveCells(r, several))
		d.Rows = append(d.Rows, SolveRow{
			r.Dataset.Label(), r.Shape.N, r.Shape.NNZ, r.Method, r.PrecisionBits, r.Device, r.Solve.Algorithm,
			r.Solve.Precondition, r.Solve.Status, r.Solve.Converged, r.Solve.Iterations, r.Time.Median, r.Phases["spmv"],
			r.Phases["dot"], r.Phases["norm"], r.Phases["precondition"], r.Phases["rest"], r.SparseFlops(),
			r.Solve.Recurrence, r.Solve.True, r.Solve.Backward, r.Solve.Forward, strings.Trim(fmt.Sprint(r.Solve.Orders), "[]"),
		})
	}
	if len(d.Sheets) > 1 {
		d.Closing = solveSummary(records)
	}
	return d
}

// solveColumns are those of all tables; what other orders gave stays on every screen where it was asked for.
func solveColumns(records []record.Record) []SheetColumn {
	asked := slices.ContainsFunc(records, func(r record.Record) bool { return len(r.Solve.Orders) > 0 })
	return []SheetColumn{
		{Head: [2]string{"", "method"}}, {Head: [2]string{"", "bits"}, Right: true},
		{Head: [2]string{"", "solved"}, Verdict: true, Optional: !asked},
		{Head: [2]string{"iter-", "ations"}, Right: true, Optional: !asked},
		{Head: [2]string{"in other", "orders"}, Right: true, Optional: !asked},
		{Head: [2]string{"", "time"}, Right: true}, {Head: [2]string{"true", "residual"}, Right: true},
		{Head: [2]string{"forward", "error"}, Right: true, Optional: true},
		{Head: [2]string{"recurrence", "residual"}, Right: true, Optional: true},
		{Head: [2]string{"backward", "error"}, Right: true, Optional: true},
		{Head: [2]string{"per", "iteration"}, Right: true, Optional: true},
		{Head: [2]string{"SpMV/dot/norm/", "precond./rest, %"}, Right: true, Optional: true},
		{Head: [2]string{"SpMV,", "GFlop/s"}, Right: true, Optional: true},
		{Head: [2]string{"", "how it ended"}, Wrap: true, Optional: true},
	}
}

// several tells what differs among records, and is named beside the methods.
type several struct{ preconditions, devices bool }

func severalOf(records []record.Record) (s several) {
	for i := range records {
		s.preconditions = s.preconditions || records[i].Solve.Precondition != records[0].Solve.Precondition
		s.devices = s.devices || records[i].Device != records[0].Device
	}
	return s
}

// solverName is the method, and its preconditioner and device if they are to be named.
func solverName(r *record.Record, s several) string {
	name := r.Method
	if s.preconditions && r.Solve.Precondition != "none" {
		name += ", " + r.Solve.Precondition
	}
	if s.devices {
		name += ", " + r.Device
	}
	return name
}

func solveCells(r *record.Record, several several) []string {
	s := r.Solve
	solved := "NO"
	if s.Converged {
		solved = "yes"
	}
	share := func(name string) float64 { return 100 * r.Phases[name] / max(1, r.Time.Median) }
	return []string{
		solverName(r, several), fmt.Sprint(r.PrecisionBits), solved, fmt.Sprint(s.Iterations), orders(s.Orders),
		siTime(r.Time.Median, false), s.True,
		cmp.Or(s.Forward, none), s.Recurrence, s.Backward, siTime(r.Time.Median/float64(max(1, s.Iterations)), false),
		fmt.Sprintf("%.0f/%.0f/%.0f/%.0f/%.0f", share("spmv"), share("dot"), share("norm"),
			share("precondition"), share("rest")),
		fixedDigits(r.SparseFlops() / 1e9),
		s.Status,
	}
}

// orders writes the least and the largest number of iterations, and how many runs these are, if some failed.
func orders(list []int) string {
	var solved []int
	for _, n := range list {
		if n >= 0 {
			solved = append(solved, n)
		}
	}
	switch {
	case len(list) == 0:
		return none
	case len(solved) == 0:
		return fmt.Sprintf("none of %d", len(list))
	}
	text := fmt.Sprintf("%d-%d", slices.Min(solved), slices.Max(solved))
	if len(solved) < len(list) {
		text += fmt.Sprintf(" (%d of %d)", len(solved), len(list))
	}
	return text
}

// solveSummary compares each method with the first one, over all matrices.
func solveSummary(records []record.Record) (lines []string) {
	several := severalOf(records)
	name := func(r *record.Record) string {
		return fmt.Sprintf("%s (%d bits)", solverName(r, several), r.PrecisionBits)
	}
	first := map[string]*record.Record{} // by matrix
	type count struct{ systems, solved, alone, both, fewer, sooner int }
	counts, order := map[string]*count{}, []string{}
	for i := range records {
		r := &records[i]
		key := name(r)
		if counts[key] == nil {
			counts[key], order = new(count), append(order, key)
		}
		c := counts[key]
		c.systems++
		base, ok := first[r.Dataset.Label()]
		if !ok {
			base = r
			first[r.Dataset.Label()] = r
		}
		switch {
		case !r.Solve.Converged:
			continue
		case !base.Solve.Converged:
			c.alone++
		case base != r:
			c.both++
			if r.Solve.Iterations < base.Solve.Iterations {
				c.fewer++
			}
			if r.Time.Median < base.Time.Median {
				c.sooner++
			}
		}
		c.solved++
	}
	for i, key := range order {
		c := counts[key]
		text := fmt.Sprintf("%s solves %d of %d systems", key, c.solved, c.systems)
		if i > 0 {
			text += fmt.Sprintf(", %d that %s does not; of %d that both solve, %d in fewer iterations, %d sooner",
				c.alone, order[0], c.both, c.fewer, c.sooner)
		}
		lines = append(lines, text)
	}
	return lines
}
