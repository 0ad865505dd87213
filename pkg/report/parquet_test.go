package report

import (
	"bytes"
	"io"
	"math"
	"testing"

	"github.com/parquet-go/parquet-go"

	"mpbench/pkg/record"
)

// parquetRows reads a file as rows of values by column.
func parquetRows(t *testing.T, data []byte) (rows []map[string]parquet.Value) {
	t.Helper()
	file, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	columns := file.Schema().Columns()
	for _, group := range file.RowGroups() {
		reader := group.Rows()
		for {
			buffer := make([]parquet.Row, 8)
			n, err := reader.ReadRows(buffer)
			for _, row := range buffer[:n] {
				cells := map[string]parquet.Value{}
				for _, v := range row {
					cells[columns[v.Column()][0]] = v.Clone()
				}
				rows = append(rows, cells)
			}
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		reader.Close()
	}
	return rows
}

// TestParquet reads what was written: typed cells, null where nothing is known, one row a record or a sample.
func TestParquet(t *testing.T) {
	run := testRun()
	rows := parquetRows(t, render(t, func(b *bytes.Buffer) error { return Parquet(b, run, Options{}) }))
	if len(rows) != len(run.Records) {
		t.Fatalf("%d rows of %d records", len(rows), len(run.Records))
	}
	samples := 0
	for i, r := range run.Records {
		row := rows[i]
		samples += len(r.Time.Samples)
		if row["method"].String() != r.Method || int(row["precision_bits"].Int64()) != r.PrecisionBits ||
			row["exact_result"].Boolean() != r.ExactResult || row["correct_bits"].IsNull() != (r.CorrectBits == nil) {
			t.Errorf("record %d: %v", i, row)
		}
		if hasTime(&r) && row["median_ns"].Double() != r.Time.Median {
			t.Errorf("record %d: median %v, want %v", i, row["median_ns"], r.Time.Median)
		}
	}
	rows = parquetRows(t, render(t, func(b *bytes.Buffer) error { return Parquet(b, run, Options{Samples: true}) }))
	if len(rows) != samples {
		t.Fatalf("%d rows of %d samples", len(rows), samples)
	}
	at := 0
	for _, r := range run.Records {
		for j, ns := range r.Time.Samples {
			if row := rows[at]; row["sample_ns"].Double() != ns || int(row["sample"].Int64()) != j+1 {
				t.Errorf("%s sample %d: %v", r.Method, j, row)
			}
			at++
		}
	}
}

// TestNearest: no error is rounded to 0, and names of parameters cannot break the schema.
func TestNearest(t *testing.T) {
	for s, want := range map[string]float64{
		"1e-5000": math.SmallestNonzeroFloat64, "-1e-400": -math.SmallestNonzeroFloat64, "0": 0, "1e999": math.Inf(1),
		"2.5e-3": 2.5e-3, "+Inf": math.Inf(1),
	} {
		if got, err := nearest(s); got != want || err != nil {
			t.Errorf("%s: %v, %v", s, got, err)
		}
	}
	run := &record.Run{Records: []record.Record{{Command: "sum", Dataset: record.Dataset{
		Params: map[string]string{`a"b`: "1", "a,b": "2", "a_b": "3"}}}}}
	rows := parquetRows(t, render(t, func(b *bytes.Buffer) error { return Parquet(b, run, Options{}) }))
	if row := rows[0]; row["param_a_b"].String()+row["param_a_b_"].String()+row["param_a_b__"].String() != "123" {
		t.Errorf("%v", row)
	}
}
