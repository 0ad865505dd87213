package report

import (
	"io"
	"strings"
)

// minLastColumn is the width that the last column of a list has at least if its texts are as long, however narrow the terminal.
const minLastColumn = 30

// List writes a table of texts. The last column is broken between words to fit the width (0 for 80); a line break in its
// cells starts a new line. The other columns are as wide as their longest cell.
func List(w io.Writer, heads []string, rows [][]string, width int) error {
	if width <= 0 {
		width = 80
	}
	last := len(heads) - 1
	widths := make([]int, len(heads))
	used := 0
	for i := range last {
		widths[i] = textWidth(heads[i])
		for _, row := range rows {
			widths[i] = max(widths[i], textWidth(row[i]))
		}
		widths[i]++ // a second space between columns
		used += widths[i] + 1
	}
	longest := textWidth(heads[last])
	for _, row := range rows {
		for _, line := range strings.Split(row[last], "\n") {
			longest = max(longest, textWidth(line))
		}
	}
	widths[last] = max(min(minLastColumn, longest), width-used)
	g := gridText{heads: [][]string{padded(heads, widths)}}
	for _, row := range rows {
		for i, line := range breakText(row[last], widths[last]) {
			cells := make([]string, len(heads))
			if i == 0 {
				copy(cells, row)
			}
			cells[last] = line
			g.rows = append(g.rows, padded(cells, widths))
		}
	}
	return writeGrid(w, g)
}

// padded fills the cells up to the widths.
func padded(cells []string, widths []int) []string {
	list := make([]string, len(cells))
	for i, cell := range cells {
		list[i] = pad(cell, widths[i], false)
	}
	return list
}

// breakText cuts a text into lines of at most width characters, between words where there is one to break at.
func breakText(text string, width int) []string {
	var lines []string
	for _, paragraph := range strings.Split(text, "\n") {
		line := ""
		for _, word := range strings.Fields(paragraph) {
			if line != "" && textWidth(line)+1+textWidth(word) > width {
				lines = append(lines, line)
				line = ""
			}
			if line != "" {
				line += " "
			}
			line += word
		}
		lines = append(lines, line)
	}
	return lines
}
