package check

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

// A Row is a result with what it fails.
type Row struct {
	Check     *Check
	Case      string // its name in the baseline, see Names
	Record    record.Record
	Time      *Time // nil without a limit on the time
	Failures  []Failure
	Unchecked []string // limits that could not be applied here, and why
}

// A Failure is a limit that a row does not keep.
type Failure struct {
	Limit           string // as plans call it: "correct-bits"
	Line            int    // of the plan; 0 without one
	Expected, Found string
}

// String says what is wrong in one line.
func (f Failure) String() string {
	return fmt.Sprintf("%s: expected %s, found %s", f.Limit, f.Expected, f.Found)
}

// Time is the time of a row in the check's terms.
type Time struct {
	Ratio      sampling.Ratio
	RelativeTo string
	Limit      float64 // of the ratio; +Inf for none
	Line       int     // of the limit that is the least
	Slower     bool    // Ratio is above Limit, by sampling.RatioSampler.Exceeds
}

// Label names the row: "sum mcnamee3 deferred 240 bits".
func (r *Row) Label() string { return Label(&r.Record) }

// Label names a record among the rows of a plan.
func Label(r *record.Record) string {
	text := fmt.Sprintf("%s %s", r.Command, r.Dataset.Label())
	switch {
	case r.Shape.M != 0:
		text += fmt.Sprintf(" m=%d n=%d", r.Shape.M, r.Shape.N)
		if r.Shape.K != 0 {
			text += fmt.Sprintf(" k=%d", r.Shape.K)
		}
	case r.Dataset.Params["n"] == "":
		text += fmt.Sprintf(" n=%d", r.Shape.N)
	}
	if strings.Contains(r.Shape.Trans, "T") {
		text += " " + r.Shape.Trans
	}
	if r.Format == GivenFormat {
		return text + " " + r.Method
	}
	return fmt.Sprintf("%s %s %d bits", text, r.Method, r.PrecisionBits)
}

// GivenFormat is the format of records of values that were computed elsewhere.
const GivenFormat = "given"

// Judge finds what a row fails, by its time as it was measured. base is its row in the baseline, nil if it has none.
func (r *Row) Judge(base *BaselineRow) {
	l := r.Check.Limits
	r.judgeSpecial()
	r.judgeBound(l)
	r.judgeErrors(l)
	if base == nil && l.NeedsBaseline() {
		r.fail("baseline", r.baselineLine(), "a row of the baseline", "none; update the baseline")
	} else {
		r.judgeBaseline(l, base)
	}
	if r.Time != nil && r.Time.Slower {
		t := r.Time
		r.fail("time", t.Line, fmt.Sprintf("at most %.3g times %s", t.Limit, t.RelativeTo),
			fmt.Sprintf("%.3g times (%.3g to %.3g)", t.Ratio.Median, t.Ratio.Lo, t.Ratio.Hi))
	}
}

func (r *Row) fail(limit string, line int, expected, found string) {
	r.Failures = append(r.Failures, Failure{limit, line, expected, found})
}

// judgeSpecial fails values from elsewhere that are NaN where the exact result is a number, or the other way round:
// such an error is above every limit.
func (r *Row) judgeSpecial() {
	if r.Record.Format == GivenFormat && r.Record.RelError == "NaN" {
		r.fail("value", 0, r.Record.Exact, r.Record.Value)
	}
}

func (r *Row) judgeBound(l Limits) {
	line := 0
	if l.WithinBound != nil {
		line = l.WithinBound.Line
	}
	bound := "an error within the proved bound"
	if l.WithinMethod != nil {
		line, bound = l.WithinMethod.Line, "an error within the bound of "+l.WithinMethod.Value
	}
	asked := l.WithinBound == nil || l.WithinBound.Value
	switch {
	case asked && r.Record.OutsideBound():
		if r.Record.Bound != "" {
			bound += " " + r.Record.Bound
		}
		r.fail("within-bound", line, bound, r.Record.RelError)
	case (l.WithinMethod != nil || l.WithinBound != nil && asked) && r.Record.WithinBound == nil:
		r.fail("within-bound", line, bound, "no bound that holds for these data")
	}
}

func (r *Row) judgeErrors(l Limits) {
	if c := l.CorrectBits; c != nil &&
		(c.Exact && !r.Record.ExactResult || !c.Exact && CorrectBitsOf(&r.Record) < c.Value) {
		r.fail("correct-bits", c.Line, c.String(), bitsText(CorrectBitsOf(&r.Record)))
	}
	if l.RelError != nil && above(r.Record.RelError, l.RelError.Value) {
		r.fail("rel-error", l.RelError.Line, "at most "+l.RelError.Value, r.Record.RelError)
	}
	if l.ULP != nil && above(r.Record.ULPError, strconv.FormatFloat(l.ULP.Value, 'g', -1, 64)) {
		r.fail("ulp", l.ULP.Line, fmt.Sprintf("at most %g", l.ULP.Value), r.Record.ULPError)
	}
	if h := l.ResultHash; h != nil && h.Value != FromBaseline && r.Record.ResultHash != h.Value {
		r.fail("result-hash", h.Line, h.Value, r.Record.ResultHash)
	}
}

