package report

import (
	"bytes"
	"encoding/xml"
	"strings"
	"testing"

	"mpbench/pkg/check"
	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

// testCheck is a result with what occurs: checks that pass and fail, several failures in a row, times, limits that
// could not be checked, and texts with characters that formats give a meaning.
func testCheck() *check.Result {
	plan := &check.Plan{Path: "checks/a,b.yaml", Checks: []check.Check{
		{Name: "hard sums", Line: 4, Command: "sum"},
		{Name: "50 % slower: <never> & \"here\"", Line: 12, Command: "sum"},
		{Name: "values", Line: 30},
	}}
	run := testRun().Records
	row := func(i int, r record.Record, failures ...check.Failure) check.Row {
		return check.Row{Check: &plan.Checks[i], Record: r, Failures: failures}
	}
	fast, slow := row(1, run[4]), row(1, run[3], check.Failure{Limit: "time", Line: 15,
		Expected: "at most 1.5 times float64", Found: "1.9 times (1.85 to 1.97)"})
	fast.Time = &check.Time{Ratio: sampling.Ratio{Median: 1.2, Lo: 1.1, Hi: 1.3, Rounds: 15}, RelativeTo: "float64"}
	slow.Time = &check.Time{Ratio: sampling.Ratio{Median: 1.9, Lo: 1.85, Hi: 1.97, Rounds: 15}, RelativeTo: "float64"}
	fast.Unchecked = []string{"slower: the baseline's times are of another processor, Example CPU 9000"}
	slow.Unchecked = fast.Unchecked
	given := run[0]
	given.Format, given.Method = check.GivenFormat, "a\x01b|c.npy"
	return &check.Result{Plan: plan, Rows: []check.Row{
		row(0, run[1]), row(0, run[5]),
		row(0, run[0], check.Failure{Limit: "correct-bits", Line: 9, Expected: "at least 240", Found: "0.0"},
			check.Failure{Limit: "result-hash", Line: 10, Expected: "0123456789abcdef", Found: "fedcba9876543210"}),
		fast, slow,
		row(2, given, check.Failure{Limit: "ulp", Expected: "at most 1\r\n%", Found: "5.00e+08"}),
	}}
}

func passing() *check.Result {
	r := testCheck()
	r.Plan.Checks = r.Plan.Checks[:1]
	r.Rows = r.Rows[:2]
	return r
}

func TestCheckGolden(t *testing.T) {
	for name, f := range map[string]func(b *bytes.Buffer) error{
		"check-text":    func(b *bytes.Buffer) error { return CheckText(b, testCheck(), false, Options{}) },
		"check-all":     func(b *bytes.Buffer) error { return CheckText(b, testCheck(), true, Options{Width: 70}) },
		"check-color":   func(b *bytes.Buffer) error { return CheckText(b, testCheck(), false, Options{Color: true}) },
		"check-passing": func(b *bytes.Buffer) error { return CheckText(b, passing(), false, Options{}) },
		"check-junit":   func(b *bytes.Buffer) error { return CheckJUnit(b, testCheck()) },
		"check-github":  func(b *bytes.Buffer) error { return CheckGitHub(b, testCheck()) },
		"check-changes": func(b *bytes.Buffer) error {
			return CheckChanges(b, []check.Change{
				{Check: "hard sums", Case: "sum/method=deferred/precision=240/dataset=mcnamee3/n=64", Kind: "new"},
				{Check: "hard sums", Case: "sum/method=kahan/precision=53/dataset=mcnamee3/n=64", Kind: "changed",
					Details: []string{"result hash 0123456789abcdef -> fedcba9876543210", "correct bits 53.1 -> 50.0"}},
				{Check: "hard sums", Case: "sum/method=float64/precision=53/dataset=mcnamee3/n=64", Kind: "gone"},
			}, Options{})
		},
	} {
		t.Run(name, func(t *testing.T) { golden(t, name, render(t, f)) })
	}
}

// TestCheckJUnitReads: it is XML with as many cases and failures as it claims, whatever characters names hold.
func TestCheckJUnitReads(t *testing.T) {
	var doc junitSuites
	if err := xml.Unmarshal(render(t, func(b *bytes.Buffer) error { return CheckJUnit(b, testCheck()) }),
		&doc); err != nil {
		t.Fatal(err)
	}
	tests, failures := 0, 0
	for _, s := range doc.Suites {
		tests += len(s.Cases)
		for _, c := range s.Cases {
			if c.Failure != nil {
				failures++
			}
		}
	}
	if tests != 6 || doc.Tests != 6 || failures != 3 || doc.Failures != 3 ||
		doc.Suites[1].Name != "50 % slower: <never> & \"here\"" {
		t.Errorf("%d of %d tests, %d of %d failures: %+v", tests, doc.Tests, failures, doc.Failures, doc)
	}
}

// TestCheckGitHubLines: each annotation is one line, with the file and line of the limit or else of the check.
func TestCheckGitHubLines(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(string(render(t, func(b *bytes.Buffer) error {
		return CheckGitHub(b,
			testCheck())
	})), "\n"), "\n")
	if len(lines) != 4 {
		t.Fatalf("%q", lines)
	}
	for i, want := range []string{"9", "10", "15", "30"} {
		if !strings.HasPrefix(lines[i], "::error file=checks/a%2Cb.yaml,line="+want+",title=") {
			t.Errorf("%q", lines[i])
		}
	}
	if text := render(t, func(b *bytes.Buffer) error { return CheckGitHub(b, passing()) }); len(text) != 0 {
		t.Errorf("of a result without failures: %q", text)
	}
}
