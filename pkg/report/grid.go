package report

import (
	"bytes"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// A gridText is a table whose cells are texts that are aligned and padded already: all cells of a column are
// equally wide. Cells may hold colour sequences.
type gridText struct {
	heads [][]string // lines of the heading
	rows  [][]string
}

// writeGrid writes the table without borders, with a line under the heading. Only this file knows the table library.
func writeGrid(w io.Writer, g gridText) error {
	var b bytes.Buffer
	t := tablewriter.NewTable(&b,
		tablewriter.WithRenderer(renderer.NewBlueprint(tw.Rendition{
			Borders: tw.BorderNone,
			Symbols: tw.NewSymbolCustom("lines").WithRow("-").WithColumn(" ").WithCenter(" ").
				WithMidLeft("").WithMidRight("").WithHeaderMid(" ").WithHeaderLeft("").WithHeaderRight(""),
			Settings: tw.Settings{
				Lines:      tw.Lines{ShowTop: tw.Off, ShowBottom: tw.Off, ShowHeaderLine: tw.On, ShowFooterLine: tw.Off},
				Separators: tw.Separators{BetweenRows: tw.Off, BetweenColumns: tw.Off},
			},
		})),
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithTrimLine(tw.Off),
		tablewriter.WithHeaderAlignment(tw.AlignLeft),
		tablewriter.WithRowAlignment(tw.AlignLeft),
		tablewriter.WithPadding(tw.Padding{Left: "", Right: "", Overwrite: true}),
	)
	t.Header(joinLines(g.heads))
	if err := t.Bulk(g.rows); err != nil {
		return err
	}
	if err := t.Render(); err != nil {
		return err
	}
	for line := range bytes.Lines(b.Bytes()) {
		if _, err := w.Write(append(bytes.TrimRight(line, " \n"), '\n')); err != nil {
			return err
		}
	}
	return nil
}

func joinLines(lines [][]string) []string {
	cells := append([]string(nil), lines[0]...)
	for _, line := range lines[1:] {
		for i, text := range line {
			cells[i] += "\n" + text
		}
	}
	return cells
}

// minLastColumn is the least width of a last column with texts as long, however narrow the terminal.
const minLastColumn = 30

// List writes a table of texts. The last column is broken between words to fit the width (0 for 80); a line break in
// its cells starts a new line. The other columns are as wide as their longest cell.
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
		for i, line := range BreakText(row[last], widths[last]) {
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

func padded(cells []string, widths []int) []string {
	list := make([]string, len(cells))
	for i, cell := range cells {
		list[i] = pad(cell, widths[i], false)
	}
	return list
}

// BreakText cuts a text into lines of at most width characters, between words where there is one to break at.
func BreakText(text string, width int) []string {
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
