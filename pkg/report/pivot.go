package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mpbench/pkg/record"
)

// The schemas of the rows of Select and Pivot.
const (
	selectSchema = "mpbench-columns/1"
	pivotSchema  = "mpbench-pivot/1"
)

// fields returns those that a list names, as "method,time". Correct bits of an exact result are +Inf.
func fields(run *record.Run, list string) (all []dataField, err error) {
	for _, name := range strings.Split(list, ",") {
		f, err := field(run, strings.TrimSpace(name))
		if err != nil {
			return nil, err
		}
		if f.name == "correct_bits" {
			f.kind, f.cell = kindDecimal, f.key()
		}
		all = append(all, f)
	}
	return all, nil
}

// Select returns one table of all records, a line each, with the columns that a list names, as "method,cond,time".
// The rows for programs have the names of CSV's columns, and a row for each sample if that is asked for.
func Select(run *record.Run, columns string, samples bool, opts Options) (*Document, error) {
	shown, err := fields(run, columns)
	if err != nil {
		return nil, err
	}
	d := &Document{Schema: selectSchema}
	_, d.Rows = flatten(run, shown, samples).structs("json", fieldTypes)
	sheet := Sheet{Breaks: true}
	for _, name := range strings.Split(columns, ",") {
		sheet.Columns = append(sheet.Columns, SheetColumn{Head: [2]string{"", strings.TrimSpace(name)}})
	}
	for j, f := range shown {
		sheet.Columns[j].Right = f.kind != kindText && f.kind != kindTruth
	}
	for i := range run.Records {
		var cells []string
		for _, f := range shown {
			cells = append(cells, f.readable(&run.Records[i], opts.ASCII))
		}
		sheet.Rows = append(sheet.Rows, cells)
	}
	d.Sheets = []Sheet{sheet}
	return d, nil
}

// readable is the cell as people read it.
func (f dataField) readable(r *record.Record, ascii bool) string {
	cell := f.cell(r)
	switch {
	case f.name == "correct_bits":
		return correctBits(r)
	case f.name == "value" || f.name == "exact":
		return shortDecimal(cell, maxValueDigits)
	case cell == "":
		return none
	case f.kind == kindDecimal:
		return shortDecimal(cell, 2)
	case strings.HasSuffix(f.name, "_ns"):
		ns, err := nearest(cell)
		if err == nil {
			return siTime(ns, ascii)
		}
	case f.kind == kindNumber:
		x, err := nearest(cell)
		if err == nil {
			return threeDigits(x)
		}
	case f.name == "dataset_sha256":
		return cell[:min(len(cell), 12)]
	}
	return strings.Join(strings.Fields(cell), " ")
}

// Pivot returns tables with a line for each value of a field and a column for each method, precision, device and so
// on:
// of each of the fields that a list names, a table for each problem that differs in more than the field. Two results
// for
// one cell are a *FilterError.
func Pivot(run *record.Run, name, columns string, opts Options) (*Document, error) {
	by, err := field(run, name)
	if err != nil {
		return nil, err
	}
	shown, err := fields(run, columns)
	if err != nil {
		return nil, err
	}
	d := &Document{Schema: pivotSchema}
	pivots := newPivots(run, name, by)
	for _, p := range pivots {
		if err := p.fill(name, by); err != nil {
			return nil, err
		}
		for i, f := range shown {
			title := strings.TrimSpace(strings.Split(columns, ",")[i]) + ": " + p.title
			d.Sheets = append(d.Sheets, p.sheet(name, title, f, opts.ASCII))
		}
	}
	_, d.Rows = flatPivots(pivots, by, shown).structs("json", fieldTypes)
	return d, nil
}

