package compare

import (
	"fmt"
	"strconv"
	"strings"

	"mpbench/internal/suggest"
)

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
//	bound      the new result is outside its bound and the old one was not
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
		return r, fmt.Errorf("%s; want time>5%%, bits<-1, hash, bound or missing", suggest.Unknown("rule", compact, ruleNames))
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
		return r, fmt.Errorf("%s; want time>5%%, bits<-1, hash, bound or missing", suggest.Unknown("rule", r.what, ruleNames))
	}
	return r, nil
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
		if r.what != "missing" {
			continue
		}
		for _, label := range result.OnlyOld {
			result.Failures = append(result.Failures, Failure{label, r.Text, "not in the new run"})
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
