package report

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"mpbench/pkg/record"
)

// A dataField is a column of the formats for programs: a cell is "" where it is not known, or does not apply.
type dataField struct {
	name string
	kind fieldKind
	cell func(*record.Record) string
}

// A fieldKind is the type of a column, in formats that have types.
type fieldKind int

const (
	kindText    fieldKind = iota
	kindDecimal           // a number of any size, see record.ParseDecimal
	kindInteger
	kindNumber
	kindTruth
)

// dataFields are the columns of CSV and, behind them, the parameters of the data sets of a run: param_cond.
func dataFields(run *record.Run) []dataField {
	fields := slices.Clone(csvColumns)
	for _, name := range parameters(run) {
		fields = append(fields, dataField{"param_" + name, kindText, func(r *record.Record) string {
			return r.Dataset.Params[name]
		}})
	}
	return fields
}

// parameters lists the parameters of the data sets, in alphabetical order.
func parameters(run *record.Run) []string {
	all := map[string]string{}
	for _, r := range run.Records {
		maps.Copy(all, r.Dataset.Params)
	}
	return slices.Sorted(maps.Keys(all))
}

// A flatTable has the cells of fields as texts: a line for each record, or for each sample of each record, which has
// two more columns then: its number from 1 on, and its time.
type flatTable struct {
	names []string
	kinds []fieldKind
	rows  [][]string
}

func flatten(run *record.Run, fields []dataField, samples bool) flatTable {
	var t flatTable
	for _, f := range fields {
		t.names, t.kinds = append(t.names, f.name), append(t.kinds, f.kind)
	}
	if samples {
		t.names, t.kinds = append(t.names, "sample", "sample_ns"), append(t.kinds, kindInteger, kindNumber)
	}
	for i := range run.Records {
		r := &run.Records[i]
		var cells []string
		for _, f := range fields {
			cells = append(cells, f.cell(r))
		}
		if !samples {
			t.rows = append(t.rows, cells)
			continue
		}
		for j, ns := range r.Time.Samples {
			row := append(slices.Clone(cells), strconv.Itoa(j+1), strconv.FormatFloat(ns, 'g', -1, 64))
			t.rows = append(t.rows, row)
		}
	}
	return t
}

// fieldTypes are the types of cells, which are nil where a cell is empty.
var fieldTypes = map[fieldKind]reflect.Type{
	kindText: reflect.TypeFor[*string](), kindDecimal: reflect.TypeFor[*string](), kindInteger: reflect.TypeFor[*int64](),
	kindNumber: reflect.TypeFor[*float64](), kindTruth: reflect.TypeFor[*bool](),
}

// structs returns the rows as structs of one type, whose fields have the names of the columns as their key in tags.
// Decimals are what types[kindDecimal] says: texts, or numbers.
func (t flatTable) structs(key string, types map[fieldKind]reflect.Type) (of reflect.Type, list []any) {
	var fields []reflect.StructField
	taken := map[string]bool{}
	for i, name := range t.names {
		name = tagName(name)
		for taken[name] {
			name += "_"
		}
		taken[name] = true
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprint("F", i), Type: types[t.kinds[i]], Tag: reflect.StructTag(key + `:"` + name + `"`),
		})
	}
	of = reflect.StructOf(fields)
	for _, row := range t.rows {
		v := reflect.New(of).Elem()
		for i, cell := range row {
			if value, ok := typed(cell, fields[i].Type); ok {
				v.Field(i).Set(value)
			}
		}
		list = append(list, v.Interface())
	}
	return of, list
}

// tagName replaces what does not fit the tag of a field: a file may name a parameter as it likes.
func tagName(name string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune("_-. ", c) {
			return c
		}
		return '_'
	}, name)
}

// typed reads a cell as what a pointer of the type points to; false for none.
func typed(cell string, pointer reflect.Type) (reflect.Value, bool) {
	v := reflect.New(pointer.Elem())
	if cell == "" {
		return v, false
	}
	var err error
	switch p := v.Interface().(type) {
	case *string:
		*p = cell
	case *int64:
		*p, err = strconv.ParseInt(cell, 10, 64)
	case *float64:
		*p, err = nearest(cell)
	case *bool:
		*p, err = strconv.ParseBool(cell)
	}
	return v, err == nil
}