// flatPivots has a row for each line of each pivot, with a column for each method and field.
func flatPivots(pivots []*pivot, by dataField, shown []dataField) flatTable {
	t := flatTable{names: []string{"problem", by.name}, kinds: []fieldKind{kindText, by.kind}}
	var heads []string
	for _, p := range pivots {
		for _, head := range p.columns {
			if slices.Contains(heads, head) {
				continue
			}
			heads = append(heads, head)
			for _, f := range shown {
				t.names, t.kinds = append(t.names, head+" "+f.name), append(t.kinds, f.kind)
			}
		}
	}
	for _, p := range pivots {
		for _, line := range p.lines {
			row := []string{p.title, line}
			for _, head := range heads {
				r := p.cells[[2]string{line, head}]
				for _, f := range shown {
					cell := ""
					if r != nil {
						cell = f.cell(r)
					}
					row = append(row, cell)
				}
			}
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// A pivot has the records of one problem, but for the field of its lines.
type pivot struct {
	title          string
	records        []*record.Record
	lines, columns []string
	cells          map[[2]string]*record.Record // by line and column
}

// sizes are settings that one size of a scan changes together.
var sizes = []string{"m", "n", "k", "nnz"}

// ofMethods are the settings that make the columns of a pivot; all others, but for its field, say what the problem is.
var ofMethods = []string{
	"method", "precision", "device", "moduli-bits", "rounding", "alignment", "blocks", "block-size", "algorithm",
	"precondition", "threads",
}

func newPivots(run *record.Run, name string, by dataField) []*pivot {
	var all []*pivot
	index := map[string]*pivot{}
	for i := range run.Records {
		r := &run.Records[i]
		title := problemWithout(r, name, by)
		p := index[title]
		if p == nil {
			p = &pivot{title: title, cells: map[[2]string]*record.Record{}}
			index[title] = p
			all = append(all, p)
		}
		p.records = append(p.records, r)
	}
	return all
}

// problemWithout describes the problem of a record but for a field.
func problemWithout(r *record.Record, name string, by dataField) string {
	without := *r
	without.Dataset.Params = maps.Clone(r.Dataset.Params)
	delete(without.Dataset.Params, name)
	delete(without.Dataset.Params, strings.TrimPrefix(by.name, "param_"))
	parts := []string{r.Command}
	for _, s := range without.Settings() {
		same := s.Key == settingOf(by) || by.name == "dataset"
		bySize := slices.Contains(sizes, by.name) || by.name == "dataset"
		if same || slices.Contains(ofMethods, s.Key) || bySize && slices.Contains(sizes, s.Key) {
			continue
		}
		if s.Key == "dataset" {
			parts = append(parts, s.Value)
		} else {
			parts = append(parts, s.Key+"="+s.Value)
		}
	}
	return strings.Join(parts, " ")
}

// settingOf is the setting whose column f is: "precision" of precision_bits.
func settingOf(f dataField) string {
	return cmp.Or(map[string]string{"precision_bits": "precision"}[f.name], strings.ReplaceAll(f.name, "_", "-"))
}

// fill puts each record into its cell. Lines are in the order of their values, columns in that of the records.
func (p *pivot) fill(name string, by dataField) error {
	heads := p.heads(by)
	for i, r := range p.records {
		at := [2]string{by.cell(r), heads[i]}
		if p.cells[at] != nil {
			const text = "%s=%s, %s: several results (%s); choose some by a filter"
			return &FilterError{fmt.Sprintf(text, name, at[0], at[1], p.title)}
		}
		p.cells[at] = r
		if !slices.Contains(p.lines, at[0]) {
			p.lines = append(p.lines, at[0])
		}
		if !slices.Contains(p.columns, at[1]) {
			p.columns = append(p.columns, at[1])
		}
	}
	slices.SortStableFunc(p.lines, compareFields)
	return nil
}

// heads names the column of each record: the method, with those of the settings in which records of it differ.
func (p *pivot) heads(by dataField) []string {
	first, several := map[[2]string]string{}, map[[2]string]bool{} // by method and setting
	for _, r := range p.records {
		values := settingsOf(r)
		for _, key := range ofMethods {
			at := [2]string{r.Method, key}
			before, ok := first[at]
			several[at] = several[at] || ok && before != values[key]
			first[at] = values[key]
		}
	}
	var heads []string
	for _, r := range p.records {
		head := r.Method
		values := settingsOf(r)
		for _, key := range ofMethods {
			switch {
			case !several[[2]string{r.Method, key}] || key == settingOf(by) || values[key] == "":
			case key == "precision":
				head += " " + values[key] + " bits"
			case key == "device":
				head += " " + values[key]
			default:
				head += " " + key + "=" + values[key]
			}
		}
		heads = append(heads, head)
	}
	return heads
}

// settingsOf returns the settings of a record by their keys.
func settingsOf(r *record.Record) map[string]string {
	values := map[string]string{"threads": fmt.Sprint(r.Threads)}
	for _, s := range r.Settings() {
		values[s.Key] = s.Value
	}
	return values
}

func (p *pivot) sheet(name, title string, f dataField, ascii bool) Sheet {
	s := Sheet{Title: title, Breaks: true, Columns: []SheetColumn{{Head: [2]string{"", name}, Right: true}}}
	for _, head := range p.columns {
		method, rest, _ := strings.Cut(head, " ")
		heads := [2]string{"", method}
		if rest != "" {
			heads = [2]string{method, rest}
		}
		s.Columns = append(s.Columns, SheetColumn{Head: heads, Right: true})
	}
	for _, line := range p.lines {
		cells := []string{cmp.Or(line, none)}
		for _, head := range p.columns {
			cell := none
			if r := p.cells[[2]string{line, head}]; r != nil {
				cell = f.readable(r, ascii)
			}
			cells = append(cells, cell)
		}
		s.Rows = append(s.Rows, cells)
	}
	return s
}
