package report

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"mpbench/pkg/compare"
	"mpbench/pkg/record"
)

// CompareTable writes one table for each data set with times, their change and the change of correct bits, the rows
// that break a rule marked, and under the tables what fails, what is in one run only, and how the environments differ.
func CompareTable(w io.Writer, result *compare.Result, opts Options) error {
	out := bufio.NewWriter(w)
	columns := compareColumns(result, opts)
	columns[0].cell = marked(result, columns[0].cell)
	columns = fitColumns(columns, result, opts.Width)
	for i, g := range compareGroups(result) {
		if i > 0 {
			fmt.Fprintln(out)
		}
		wrap(out, compareTitle(g[0].New), opts.Width)
		if err := writeGrid(out, compareGrid(columns, g, opts)); err != nil {
			return err
		}
	}
	fmt.Fprintln(out)
	for _, f := range result.Failures {
		wrap(out, verdict(true, opts)+" "+f.String(), opts.Width)
	}
	for _, line := range compareNotes(result) {
		wrap(out, line, opts.Width)
	}
	return out.Flush()
}

// compareGroups puts rows of the same command and data set together, in the order of first appearance.
func compareGroups(result *compare.Result) [][]*compare.Row {
	var groups [][]*compare.Row
	index := map[string]int{}
	for i := range result.Rows {
		row := &result.Rows[i]
		key := compareTitle(row.New)
		j, ok := index[key]
		if !ok {
			j = len(groups)
			index[key] = j
			groups = append(groups, nil)
		}
		groups[j] = append(groups[j], row)
	}
	return groups
}

func compareTitle(r *record.Record) string {
	name, facts := group{records: []*record.Record{r}}.title()
	var shape []string
	for _, fact := range facts {
		if !strings.HasPrefix(fact, "condition") {
			shape = append(shape, fact)
		}
	}
	return r.Command + " " + name + "   " + strings.Join(shape, "  ")
}

type compareColumn struct {
	head  string
	right bool
	cell  func(*compare.Row) string
	width int // the same in all tables
}

// compareColumns are the columns of all tables: a setting is one if a method at one precision occurs with two.
func compareColumns(result *compare.Result, opts Options) []compareColumn {
	timed := func(cell func(*compare.Time) string) func(*compare.Row) string {
		return func(r *compare.Row) string {
			if r.Time == nil {
				return none
			}
			return cell(r.Time)
		}
	}
	var columns []compareColumn
	add := func(head string, right bool, cell func(*compare.Row) string) {
		columns = append(columns, compareColumn{head: head, right: right, cell: cell})
	}
	add("method", false, func(r *compare.Row) string { return r.New.Method })
	var all []group
	for _, rows := range compareGroups(result) {
		g := group{}
		for _, r := range rows {
			g.records = append(g.records, r.New)
		}
		all = append(all, g)
	}
	for _, c := range variants(all) {
		add(c.title(), c.right, func(r *compare.Row) string { return c.cell(group{}, r.New) })
	}
	add("bits", true, func(r *compare.Row) string { return fmt.Sprint(r.New.PrecisionBits) })
	add("old", true, timed(func(t *compare.Time) string { return siTime(t.OldNs, opts.ASCII) }))
	add("new", true, timed(func(t *compare.Time) string { return siTime(t.NewNs, opts.ASCII) }))
	add("change", true, timed(func(t *compare.Time) string {
		if !t.Significant {
			return "~"
		}
		return compare.Percent(t.Ratio)
	}))
	add(intervalTitle(result), true, timed((*compare.Time).Interval))
	add("p", true, timed(func(t *compare.Time) string { return pValue(t.P) }))
	if name := baselineOf(result); name != "" {
		add("time / "+name, true, ratioChangeCell)
	}
	add("corr. bits", true, bitsChangeCell)
	return columns
}

// fitColumns leaves out the p-values, the intervals, and then the old times and precisions, if the tables are wider
// than the terminal.
func fitColumns(columns []compareColumn, result *compare.Result, width int) []compareColumn {
	if width <= 0 {
		width = 80
	}
	for j := range columns {
		c := &columns[j]
		c.width = textWidth(c.head)
		for i := range result.Rows {
			c.width = max(c.width, textWidth(c.cell(&result.Rows[i])))
		}
	}
	for _, title := range []string{"p", intervalTitle(result), "old", "bits"} {
		total := -columnGap
		for _, c := range columns {
			total += columnGap + c.width
		}
		if total > width {
			columns = slices.DeleteFunc(columns, func(c compareColumn) bool { return c.head == title })
		}
	}
	return columns
}

