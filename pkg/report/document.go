package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strings"

	"mpbench/pkg/record"
)

// A Document is a result that is no list of measured records, such as a comparison with a paper: tables for people,
// and the same content as flat objects for programs.
type Document struct {
	Schema  string // of the objects: "mpbench-paper/1"
	Title   string
	Sheets  []Sheet
	Notes   []Note
	Closing []string // paragraphs at the end; lines in them that begin with four spaces are not broken

	Environment *record.Environment // in the last line of a table, nil for none

	// Rows are structs of one type with json tags, whose fields are strings, numbers and truth values.
	Rows []any
}

// A Sheet is one table of a Document.
type Sheet struct {
	Title   string // "" for none
	Facts   []string
	Columns []SheetColumn
	Rows    [][]string // as many cells as columns, without line breaks but in a last column that wraps
	Breaks  bool       // columns that the width has no room for go into tables below, behind the first column
}

// A SheetColumn describes the cells below it.
type SheetColumn struct {
	Head     [2]string // two lines
	Right    bool      // aligned to the right
	Verdict  bool      // colour "yes" and "pass" green, "NO" and "FAIL" red
	Optional bool      // left out of a terminal that is too narrow, the last one first
	Wrap     bool      // the last column only: broken between words to fit the terminal
}

// A Note is a footnote: its label stands in cells.
type Note struct {
	Label string `json:"label"`
	Text  string `json:"text"`
}

// A DocumentFormat is one way to write a Document.
type DocumentFormat struct {
	Name   string // as in --format
	Render func(io.Writer, *Document, Options) error
}

// DocumentFormats returns all formats of documents, the default one first.
func DocumentFormats() []DocumentFormat {
	return []DocumentFormat{
		{"table", documentTable},
		{"markdown", documentMarkdown},
		{"csv", documentCSV},
		{"json", documentJSON},
		{"jsonl", documentJSONL},
	}
}

// DocumentFormatByName returns the format of the given name, or an *UnknownFormatError.
func DocumentFormatByName(name string) (DocumentFormat, error) {
	return byName(DocumentFormats(), name, func(f DocumentFormat) string { return f.Name })
}

// check finds rows of another length than the heading: a mistake of the program.
func (s Sheet) check() error {
	for i, row := range s.Rows {
		if len(row) != len(s.Columns) {
			return fmt.Errorf("report: row %d of %q has %d cells, its heading %d", i, s.Title, len(row), len(s.Columns))
		}
	}
	return nil
}

// documentTable writes the sheets below each other, then notes and closing paragraphs, to fit the terminal.
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
		lines := BreakText(part, width-len(indent))
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
	if s.Breaks && s.total(opts.Width) > opts.Width && len(s.Columns) > 2 {
		return writeParts(w, s, opts)
	}
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

// writeParts writes the columns that fit, and then the first one with those behind them.
func writeParts(w io.Writer, s Sheet, opts Options) error {
	s.Title, s.Facts = "", nil
	here := s
	from := len(s.Columns)
	for ; from > 2 && here.total(opts.Width) > opts.Width; from-- {
		here = here.without(from - 1)
	}
	if err := writeSheet(w, here, opts); err != nil || from == len(s.Columns) {
		return err
	}
	for range from - 1 {
		s = s.without(1)
	}
	fmt.Fprintln(w)
	return writeSheet(w, s, opts)
}

// fitting leaves out columns of empty cells, and optional columns that the width has no room for: those that wrap are
// the last to go.
func (s Sheet) fitting(width int) Sheet {
	for j := len(s.Columns) - 1; j >= 0; j-- {
		if len(s.Rows) > 0 && !slices.ContainsFunc(s.Rows, func(row []string) bool { return row[j] != "" }) {
			s = s.without(j)
		}
	}
	for _, wrap := range []bool{false, true} {
		for j := len(s.Columns) - 1; j >= 0; j-- {
			if c := s.Columns[j]; c.Optional && c.Wrap == wrap && s.total(width) > width {
				s = s.without(j)
			}
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
			widths[j] = max(min(minLastColumn, widths[j]), min(left, widths[j]))
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
		parts = BreakText(row[last], widths[last])
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

func paintVerdict(text string) string {
	switch strings.TrimSpace(text) {
	case "yes", "pass":
		return green + text + reset
	case "NO", "FAIL":
		return red + text + reset
	}
	return text
}

// documentMarkdown writes a heading and a table for each sheet, without empty columns, and the notes as a list.
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
	var heads []string
	var right []bool
	for _, c := range s.Columns {
		heads = append(heads, escapeMarkdown(strings.TrimSpace(c.Head[0]+" "+c.Head[1])))
		right = append(right, c.Right)
	}
	rows := make([][]string, len(s.Rows))
	for i, row := range s.Rows {
		for _, text := range row {
			rows[i] = append(rows[i], escapeMarkdown(text))
		}
	}
	writeMarkdownTable(w, heads, right, rows)
}

// documentCSV writes one line an object (RFC 4180), under the names that its fields have in JSON.
func documentCSV(w io.Writer, d *Document, _ Options) error {
	var rows [][]string
	for i, row := range d.Rows {
		v := reflect.Indirect(reflect.ValueOf(row))
		var names, cells []string
		for j := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(j).Tag.Get("json"), ",")
			names = append(names, name)
			cells = append(cells, csvCell(v.Field(j)))
		}
		if i == 0 {
			rows = append(rows, names)
		}
		rows = append(rows, cells)
	}
	return writeCSV(w, rows)
}

// csvCell writes a field; nil pointers are empty.
func csvCell(v reflect.Value) string {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return ""
		}
		v = v.Elem()
	}
	return fmt.Sprint(v.Interface())
}

// documentJSON writes one object that holds everything but the layout.
func documentJSON(w io.Writer, d *Document, _ Options) error {
	return writeJSON(w, struct {
		Schema string `json:"schema"`
		Title  string `json:"title"`
		Rows   []any  `json:"rows"`
		Notes  []Note `json:"notes"`
	}{d.Schema, d.Title, append([]any{}, d.Rows...), append([]Note{}, d.Notes...)})
}

// documentJSONL writes one object a line, each with the schema.
func documentJSONL(w io.Writer, d *Document, _ Options) error {
	out := bufio.NewWriter(w)
	for _, row := range d.Rows {
		var b bytes.Buffer
		encoder := json.NewEncoder(&b)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(row); err != nil {
			return err
		}
		fields := bytes.TrimPrefix(bytes.TrimSpace(b.Bytes()), []byte("{"))
		fmt.Fprintf(out, "{\"schema\":%q,%s\n", d.Schema, fields)
	}
	return out.Flush()
}
