// Package compare says what has changed between two runs: times with a test of significance and an interval, accuracy
// in bits, results by their hashes. It compares nothing but results of the same cases on the same data.
package compare

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"mpbench/internal/suggest"
	"mpbench/pkg/check"
	"mpbench/pkg/record"
)

// Schema is the schema of a Result in JSON.
const Schema = "mpbench-compare/1"

// DefaultAlpha is the level of significance.
const DefaultAlpha = 0.05

// A Result is what two runs have in common, case by case, and what they do not.
type Result struct {
	Schema      string              `json:"schema"`
	Alpha       float64             `json:"alpha"`
	Rows        []Row               `json:"rows"`
	OnlyOld     []string            `json:"only_old"` // labels of cases
	OnlyNew     []string            `json:"only_new"`
	Environment []record.Difference `json:"environment"` // null if one is not known
	Spread      Spread              `json:"spread"`
	Failures    []Failure           `json:"failures"`
}

// A Row is a case of both runs.
type Row struct {
	Case        string  `json:"case"` // record.Record.Case
	Label       string  `json:"label"`
	Time        *Time   `json:"time"`            // nil if a run has no time
	Ratio       *Ratio  `json:"ratio,omitempty"` // nil unless both runs have ratios to the same method
	OldBits     *Bits   `json:"old_correct_bits"`
	NewBits     *Bits   `json:"new_correct_bits"`
	BitsChange  float64 `json:"bits_change"` // 0 where both are exact
	HashChanged bool    `json:"hash_changed"`
	OutOfBound  bool    `json:"outside_bound"` // the new result is, the old one was not
	BoundGone   bool    `json:"bound_gone"`    // the old result was judged by a bound, the new one is not

	Broken []string `json:"broken,omitempty"` // rules that the row breaks

	Old, New *record.Record `json:"-"`
}

// Bits is a number of correct bits, +Inf for an exact result.
type Bits float64

// MarshalJSON writes "exact" for +Inf.
func (b Bits) MarshalJSON() ([]byte, error) {
	if math.IsInf(float64(b), 1) {
		return []byte(`"exact"`), nil
	}
	return fmt.Appendf(nil, "%g", float64(b)), nil
}

// Time compares the samples of a case. Ratio is the new median divided by the old one.
type Time struct {
	OldNs       float64 `json:"old_ns"`
	NewNs       float64 `json:"new_ns"`
	Ratio       float64 `json:"ratio"`
	Lo          float64 `json:"lo"` // interval of at least Confidence for the ratio of the medians
	Hi          float64 `json:"hi"`
	Confidence  float64 `json:"confidence"`
	P           float64 `json:"p"` // of the Mann-Whitney U test; of several runs a side, of Student's t test
	OldSamples  int     `json:"old_samples"`
	NewSamples  int     `json:"new_samples"`
	OldRuns     int     `json:"old_runs"`
	NewRuns     int     `json:"new_runs"`
	Significant bool    `json:"significant"` // P < alpha, and 1 is not in the interval
}

// Ratio compares times relative to those of a baseline, each measured in turn with it, which the speed of the machine
// cancels out of. Change is the new ratio divided by the old one.
type Ratio struct {
	Baseline    string  `json:"baseline"`
	Old         float64 `json:"old"`
	New         float64 `json:"new"`
	Change      float64 `json:"change"`
	Lo          float64 `json:"lo"` // interval for the change
	Hi          float64 `json:"hi"`
	Confidence  float64 `json:"confidence"`  // at least
	Significant bool    `json:"significant"` // 1 is not in the interval
}

// ErrNothing is the error of two runs that have no case in common.
var ErrNothing = errors.New("no case is in both runs")

// A DataError says that a case was measured on different data, so that there is nothing to compare.
type DataError struct {
	Label    string
	Old, New string // SHA-256
	Cases    int    // cases of which this is true
}

func (e *DataError) Error() string {
	if e.Old == e.New {
		return fmt.Sprintf("%s: the exact results differ, so that these are different problems", e.Label)
	}
	more := ""
	if e.Cases > 1 {
		more = fmt.Sprintf(" (and %d more)", e.Cases-1)
	}
	return fmt.Sprintf("%s: different data, SHA-256 %.16s... and %.16s...%s", e.Label, e.Old, e.New, more)
}

