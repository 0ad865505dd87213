package report

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"
)

// documentMarkdown writes a heading and a table for each sheet, with all columns that are not empty, and the notes as a list.
func documentMarkdown(w io.Writer, d *Document, opts Options) error {
	out := bufio.NewWriter(w)
	if d.Title != "" {
		title, more, _ := strings.Cut(d.Title, "\n")
		fmt.Fprintf(out, "## %s\n", escapeMarkdown(title))
		if more != "" {
			fmt.Fprintf(out, "\n%s\n", escapeMarkdown(more))
		}
	}
	for _, s := range d.Sheets {
		if err := s.check(); err != nil {
			return err
		}
		fmt.Fprintln(out)
		if s.Title != "" {
			fmt.Fprintf(out, "### %s\n\n", escapeMarkdown(s.Title))
		}
		if len(s.Facts) > 0 {
			fmt.Fprintf(out, "%s\n\n", escapeMarkdown(strings.Join(s.Facts, ", ")))
		}
		writeMarkdownSheet(out, s.fitting(math.MaxInt))
	}
	if len(d.Notes) > 0 {
		fmt.Fprintln(out)
	}
	for _, n := range d.Notes {
		fmt.Fprintf(out, "* %s: %s\n", escapeMarkdown(n.Label), escapeMarkdown(n.Text))
	}
	for _, text := range d.Closing {
		for _, line := range strings.Split(text, "\n") {
			if !strings.HasPrefix(line, literal) { // which Markdown takes for code
				line = escapeMarkdown(line)
			}
			fmt.Fprintf(out, "\n%s\n", line)
		}
	}
	return out.Flush()
}

func writeMarkdownSheet(w io.Writer, s Sheet) {
	columns := make([]column, len(s.Columns))
	widths := make([]int, len(s.Columns))
	for j, c := range s.Columns {
		head := strings.TrimSpace(c.Head[0] + " " + c.Head[1])
		columns[j] = column{head: [2]string{"", escapeMarkdown(head)}, right: c.Right}
		widths[j] = max(textWidth(columns[j].title()), 3)
	}
	cells := make([][]string, len(s.Rows))
	for i, row := range s.Rows {
		for j, text := range row {
			cells[i] = append(cells[i], escapeMarkdown(text))
			widths[j] = max(widths[j], textWidth(cells[i][j]))
		}
	}
	writeMarkdownHead(w, columns, widths)
	for _, row := range cells {
		for j, text := range row {
			fmt.Fprint(w, "| ", pad(text, widths[j], columns[j].right), " ")
		}
		fmt.Fprintln(w, "|")
	}
}
