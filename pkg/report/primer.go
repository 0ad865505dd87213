package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mpbench/pkg/plot"
	"mpbench/pkg/primer"
)

// PrimerSchema is the schema of the rows of reductions and scans.
const PrimerSchema = "mpbench-primer/1"

// Primer returns the ways of a reduction or a scan as a document: a table for every device, in the order of the rows.
func Primer(rows []primer.Row) *Document {
	d := &Document{Schema: PrimerSchema, Title: primerTitle(rows)}
	for i, r := range rows {
		d.Rows = append(d.Rows, r)
		if i == 0 || r.Device != rows[i-1].Device {
			d.Sheets = append(d.Sheets, primerSheet(r.Device))
		}
		s := &d.Sheets[len(d.Sheets)-1]
		s.Rows = append(s.Rows, primerCells(r))
	}
	return d
}

func primerSheet(device string) Sheet {
	return Sheet{Title: device, Columns: []SheetColumn{
		{Head: [2]string{"", "way"}},
		{Head: [2]string{"", "threads"}, Right: true, Optional: true},
		{Head: [2]string{"", "grid"}, Right: true, Optional: true},
		{Head: [2]string{"", "time"}, Right: true},
		{Head: [2]string{"", "GB/s"}, Right: true, Optional: true},
		{Head: [2]string{"of the", "copy"}, Right: true, Optional: true},
		{Head: [2]string{"faster", "by"}, Right: true, Optional: true},
		{Head: [2]string{"rel.", "error"}, Right: true},
		{Head: [2]string{"rel.", "bound"}, Right: true, Optional: true},
		{Head: [2]string{"", "ok"}, Verdict: true},
		{Head: [2]string{"divergent warps", "by steps"}, Optional: true},
		{Head: [2]string{"bank conflicts", "by steps"}, Optional: true},
		{Head: [2]string{"", "what it is"}, Wrap: true, Optional: true},
	}}
}

func primerCells(r primer.Row) []string {
	figure := func(x float64, format string) string {
		if x == 0 {
			return ""
		}
		return fmt.Sprintf(format, x)
	}
	time, verdict, e, threads := "", "yes", r.RelError, ""
	if r.Threads > 0 {
		threads = fmt.Sprint(r.Threads)
	}
	if r.TimeNs > 0 {
		time = siTime(r.TimeNs, false)
	}
	switch {
	case r.Copy:
		verdict = ""
	case !r.Right:
		verdict = "NO"
	case r.RelError == "":
		e = "exact"
	}
	return []string{
		r.Way, threads, r.Grid, time, figure(r.GBPerS, "%.3g"), figure(100*r.CopyShare, "%.3g %%"),
		figure(r.Speedup, "%.3g"), e, r.Bound, verdict, r.Divergent, r.Conflicts, r.Summary,
	}
}

func primerTitle(rows []primer.Row) string {
	if len(rows) == 0 {
		return ""
	}
	r := rows[0]
	return fmt.Sprintf("%s of %d %s by %s", r.Command, r.N, r.Type, r.Operation)
}

// PrimerPicture draws the ways of a reduction or a scan: their bandwidths by device, the copy's first, or, where
// nothing was timed, what the emulator counted. It returns nil where there is neither.
func PrimerPicture(rows []primer.Row) *plot.Figure {
	b := plot.Bars{Title: primerTitle(rows)}
	timed := slices.ContainsFunc(rows, func(r primer.Row) bool { return r.TimeNs > 0 })
	bar := countBar
	if timed {
		b.Axis, b.Text, bar = "bandwidth", bandwidthText, bandwidthBar
	} else {
		b.Axis, b.Text = "of all steps, on the emulator", countText
		b.Parts = []string{"divergent warps", "bank conflicts"}
	}
	for _, r := range rows {
		one, ok := bar(r)
		if !ok {
			continue
		}
		if n := len(b.Groups); n == 0 || b.Groups[n-1].Title != r.Device {
			b.Groups = append(b.Groups, plot.BarGroup{Title: r.Device})
		}
		g := &b.Groups[len(b.Groups)-1]
		g.Bars = append(g.Bars, one)
	}
	if len(b.Groups) == 0 {
		return nil
	}
	return plot.NewBars(b, plot.Options{})
}

func bandwidthBar(r primer.Row) (plot.Bar, bool) {
	b := plot.Bar{Name: r.Way, Note: siTime(r.TimeNs, false), Parts: []float64{r.GBPerS}, Special: r.Copy}
	if r.CopyShare > 0 {
		b.Note += fmt.Sprintf(", %.3g %%", 100*r.CopyShare)
	}
	return b, r.TimeNs > 0
}

func countBar(r primer.Row) (plot.Bar, bool) {
	b := plot.Bar{Name: r.Way, Parts: []float64{ofAllSteps(r.Divergent), ofAllSteps(r.Conflicts)}}
	b.Note = countText(b.Parts[0] + b.Parts[1])
	return b, r.Divergent != ""
}

// ofAllSteps adds the counts of a row's steps.
func ofAllSteps(counts string) (sum float64) {
	for _, text := range strings.Fields(counts) {
		x, _ := strconv.ParseFloat(text, 64)
		sum += x
	}
	return sum
}

func bandwidthText(x float64) string { return fmt.Sprintf("%.3g GB/s", x) }

func countText(x float64) string { return fmt.Sprintf("%.4g", x) }
