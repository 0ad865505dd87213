package report

import (
	"errors"
	"strings"
	"testing"

	"mpbench/pkg/record"
)

func filterRun() *record.Run {
	run := &record.Run{}
	for _, c := range []struct {
		method, cond, relative string
		precision              int
		ns                     float64
	}{{"a", "1e2", "1e-400", 53, 30}, {"b", "1e10", "2e-16", 106, 5}, {"c", "1e9", "0", 240, 1000}} {
		bits := 50.0
		r := record.Record{Method: c.method, PrecisionBits: c.precision, RelError: c.relative, CorrectBits: &bits}
		r.ExactResult = c.relative == "0"
		r.Dataset.Params = map[string]string{"cond": c.cond}
		r.Time = record.Timing{Median: c.ns, Samples: []float64{c.ns}}
		run.Records = append(run.Records, r)
	}
	return run
}

func order(run *record.Run) (text string) {
	for _, r := range run.Records {
		text += r.Method
	}
	return text
}

// TestFilter: numbers of any size are compared as numbers, texts as texts.
func TestFilter(t *testing.T) {
	for conditions, want := range map[string]string{
		"method=a": "a", "method!=a": "bc", "prec>100": "bc", "prec>=106,prec<=106": "b", "error<1e-300": "ac",
		"cond>1e5": "bc", "time < 100, method>a": "b", "bits=+Inf": "c", "device>cpu": "",
	} {
		run := filterRun()
		if err := Filter(run, conditions); err != nil || order(run) != want {
			t.Errorf("%s keeps %q, want %q: %v", conditions, order(run), want, err)
		}
	}
}

// TestSort: also from the last to the first, and by several fields.
func TestSort(t *testing.T) {
	for fields, want := range map[string]string{
		"time": "bac", "-time": "cab", "error": "cab", "cond": "acb", "n,-prec": "cba",
	} {
		run := filterRun()
		if err := Sort(run, fields); err != nil || order(run) != want {
			t.Errorf("by %s: %q, want %q: %v", fields, order(run), want, err)
		}
	}
}

func TestFilterErrors(t *testing.T) {
	for conditions, want := range map[string]string{
		"methd=a": `unknown field "methd" (did you mean method`, "prec": "want a field, one of", "": "want a field",
	} {
		var wrong *FilterError
		if err := Filter(filterRun(), conditions); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", conditions, err, want)
		}
	}
}
