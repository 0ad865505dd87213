package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"mpbench/pkg/check"
)

// CheckText writes a line for each check of a plan, and under it the rows that fail, with what they fail, what was expected
// and what was found; with all set, every row.
func CheckText(w io.Writer, result *check.Result, all bool, opts Options) error {
	out := bufio.NewWriter(w)
	for i := range result.Plan.Checks {
		c := &result.Plan.Checks[i]
		writeCheck(out, c, result.Of(c), all, opts)
	}
	for _, text := range result.Unchecked() {
		wrap(out, "not checked: "+text, opts.Width)
	}
	failed, rows := result.Failed(), len(result.Rows)
	switch {
	case failed == 0:
		fmt.Fprintf(out, "%s in %s: all passed\n", plural(rows, "row", "rows"), plural(len(result.Plan.Checks), "check", "checks"))
	default:
		fmt.Fprintf(out, "%s in %s: %d passed, %d failed\n", plural(rows, "row", "rows"), plural(len(result.Plan.Checks), "check", "checks"), rows-failed, failed)
	}
	return out.Flush()
}

func writeCheck(w io.Writer, c *check.Check, rows []check.Row, all bool, opts Options) {
	failed := 0
	for i := range rows {
		if len(rows[i].Failures) > 0 {
			failed++
		}
	}
	text := fmt.Sprintf("%s  %s: %s", verdict(failed > 0, opts), printable(c.Name), plural(len(rows), "row", "rows"))
	if failed > 0 {
		text += fmt.Sprintf(", %d failing", failed)
	}
	fmt.Fprintln(w, text)
	for i := range rows {
		r := &rows[i]
		if all || len(r.Failures) > 0 {
			writeRow(w, r, all, opts)
		}
	}
}

// verdict is "ok" or "FAIL" in four columns.
func verdict(failed bool, opts Options) string {
	text, color := "ok  ", green
	if failed {
		text, color = "FAIL", red
	}
	if opts.Color {
		return color + text + reset
	}
	return text
}

func writeRow(w io.Writer, r *check.Row, all bool, opts Options) {
	mark := "-"
	if len(r.Failures) > 0 {
		mark = "!"
	}
	text := "   " + mark + " " + printable(r.Label())
	if all {
		text += ": " + facts(r)
	}
	wrapIndented(w, text, opts.Width, "        ")
	for _, f := range r.Failures {
		wrapIndented(w, "      "+printable(f.String()), opts.Width, "        ")
	}
}

// printable replaces control characters, which names of files and checks may hold.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return '?'
		}
		return c
	}, text)
}

// facts are what a row is judged by.
func facts(r *check.Row) string {
	list := []string{"exact"}
	if !r.Record.ExactResult {
		list = []string{correctBits(&r.Record) + " correct bits", "error " + shortDecimal(r.Record.RelError, 2)}
	}
	if r.Record.Bound != "" {
		list = append(list, "bound "+shortDecimal(r.Record.Bound, 2))
	}
	if t := r.Time; t != nil && t.Ratio.Rounds > 0 {
		list = append(list, fmt.Sprintf("%.3g times %s (%.3g to %.3g)", t.Ratio.Median, t.RelativeTo, t.Ratio.Lo, t.Ratio.Hi))
	}
	return strings.Join(list, ", ")
}

// CheckChanges writes what differs between a baseline and a new one, a line for each row and each thing that has changed.
func CheckChanges(w io.Writer, changes []check.Change, opts Options) error {
	out := bufio.NewWriter(w)
	for _, c := range changes {
		wrapIndented(out, fmt.Sprintf("%-8s %s: %s", c.Kind, c.Check, c.Case), opts.Width, "         ")
		for _, text := range c.Details {
			wrapIndented(out, "           "+text, opts.Width, "             ")
		}
	}
	return out.Flush()
}
