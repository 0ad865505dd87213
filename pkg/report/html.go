package report

import (
	"bufio"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"strings"

	"mpbench/pkg/plot"
	"mpbench/pkg/record"
)

var (
	//go:embed page/page.html
	pageText string
	//go:embed page/page.css
	pageStyle string
	//go:embed page/page.js
	pageScript string

	pageTemplate = template.Must(template.New("page").Parse(pageText))
)

// A page is what the template shows. Texts are escaped there; the pictures escape their own.
type page struct {
	Title, Summary, Machine string
	Failed                  bool
	Policy                  string
	Style                   template.CSS
	Script                  template.JS

	Headline     pageTable
	Figures      []pageFigure
	Tables       []pageTable
	Notes        []string
	Phases       pageTable
	Environments [][]pageFact
}

type pageFigure struct {
	Title string
	SVG   template.HTML
}

type pageFact struct{ Name, Value string }

// A pageTable is a table that can be sorted. Its first column names the rows.
type pageTable struct {
	Name  string
	Facts []string
	Heads []pageHead
	Rows  []pageRow
}

type pageHead struct {
	Text   string
	Number bool
}

type pageRow struct {
	Failed bool
	Cells  []pageCell
}

// A pageCell is sorted by its key, a decimal string, if its column is one of numbers.
type pageCell struct {
	Text, Key string
	Number    bool
}

// HTML writes the run as one page for a browser, which needs nothing else: a summary, pictures, a table for each data set,
// notes, phases and the environment. The tables can be sorted, numbers of any size as numbers; without scripts they are
// tables like others. Nothing that a record holds is taken for markup, and the page's policy lets no script run but its own.
func HTML(w io.Writer, run *record.Run, opts Options) error {
	all := groups(run)
	notes := newNotes(run, all)
	p := page{
		Title: "mpbench: " + pageTitle(run), Policy: pagePolicy(),
		Style: template.CSS(pageStyle), Script: template.JS(pageScript),
		Headline: headlineTable(all, opts), Notes: pageNotes(notes), Machine: notes.env,
	}
	p.Summary, p.Failed = pageSummary(run, all)
	columns := pageColumns(all, notes, opts)
	for _, g := range all {
		p.Tables = append(p.Tables, resultTable(g, columns))
	}
	for _, env := range run.Environments {
		p.Environments = append(p.Environments, environmentFacts(env))
	}
	p.Phases = phaseTable(run)
	var err error
	if p.Figures, err = pageFigures(run, opts.Plot); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if err := pageTemplate.Execute(out, p); err != nil {
		return err
	}
	return out.Flush()
}

// pagePolicy forbids everything but the page's own style and script.
func pagePolicy() string {
	sum := sha256.Sum256([]byte(pageScript))
	return "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func pageTitle(run *record.Run) string {
	var commands []string
	seen := map[string]bool{}
	for _, r := range run.Records {
		if !seen[r.Command] {
			seen[r.Command] = true
			commands = append(commands, r.Command)
		}
	}
	if len(commands) == 0 {
		return "no results"
	}
	return strings.Join(commands, ", ")
}

// pageSummary says how many results there are and whether all are within their bounds.
func pageSummary(run *record.Run, all []group) (text string, failed bool) {
	outside, unbounded := 0, 0
	methods := map[string]bool{}
	for i := range run.Records {
		r := &run.Records[i]
		methods[r.Method] = true
		if r.OutsideBound() {
			outside++
		}
		if r.WithinBound == nil {
			unbounded++
		}
	}
	verdict := "all within their proved error bounds"
	switch {
	case outside > 0:
		verdict = fmt.Sprintf("%d outside the proved error bound", outside)
	case unbounded > 0:
		verdict = fmt.Sprintf("none outside a proved error bound, %d without one", unbounded)
	}
	return fmt.Sprintf("%s of %s on %s: %s.", plural(len(run.Records), "result", "results"), plural(len(methods), "method", "methods"),
		plural(len(all), "problem", "problems"), verdict), outside > 0
}

// pageNotes are the footnotes without the line on the environment, which the page has in full.
func pageNotes(n *notes) []string {
	lines := n.texts()
	if n.env != "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// pageFigures draws what opts asks for, or every kind that says something about the run.
func pageFigures(run *record.Run, opts plot.Options) ([]pageFigure, error) {
	opts.Inline = true
	kinds := []string{opts.Kind}
	if opts.Kind == "" || opts.Kind == plot.Auto {
		kinds = nil
		for _, k := range plot.Fitting(run) {
			kinds = append(kinds, k.Name)
		}
	}
	var list []pageFigure
	for _, kind := range kinds {
		opts.Kind = kind
		figure, err := plot.New(run, opts)
		if err != nil {
			return nil, err
		}
		var b strings.Builder
		if err := figure.WriteSVG(&b); err != nil {
			return nil, err
		}
		list = append(list, pageFigure{figure.Title, template.HTML(b.String())})
	}
	return list, nil
}

// number writes a float64 as a key.
func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
