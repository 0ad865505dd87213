package report

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// documentCSV writes one line an object (RFC 4180), under the names that its fields have in JSON.
func documentCSV(w io.Writer, d *Document, _ Options) error {
	out := csv.NewWriter(w)
	out.UseCRLF = true
	for i, row := range d.Rows {
		v := reflect.Indirect(reflect.ValueOf(row))
		var names, cells []string
		for j := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(j).Tag.Get("json"), ",")
			names = append(names, name)
			cells = append(cells, csvCell(v.Field(j)))
		}
		if i == 0 {
			if err := out.Write(names); err != nil {
				return err
			}
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
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
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	type note struct {
		Label string `json:"label"`
		Text  string `json:"text"`
	}
	notes := []note{}
	for _, n := range d.Notes {
		notes = append(notes, note(n))
	}
	return encoder.Encode(struct {
		Schema string `json:"schema"`
		Title  string `json:"title"`
		Rows   []any  `json:"rows"`
		Notes  []note `json:"notes"`
	}{d.Schema, d.Title, append([]any{}, d.Rows...), notes})
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
