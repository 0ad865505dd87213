package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"mpbench/pkg/record"
)

// Limits of the value column, in characters and significant digits.
const (
	minValueWidth  = 10 // five digits and an exponent
	goodValueWidth = 15 // ten digits and an exponent; columns of less importance must leave that
	maxValueWidth  = 23 // what 17 digits take
	maxValueDigits = 17
	columnGap      = 2
)

// Table writes one table for each data set, under a heading that gives the exact result, and the warnings as
// footnotes. It fills the width of the terminal: the value gets the digits that fit, and columns of less
// importance are shown where there is room.
func Table(w io.Writer, run *record.Run, opts Options) error {
	out := bufio.NewWriter(w)
	all := groups(run)
	notes := newNotes(run, all)
	if len(all) == 0 {
		fmt.Fprintln(out, "no results")
	}
	l := newLayout(all, notes, opts)
	for i, g := range all {
		if i > 0 {
			fmt.Fprintln(out)
		}
		writeHeading(out, g, l.opts)
		if err := writeGrid(out, l.grid(g)); err != nil {
			return err
		}
	}
	writeNotes(out, notes, opts)
	return out.Flush()
}

func writeHeading(w io.Writer, g group, opts Options) {
	name, facts := g.title()
	exactName, exact := g.exact()
	label := max(textWidth(name), textWidth(exactName))
	line := pad(name, label, false)
	for _, fact := range facts {
		if textWidth(line)+columnGap+textWidth(fact) > opts.Width {
			fmt.Fprintln(w, strings.TrimRight(line, " "))
			line = strings.Repeat(" ", min(label, opts.Width/4))
		}
		line += "  " + fact
	}
	fmt.Fprintln(w, strings.TrimRight(line, " "))
	if exact != "" {
		if label > opts.Width/2 {
			label = textWidth(exactName)
		}
		fmt.Fprintln(w, pad(exactName, label, false)+"  "+exact)
	}
}

// A layout decides which columns are shown and how wide each is, the same for all groups.
type layout struct {
	opts    Options
	columns []column
	failing bool // some row is outside its bound
}

// newLayout takes the essential columns, drops the least of them if there is no room, and adds others that fit.
func newLayout(all []group, notes *notes, opts Options) *layout {
	if opts.Width <= 0 {
		opts.Width = 80
	}
	l := &layout{opts: opts}
	for _, r := range records(all) {
		l.failing = l.failing || r.OutsideBound()
	}
	essential, extras := l.choices(all, notes)
	for _, c := range essential {
		if c.width = l.width(c, all); c.width > 0 {
			l.columns = append(l.columns, c)
		}
	}
	dispensable := []columnID{boundID, errorID, correctID}
	if l.failing { // error and bound are what matters
		dispensable = []columnID{correctID, boundID, errorID}
	}
	for _, id := range dispensable {
		if l.total() > opts.Width {
			l.drop(id)
		}
	}
	for _, extra := range extras {
		extra.width = l.width(extra, all)
		if extra.width > 0 && l.total()+columnGap+extra.width+goodValueWidth-minValueWidth <= opts.Width {
			l.insert(extra)
		}
	}
	l.widenValue(all)
	return l
}

// choices returns the essential columns in their order, and others by importance, which are shown if there is room.
func (l *layout) choices(all []group, notes *notes) (essential, extras []column) {
	essential = append([]column{l.methodColumn().as(methodID)}, variants(all)...)
	essential = append(essential,
		bitsColumn, groupColumn("", "value", false, nil).as(valueID), errorColumn, correctColumn, boundColumn, okColumn,
		l.timeColumn(all), notes.column().as(noteID),
	)
	return essential, []column{
		memoryColumn(), perElementColumn(), convertColumn(l.opts.ASCII), bandwidthColumn(), samplesColumn, moduliColumn,
	}
}

func (l *layout) methodColumn() column {
	return plainColumn("", "method", false, func(r *record.Record) string {
		switch {
		case r.OutsideBound():
			return "! " + r.Method
		case l.failing:
			return "  " + r.Method
		}
		return r.Method
	})
}

// timeColumn puts the median and its spread into one cell, each aligned.
func (l *layout) timeColumn(all []group) column {
	widest := 0
	for _, r := range records(all) {
		widest = max(widest, textWidth(spread(r.Time, l.opts.ASCII)))
	}
	return plainColumn("", "time", true, ifTimed(func(r *record.Record) string {
		text := siTime(r.Time.Median, l.opts.ASCII)
		if widest > 0 {
			text += " " + pad(spread(r.Time, l.opts.ASCII), widest, true)
		}
		return text
	}))
}

// width returns the columns that the cells take, 0 if they say nothing at all.
func (l *layout) width(c column, all []group) int {
	if c.id == valueID {
		c.cell = func(_ group, r *record.Record) string { return shortDecimal(r.Value, 1) }
	}
	widest, empty := 0, true
	for g, r := range records(all) {
		text := c.cell(g, r)
		empty = empty && (text == none || text == "")
		widest = max(widest, textWidth(text))
	}
	switch {
	case empty:
		return 0
	case c.id == valueID:
		return minValueWidth
	}
	return max(widest, textWidth(c.head[0]), textWidth(c.head[1]))
}

func (l *layout) total() int {
	sum := -columnGap
	for _, c := range l.columns {
		sum += c.width + columnGap
	}
	return sum
}

func (l *layout) drop(id columnID) {
	l.columns = slices.DeleteFunc(l.columns, func(c column) bool { return c.id == id })
}

// insert puts an extra column at its place: the moduli in front of the value, others behind the time by importance, in
// front of the notes.
func (l *layout) insert(extra column) {
	next := noteID
	if extra.id == moduliID {
		next = valueID
	}
	at := slices.IndexFunc(l.columns, func(c column) bool { return c.id == next })
	if at < 0 {
		at = len(l.columns)
	}
	l.columns = slices.Insert(l.columns, at, extra)
}

// widenValue gives the room that is left to the value, as far as its digits need it.
func (l *layout) widenValue(all []group) {
	for i := range l.columns {
		c := &l.columns[i]
		if c.id != valueID {
			continue
		}
		room := max(c.width, min(c.width+l.opts.Width-l.total(), maxValueWidth))
		widest := 0
		for g, r := range records(all) {
			widest = max(widest, textWidth(g.value(r, room)))
		}
		c.width = max(widest, textWidth(c.head[1]))
		c.cell = func(g group, r *record.Record) string { return g.value(r, room) }
	}
}

// value writes the result in the notation of the group, with a space for the sign where others are negative.
func (g group) value(r *record.Record, width int) string {
	if r.Row != nil {
		name := fmt.Sprintf("y[%d] ", *r.Row)
		return name + g.notation.format(r.Value, maxValueDigits, width-len(name))
	}
	if !g.negative {
		return g.notation.format(r.Value, maxValueDigits, width)
	}
	text := g.notation.format(r.Value, maxValueDigits, width-1)
	if strings.HasPrefix(r.Value, "-") {
		text = g.notation.format(r.Value, maxValueDigits, width)
	}
	if strings.HasPrefix(text, "-") && text != none || strings.HasPrefix(text, "+") {
		return text
	}
	return " " + text
}

// Colours as terminals know them. They only repeat what the text says.
const (
	green = "\x1b[32m"
	red   = "\x1b[31m"
	reset = "\x1b[0m"
)

func (l *layout) grid(g group) gridText {
	heads := make([][]string, 2)
	for j, c := range l.columns {
		for i, text := range c.of(g).head {
			heads[i] = append(heads[i], gap(j)+pad(text, c.width, c.right))
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
