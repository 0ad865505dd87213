package report

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"mpbench/pkg/paper"
)

// testPaper is a comparison with every verdict.
func testPaper() *paper.Result {
	return &paper.Result{
		Experiment: paper.Experiment{Name: "test-table1", Title: "A table with | and *",
			Source: "Nobody 2018, DOI 10.0/0, Table 1"},
		Groups: []paper.Group{
			{
				Title: "set 1", Facts: []string{"n = 4"}, Quantities: []string{"value", "error"},
				Rows: []paper.Row{
					{Bits: 30, Label: "reduce1", Device: "cpu", Cells: []paper.Cell{
						{Paper: "1.0", Here: "1.00000000e+00", Verdict: paper.Agrees}, {Paper: "10^-10", Here: "1.0e-09",
							Verdict: paper.Differs}}},
					{Bits: 120, Label: "reduce1s", Device: "cuda:0", Cells: []paper.Cell{
						{Paper: "2e-18", Here: "0", Verdict: paper.Explained, Note: "why"}, {Verdict: paper.Unprinted,
							Here: "1.0e-09"}}},
					{Bits: 120, Label: "reduce3", Cells: []paper.Cell{
						{Paper: "0", Verdict: paper.Missing, Note: "gone"}, {Paper: "0", Verdict: paper.Missing, Note: "gone"}}},
				},
			},
			{
				Title: "times", Quantities: []string{"time"},
				Rows: []paper.Row{{Label: "float64", Device: "cpu", Cells: []paper.Cell{{Paper: "1 ms", Here: "466 us",
					Verdict: paper.Other}}}},
			},
			{
				Title: "statements", Quantities: []string{"ratio"}, Statements: true,
				Rows: []paper.Row{
					{Label: "one is faster than another that is named at such length that the sentence does not fit on a line of " +
						"80 columns", Cells: []paper.Cell{{Paper: "2", Here: "1.5", Verdict: paper.Agrees}}},
					{Label: "the other is faster", Cells: []paper.Cell{{Here: "0.5", Verdict: paper.Fails}}},
				},
			},
		},
		Notes: []paper.Note{
			{Key: "general", Text: "This holds for all."},
			{Key: "why", Text: "A long explanation that goes on for more than the eighty columns that a line of a terminal " +
				"usually has."},
			{Key: "gone", Text: "needs a GPU: none is there"},
		},
	}
}

// TestGoldenPaper renders a comparison in every format; what the files hold was looked at.
func TestGoldenPaper(t *testing.T) {
	d := Paper(testPaper())
	d.Environment = &testRun().Environments[0]
	goldenDocument(t, "paper", d)
	golden(t, "paper-table-color-60", render(t, func(b *bytes.Buffer) error {
		return documentTable(b, d,
			Options{Width: 60, Color: true})
	}))
}

// goldenDocument compares a document in every format with its golden files.
func goldenDocument(t *testing.T, name string, d *Document) {
	t.Helper()
	for _, f := range DocumentFormats() {
		golden(t, name+"-"+f.Name, render(t, func(b *bytes.Buffer) error { return f.Render(b, d, Options{}) }))
	}
	for line := range strings.Lines(string(render(t, func(b *bytes.Buffer) error {
		return documentTable(b, d,
			Options{Width: 80})
	}))) {
		if textWidth(strings.TrimSuffix(line, "\n")) > 80 {
			t.Errorf("%s: %q is wider than 80 columns", name, line)
		}
	}
}

// TestDocumentOptionalColumns: they go, the last one first, where the terminal is too narrow.
func TestDocumentOptionalColumns(t *testing.T) {
	d := &Document{Sheets: []Sheet{{
		Columns: []SheetColumn{{Head: [2]string{"", "a"}}, {Head: [2]string{"", "b"}, Optional: true},
			{Head: [2]string{"", "c"}, Optional: true}, {Head: [2]string{"", "empty"}}},
		Rows: [][]string{{"aaaaaaaa", "bbbbbbbb", "cccccccc", ""}},
	}}}
	for width, want := range map[int]string{40: "aaaaaaaa  bbbbbbbb  cccccccc", 20: "aaaaaaaa  bbbbbbbb",
		10: "aaaaaaaa"} {
		text := string(render(t, func(b *bytes.Buffer) error { return documentTable(b, d, Options{Width: width}) }))
		if lines := strings.Split(strings.TrimSpace(text), "\n"); lines[len(lines)-1] != want || strings.Contains(text,
			"empty") {
			t.Errorf("width %d: %q", width, text)
		}
	}
}

// TestDocumentErrors: unknown formats, rows that do not fit their heading and writers that fail are errors.
func TestDocumentErrors(t *testing.T) {
	var unknown *UnknownFormatError
	if _, err := DocumentFormatByName("gobench"); !errors.As(err, &unknown) {
		t.Errorf("gobench: %v", err)
	}
	bad := &Document{Sheets: []Sheet{{Columns: []SheetColumn{{}}, Rows: [][]string{{"a", "b"}}}}}
	for _, f := range []func(io.Writer, *Document, Options) error{documentTable, documentMarkdown} {
		if err := f(io.Discard, bad, Options{}); err == nil {
			t.Error("a row that is too long is written")
		}
	}
	for _, f := range DocumentFormats() {
		if err := f.Render(failing{}, Paper(testPaper()), Options{}); err == nil {
			t.Errorf("%s: an error of the writer is lost", f.Name)
		}
	}
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errors.New("no space") }