func intervalTitle(result *compare.Result) string {
	return fmt.Sprintf("%.3g%% interval", 100*(1-result.Alpha))
}

func pValue(p float64) string {
	if p < 0.0005 {
		return "0.000"
	}
	return fmt.Sprintf("%.3f", p)
}

// baselineOf names the method that times of both runs are divided by, "" if there is none.
func baselineOf(result *compare.Result) string {
	for _, r := range result.Rows {
		if r.Ratio != nil {
			return r.Ratio.Baseline
		}
	}
	return ""
}

// ratioChangeCell is the old and the new ratio to the baseline, and what has changed, if that is significant.
func ratioChangeCell(r *compare.Row) string {
	if r.Ratio == nil {
		return none
	}
	text := threeDigits(r.Ratio.Old) + " -> " + threeDigits(r.Ratio.New)
	if r.Ratio.Significant {
		return text + " " + compare.Percent(r.Ratio.Change)
	}
	return text + " ~"
}

// bitsChangeCell is "=" for the same result, the new number of correct bits with its change for another.
func bitsChangeCell(r *compare.Row) string {
	switch {
	case !r.HashChanged && r.BitsChange == 0:
		return "="
	case r.BitsChange == 0:
		return r.NewBits.String() + " other"
	}
	return fmt.Sprintf("%s %+.1f", r.NewBits, r.BitsChange)
}

func compareGrid(columns []compareColumn, rows []*compare.Row, opts Options) gridText {
	heads := make([]string, len(columns))
	cells := make([][]string, len(rows))
	for j, c := range columns {
		heads[j] = gap(j) + pad(c.head, c.width, c.right)
		for i, r := range rows {
			text := pad(c.cell(r), c.width, c.right)
			if opts.Color && j == 0 && len(r.Broken) > 0 {
				text = red + text + reset
			}
			cells[i] = append(cells[i], gap(j)+text)
		}
	}
	return gridText{heads: [][]string{heads}, rows: cells}
}

// marked makes a cell that tells rows that fail from others, if there are any.
func marked(result *compare.Result, cell func(*compare.Row) string) func(*compare.Row) string {
	if len(result.Failures) == 0 {
		return cell
	}
	return func(r *compare.Row) string {
		if len(r.Broken) > 0 {
			return "! " + cell(r)
		}
		return "  " + cell(r)
	}
}

func compareNotes(result *compare.Result) []string {
	var lines []string
	if s := result.Spread; s.Cases > 0 {
		lines = append(lines, spreadLine(s))
	}
	few := 0
	for _, r := range result.Rows {
		if r.Time != nil && r.Time.Confidence < 1-result.Alpha {
			few++
		}
	}
	if few > 0 {
		lines = append(lines, fmt.Sprintf("warning: %s too few samples for an interval of %.3g %%; take 10 runs or more",
			plural(few, "row has", "rows have"), 100*(1-result.Alpha)))
	}
	for _, only := range []struct {
		where  string
		labels []string
	}{{"old", result.OnlyOld}, {"new", result.OnlyNew}} {
		if n := len(only.labels); n > 0 {
			lines = append(lines, fmt.Sprintf("only in the %s run: %s (%s)", only.where, plural(n, "case", "cases"),
				shortList(only.labels)))
		}
	}
	for _, d := range result.Environment {
		lines = append(lines, "environment: "+d.String())
	}
	switch {
	case result.Environment == nil:
		lines = append(lines, "environment: not known")
	case len(result.Environment) == 0:
		lines = append(lines, "environment: the same")
	}
	return lines
}

// spreadLine says how much runs differ, and how that is known.
func spreadLine(s compare.Spread) string {
	text := fmt.Sprintf("runs of the same differ by %.2g %%, ", 100*s.StdDev)
	switch {
	case s.OldRuns+s.NewRuns > 2:
		return text + fmt.Sprintf("as %d old and %d new ones show", s.OldRuns, s.NewRuns)
	case s.Cases < fewCases:
		return fmt.Sprintf("one run a side and %s do not show what runs of the same differ by: take several runs a side",
			plural(s.Cases, "case", "cases"))
	}
	return text + "if most cases have not changed; several runs a side tell more"
}

