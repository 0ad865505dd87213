package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
)

// documentTable writes the sheets below each other, then notes and closing paragraphs, within the width of the terminal.
func documentTable(w io.Writer, d *Document, opts Options) error {
	if opts.Width <= 0 {
		opts.Width = 80
	}
	out := bufio.NewWriter(w)
	writeParagraph(out, d.Title, "", opts.Width)
	for i, s := range d.Sheets {
		if i > 0 || d.Title != "" {
			fmt.Fprintln(out)
		}
		if err := writeSheet(out, s, opts); err != nil {
			return err
		}
	}
	if len(d.Notes) > 0 {
		fmt.Fprintln(out)
	}
	for _, n := range d.Notes {
		wrap(out, n.Label+"  "+n.Text, opts.Width)
	}
	for _, text := range d.Closing {
		fmt.Fprintln(out)
		writeParagraph(out, text, "", opts.Width)
	}
	if d.Environment != nil {
		fmt.Fprintln(out)
		wrap(out, describe(*d.Environment), opts.Width)
	}
	return out.Flush()
}

// literal is how lines begin that are not to be broken, such as commands.
const literal = "    "

// writeParagraph writes a text broken between words; line breaks in it stay, and lines after the first are indented.
func writeParagraph(w io.Writer, text, indent string, width int) {
	if text == "" {
		return
	}
	first := true
	for _, part := range strings.Split(text, "\n") {
		lines := breakText(part, width-len(indent))
		if strings.HasPrefix(part, literal) {
			lines = []string{part}
		}
		for _, line := range lines {
			if !first {
				line = indent + line
			}
			first = false
			fmt.Fprintln(w, strings.TrimRight(line, " "))
		}
	}
}

func writeSheet(w io.Writer, s Sheet, opts Options) error {
	if err := s.check(); err != nil {
		return err
	}
	if s.Title != "" || len(s.Facts) > 0 {
		writeParagraph(w, strings.Join(append([]string{s.Title}, s.Facts...), ", "), "   ", opts.Width)
	}
	s = s.fitting(opts.Width)
	widths := s.widths(opts.Width)
	var g gridText
	for line := range 2 {
		var cells []string
		empty := true
		for j, c := range s.Columns {
			empty = empty && c.Head[line] == ""
			cells = append(cells, gap(j)+pad(c.Head[line], widths[j], c.Right))
		}
		if !empty {
			g.heads = append(g.heads, cells)
		}
	}
	for _, row := range s.Rows {
		g.rows = append(g.rows, s.lines(row, widths, opts)...)
	}
	return writeGrid(w, g)
}

// fitting returns the sheet without optional columns that the width has no room for, and without columns of empty cells.
func (s Sheet) fitting(width int) Sheet {
	for j := len(s.Columns) - 1; j >= 0; j-- {
		empty := len(s.Rows) > 0 && !slices.ContainsFunc(s.Rows, func(row []string) bool { return row[j] != "" })
		if empty || s.Columns[j].Optional && s.total(width) > width {
			s = s.without(j)
		}
	}
	return s
}

func (s Sheet) without(j int) Sheet {
	s.Columns = slices.Delete(slices.Clone(s.Columns), j, j+1)
	rows := make([][]string, len(s.Rows))
	for i, row := range s.Rows {
		rows[i] = slices.Delete(slices.Clone(row), j, j+1)
	}
	s.Rows = rows
	return s
}

func (s Sheet) total(width int) int {
	sum := 0
	for _, w := range s.widths(width) {
		sum += w + columnGap
	}
	return sum - columnGap
}

// widths are those of the longest cells; a last column that wraps takes what is left.
func (s Sheet) widths(width int) []int {
	widths := make([]int, len(s.Columns))
	left := width
	for j, c := range s.Columns {
		widths[j] = max(textWidth(c.Head[0]), textWidth(c.Head[1]))
		for _, row := range s.Rows {
			widths[j] = max(widths[j], textWidth(row[j]))
		}
		if c.Wrap {
			widths[j] = max(minLastColumn, min(left, widths[j]))
		}
		left -= widths[j] + columnGap
	}
	return widths
}

// lines are the padded and coloured cells of one row: several lines where the last column wraps.
func (s Sheet) lines(row []string, widths []int, opts Options) [][]string {
	last := len(row) - 1
	parts := []string{row[last]}
	if s.Columns[last].Wrap {
		parts = breakText(row[last], widths[last])
	}
	var lines [][]string
	for i, part := range parts {
		cells := make([]string, len(row))
		if i == 0 {
			copy(cells, row)
		}
		cells[last] = part
		for j, c := range s.Columns {
			text := pad(cells[j], widths[j], c.Right)
			if c.Verdict && opts.Color {
				text = paintVerdict(text)
			}
			cells[j] = gap(j) + text
		}
		lines = append(lines, cells)
	}
	return lines
}

// paintVerdict colours a padded verdict.
func paintVerdict(text string) string {
	switch strings.TrimSpace(text) {
	case "yes", "pass":
		return green + text + reset
	case "NO", "FAIL":
		return red + text + reset
	}
	return text
}
