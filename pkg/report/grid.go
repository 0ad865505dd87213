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
// its cells starts a new line. The other columns are as wide as their longest cell, or narrower where the width has no
// room for that; where it has none for their words either, each row becomes a few lines.
func List(w io.Writer, heads []string, rows [][]string, width int) error {
	if width <= 0 {
		width = 80
	}
	widths, ok := listWidths(heads, rows, width)
	if !ok {
		return listStacked(w, heads, rows, width)
	}
	g := gridText{heads: listLines(heads, widths)}
	for _, row := range rows {
		g.rows = append(g.rows, listLines(row, widths)...)
	}
	return writeGrid(w, g)
}

// listLines returns the lines of a row.
func listLines(row []string, widths []int) (list [][]string) {
	last := len(row) - 1
	for j, cell := range row {
		lines := []string{cell}
		if j == last || textWidth(cell) > widths[j]-listGap(j, last) {
			lines = BreakText(cell, widths[j]-listGap(j, last))
		}
		for i, line := range lines {
			if i == len(list) {
				list = append(list, make([]string, len(row)))
			}
			list[i][j] = line
		}
	}
	for i := range list {
		list[i] = padded(list[i], widths)
	}
	return list
}

// listGap is the space behind a column's cells that its width has in it.
func listGap(column, last int) int {
	if column == last {
		return 0
	}
	return 1
}

// listWidths returns the widths of the columns of a list; not ok where some words are too long for them.
func listWidths(heads []string, rows [][]string, width int) (widths []int, ok bool) {
	last := len(heads) - 1
	widths, least := make([]int, len(heads)), make([]int, len(heads))
	total := last
	for j := range heads {
		widths[j], least[j] = textWidth(heads[j]), longestWord(heads[j])
		for _, row := range rows {
			least[j] = max(least[j], longestWord(row[j]))
			for _, line := range strings.Split(row[j], "\n") {
				widths[j] = max(widths[j], textWidth(line))
			}
		}
		widths[j] += listGap(j, last)
		least[j] += listGap(j, last)
		total += widths[j]
	}
	shrink := func(j, to int) {
		less := max(0, min(total-width, widths[j]-max(to, least[j])))
		widths[j] -= less
		total -= less
	}
	shrink(last, minLastColumn)
	for total > width {
		widest := -1
		for j := range last {
			if widths[j] > least[j] && (widest < 0 || widths[j] > widths[widest]) {
				widest = j
			}
		}
		if widest < 0 {
			break
		}
		shrink(widest, widths[widest]-1)
	}
	shrink(last, 0)
	if total < width {
		widths[last] += width - total
	}
	return widths, total <= width
}

func longestWord(text string) (longest int) {
	for _, word := range strings.Fields(text) {
		longest = max(longest, textWidth(word))
	}
	return longest
}

// listStacked writes each row as its first cell and, indented, the others behind their headings.
func listStacked(w io.Writer, heads []string, rows [][]string, width int) error {
	var b strings.Builder
	for _, row := range rows {
		for j, cell := range row {
			if cell == "" {
				continue
			}
			indent := strings.Repeat(" ", min(j, 1)*2)
			if j > 0 && heads[j] != "" {
				cell = heads[j] + ": " + cell
			}
			for i, line := range BreakText(cell, width-len(indent)-2) {
				if i > 0 {
					b.WriteString("  ")
				}
				b.WriteString(indent + line + "\n")
			}
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
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
