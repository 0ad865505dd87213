package report

import "strings"

// Colours as terminals know them. They only repeat what the text says.
const (
	green = "\x1b[32m"
	red   = "\x1b[31m"
	reset = "\x1b[0m"
)

// grid makes the texts of one group's table.
func (l *layout) grid(g group) gridText {
	heads := make([][]string, 2)
	for j, c := range l.columns {
		head := c.head
		if c.id == errorID || c.id == boundID {
			head[0] = g.errorKind()
		}
		for i := range heads {
			heads[i] = append(heads[i], gap(j)+pad(head[i], c.width, c.right))
		}
	}
	var rows [][]string
	for _, r := range g.records {
		var row []string
		for j, c := range l.columns {
			row = append(row, gap(j)+l.paint(c.id, pad(c.cell(g, r), c.width, c.right), r.OutsideBound()))
		}
		rows = append(rows, row)
	}
	return gridText{heads, rows}
}

// gap is what stands before the column with index j.
func gap(j int) string {
	if j == 0 {
		return ""
	}
	return strings.Repeat(" ", columnGap)
}

// paint colours the cells that say whether a result is good.
func (l *layout) paint(id columnID, text string, failed bool) string {
	switch {
	case !l.opts.Color || id != okID && !(failed && id == methodID):
		return text
	case failed:
		return red + text + reset
	case text[0] == 'y':
		return green + text + reset
	}
	return text
}
