package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/perf/benchfmt"

	"mpbench/pkg/record"
)

func TestFormatByName(t *testing.T) {
	for _, f := range Formats() {
		if got, err := FormatByName(f.Name); err != nil || got.Name != f.Name {
			t.Errorf("%s: %v, %v", f.Name, got.Name, err)
		}
		for _, ending := range f.Endings {
			for _, path := range []string{"a" + ending, "b/c.d" + strings.ToUpper(ending)} {
				if got, err := FormatByPath(path); err != nil || got.Name != f.Name {
					t.Errorf("%s: %v, %v", path, got.Name, err)
				}
			}
		}
	}
	for _, c := range []struct {
		find func(string) (Format, error)
		in   string
		want string
	}{
		{FormatByName, "tabel",
			`unknown format "tabel", did you mean "table"? (choose from table, markdown, csv, json, ` +
				`jsonl, gobench, html, svg, png, parquet)`},
		{FormatByName, "JSON",
			`unknown format "JSON", did you mean "json"? (choose from table, markdown, csv, json, ` +
				`jsonl, gobench, html, svg, png, parquet)`},
		{FormatByName, "", `unknown format "" (choose from table, markdown, csv, json, jsonl, gobench, html, svg, png, ` +
			`parquet)`},
		{FormatByName, "xlsx",
			`unknown format "xlsx" (choose from table, markdown, csv, json, jsonl, gobench, html, svg, png, parquet)`},
		{FormatByPath, "dir.csv/x",
			`unknown ending of export file "x" (choose from .txt, .md, .csv, .json, .jsonl, .bench, .html, ` +
				`.svg, .png, .parquet)`},
		{FormatByPath, "x.jsnl",
			`unknown ending of export file "x.jsnl", did you mean ".jsonl"? (choose from .txt, .md, ` +
				`.csv, .json, .jsonl, .bench, .html, .svg, .png, .parquet)`},
	} {
		_, err := c.find(c.in)
		var unknown *UnknownFormatError
		if !errors.As(err, &unknown) || err.Error() != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

// TestCSVReads: the reader of the standard library finds every cell again, whatever characters it holds.
func TestCSVReads(t *testing.T) {
	for _, run := range []*record.Run{testRun(), specialRun()} {
		text := render(t, func(b *bytes.Buffer) error { return CSV(b, run, Options{}) })
		lines, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		if len(lines) != len(run.Records)+1 {
			t.Fatalf("%d lines", len(lines))
		}
		cell := func(i int, name string) string { return lines[i+1][slices.Index(lines[0], name)] }
		for i, r := range run.Records {
			if cell(i, "method") != r.Method || cell(i, "dataset") != r.Dataset.Label() || cell(i, "rel_error") != r.RelError {
				t.Errorf("record %d: %v", i, lines[i+1])
			}
			if (cell(i, "correct_bits") == "") != (r.CorrectBits == nil) ||
				(cell(i, "within_bound") == "") != (r.WithinBound == nil) {
				t.Errorf("record %d: %v", i, lines[i+1])
			}
			if ns, err := strconv.ParseFloat(cell(i, "median_ns"), 64); hasTime(&r) && (err != nil || ns != r.Time.Median) {
				t.Errorf("record %d: median %v, %v", i, ns, err)
			}
		}
	}
}

// TestMarkdownCells: every line of a table has as many cells as its head, after unescaping.
func TestMarkdownCells(t *testing.T) {
	text := string(render(t, func(b *bytes.Buffer) error { return Markdown(b, specialRun(), Options{}) }))
	cells := 0
	for line := range strings.Lines(text) {
		bars := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		switch {
		case !strings.HasPrefix(line, "|"):
			cells = 0
		case cells == 0:
			cells = bars
		case bars != cells:
			t.Errorf("%d bars instead of %d: %s", bars, cells, line)
		}
	}
	if !strings.Contains(text, `a\|b\_c\*d`) {
		t.Error("the data set's name is not escaped")
	}
}

// TestJSONIsOneObject: other programs can read it, and the special records too.
func TestJSONIsOneObject(t *testing.T) {
	text := render(t, func(b *bytes.Buffer) error { return JSON(b, specialRun(), Options{}) })
	var doc struct {
		Schema       string
		Environments []map[string]any
		Records      []map[string]any
	}
	if err := json.Unmarshal(text, &doc); err != nil || doc.Schema != record.RunSchema || len(doc.Records) != 6 ||
		doc.Environments == nil {
		t.Errorf("%+v, %v", doc, err)
	}
}

// TestGoBenchReads: the reader behind benchstat takes every line and finds the samples, units and settings.
func TestGoBenchReads(t *testing.T) {
	for _, run := range []*record.Run{testRun(), specialRun(), plainRun()} {
		text := render(t, func(b *bytes.Buffer) error { return GoBench(b, run, Options{}) })
		in := benchfmt.NewReader(bytes.NewReader(text), "test")
		seconds := map[string][]float64{} // by name
		bits := map[string]float64{}
		for in.Scan() {
			switch r := in.Result().(type) {
			case *benchfmt.SyntaxError:
				t.Errorf("%v\n%s", r, text)
			case *benchfmt.Result:
				name := r.Name.String()
				if s, ok := r.Value("sec/op"); ok {
					seconds[name] = append(seconds[name], s)
				}
				bits[name], _ = r.Value("correct-bits")
				if len(run.Environments) > 0 && r.GetConfig("cpu") != run.Environments[0].CPU.Brand {
					t.Errorf("cpu %q", r.GetConfig("cpu"))
				}
			}
		}
		if err := in.Err(); err != nil {
			t.Fatal(err)
		}
		if units := in.Units(); units.GetBetter("correct-bits") != 1 || units.Get("correct-bits",
			"assume").Value != "exact" {
			t.Errorf("units %v", units)
		}
		for i := range run.Records {
			r := &run.Records[i]
			name := benchmarkName(r).String()
			samples, count := r.Time.Samples, min(len(r.Time.Samples), maxBenchSamples)
			if len(seconds[name]) != count {
				t.Errorf("%s: %d samples, want %d", name, len(seconds[name]), count)
				continue
			}
			for j, s := range seconds[name] {
				if want := samples[j*len(samples)/count] / 1e9; math.Abs(s-want) > 1e-15*want {
					t.Errorf("%s: sample %v, want %v", name, s, want)
				}
			}
			want := 0.0 // exact results have no number
			if r.CorrectBits != nil {
				want = *r.CorrectBits
			}
			if bits[name] != want {
				t.Errorf("%s: %v bits, want %v", name, bits[name], want)
			}
		}
	}
}

func TestBenchmarkName(t *testing.T) {
	r := caseOf("reduce2", 240, 240, "", "0", "", 0, true)
	r.Dataset = record.Dataset{Name: "file", N: 9, Params: map[string]string{"path": "/data/my file.npy"}}
	r.Shape.N = 9
	want := "Sum/method=reduce2/precision=240/dataset=file:path=_data_my_file.npy/n=9-2"
	got := benchmarkName(&r)
	if got.String() != want {
		t.Errorf("got %s", got)
	}
	base, parts := got.Parts()
	if string(base) != "Sum" || len(parts) != 5 || string(parts[1]) != "/precision=240" || string(parts[4]) != "-2" {
		t.Errorf("base %s, parts %s", base, parts)
	}
}