// CorrectBitsOf returns the correct bits of a record, +Inf for an exact result.
func CorrectBitsOf(r *record.Record) float64 {
	switch {
	case r.ExactResult:
		return math.Inf(1)
	case r.CorrectBits == nil:
		return 0
	}
	return *r.CorrectBits
}

func bitsText(bits float64) string {
	if math.IsInf(bits, 1) {
		return "exact"
	}
	return strconv.FormatFloat(bits, 'f', 1, 64)
}

// above compares an error of a record with a limit. An error that is no number is above all.
func above(found, limit string) bool {
	x, err := record.ParseDecimal(found)
	y, _ := record.ParseDecimal(limit)
	return err != nil || !x.IsFinite() || x.CmpAbs(y) > 0
}

func (r *Row) judgeBaseline(l Limits, base *BaselineRow) {
	if base == nil {
		return
	}
	if base.SHA256 != r.Record.Dataset.SHA256 && l.NeedsBaseline() {
		r.fail("data", r.baselineLine(), "SHA-256 "+base.SHA256, r.Record.Dataset.SHA256)
		return
	}
	if h := l.ResultHash; h != nil && h.Value == FromBaseline && base.ResultHash != r.Record.ResultHash {
		r.fail("result-hash", h.Line, base.ResultHash, r.Record.ResultHash)
	}
	if lost := l.BitsLost; lost != nil {
		before, now := base.bits(), CorrectBitsOf(&r.Record)
		if now < before-lost.Value || math.IsInf(before, 1) && !math.IsInf(now, 1) {
			r.fail("bits-lost", lost.Line, fmt.Sprintf("at most %g of %s", lost.Value, bitsText(before)), bitsText(now)+" left")
		}
	}
}

// baselineLine is the line of a limit that refers to the baseline.
func (r *Row) baselineLine() int {
	switch l := r.Check.Limits; {
	case l.ResultHash != nil && l.ResultHash.Value == FromBaseline:
		return l.ResultHash.Line
	case l.BitsLost != nil:
		return l.BitsLost.Line
	case l.Time != nil && l.Time.Slower != nil:
		return l.Time.Slower.Line
	}
	return r.Check.Line
}

// LimitOf returns the limit on the row's ratio and the line it comes from: the least of at-most and what slower makes
// of the baseline's ratio. unchecked says why slower does not apply, "" if it does.
func (t *TimeLimit) LimitOf(
	base *BaselineRow, b *Baseline, env record.Environment,
) (limit float64, line int, unchecked string) {
	limit, line = math.Inf(1), t.RelativeTo.Line
	if t.AtMost != nil {
		limit, line = t.AtMost.Value, t.AtMost.Line
	}
	if t.Slower == nil || base == nil {
		return limit, line, ""
	}
	if why := b.timesApart(env); why != "" {
		return limit, line, "slower: the baseline's times are of " + why
	}
	if base.TimeRatio == 0 || base.RelativeTo != t.RelativeTo.Value {
		return limit, line, "slower: the baseline has no time relative to " + t.RelativeTo.Value + "; update the baseline"
	}
	if l := base.TimeRatio * (1 + t.Slower.Value/100); l < limit {
		limit, line = l, t.Slower.Line
	}
	return limit, line, ""
}

// A Result is a plan with its rows, judged.
type Result struct {
	Plan *Plan
	Rows []Row
	Gone []string // rows of the baseline that the plan does not have: "check: case"
}

// NewResult judges the rows of a plan by its limits and a baseline, which may be nil.
func NewResult(plan *Plan, rows []Row, b *Baseline) *Result {
	for i := range rows {
		r := &rows[i]
		r.Judge(b.Row(r.Check.Name, r.Case))
	}
	return &Result{plan, rows, gone(rows, b)}
}

// gone lists the rows of a baseline that were not measured.
func gone(rows []Row, b *Baseline) (list []string) {
	if b == nil {
		return nil
	}
	measured := map[[2]string]bool{}
	for i := range rows {
		measured[[2]string{rows[i].Check.Name, rows[i].Case}] = true
	}
	for _, r := range b.Rows {
		if !measured[[2]string{r.Check, r.Case}] {
			list = append(list, r.Check+": "+r.Case)
		}
	}
	return list
}

// Failed returns the number of rows that fail.
func (r *Result) Failed() int { return Failing(r.Rows) }

// Failing returns how many of the rows fail.
func Failing(rows []Row) int {
	n := 0
	for i := range rows {
		if len(rows[i].Failures) > 0 {
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