// Compare matches two sides by case. alpha is the level of significance, 0 for DefaultAlpha. Several records of a case
// on one side are several runs of it, whose medians show how much runs differ; see Spread.
func Compare(old, now *record.Run, alpha float64) (*Result, error) {
	if alpha == 0 {
		alpha = DefaultAlpha
	}
	before, err := merge(old)
	if err != nil {
		return nil, fmt.Errorf("the old run: %w", err)
	}
	after, err := merge(now)
	if err != nil {
		return nil, fmt.Errorf("the new run: %w", err)
	}
	result := &Result{Schema: Schema, Alpha: alpha, Rows: []Row{}, OnlyOld: []string{}, OnlyNew: []string{},
		Failures: []Failure{}}
	var different *DataError
	var runs [][2][][]float64 // of each row
	for _, name := range before.order {
		a, b := before.records[name], after.records[name]
		if b == nil {
			result.OnlyOld = append(result.OnlyOld, check.Label(a))
			continue
		}
		runs = append(runs, [2][][]float64{before.runs[name], after.runs[name]})
		if differ(a, b) {
			if different == nil {
				different = &DataError{Label: check.Label(a), Old: a.Dataset.SHA256, New: b.Dataset.SHA256}
			}
			different.Cases++
			continue
		}
		result.Rows = append(result.Rows, newRow(name, a, b))
	}
	if different != nil {
		return nil, different
	}
	if len(result.Rows) == 0 {
		return nil, ErrNothing
	}
	for _, name := range after.order {
		if before.records[name] == nil {
			result.OnlyNew = append(result.OnlyNew, check.Label(after.records[name]))
		}
	}
	result.compareTimes(runs)
	result.Environment = environment(old, now, result.Rows)
	return result, nil
}

// merged are the records of a side by case, in the order of first appearance.
type merged struct {
	order   []string
	records map[string]*record.Record // with the samples of all runs
	runs    map[string][][]float64    // the samples of each run
}

// merge joins the samples of records of the same case; all else is that of the last one. A record that is there twice
// is one run. It refuses a case that is there with different data or results.
func merge(run *record.Run) (merged, error) {
	m := merged{records: map[string]*record.Record{}, runs: map[string][][]float64{}}
	for i := range run.Records {
		r := run.Records[i]
		name := r.Case()
		earlier, ok := m.records[name]
		if !ok {
			m.order = append(m.order, name)
		} else if differ(earlier, &r) || earlier.ResultHash != r.ResultHash {
			return m, fmt.Errorf("%s is there twice, with different data or results", check.Label(&r))
		}
		same := func(samples []float64) bool { return slices.Equal(samples, r.Time.Samples) }
		if len(r.Time.Samples) > 0 && !slices.ContainsFunc(m.runs[name], same) {
			m.runs[name] = append(m.runs[name], r.Time.Samples)
		}
		r.Time.Samples = slices.Concat(m.runs[name]...)
		m.records[name] = &r
	}
	return m, nil
}

// differ tells whether two records of a case are of different problems: other data or, where they are sums or dot
// products, or the same component of a vector, another exact result, as other factors give.
func differ(a, b *record.Record) bool {
	if a.Dataset.SHA256 != b.Dataset.SHA256 {
		return true
	}
	sameRow := a.Row == nil && b.Row == nil || a.Row != nil && b.Row != nil && *a.Row == *b.Row
	return sameRow && a.Exact != b.Exact
}

func newRow(name string, a, b *record.Record) Row {
	before, after := Bits(check.CorrectBitsOf(a)), Bits(check.CorrectBitsOf(b))
	row := Row{
		Case: name, Label: check.Label(b), Old: a, New: b, OldBits: &before, NewBits: &after,
		HashChanged: a.ResultHash != b.ResultHash, OutOfBound: b.OutsideBound() && !a.OutsideBound(),
		BoundGone:  a.WithinBound != nil && b.WithinBound == nil,
		BitsChange: change(float64(before), float64(after), float64(b.ActualBits)),
	}
	if x, y := a.Ratio, b.Ratio; x != nil && y != nil && x.Baseline == y.Baseline {
		row.Ratio = newRatio(x, y)
	}
	return row
}

// newRatio divides ratios; both intervals cover their medians with the sum of their confidences, less 1 (Bonferroni).
func newRatio(x, y *record.Ratio) *Ratio {
	r := &Ratio{
		Baseline: x.Baseline, Old: x.Median, New: y.Median, Change: quotient(y.Median, x.Median),
		Lo: quotient(y.Lo, x.Hi), Hi: quotient(y.Hi, x.Lo), Confidence: max(0, x.Confidence+y.Confidence-1),
	}
	r.Significant = r.Lo > 1 || r.Hi < 1
	return r
}

// change is the difference of correct bits. An exact result counts as one of all bits of the format, plus one, which
// is half a unit of the last place; so that what is lost by one is a finite number.
func change(before, after, bits float64) float64 {
	if before == after {
		return 0
	}
	if math.IsInf(before, 1) {
		before = max(after, bits+1)
	}
	if math.IsInf(after, 1) {
		after = max(before, bits+1)
	}
	return after - before
}

// environment lists what differs between the last environments of the compared records; nil where one is not known.
func environment(old, now *record.Run, rows []Row) []record.Difference {
	last := rows[len(rows)-1]
	a, ok1 := old.Environment(last.Old.EnvID)
	b, ok2 := now.Environment(last.New.EnvID)
	if !ok1 || !ok2 {
		return nil
	}
	return append([]record.Difference{}, record.Differences(a, b)...)
}

// A Rule says what makes a comparison fail.
type Rule struct {
	Text  string // as it was written
	what  string // "time", "bits", "hash", "bound" or "missing"
	limit float64
}

// A Failure is a row, or a missing case, that breaks a rule.
type Failure struct {
	Label string `json:"label"`
	Rule  string `json:"rule"`
	Found string `json:"found"`
}

