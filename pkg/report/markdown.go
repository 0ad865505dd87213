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
	out := bufio.NewWriter(w)
	all := groups(run)
	notes := newNotes(run, all)
	if len(all) == 0 {
		fmt.Fprintln(out, "No results.")
	}
	columns := markdownColumns(all, notes, opts)
	for i, g := range all {
		if i > 0 {
			fmt.Fprintln(out)
		}
		for j := range columns {
			columns[j] = columns[j].of(g)
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

// markdownColumns returns the columns that say something about the groups.
func markdownColumns(all []group, notes *notes, opts Options) []column {
	columns := []column{plainColumn("", "method", false, func(r *record.Record) string { return r.Method })}
	columns = append(columns, variants(all)...)
	columns = append(columns,
		bitsColumn,
		moduliColumn,
		valueColumn(),
		errorColumn(relative),
		plainColumn("correct", "bits", true, correctBits),
		boundColumn(relative),
		plainColumn("", "ok", false, func(r *record.Record) string {
			if r.OutsideBound() {
				return "**NO**"
			}
			return withinBound(r)
		}),
		timeColumn(opts.ASCII),
		perElementColumn(),
		convertColumn(opts.ASCII),
		bandwidthColumn(),
		samplesColumn,
		column{[2]string{"", "note"}, false, notes.column().cell},
	)
	var useful []column
	for _, c := range columns {
		if saysSomething(c, all) {
			useful = append(useful, c)
		}
	}
	return useful
}

func saysSomething(c column, all []group) bool {
	for _, g := range all {
		for _, r := range g.records {
			if text := c.cell(g, r); text != none && text != "" {
				return true
			}
		}
	}
	return false
}

func writeMarkdownGroup(w io.Writer, g group, columns []column) {
	name, facts := g.title()
	fmt.Fprintf(w, "### %s\n\n", escapeMarkdown(name))
	if exactName, exact := g.exact(); exact != "" {
		facts = append(facts, exactName+" "+exact)
	}
	fmt.Fprintf(w, "%s\n\n", escapeMarkdown(strings.Join(facts, ", ")))

	rows := make([][]string, len(g.records))
	widths := make([]int, len(columns))
	for j, c := range columns {
		widths[j] = max(textWidth(c.title()), 3)
		for i, r := range g.records {
			text := strings.Join(strings.Fields(c.cell(g, r)), " ")
			if c.head[1] != "ok" {
				text = escapeMarkdown(text)
			}
			rows[i] = append(rows[i], text)
			widths[j] = max(widths[j], textWidth(text))
		}
	}
	writeMarkdownHead(w, columns, widths)
	for _, row := range rows {
		for j, text := range row {
			fmt.Fprint(w, "| ", pad(text, widths[j], columns[j].right), " ")
		}
		fmt.Fprintln(w, "|")
	}
}

func writeMarkdownHead(w io.Writer, columns []column, widths []int) {
	for j, c := range columns {
		fmt.Fprint(w, "| ", pad(c.title(), widths[j], c.right), " ")
	}
	fmt.Fprintln(w, "|")
	for j, c := range columns {
		rule := strings.Repeat("-", widths[j]+1)
		if c.right {
			fmt.Fprint(w, "|", rule, ":")
		} else {
			fmt.Fprint(w, "|", rule, "-")
		}
	}
	fmt.Fprintln(w, "|")
}

var markdownEscapes = strings.NewReplacer(`\`, `\\`, `|`, `\|`, `*`, `\*`, `_`, `\_`, "`", "\\`", `<`, `\<`, `[`, `\[`,
	"\r", " ", "\n", " ")

// escapeMarkdown makes a text stand for itself, in tables too.
func escapeMarkdown(s string) string { return markdownEscapes.Replace(s) }
