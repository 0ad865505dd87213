package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"mpbench/pkg/record"
)

// Markdown writes a heading and a table for each data set, with all columns and 17 digits, and the warnings as
// a list. Texts are escaped, so that nothing in a name breaks a table.
func Markdown(w io.Writer, run *record.Run, opts Options) error {
	if areSolved(run) {
		return documentMarkdown(w, Solve(run.Records), opts)
	}
	out := bufio.NewWriter(w)
	all := groups(run)
	notes := newNotes(run, all, true)
	if len(all) == 0 {
		fmt.Fprintln(out, "No results.")
	}
	ok := plainColumn("in", "bound", false, func(r *record.Record) string {
		if r.OutsideBound() {
			return "**NO**"
		}
		return withinBound(r)
	}).as(okID)
	columns := resultColumns(all, notes, opts, ok)
	for i, g := range all {
		if i > 0 {
			fmt.Fprintln(out)
		}
		writeMarkdownGroup(out, g, columns)
	}
	if lines := notes.texts(); len(lines) > 0 {
		fmt.Fprintln(out)
		for _, line := range lines {
			fmt.Fprintln(out, "* "+escapeMarkdown(line))
		}
	}
	return out.Flush()
}

func writeMarkdownGroup(w io.Writer, g group, columns []pageColumn) {
	name, facts := g.title()
	fmt.Fprintf(w, "### %s\n\n", escapeMarkdown(name))
	if exactName, exact := g.exact(); exact != "" {
		facts = append(facts, exactName+" "+exact)
	}
	fmt.Fprintf(w, "%s\n\n", escapeMarkdown(strings.Join(facts, ", ")))

	var heads []string
	var right []bool
	rows := make([][]string, len(g.records))
	for _, c := range columns {
		heads, right = append(heads, c.of(g).title()), append(right, c.right)
		for i, r := range g.records {
			text := strings.Join(strings.Fields(c.cell(g, r)), " ")
			if c.id != okID {
				text = escapeMarkdown(text)
			}
			rows[i] = append(rows[i], text)
		}
	}
	writeMarkdownTable(w, heads, right, rows)
}

// writeMarkdownTable writes a table of texts that are escaped already, padded to the widths of the columns.
func writeMarkdownTable(w io.Writer, heads []string, right []bool, rows [][]string) {
	widths := make([]int, len(heads))
	rule := ""
	for j, head := range heads {
		widths[j] = max(textWidth(head), 3)
		for _, row := range rows {
			widths[j] = max(widths[j], textWidth(row[j]))
		}
		end := "-"
		if right[j] {
			end = ":"
		}
		rule += "|" + strings.Repeat("-", widths[j]+1) + end
	}
	writeRow := func(cells []string) {
		for j, text := range cells {
			fmt.Fprint(w, "| ", pad(text, widths[j], right[j]), " ")
		}
		fmt.Fprintln(w, "|")
	}
	writeRow(heads)
	fmt.Fprintln(w, rule+"|")
	for _, row := range rows {
		writeRow(row)
	}
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, `|`, `\|`, `*`, `\*`, `_`, `\_`, "`", "\\`", `<`, `\<`, `[`, `\[`,
	"\r", " ", "\n", " ")

// escapeMarkdown makes a text stand for itself, in tables too.
func escapeMarkdown(s string) string { return markdownEscapes.Replace(s) }