// fewCases do not show the spread between runs: the median of their changes is that of what has changed.
const fewCases = 3

// shortList names the first three.
func shortList(labels []string) string {
	if len(labels) > 3 {
		return strings.Join(labels[:3], "; ") + "; ..."
	}
	return strings.Join(labels, "; ")
}

// A CompareFormat is one way to write a comparison.
type CompareFormat struct {
	Name   string // as in --format
	Render func(io.Writer, *compare.Result, Options) error
}

// CompareFormats returns all formats, the default one first.
func CompareFormats() []CompareFormat {
	return []CompareFormat{{"table", CompareTable}, {"markdown", CompareMarkdown}, {"csv", CompareCSV},
		{"json", CompareJSON}}
}

// CompareFormatByName returns the format of the given name, or an *UnknownFormatError.
func CompareFormatByName(name string) (CompareFormat, error) {
	return byName(CompareFormats(), name, func(f CompareFormat) string { return f.Name })
}

// CompareMarkdown writes the tables of CompareTable in Markdown, and what fails and the notes as lists.
func CompareMarkdown(w io.Writer, result *compare.Result, opts Options) error {
	out := bufio.NewWriter(w)
	columns := compareColumns(result, opts)
	for i, rows := range compareGroups(result) {
		if i > 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "### %s\n\n", escapeMarkdown(strings.Join(strings.Fields(compareTitle(rows[0].New)), " ")))
		heads, rule := "|", "|"
		for _, c := range columns {
			heads += " " + c.head + " |"
			if rule += "---"; c.right {
				rule += ":"
			}
			rule += "|"
		}
		fmt.Fprintf(out, "%s\n%s\n", heads, rule)
		for _, r := range rows {
			for j, c := range columns {
				text := escapeMarkdown(strings.Join(strings.Fields(c.cell(r)), " "))
				if j == 0 && len(r.Broken) > 0 {
					text = "**" + text + "**"
				}
				fmt.Fprintf(out, "| %s ", text)
			}
			fmt.Fprintln(out, "|")
		}
	}
	fmt.Fprintln(out)
	for _, f := range result.Failures {
		fmt.Fprintln(out, "* **FAIL** "+escapeMarkdown(f.String()))
	}
	for _, line := range compareNotes(result) {
		fmt.Fprintln(out, "* "+escapeMarkdown(line))
	}
	return out.Flush()
}

// CompareCSV writes one line for each row (RFC 4180). Correct bits are empty for an exact result, as in CSV; fails
// holds the rules that the row breaks.
func CompareCSV(w io.Writer, result *compare.Result, _ Options) error {
	out := csv.NewWriter(w)
	rows := [][]string{{
		"case", "old_ns", "new_ns", "ratio", "ratio_lo", "ratio_hi", "confidence", "p", "old_samples", "new_samples",
		"significant",
		"old_correct_bits", "new_correct_bits", "old_exact", "new_exact", "bits_change", "hash_changed", "outside_bound",
		"fails", "old_runs", "new_runs",
	}}
	bits := func(b *compare.Bits) string {
		if *b > 1e300 {
			return ""
		}
		return number(float64(*b))
	}
	for i := range result.Rows {
		r := &result.Rows[i]
		times, runs := make([]string, 10), make([]string, 2)
		if t := r.Time; t != nil {
			times = []string{
				number(t.OldNs), number(t.NewNs), number(t.Ratio), number(t.Lo), number(t.Hi), number(t.Confidence), number(t.P),
				strconv.Itoa(t.OldSamples), strconv.Itoa(t.NewSamples), strconv.FormatBool(t.Significant),
			}
			runs = []string{strconv.Itoa(t.OldRuns), strconv.Itoa(t.NewRuns)}
		}
		line := append([]string{r.Case}, times...)
		line = append(line, bits(r.OldBits), bits(r.NewBits),
			strconv.FormatBool(r.Old.ExactResult), strconv.FormatBool(r.New.ExactResult), number(r.BitsChange),
			strconv.FormatBool(r.HashChanged), strconv.FormatBool(r.OutOfBound), strings.Join(r.Broken, ";"))
		rows = append(rows, append(line, runs...))
	}
	return out.WriteAll(rows)
}

// CompareJSON writes the result as one JSON object of schema compare.Schema.
func CompareJSON(w io.Writer, result *compare.Result, _ Options) error { return writeJSON(w, result) }
