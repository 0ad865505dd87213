package check

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

// recordOf is a good result of 52.5 correct bits.
func recordOf() record.Record {
	bits, within := 52.5, true
	return record.Record{
		Command: "sum", Method: "neumaier", Format: "binary64", Device: "cpu", Threads: 1, PrecisionBits: 53, ActualBits: 53,
		Dataset:  record.Dataset{Name: "uniform01", N: 9, Params: map[string]string{"seed": "1"}, SHA256: "aa"},
		Shape:    record.Shape{N: 9},
		RelError: "1.57e-16", ULPError: "8.00e-01", CorrectBits: &bits, Bound: "2.2e-16", WithinBound: &within,
		ResultHash: "0123456789abcdef",
	}
}

// limits reads limits from "name=value" texts.
func limits(t *testing.T, texts ...string) Limits {
	t.Helper()
	var l Limits
	for i, text := range texts {
		name, value, _ := strings.Cut(text, "=")
		if wrong := l.Set(name, value, i+10); wrong != "" {
			t.Fatalf("%s: %s", text, wrong)
		}
	}
	return l
}

func judge(c *Check, r record.Record, base *BaselineRow, time *Time) []string {
	row := Row{Check: c, Record: r, Time: time}
	row.Judge(base)
	var list []string
	for _, f := range row.Failures {
		list = append(list, f.String())
	}
	return list
}

