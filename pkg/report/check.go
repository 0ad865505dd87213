package report

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"mpbench/pkg/check"
	"mpbench/pkg/record"
)

// CheckText writes a line for each check of a plan, and under it the rows that fail, with what they fail, what was
// expected and what was found; with all set, every row.
func CheckText(w io.Writer, result *check.Result, all bool, opts Options) error {
	out := bufio.NewWriter(w)
	for i := range result.Plan.Checks {
		c := &result.Plan.Checks[i]
		writeCheck(out, c, result.Of(c), all, opts)
	}
	for _, text := range result.Unchecked() {
		wrap(out, "not checked: "+text, opts.Width)
	}
	for _, row := range result.Gone {
		wrap(out, "only in the baseline, update it: "+row, opts.Width)
	}
	failed, rows := result.Failed(), len(result.Rows)
	verdict := "all passed"
	if failed > 0 {
		verdict = fmt.Sprintf("%d passed, %d failed", rows-failed, failed)
	}
	fmt.Fprintf(out, "%s in %s: %s\n", record.Count(rows, "row"), record.Count(len(result.Plan.Checks), "check"), verdict)
	return out.Flush()
}

func writeCheck(w io.Writer, c *check.Check, rows []check.Row, all bool, opts Options) {
	failed := check.Failing(rows)
	text := fmt.Sprintf("%s  %s: %s", verdict(failed > 0, opts), printable(c.Name), plural(len(rows), "row", "rows"))
	if failed > 0 {
		text += fmt.Sprintf(", %d failing", failed)
	}
	fmt.Fprintln(w, text)
	for i := range rows {
		r := &rows[i]
		if all || len(r.Failures) > 0 {
			writeRow(w, r, all, opts)
		}
	}
}

// verdict is "ok" or "FAIL" in four columns.
func verdict(failed bool, opts Options) string {
	text, color := "ok  ", green
	if failed {
		text, color = "FAIL", red
	}
	if opts.Color {
		return color + text + reset
	}
	return text
}

func writeRow(w io.Writer, r *check.Row, all bool, opts Options) {
	mark := "-"
	if len(r.Failures) > 0 {
		mark = "!"
	}
	text := "   " + mark + " " + printable(r.Label())
	if all {
		text += ": " + facts(r)
	}
	wrapIndented(w, text, opts.Width, "        ")
	for _, f := range r.Failures {
		wrapIndented(w, "      "+printable(f.String()), opts.Width, "        ")
	}
}

// printable replaces control characters, which names of files and checks may hold.
func printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f {
			return '?'
		}
		return c
	}, text)
}

func facts(r *check.Row) string {
	list := []string{"exact"}
	if !r.Record.ExactResult {
		list = []string{correctBits(&r.Record) + " correct bits", "error " + shortDecimal(r.Record.RelError, 2)}
	}
	if r.Record.Bound != "" {
		list = append(list, "bound "+shortDecimal(r.Record.Bound, 2))
	}
	if t := r.Time; t != nil && t.Ratio.Rounds > 0 {
		list = append(list, fmt.Sprintf("%.3g times %s (%.3g to %.3g)", t.Ratio.Median, t.RelativeTo, t.Ratio.Lo,
			t.Ratio.Hi))
	}
	return strings.Join(list, ", ")
}

// CheckChanges writes what differs between two baselines, a line for each row and each thing that has changed.
func CheckChanges(w io.Writer, changes []check.Change, opts Options) error {
	out := bufio.NewWriter(w)
	for _, c := range changes {
		wrapIndented(out, fmt.Sprintf("%-8s %s: %s", c.Kind, c.Check, c.Case), opts.Width, "         ")
		for _, text := range c.Details {
			wrapIndented(out, "           "+text, opts.Width, "             ")
		}
	}
	return out.Flush()
}

// The parts of JUnit XML that the readers of CI services agree about.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		File    string        `xml:"file,attr,omitempty"`
		Line    int           `xml:"line,attr,omitempty"`
		Failure *junitFailure `xml:"failure"`
		Output  string        `xml:"system-out,omitempty"`
	}
	junitFailure struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
)

// CheckJUnit writes the result as JUnit XML: a suite for each check, a test case for each row, which holds what the
// row was judged by. A row fails as one; the message has the first limit that it fails, the text all of them.
func CheckJUnit(w io.Writer, result *check.Result) error {
	doc := junitSuites{Name: "mpbench check", Tests: len(result.Rows), Failures: result.Failed()}
	for i := range result.Plan.Checks {
		c := &result.Plan.Checks[i]
		rows := result.Of(c)
		suite := junitSuite{Name: xmlText(c.Name), Tests: len(rows)}
		for i := range rows {
			test := newJUnitCase(result.Plan.Path, c, &rows[i])
			if test.Failure != nil {
				suite.Failures++
			}
			suite.Cases = append(suite.Cases, test)
		}
		doc.Suites = append(doc.Suites, suite)
	}
	text, err := xml.MarshalIndent(doc, "", "  ")
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "%s%s\n", xml.Header, text)
	return err
}

func newJUnitCase(path string, c *check.Check, r *check.Row) junitCase {
	test := junitCase{Name: xmlText(r.Label()), Class: xmlText(c.Name), File: xmlText(path), Line: c.Line}
	test.Output = xmlText(facts(r))
	for _, text := range r.Unchecked {
		test.Output += "\nnot checked: " + xmlText(text)
	}
	if len(r.Failures) == 0 {
		return test
	}
	var lines []string
	for _, f := range r.Failures {
		lines = append(lines, xmlText(f.String()))
	}
	test.Failure = &junitFailure{Message: lines[0], Type: r.Failures[0].Limit, Text: strings.Join(lines, "\n")}
	return test
}

// xmlText replaces the characters that XML 1.0 has no way to write.
func xmlText(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' && c != '\n' || c == 0xfffe || c == 0xffff {
			return utf8.RuneError
		}
		return c
	}, text)
}

// CheckGitHub writes a workflow command for each limit that a row fails; GitHub shows it at the line of the plan.
//
// Format: https://docs.github.com/actions/reference/workflow-commands-for-github-actions#setting-an-error-message
func CheckGitHub(w io.Writer, result *check.Result) error {
	var b strings.Builder
	for i := range result.Rows {
		r := &result.Rows[i]
		for _, f := range r.Failures {
			b.WriteString("::error ")
			if path := result.Plan.Path; path != "" {
				line := f.Line
				if line == 0 {
					line = r.Check.Line
				}
				fmt.Fprintf(&b, "file=%s,line=%d,", githubProperty(path), max(line, 1))
			}
			fmt.Fprintf(&b, "title=%s::%s\n", githubProperty(r.Check.Name), githubText(r.Label()+": "+f.String()))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

var (
	githubTexts      = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubProperties = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func githubText(s string) string     { return githubTexts.Replace(s) }
func githubProperty(s string) string { return githubProperties.Replace(s) }
