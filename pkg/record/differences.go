package record

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Difference is a field that two environments have different contents in.
type Difference struct {
	Field    string // as it is called in JSON, "cpu.brand", "gpus[0].driver"
	Old, New string // "" where it is not known
}

// String says what differs in one line.
func (d Difference) String() string {
	return fmt.Sprintf("%s %s -> %s", d.Field, quoteUnknown(d.Old), quoteUnknown(d.New))
}

func quoteUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// Differences lists the fields in which two environments differ, in alphabetical order. The time of capture, the load and the
// ID, which follows from the other fields, are none.
func Differences(from, to Environment) []Difference {
	before, after := from.fields(), to.fields()
	names := slices.Concat(slices.Collect(maps.Keys(before)), slices.Collect(maps.Keys(after)))
	slices.Sort(names)
	var list []Difference
	for _, name := range slices.Compact(names) {
		if before[name] != after[name] {
			list = append(list, Difference{name, before[name], after[name]})
		}
	}
	return list
}

// passing are the fields that say nothing of how the environment computes.
var passing = []string{"schema", "env_id", "time", "load_average"}

// fields returns the texts of all fields by their names in JSON.
func (env Environment) fields() map[string]string {
	text, err := json.Marshal(env)
	if err != nil { // no field can fail
		panic(fmt.Sprintf("bench: environment: %v", err))
	}
	var tree map[string]any
	if err := json.Unmarshal(text, &tree); err != nil {
		panic(fmt.Sprintf("bench: environment: %v", err))
	}
	for _, name := range passing {
		delete(tree, name)
	}
	flat := map[string]string{}
	flatten(flat, "", tree)
	return flat
}

func flatten(flat map[string]string, name string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			flatten(flat, strings.TrimPrefix(name+"."+key, "."), inner)
		}
	case []any:
		for i, inner := range v {
			flatten(flat, fmt.Sprintf("%s[%d]", name, i), inner)
		}
	case float64:
		flat[name] = fmt.Sprintf("%.0f", v) // all numbers of an environment but the load are integers
	default:
		flat[name] = fmt.Sprint(v)
	}
}

// harmless are the fields that a run may be continued across: a system that was updated, a clock that is set otherwise.
var harmless = []string{"os", "kernel", "governor", "memory_bytes", "go.cgo", "virtual"}

// Comparable returns the first field whose difference makes results and times of two environments no parts of one run: another
// processor, number of threads, program, build, or GPU. ok is true if there is none.
func Comparable(from, to Environment) (d Difference, ok bool) {
	for _, d := range Differences(from, to) {
		if !slices.Contains(harmless, d.Field) {
			return d, false
		}
	}
	return Difference{}, true
}
