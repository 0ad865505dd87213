package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"mpbench/pkg/numbers"
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

// Table writes one table for each data set, under a heading that gives the exact result, and what is to be said of all
// of them. It fills the width of the terminal: the value gets the digits that fit, and columns of less importance are
// shown where there is room.
func Table(w io.Writer, run *record.Run, opts Options) error {
	if areSolved(run) {
		return documentTable(w, Solve(run.Records), opts)
	}
	t := NewTables(w, opts)
	if len(run.Records) == 0 {
		fmt.Fprintln(w, "no results")
	}
	return cmp.Or(t.Add(run), t.Close(run))
}

// Tables writes what Table does bit by bit.
type Tables struct {
	w     io.Writer
	opts  Options
	begun bool
}

// NewTables returns tables without any records yet.
func NewTables(w io.Writer, opts Options) *Tables {
	if opts.Width <= 0 {
		opts.Width = 80
	}
	return &Tables{w: w, opts: opts}
}

// Add writes the tables of records, each data set of which has all of its own.
func (t *Tables) Add(run *record.Run) error {
	out := bufio.NewWriter(t.w)
	all := groups(run)
	l := newLayout(all, newNotes(run, all, t.opts.Verbose), t.opts)
	for _, g := range all {
		if t.begun {
			fmt.Fprintln(out)
		}
		t.begun = true
		writeHeading(out, g, l.opts)
		if err := writeGrid(out, l.grid(g)); err != nil {
			return err
		}
		if line := g.winner(t.opts.ASCII); line != "" {
			wrap(out, line, t.opts.Width)
		}
	}
	return out.Flush()
}

// Close writes what is to be said of all records.
func (t *Tables) Close(run *record.Run) error {
	out := bufio.NewWriter(t.w)
	writeNotes(out, newNotes(run, groups(run), t.opts.Verbose), t.opts)
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
		if label > opts.Width/2 || label+columnGap+textWidth(exact) > opts.Width {
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
	l.fit(all)
	for _, extra := range extras {
		extra.width = l.width(extra, all)
		if extra.width > 0 && l.total()+columnGap+extra.width+goodValueWidth-minValueWidth <= opts.Width {
			l.insert(extra)
		}
	}
	l.widenValue(all)
	return l
}

// fit makes the table as narrow as the terminal: what goes last is the method, error, correct bits and time, and where
// a result is outside its bound, that.
func (l *layout) fit(all []group) {
	dispensable := []columnID{boundID, okID, spreadID, valueID, bitsID, otherID}
	if l.failing {
		dispensable = []columnID{spreadID, valueID, bitsID, otherID, boundID}
	}
	for _, id := range dispensable {
		for l.total() > l.opts.Width {
			if id == spreadID {
				l.dropSpread(all)
				break
			}
			if !l.drop(id) {
				break
			}
		}
	}
}

// dropSpread leaves the medians alone in the column of times.
func (l *layout) dropSpread(all []group) {
	for i, c := range l.columns {
		if c.id == timeID {
			l.columns[i] = medianColumn(l.opts.ASCII)
			l.columns[i].width = l.width(l.columns[i], all)
		}
	}
}

// choices returns the essential columns in their order, and others by importance, which are shown if there is room.
func (l *layout) choices(all []group, notes *notes) (essential, extras []column) {
	essential = append([]column{l.methodColumn().as(methodID)}, variants(all)...)
	essential = append(essential,
		bitsColumn, groupColumn("", "value", false, nil).as(valueID), errorColumn, correctColumn, boundColumn, okColumn,
		l.timeColumn(all), ratioColumn(all, l.opts.ASCII), notes.column().as(noteID),
	)
	return essential, []column{
		flopsColumn(), memoryColumn(), perElementColumn(), convertColumn(l.opts.ASCII), oneShotColumn(l.opts.ASCII),
		bandwidthColumn(), samplesColumn, moduliColumn, roundingsColumn, alignmentsColumn,
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
	})).as(timeID)
}

// medianColumn is the time without its spread.
func medianColumn(ascii bool) column {
	return plainColumn("", "time", true, ifTimed(func(r *record.Record) string { return siTime(r.Time.Median, ascii) })).
		as(timeID)
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

// drop leaves out the last column with an ID, if there is one.
func (l *layout) drop(id columnID) bool {
	for i, c := range slices.Backward(l.columns) {
		if c.id == id {
			l.columns = slices.Delete(l.columns, i, i+1)
			return true
		}
	}
	return false
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
		name := numbers.ComponentName(*r.Row, r.Shape.K) + " "
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
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[31m"
	reset  = "\x1b[0m"
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
			row = append(row, gap(j)+l.paint(c.id, pad(c.cell(g, r), c.width, c.right), r))
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

// paint colours the cells that say whether a result is good: the correct bits by whether they are enough, wrong digits
// of the value, what is outside its bound.
func (l *layout) paint(id columnID, text string, r *record.Record) string {
	if !l.opts.Color {
		return text
	}
	switch failed := r.OutsideBound(); {
	case failed && (id == okID || id == methodID):
		return red + text + reset
	case id == correctID && correctDigits(r) >= min(enoughDigits, float64(r.ActualBits-1)*math.Log10(2)):
		return green + text + reset
	case id == correctID && correctDigits(r) < 1:
		return red + text + reset
	case id == correctID:
		return yellow + text + reset
	case id == valueID:
		if from, to := wrongFrom(text, r); from < to {
			return text[:from] + red + text[from:to] + reset + text[to:]
		}
	}
	return text
}
