package report

import (
	"fmt"
	"io"
	"strings"

	"mpbench/pkg/check"
)

// CheckGitHub writes a workflow command for each limit that a row fails, which GitHub shows as an annotation at the line of the plan
// that sets it.
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
