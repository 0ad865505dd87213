package main

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "print the sessions of the pages anew, with the default sampling")

// session is a command of a page with the output printed there.
type session struct {
	page    string
	command string
	output  string
}

// pages are the README and what it links to.
func pages(t *testing.T) []string {
	t.Helper()
	list, err := filepath.Glob("docs/*.md")
	if err != nil || len(list) == 0 {
		t.Fatalf("docs/*.md: %v, %d pages", err, len(list))
	}
	return append([]string{"README.md"}, list...)
}

// readSessions returns the commands of the file's console blocks: lines that start with "$ mpbench", each followed by
// its output.
func readSessions(t *testing.T, path string) []session {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []session
	inside := false
	for line := range strings.Lines(string(text)) {
		switch command, ok := strings.CutPrefix(strings.TrimSpace(line), "$ mpbench "); {
		case strings.HasPrefix(line, "```"):
			inside = strings.HasPrefix(line, "```console")
		case inside && ok:
			list = append(list, session{page: path, command: command})
		case inside && len(list) > 0:
			list[len(list)-1].output += line
		}
	}
	return list
}

var (
	timeCell   = regexp.MustCompile(`[0-9.]+ +(ns|µs|ms|s)\b( *±[0-9.]+%)?.*`)
	spaces     = regexp.MustCompile(` +`)
	headings   = regexp.MustCompile(`(?m)^(method|operation| +rel\.) .*\n`)
	rule       = regexp.MustCompile(`(?m)^-+$`)
	notes      = regexp.MustCompile(`(?ms)^([a-z]{1,2}  [^ ]|warning: |noise: |[^\n]*\bgo1\.).*\z`)
	fastest    = regexp.MustCompile(`(?m)^fastest with .*\n`)
	component  = regexp.MustCompile(`(y\[[0-9]+\]) \S+`)
	passes     = regexp.MustCompile(`(pass)( +pass)+`)
	totals     = regexp.MustCompile(`all [0-9]+ tests passed, [0-9]+ checks`)
	longNumber = regexp.MustCompile(`[0-9]+\.[0-9]{5,}`)
)

// mask removes what differs from run to run: times, how many sets of vector instructions there are, footnotes on
// samples, the machine, and the widths of columns, which leave room for more or fewer columns and digits of a value.
func mask(text string) string {
	text = notes.ReplaceAllString(text, "")
	text = fastest.ReplaceAllString(text, "")
	text = timeCell.ReplaceAllString(text, "TIME")
	text = rule.ReplaceAllString(text, "---")
	text = component.ReplaceAllString(text, "$1")
	text = longNumber.ReplaceAllStringFunc(text, func(x string) string { return x[:7] })
	text = passes.ReplaceAllString(text, "$1")
	text = totals.ReplaceAllString(text, "all tests passed")
	text = headings.ReplaceAllString(text, "")
	text = spaces.ReplaceAllString(text, " ")
	return strings.TrimSpace(text)
}

// TestReadme runs the sessions of the README and of docs/, in the root, and compares everything but the times.
func TestReadme(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: the full tests run the sessions of the README and of docs/")
	}
	t.Chdir("../..")
	var sessions []session
	for _, page := range pages(t) {
		sessions = append(sessions, readSessions(t, page)...)
	}
	if len(sessions) < 8 {
		t.Fatalf("%d sessions found", len(sessions))
	}
	for _, s := range sessions {
		if *update {
			s.rewrite(t)
			continue
		}
		quick := []string{}
		if strings.HasPrefix(s.command, "sum ") && !strings.Contains(s.command, "--verbose") && // an answer
			!strings.Contains(s.command, "--orders") { // which times nothing
			quick = []string{"--runs", "1", "--warmup", "0", "--min-time", "0"}
		}
		got, want := mask(s.run(t, quick...)), mask(s.output)
		if strings.HasPrefix(s.command, "advise ") { // whose rows are ordered by time
			got, want = sorted(got), sorted(want)
		}
		if got != want {
			t.Errorf("%s: mpbench %s prints\n%s\nthe page has\n%s", s.page, s.command, got, want)
		}
	}
}

// TestLinks: what the pages refer to in this repository exists.
func TestLinks(t *testing.T) {
	t.Chdir("../..")
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	for _, page := range append(pages(t), "ARCHITECTURE.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), m[1])); err != nil {
				t.Errorf("%s refers to %s: %v", page, m[1], err)
			}
		}
	}
}

// sorted returns the lines of a text in alphabetical order.
func sorted(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// run returns what the command prints on standard output.
func (s session) run(t *testing.T, more ...string) string {
	t.Helper()
	var stdout, stderr strings.Builder
	if code := run(context.Background(), append(strings.Fields(s.command), more...), &stdout, &stderr); code != 0 {
		t.Errorf("mpbench %s: exit code %d: %s", s.command, code, stderr.String())
	}
	return stdout.String()
}

// rewrite replaces the session's output in its page.
func (s session) rewrite(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(s.page)
	if err != nil {
		t.Fatal(err)
	}
	command := "$ mpbench " + s.command + "\n"
	fresh := strings.Replace(string(text), command+s.output, command+s.run(t), 1)
	if err := os.WriteFile(s.page, []byte(fresh), 0o666); err != nil {
		t.Fatal(err)
	}
}