// String says what is wrong in one line.
func (f Failure) String() string { return fmt.Sprintf("%s: %s: %s", f.Label, f.Rule, f.Found) }

var ruleNames = []string{"time", "bits", "hash", "bound", "missing"}

// ParseRule reads
//
//	time>5%    the new median is more than 5 % above the old one, and significantly so
//	bits<-1    more than 1 correct bit is lost
//	hash       the result has changed
//	bound      the new result is outside its bound and the old one was not, or has no bound and the old one had
//	missing    a case of the old run is not in the new one
func ParseRule(text string) (Rule, error) {
	compact := strings.Join(strings.Fields(text), "")
	r := Rule{Text: compact}
	end := strings.IndexAny(compact, "<>")
	if end < 0 {
		r.what = compact
		switch compact {
		case "hash", "bound", "missing":
			return r, nil
		case "time", "bits":
			return r, fmt.Errorf("%q has no limit; want time>5%% or bits<-1", text)
		}
		return r, unknownRule(compact)
	}
	r.what = compact[:end]
	number, percent := strings.CutSuffix(compact[end+1:], "%")
	var err error
	r.limit, err = strconv.ParseFloat(number, 64)
	switch {
	case r.what == "time" && (err != nil || compact[end] != '>' || !percent || !(r.limit >= 0)):
		return r, fmt.Errorf("%q: want time> and a percentage of at least 0, as time>5%%", text)
	case r.what == "bits" && (err != nil || compact[end] != '<' || percent || !(r.limit <= 0)):
		return r, fmt.Errorf("%q: want bits< and a number of at most 0, as bits<-1", text)
	case r.what == "hash" || r.what == "bound" || r.what == "missing":
		return r, fmt.Errorf("%q: %s takes no limit", text, r.what)
	case r.what != "time" && r.what != "bits":
		return r, unknownRule(r.what)
	}
	return r, nil
}

func unknownRule(name string) error {
	return fmt.Errorf("%s; want time>5%%, bits<-1, hash, bound or missing", suggest.Unknown("rule", name, ruleNames))
}

// Apply adds the failures of all rules to the result, in the order of the rows.
func (result *Result) Apply(rules []Rule) {
	for i := range result.Rows {
		row := &result.Rows[i]
		for _, r := range rules {
			if found := r.broken(row); found != "" {
				row.Broken = append(row.Broken, r.Text)
				result.Failures = append(result.Failures, Failure{row.Label, r.Text, found})
			}
		}
	}
	for _, r := range rules {
		for _, label := range result.OnlyOld {
			if r.what == "missing" {
				result.Failures = append(result.Failures, Failure{label, r.Text, "not in the new run"})
			}
		}
	}
}

// Failed returns the number of rows and missing cases that break a rule.
func (result *Result) Failed() int {
	n := 0
	for _, row := range result.Rows {
		if len(row.Broken) > 0 {
			n++
		}
	}
	for _, f := range result.Failures {
		if f.Rule == "missing" {
			n++
		}
	}
	return n
}

// broken says what of a row breaks the rule, "" if nothing does.
func (r Rule) broken(row *Row) string {
	switch r.what {
	case "time":
		if t := row.Time; t != nil && t.Significant && 100*(t.Ratio-1) > r.limit {
			return fmt.Sprintf("%s (%s), p = %.2g", Percent(t.Ratio), t.Interval(), t.P)
		}
	case "bits":
		if row.BitsChange < r.limit {
			return fmt.Sprintf("%.1f bits lost, %s -> %s", -row.BitsChange, row.OldBits, row.NewBits)
		}
	case "hash":
		if row.HashChanged {
			return row.Old.ResultHash + " -> " + row.New.ResultHash
		}
	case "bound":
		if row.OutOfBound {
			return "error " + row.New.RelError + " above the bound " + row.New.Bound
		}
		if row.BoundGone {
			return "no bound, where the old run has one"
		}
	}
	return ""
}

// String is the number of bits, or "exact".
func (b Bits) String() string {
	if b > 1e300 {
		return "exact"
	}
	return strconv.FormatFloat(float64(b), 'f', 1, 64)
}

// Interval writes the interval for the change of the time: "+1.2 to +3.4%".
func (t *Time) Interval() string {
	if t.Hi >= largeRatio {
		return factor(t.Lo) + " to " + factor(t.Hi)
	}
	return strings.TrimSuffix(Percent(t.Lo), "%") + " to " + Percent(t.Hi)
}

// largeRatio is the ratio from which on a change is written as a factor.
const largeRatio = 11

func factor(ratio float64) string { return fmt.Sprintf("x%.3g", ratio) }

// Percent writes a ratio as a change, "+4.2%", or, from 1000 % on, as a factor, "x12.3".
func Percent(ratio float64) string {
	change := 100 * (ratio - 1)
	switch {
	case ratio >= largeRatio:
		return factor(ratio)
	case change >= 99.95 || change <= -99.95:
		return fmt.Sprintf("%+.0f%%", change)
	}
	return fmt.Sprintf("%+.1f%%", change)
}
