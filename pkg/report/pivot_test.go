package report

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"mpbench/pkg/record"
)

func scanRun() *record.Run {
	run := &record.Run{}
	for _, cond := range []string{"1e+10", "100", "1e+20"} {
		for i, c := range []struct {
			method, device string
			precision      int
		}{{"float64", "cpu", 53}, {"deferred", "cpu", 120}, {"deferred", "cpu", 240}, {"deferred", "cuda:0", 120}} {
			bits := 10.0
			r := record.Record{Command: "sum", Method: c.method, Device: c.device, PrecisionBits: c.precision,
				RelError: fmt.Sprintf("1e-%d", len(run.Records)), CorrectBits: &bits, ExactResult: i > 0}
			r.Dataset = record.Dataset{Name: "gensum", Params: map[string]string{"cond": cond, "seed": "1"}}
			r.Shape.N = 10
			r.Time = record.Timing{Median: 1500, Samples: []float64{1000, 2000}}
			run.Records = append(run.Records, r)
		}
	}
	return run
}

// TestPivot: parameters in the order of their values, a column for what tells the results of a method apart.
func TestPivot(t *testing.T) {
	d, err := Pivot(scanRun(), "cond", "error,time", Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := string(render(t, func(b *bytes.Buffer) error { return documentTable(b, d, Options{Width: 90}) }))
	for _, line := range []string{
		"error: sum gensum:seed=1 n=10",
		"                deferred  deferred         deferred",
		" cond  float64  120 bits  240 bits  120 bits cuda:0",
		"  100  1.0e-04   1.0e-05   1.0e-06          1.0e-07",
		"1e+10  1.0e+00   1.0e-01   1.0e-02          1.0e-03",
		"time: sum gensum:seed=1 n=10",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
	narrow := string(render(t, func(b *bytes.Buffer) error { return documentTable(b, d, Options{Width: 40}) }))
	for line := range strings.Lines(narrow) {
		if textWidth(line) > 41 {
			t.Errorf("too wide: %s", line)
		}
	}
	if strings.Count(narrow, "cond  ") < 4 {
		t.Errorf("parts without their first column:\n%s", narrow)
	}
	rows := string(render(t, func(b *bytes.Buffer) error { return documentCSV(b, d, Options{}) }))
	const want = "problem,cond,float64 rel_error,float64 median_ns,deferred 120 bits rel_error"
	if !strings.HasPrefix(rows, want) {
		t.Errorf("%s", rows)
	}
}

// TestPivotErrors: two results for one cell are named, and so is a field that there is not.
func TestPivotErrors(t *testing.T) {
	run := scanRun()
	run.Records = append(run.Records, run.Records[0])
	for field, want := range map[string]string{
		"cond": "cond=1e+10, float64: several results", "cnd": "did you mean cond", "device": "several results",
	} {
		var wrong *FilterError
		if _, err := Pivot(run, field, "error", Options{}); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", field, err)
		}
	}
}

// TestSelect: fields by their names, an exact result has infinitely many bits, one row a sample where asked for.
func TestSelect(t *testing.T) {
	d, err := Select(scanRun(), "method, bits,time", true, Options{})
	if err != nil {
		t.Fatal(err)
	}
	rows := string(render(t, func(b *bytes.Buffer) error { return documentCSV(b, d, Options{}) }))
	if !strings.HasPrefix(rows, "method,correct_bits,median_ns,sample,sample_ns\r\nfloat64,10,1500,1,1000\r\n") ||
		!strings.Contains(rows, "deferred,+Inf,1500,2,2000\r\n") {
		t.Error(rows)
	}
	table := string(render(t, func(b *bytes.Buffer) error { return documentTable(b, d, Options{}) }))
	if !strings.Contains(table, "deferred  exact  1.50 µs\n") {
		t.Error(table)
	}
}
