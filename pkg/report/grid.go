package report

import (
	"bytes"
	"io"

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

// writeGrid writes the table without borders, with a line under the heading. This file is the only one that
// knows the table library.
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

// joinLines makes one row of cells with several lines each.
func joinLines(lines [][]string) []string {
	cells := append([]string(nil), lines[0]...)
	for _, line := range lines[1:] {
		for i, text := range line {
			cells[i] += "\n" + text
		}
	}
	return cells
}
