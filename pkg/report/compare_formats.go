package report

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"mpbench/pkg/compare"
)

// A CompareFormat is one way to write a comparison.
type CompareFormat struct {
	Name   string // as in --format
	Render func(io.Writer, *compare.Result, Options) error
}

// CompareFormats returns all formats, the default one first.
func CompareFormats() []CompareFormat {
	return []CompareFormat{{"table", CompareTable}, {"markdown", CompareMarkdown}, {"csv", CompareCSV}, {"json", CompareJSON}}
}

// CompareFormatByName returns the format of the given name, or an *UnknownFormatError.
func CompareFormatByName(name string) (CompareFormat, error) {
	var names []string
	for _, f := range CompareFormats() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return CompareFormat{}, &UnknownFormatError{"format", name, names}
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

// CompareCSV writes one line for each row (RFC 4180). Correct bits are empty for an exact result, as in CSV; fails holds the rules that the row
// breaks.
func CompareCSV(w io.Writer, result *compare.Result, _ Options) error {
	out := csv.NewWriter(w)
	rows := [][]string{{
		"case", "old_ns", "new_ns", "ratio", "ratio_lo", "ratio_hi", "confidence", "p", "old_samples", "new_samples", "significant",
		"old_correct_bits", "new_correct_bits", "old_exact", "new_exact", "bits_change", "hash_changed", "outside_bound", "fails",
	}}
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	bits := func(b *compare.Bits) string {
		if *b > 1e300 {
			return ""
		}
		return number(float64(*b))
	}
	for i := range result.Rows {
		r := &result.Rows[i]
		times := make([]string, 10)
		if t := r.Time; t != nil {
			times = []string{
				number(t.OldNs), number(t.NewNs), number(t.Ratio), number(t.Lo), number(t.Hi), number(t.Confidence), number(t.P),
				strconv.Itoa(t.OldSamples), strconv.Itoa(t.NewSamples), strconv.FormatBool(t.Significant),
			}
		}
		line := append([]string{r.Case}, times...)
		rows = append(rows, append(line, bits(r.OldBits), bits(r.NewBits), strconv.FormatBool(r.Old.ExactResult), strconv.FormatBool(r.New.ExactResult),
			number(r.BitsChange), strconv.FormatBool(r.HashChanged), strconv.FormatBool(r.OutOfBound), strings.Join(r.Broken, ";")))
	}
	return out.WriteAll(rows)
}

// CompareJSON writes the result as one JSON object of schema compare.Schema.
func CompareJSON(w io.Writer, result *compare.Result, _ Options) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(result)
}
