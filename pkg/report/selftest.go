package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mpbench/pkg/selftest"
)

// SelftestSchema is the schema of the objects of a self-test.
const SelftestSchema = "mpbench-selftest/1"

// A SelftestRow is the result for one method on one device with one set of vector instructions, for programs.
type SelftestRow struct {
	Operation string `json:"operation"`
	Method    string `json:"method"`
	Format    string `json:"format"`
	Device    string `json:"device"`
	Path      string `json:"path"`
	Pass      bool   `json:"pass"`
	Checks    int    `json:"checks"`
	Failed    int    `json:"failed"`
	Failure   string `json:"failure"`
	Advice    string `json:"advice"`
}

// Row returns what the object stands for.
func (r SelftestRow) Row() selftest.Row {
	return selftest.Row{
		Operation: r.Operation, Method: r.Method, Format: r.Format, Device: r.Device, Path: r.Path,
		Checks: r.Checks, Failed: r.Failed, Failure: r.Failure, Advice: r.Advice,
	}
}

// Selftest returns the rows of a self-test as a document: one line for each method on each device, with a column for
// each set of vector instructions. remarks are said at the end, such as what could not be tested.
func Selftest(rows []selftest.Row, elapsed time.Duration, remarks []string) *Document {
	d := &Document{Schema: SelftestSchema, Title: "self-test"}
	var paths []string
	for _, r := range rows {
		if !slices.Contains(paths, r.Path) {
			paths = append(paths, r.Path)
		}
		d.Rows = append(d.Rows, SelftestRow{r.Operation, r.Method, r.Format, r.Device, r.Path, r.Pass(), r.Checks, r.Failed,
			r.Failure, r.Advice})
	}
	d.Sheets = []Sheet{selftestSheet(rows, paths)}
	checks := 0
	for _, r := range rows {
		checks += r.Checks
		if !r.Pass() {
			d.Closing = append(d.Closing, fmt.Sprintf("FAILED: %s\n%d of %d checks failed. The first: %s\nWhat to do: %s",
				SelftestName(r), r.Failed, r.Checks, r.Failure, r.Advice))
		}
	}
	d.Closing = append(d.Closing, remarks...)
	summary := fmt.Sprintf("all %d tests passed, %d checks", len(rows), checks)
	if n := selftest.Failed(rows); n > 0 {
		summary = fmt.Sprintf("%d of %d tests FAILED, %d checks", n, len(rows), checks)
	}
	d.Closing = append(d.Closing, fmt.Sprintf("%s, in %.1f s", summary, elapsed.Seconds()))
	return d
}

// SelftestName names a row: "sum reduce2 on cpu with avx2".
func SelftestName(r selftest.Row) string {
	name := fmt.Sprintf("%s %s on %s", r.Operation, r.Method, r.Device)
	if r.Device == "cpu" && r.Path != "" {
		name += " with " + strings.Replace(r.Path, "none", "plain Go", 1)
	}
	return name
}

// selftestSheet puts rows that differ only in the vector instructions into one line.
func selftestSheet(rows []selftest.Row, paths []string) Sheet {
	s := Sheet{Columns: []SheetColumn{
		{Head: [2]string{"", "operation"}}, {Head: [2]string{"", "method"}}, {Head: [2]string{"", "format"}, Optional: true},
		{Head: [2]string{"", "device"}},
		{Head: [2]string{"", "checks"}, Right: true},
	}}
	for _, p := range paths {
		s.Columns = append(s.Columns, SheetColumn{Head: [2]string{"", strings.Replace(p, "none", "plain Go", 1)},
			Verdict: true})
	}
	lines := map[string]int{}
	for _, r := range rows {
		key := fmt.Sprint(r.Operation, "\x00", r.Method, "\x00", r.Device)
		i, ok := lines[key]
		if !ok {
			i = len(s.Rows)
			lines[key] = i
			s.Rows = append(s.Rows, append([]string{r.Operation, r.Method, r.Format, r.Device, fmt.Sprint(r.Checks)},
				make([]string, len(paths))...))
		}
		verdict := "pass"
		if !r.Pass() {
			verdict = "FAIL"
		}
		s.Rows[i][5+slices.Index(paths, r.Path)] = verdict
	}
	for _, row := range s.Rows {
		for j, cell := range row {
			if cell == "" {
				row[j] = none
			}
		}
	}
	return s
}
