package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"mpbench/pkg/check"
)

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

// CheckJUnit writes the result as JUnit XML: a suite for each check, a test case for each row, which holds what the row was judged
// by. A row fails as one; the message has the first limit that it fails, the text all of them.
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