// TestJudge: each limit fails exactly where it should, with expected and found.
func TestJudge(t *testing.T) {
	exact := recordOf()
	exact.ExactResult, exact.CorrectBits, exact.RelError, exact.ULPError = true, nil, "0", "0"
	outside := recordOf()
	no := false
	outside.WithinBound = &no
	unbounded := recordOf()
	unbounded.WithinBound, unbounded.Bound = nil, ""
	nan := recordOf()
	nan.RelError, nan.ULPError, nan.CorrectBits = "NaN", "NaN", new(float64)
	bits := 52.5
	same := &BaselineRow{SHA256: "aa", CorrectBits: &bits, ResultHash: "0123456789abcdef"}
	better := &BaselineRow{SHA256: "aa", ResultHash: "1111111111111111"}
	elsewhere := &BaselineRow{SHA256: "bb"}
	for _, c := range []struct {
		name   string
		limits []string
		record record.Record
		base   *BaselineRow
		want   []string
	}{
		{"no limits", nil, recordOf(), nil, nil},
		{"outside its bound by default", nil, outside, nil,
			[]string{"within-bound: expected an error within the proved bound 2.2e-16, found 1.57e-16"}},
		{"outside, and allowed to be", []string{"within-bound=false"}, outside, nil, nil},
		{"no bound by default", nil, unbounded, nil, nil},
		{"no bound where one is asked for", []string{"within-bound=true"}, unbounded, nil,
			[]string{"within-bound: expected an error within the proved bound, found no bound that holds for these data"}},
		{"enough bits", []string{"correct-bits=52.5"}, recordOf(), nil, nil},
		{"too few bits", []string{"correct-bits=52.6"}, recordOf(), nil,
			[]string{"correct-bits: expected at least 52.6, found 52.5"}},
		{"exact has all bits", []string{"correct-bits=65536", "rel-error=0", "ulp=0"}, exact, nil, nil},
		{"exact", []string{"correct-bits=exact"}, exact, nil, nil},
		{"not exact", []string{"correct-bits=exact"}, recordOf(), nil, []string{"correct-bits: expected exact, found 52.5"}},
		{"errors", []string{"rel-error=1.57e-16", "ulp=0.8"}, recordOf(), nil, nil},
		{"large errors", []string{"rel-error=1.56e-16", "ulp=0.79"}, recordOf(), nil,
			[]string{"rel-error: expected at most 1.56e-16, found 1.57e-16", "ulp: expected at most 0.79, found 8.00e-01"}},
		{"no number", []string{"rel-error=1e300", "ulp=1e300"}, nan, nil,
			[]string{"rel-error: expected at most 1e300, found NaN", "ulp: expected at most 1e+300, found NaN"}},
		{"hash", []string{"result-hash=0123456789abcdef"}, recordOf(), nil, nil},
		{"another hash", []string{"result-hash=0123456789abcdee"}, recordOf(), nil,
			[]string{"result-hash: expected 0123456789abcdee, found 0123456789abcdef"}},
		{"as in the baseline", []string{"result-hash=baseline", "bits-lost=0"}, recordOf(), same, nil},
		{"changed since the baseline", []string{"result-hash=baseline", "bits-lost=2"}, recordOf(), better,
			[]string{"result-hash: expected 1111111111111111, found 0123456789abcdef",
				"bits-lost: expected at most 2 of exact, found 52.5 left"}},
		{"not in the baseline", []string{"bits-lost=2"}, recordOf(), nil,
			[]string{"baseline: expected a row of the baseline, found none; update the baseline"}},
		{"other data", []string{"result-hash=baseline"}, recordOf(), elsewhere,
			[]string{"data: expected SHA-256 bb, found aa"}},
	} {
		check := &Check{Name: "c", Limits: limits(t, c.limits...)}
		if got := judge(check, c.record, c.base, nil); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestBitsLost: three bits fewer than in the baseline are more than two and not more than three.
func TestBitsLost(t *testing.T) {
	bits := 55.5
	base := &BaselineRow{SHA256: "aa", CorrectBits: &bits}
	for lost, fails := range map[string]bool{"2": true, "2.9": true, "3": false, "4": false} {
		if got := judge(&Check{Limits: limits(t, "bits-lost="+lost)}, recordOf(), base, nil); (len(got) > 0) != fails {
			t.Errorf("%s: %q", lost, got)
		}
	}
}

func TestTimeLimit(t *testing.T) {
	env := record.Environment{CPU: record.CPU{Brand: "A", SIMD: "avx2"}, Threads: 2}
	b := &Baseline{CPU: "A", SIMD: "avx2", Threads: 2}
	row := &BaselineRow{SHA256: "aa", TimeRatio: 2, RelativeTo: "float64"}
	both := &TimeLimit{Text{"float64", 1}, &Number{2.5, 2}, &Number{15, 3}}
	for _, c := range []struct {
		name  string
		limit *TimeLimit
		base  *BaselineRow
		brand string
		want  float64
		line  int
		why   string
	}{
		{"the baseline's is less", both, row, "A", 2.3, 3, ""},
		{"at-most is less", &TimeLimit{both.RelativeTo, &Number{2.2, 2}, both.Slower}, row, "A", 2.2, 2, ""},
		{"slower alone", &TimeLimit{both.RelativeTo, nil, both.Slower}, row, "A", 2.3, 3, ""},
		{"another processor", both, row, "B", 2.5, 2, "slower: the baseline's times are of another processor, B"},
		{"another processor, slower alone", &TimeLimit{both.RelativeTo, nil, both.Slower}, row, "B", math.Inf(1), 1,
			"slower: the baseline's times are of another processor, B"},
		{"another method", both, &BaselineRow{TimeRatio: 2, RelativeTo: "kahan"}, "A", 2.5, 2,
			"slower: the baseline has no time relative to float64; update the baseline"},
		{"no baseline", both, nil, "A", 2.5, 2, ""},
	} {
		b.CPU = c.brand
		if limit, line, why := c.limit.LimitOf(c.base, b, env); math.Abs(limit-c.want) > 1e-12 && limit != c.want ||
			line != c.line || why != c.why {
			t.Errorf("%s: %v, %v, %q", c.name, limit, line, why)
		}
	}
	slow := &Time{Ratio: sampling.Ratio{Median: 2.6, Lo: 2.55, Hi: 2.7}, RelativeTo: "float64", Limit: 2.3, Line: 3,
		Slower: true}
	check := &Check{Limits: Limits{Time: both}}
	want := []string{"time: expected at most 2.3 times float64, found 2.6 times (2.55 to 2.7)"}
	if got := judge(check, recordOf(), row, slow); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	slow.Slower = false
	if got := judge(check, recordOf(), row, slow); got != nil {
		t.Errorf("%q", got)
	}
}

// TestBaseline: it is read back as it was written, one row a line, and Changes finds what differs.
func TestBaseline(t *testing.T) {
	c := &Check{Name: "c", Limits: limits(t, "result-hash=baseline")}
	other := &Check{Name: "free"}
	exact := recordOf()
	exact.Method, exact.ExactResult, exact.CorrectBits = "deferred", true, nil
	names := Names{}
	var rows []Row
	for _, r := range []record.Record{recordOf(), exact, recordOf()} {
		rows = append(rows, Row{Check: c, Case: names.Of(c, &r), Record: r})
	}
	rows = append(rows, Row{Check: other, Case: "x", Record: recordOf()})
	if rows[0].Case != "sum/method=neumaier/precision=53/dataset=uniform01:seed=1/n=9" ||
		rows[2].Case != rows[0].Case+"#2" {
		t.Errorf("cases %q, %q", rows[0].Case, rows[2].Case)
	}
	b := NewBaseline(rows, record.Environment{CPU: record.CPU{Brand: "A"}, Threads: 2})
	var text bytes.Buffer
	if err := b.Write(&text); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(text.String(), "\n"); lines != 5 || len(b.Rows) != 3 {
		t.Errorf("%d lines, %d rows:\n%s", lines, len(b.Rows), text.String())
	}
	path := filepath.Join(t.TempDir(), "b.json")
	if err := os.WriteFile(path, text.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	read, err := ReadBaseline(path)
	if err != nil || !reflect.DeepEqual(read, b) {
		t.Errorf("%+v, %v", read, err)
	}
	if changes := Changes(read, b); changes != nil {
		t.Errorf("of itself: %v", changes)
	}
	if changes := Changes(nil, b); len(changes) != 3 || changes[0].Kind != "new" {
		t.Errorf("of nothing: %v", changes)
	}
	lost := 50.5
	b.Rows[0].CorrectBits, b.Rows[0].ResultHash = &lost, "ff"
	b.Rows[1].TimeRatio, b.Rows[1].RelativeTo = 2, "float64"
	b.Rows[2].Case = "new"
	want := []Change{
		{"c", rows[0].Case, "changed", []string{"result hash 0123456789abcdef -> ff", "correct bits 52.5 -> 50.5"}},
		{"c", rows[1].Case, "changed", []string{"time none -> 2 times float64"}},
		{"c", "new", "new", nil},
		{"c", rows[2].Case, "gone", nil},
	}
	if changes := Changes(read, b); !reflect.DeepEqual(changes, want) {
		t.Errorf("%+v", changes)
	}
}

// TestChangesOfEdited: the same result cannot have other bits than before.
func TestChangesOfEdited(t *testing.T) {
	before, now := 50.5, 52.5
	old := &Baseline{Rows: []BaselineRow{{Check: "c", Case: "x", SHA256: "a", ResultHash: "b", CorrectBits: &before}}}
	fresh := &Baseline{Rows: []BaselineRow{{Check: "c", Case: "x", SHA256: "a", ResultHash: "b", CorrectBits: &now}}}
	changes := Changes(old, fresh)
	if len(changes) != 1 || len(changes[0].Details) != 2 || !strings.Contains(changes[0].Details[1], "has been edited") {
		t.Errorf("%+v", changes)
	}
}

// TestGone: rows of the baseline that the plan has no more are named, and fail nothing.
func TestGone(t *testing.T) {
	c := &Check{Name: "c", Limits: limits(t, "result-hash=baseline")}
	rows := []Row{{Check: c, Case: "x", Record: recordOf()}}
	b := NewBaseline(rows, record.Environment{})
	b.Rows = append(b.Rows, BaselineRow{Check: "c", Case: "y"}, BaselineRow{Check: "d", Case: "x"})
	r := NewResult(&Plan{Checks: []Check{*c}}, rows, b)
	if !reflect.DeepEqual(r.Gone, []string{"c: y", "d: x"}) || r.Failed() != 0 {
		t.Errorf("%v, %d failed", r.Gone, r.Failed())
	}
}

// TestJudgeNaN: values from elsewhere that are NaN fail whatever the limits, unless the exact result is NaN, too.
func TestJudgeNaN(t *testing.T) {
	for _, c := range []struct {
		format, value, exact, relative string
		fails                          bool
	}{
		{GivenFormat, "NaN", "1", "NaN", true}, {GivenFormat, "1", "NaN", "NaN", true},
		{GivenFormat, "NaN", "NaN", "0", false},
		{"binary64", "NaN", "1", "NaN", false},
	} {
		r := Row{Check: &Check{Limits: limits(t, "correct-bits=0")}}
		r.Record.Format, r.Record.Value, r.Record.Exact, r.Record.RelError = c.format, c.value, c.exact, c.relative
		r.Judge(nil)
		if (len(r.Failures) > 0) != c.fails {
			t.Errorf("%+v: %v", c, r.Failures)
		}
	}
}

func TestReadBaselineErrors(t *testing.T) {
	folder := t.TempDir()
	if b, err := ReadBaseline(filepath.Join(folder, "none.json")); b != nil || err != nil {
		t.Errorf("%v, %v", b, err)
	}
	path := filepath.Join(folder, "b.json")
	for text, want := range map[string]string{
		"{\n\"rows\":[\n5}": path + ":3: no baseline: no valid JSON at byte",
		`{"schema":5}`:      path + `:1: no baseline: field "schema": number where a string is expected`,
		`{"schema":"x"}`:    path + `: schema: "x" is not known; want mpbench-baseline/1`,
		`{"schema":"mpbench-baseline/1","rows":[{"case":5}]}`: path + `:1: no baseline: field "rows.case": number where`,
		`{"schema":"mpbench-baseline/1","rows":[{"check":"c","case":"x"},{"check":"c","case":"x","sha256":"a"}]}`: path +
			": rows: c: x is there twice, with different content",
	} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		_, err := ReadBaseline(path)
		if e := (*Error)(nil); !errors.As(err, &e) || !e.Damaged || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	want := folder + ": is no baseline; want a file"
	if _, err := ReadBaseline(folder); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v", err)
	}
}
