package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mpbench/internal/suggest"
	"mpbench/pkg/record"
)

// A FilterError is a usage error: a condition or a field of records that there is not.
type FilterError struct{ Text string }

func (e *FilterError) Error() string { return e.Text }

// fieldNames are short names of fields; the columns of CSV and the parameters of data sets are fields too.
var fieldNames = map[string]string{
	"time": "median_ns", "error": "rel_error", "bits": "correct_bits", "prec": "precision_bits",
	"precision": "precision_bits", "cond": "condition", "sha256": "dataset_sha256", "op": "command",
}

// field returns the field of records that a name stands for: a parameter of run's data sets, a column of CSV, or a
// short name of one.
func field(run *record.Run, name string) (dataField, error) {
	usual := columnOf(cmp.Or(fieldNames[name], name))
	if slices.Contains(parameters(run), name) {
		return dataField{name, kindText, func(r *record.Record) string {
			if value, ok := r.Dataset.Params[name]; ok || usual == nil {
				return value
			}
			return usual.cell(r)
		}}, nil
	}
	if usual == nil {
		return dataField{}, &FilterError{suggest.Unknown("field", name, append(FieldNames(), parameters(run)...))}
	}
	return *usual, nil
}

// key returns the function by which records are compared: an exact result has infinitely many correct bits.
func (f dataField) key() func(*record.Record) string {
	if f.name == "correct_bits" {
		return bitsKey
	}
	return f.cell
}

// FieldNames lists the fields that every run has, in alphabetical order.
func FieldNames() []string {
	known := slices.Collect(maps.Keys(fieldNames))
	for _, c := range csvColumns {
		known = append(known, c.name)
	}
	slices.Sort(known)
	return known
}

func columnOf(name string) *dataField {
	for i := range csvColumns {
		if csvColumns[i].name == name {
			return &csvColumns[i]
		}
	}
	return nil
}

// compareFields orders numbers by size, and texts, which come before them, by the alphabet.
func compareFields(a, b string) int {
	x, err1 := record.ParseDecimal(a)
	y, err2 := record.ParseDecimal(b)
	switch {
	case a == "" || b == "" || err1 != nil && err2 != nil:
		return cmp.Compare(a, b)
	case err1 != nil:
		return -1
	case err2 != nil:
		return 1
	case x.Neg != y.Neg && !(x.IsZero() && y.IsZero()):
		if x.Neg {
			return -1
		}
		return 1
	case x.Neg:
		return y.CmpAbs(x)
	}
	return x.CmpAbs(y)
}

// operators of conditions, the longer ones first.
var operators = []struct {
	text string
	ok   func(order int) bool
}{
	{">=", func(o int) bool { return o >= 0 }}, {"<=", func(o int) bool { return o <= 0 }},
	{"!=", func(o int) bool { return o != 0 }}, {"=", func(o int) bool { return o == 0 }},
	{">", func(o int) bool { return o > 0 }}, {"<", func(o int) bool { return o < 0 }},
}

// Filter keeps the records that meet all conditions of a list, as "method=deferred,prec>100". A record without a value
// meets only conditions with != and =.
func Filter(run *record.Run, conditions string) error {
	for _, text := range strings.Split(conditions, ",") {
		keep, err := condition(run, strings.TrimSpace(text))
		if err != nil {
			return err
		}
		run.Records = slices.DeleteFunc(run.Records, func(r record.Record) bool { return !keep(&r) })
	}
	return nil
}

func condition(run *record.Run, text string) (func(*record.Record) bool, error) {
	at := strings.IndexAny(text, "<>=!")
	for _, o := range operators {
		if at <= 0 || !strings.HasPrefix(text[at:], o.text) {
			continue
		}
		f, err := field(run, strings.TrimSpace(text[:at]))
		value := f.key()
		want := strings.TrimSpace(text[at+len(o.text):])
		return func(r *record.Record) bool {
			have := value(r)
			if have == "" && strings.ContainsAny(o.text, "<>") {
				return false
			}
			return o.ok(compareFields(have, want))
		}, err
	}
	const wanted = "condition %q: want a field, one of = != < <= > >=, and a value, as prec>100"
	return nil, &FilterError{fmt.Sprintf(wanted, text)}
}

// Sort sorts records by fields, as "time" or "dataset,-bits"; "-" stands for descending.
func Sort(run *record.Run, fields string) error {
	list := strings.Split(fields, ",")
	for _, name := range slices.Backward(list) {
		name, descending := strings.CutPrefix(strings.TrimSpace(name), "-")
		f, err := field(run, name)
		if err != nil {
			return err
		}
		value := f.key()
		slices.SortStableFunc(run.Records, func(a, b record.Record) int {
			order := compareFields(value(&a), value(&b))
			if descending {
				return -order
			}
			return order
		})
	}
	return nil
}
