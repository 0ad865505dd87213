package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"mpbench/pkg/advise"
	"mpbench/pkg/exact"
)

// AdviseSchema is the schema of the objects of an advice.
const AdviseSchema = "mpbench-advise/1"

// An AdviseRow is a candidate, for programs. Errors are decimal strings, "" where unknown; times are nanoseconds.
type AdviseRow struct {
	Operation   string  `json:"operation"`
	Method      string  `json:"method"`
	Format      string  `json:"format"`
	Device      string  `json:"device"`
	Precision   int     `json:"precision_bits"`
	Bound       string  `json:"bound"`       // proved, on the relative error
	RelError    string  `json:"rel_error"`   // found
	Meets       bool    `json:"meets"`       // the error found is within the wish
	Promised    bool    `json:"promised"`    // so is the bound
	Ran         bool    `json:"ran"`         // false: the cost is an estimate
	Recommended bool    `json:"recommended"` // the advice
	ConvertNs   float64 `json:"convert_ns"`
	RunNs       float64 `json:"run_ns"`
	CostNs      float64 `json:"cost_ns"` // of one operation with its share of the conversion
	Problem     string  `json:"problem"` // why it cannot be run
}

// Advise returns an advice as a document. data names the data, command is the command line to use, "" for none.
func Advise(r *advise.Result, data, command string) *Document {
	d := &Document{Schema: AdviseSchema, Title: "advise: " + r.Operation + " of " + data + "\nwish: " +
		r.Options.Wish.String()}
	s := Sheet{Facts: adviseFacts(r), Columns: []SheetColumn{
		{Head: [2]string{"", "method"}}, {Head: [2]string{"", "bits"}, Right: true, Optional: true},
		{Head: [2]string{"", "device"}, Optional: true},
		{Head: [2]string{"error", "promised"}, Right: true, Optional: true},
		{Head: [2]string{"error", "found"}, Right: true},
		{Head: [2]string{"meets", "the wish"}, Optional: true},
		{Head: [2]string{"", "time"}, Right: true}, {Head: [2]string{"", "convert"}, Right: true, Optional: true},
		{Head: [2]string{"", "cost"}, Right: true},
		{Head: [2]string{"", ""}},
	}}
	devices := slices.ContainsFunc(r.Candidates, func(c advise.Candidate) bool { return c.Device != "cpu" })
	left := 0
	for _, c := range r.Candidates {
		recommended := r.Best != nil && c.Method == r.Best.Method && c.Precision == r.Best.Precision &&
			c.Device == r.Best.Device
		if superseded(c, r.Candidates) {
			left++
		} else {
			s.Rows = append(s.Rows, adviseCells(c, recommended, devices))
		}
		d.Rows = append(d.Rows, AdviseRow{
			r.Operation, c.Method, c.Format, c.Device, c.Precision, errorText(c.Bound), foundText(c), c.Meets, c.Promised,
			c.Ran, recommended,
			c.ConvertNs, c.RunNs, c.CostNs, c.Problem,
		})
		if c.Problem != "" {
			d.Closing = append(d.Closing, fmt.Sprintf("%s at %d bits cannot be run: %s", c.Method, c.Precision, c.Problem))
		}
	}
	if left > 0 {
		d.Closing = append(d.Closing, fmt.Sprintf("left out: %s of methods with fewer bits than they need; the format "+
			"csv has all", plural(left, "row", "rows")))
	}
	s.Title = s.Facts[0]
	s.Facts = s.Facts[1:]
	d.Sheets = []Sheet{s}
	d.Closing = append(d.Closing, adviceTexts(r, command)...)
	return d
}

// superseded reports whether a candidate misses the wish that its method meets at another precision.
func superseded(c advise.Candidate, all []advise.Candidate) bool {
	return !c.Meets && slices.ContainsFunc(all, func(o advise.Candidate) bool {
		return o.Meets && o.Method == c.Method && o.Device == c.Device
	})
}

func adviseFacts(r *advise.Result) []string {
	f := r.Facts
	condition := "condition number " + conditionText(f.Condition.Text(3))
	if f.Condition.Class == exact.NaN {
		condition = "no condition number: there are infinities or NaN"
	}
	return append(append([]string(nil), f.Size...), condition,
		fmt.Sprintf("magnitudes from 2^%d to 2^%d, a spread of %d bits", f.Least, f.Most, f.Spread))
}

func adviseCells(c advise.Candidate, recommended, devices bool) []string {
	device, mark := "", ""
	if devices {
		device = c.Device
	}
	if recommended {
		mark = "<-"
	}
	cells := []string{
		c.Method, strconv.Itoa(c.Precision), device,
		cmp.Or(errorText(c.Bound), none), cmp.Or(foundText(c), none), adviseVerdict(c),
	}
	switch {
	case c.Problem != "":
		return append(cells, none, none, none, mark)
	case !c.Ran:
		return append(cells, none, none, "~ "+siTime(c.CostNs, false), mark)
	}
	return append(cells, siTime(c.RunNs, false), siTime(c.ConvertNs, false), siTime(c.CostNs, false), mark)
}

func adviseVerdict(c advise.Candidate) string {
	switch {
	case c.Problem != "":
		return "cannot run"
	case !c.Ran:
		return "not run"
	case c.Meets && c.Promised:
		return "proved"
	case c.Meets:
		return "here only"
	}
	return "no"
}

func errorText(v exact.Value) string {
	if v.Class == exact.NaN {
		return ""
	}
	return v.Text(2)
}

func foundText(c advise.Candidate) string {
	if !c.Ran {
		return ""
	}
	return c.Found.Text(2)
}

func adviceTexts(r *advise.Result, command string) []string {
	if r.Best == nil {
		text := "nothing meets the wish"
		if r.Options.Proved {
			text = "nothing promises the wish"
		}
		return []string{text}
	}
	why := "its bound promises the wish for all data of this condition and length"
	if !r.Best.Promised {
		why = "it meets the wish on these data, though its bound does not promise it"
	}
	texts := []string{fmt.Sprintf("recommended: %s, %s\n%s", candidateName(*r.Best), why, literal+command)}
	if r.Promised != nil {
		texts = append(texts, fmt.Sprintf("for other data of this kind: %s, whose bound promises the wish, at %s times "+
			"the cost", candidateName(*r.Promised), threeDigits(r.Promised.CostNs/r.Best.CostNs)))
	}
	if r.Check != nil {
		verdict := "which meets the wish"
		if !r.Check.Holds {
			verdict = "which does NOT meet the wish"
		}
		texts = append(texts, fmt.Sprintf("run again: relative error %s, %s", r.Check.Found.Text(2), verdict))
	}
	if r.Cheapest != nil {
		kept := "meets"
		if r.Options.Proved {
			kept = "promises"
		}
		texts = append(texts, fmt.Sprintf("of all %d candidates that were run, the cheapest that %s the wish is %s; the "+
			"recommendation costs %s times as much",
			len(r.Candidates), kept, candidateName(*r.Cheapest), strconv.FormatFloat(math.Round(100*r.Ratio)/100, 'f', 2, 64)))
	}
	return texts
}

func candidateName(c advise.Candidate) string {
	name := c.Method
	if !c.Fixed {
		name += fmt.Sprintf(" with %d bits", c.Precision)
	}
	if c.Device != "cpu" {
		name += " on " + c.Device
	}
	return name
}
