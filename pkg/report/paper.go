package report

import (
	"fmt"
	"slices"
	"strings"

	"mpbench/pkg/paper"
)

// PaperSchema is the schema of the objects of a comparison with a paper.
const PaperSchema = "mpbench-paper/1"

// A PaperRow is one figure of a comparison with a paper, for programs.
type PaperRow struct {
	Experiment string `json:"experiment"`
	Group      string `json:"group"`
	Bits       int    `json:"bits"` // precision, 0 if it does not apply
	Label      string `json:"label"`
	Device     string `json:"device"`
	Quantity   string `json:"quantity"`
	Paper      string `json:"paper"` // as printed
	Here       string `json:"here"`  // as measured
	Verdict    string `json:"verdict"`
	Note       string `json:"note"`
}

// Paper returns a comparison with a paper as a document: for each group a table of the paper's and our figures.
func Paper(r *paper.Result) *Document {
	d := &Document{Schema: PaperSchema, Title: r.Experiment.Name + ": " + r.Experiment.Title + "\n" + r.Experiment.Source}
	labels, notes := noteLabels(r), map[string]string{}
	for _, n := range r.Notes {
		d.Notes = append(d.Notes, Note{labels[n.Key], n.Text})
		notes[n.Key] = n.Text
	}
	for _, g := range r.Groups {
		d.Sheets = append(d.Sheets, paperSheet(g, labels))
		for _, row := range g.Rows {
			for i, c := range row.Cells {
				d.Rows = append(d.Rows, PaperRow{
					r.Experiment.Name, g.Title, row.Bits, row.Label, row.Device, g.Quantities[i],
					c.Paper, c.Here, verdictNames[c.Verdict], notes[c.Note],
				})
			}
		}
	}
	d.Closing = append(d.Closing, paperSummary(r))
	return d
}

var verdictNames = map[paper.Verdict]string{
	paper.Agrees: "agrees", paper.Differs: "differs", paper.Explained: "explained", paper.Other: "other machine",
	paper.Missing: "missing", paper.Fails: "does not hold here", paper.Unprinted: "not printed",
}

// noteLabels gives letters to the notes that cells refer to, in their order, and a star to the others.
func noteLabels(r *paper.Result) map[string]string {
	used := map[string]bool{}
	for _, g := range r.Groups {
		for _, row := range g.Rows {
			for _, c := range row.Cells {
				used[c.Note] = true
			}
		}
	}
	labels := map[string]string{}
	next := 'a'
	for _, n := range r.Notes {
		labels[n.Key] = "*"
		if used[n.Key] {
			labels[n.Key] = string(next)
			next++
		}
	}
	return labels
}

func paperSheet(g paper.Group, labels map[string]string) Sheet {
	s := Sheet{Title: g.Title, Facts: g.Facts}
	if !g.Statements {
		s.Columns = []SheetColumn{
			{Head: [2]string{"", "bits"}, Right: true}, {Head: [2]string{"", "of what"}},
		}
	}
	for i, q := range g.Quantities {
		here := [2]string{"", "here"}
		if !slices.ContainsFunc(g.Rows, func(r paper.Row) bool { return r.Cells[i].Paper != "" }) {
			here = [2]string{"", q} // the paper's column is left out
		}
		s.Columns = append(s.Columns, SheetColumn{Head: [2]string{q, "paper"}, Right: true},
			SheetColumn{Head: here, Right: true},
			SheetColumn{Head: [2]string{"", sameHead(g)}, Verdict: true})
	}
	if g.Statements {
		s.Columns = append(s.Columns, SheetColumn{Head: [2]string{"", "statement"}, Wrap: true})
	}
	for _, row := range g.Rows {
		s.Rows = append(s.Rows, paperCells(g, row, labels))
	}
	return s
}

func sameHead(g paper.Group) string {
	if g.Statements {
		return "holds"
	}
	for _, row := range g.Rows {
		for _, c := range row.Cells {
			if c.Verdict == paper.Agrees || c.Verdict == paper.Differs || c.Verdict == paper.Explained {
				return "same"
			}
		}
	}
	return ""
}

func paperCells(g paper.Group, row paper.Row, labels map[string]string) []string {
	var cells []string
	if !g.Statements {
		bits := ""
		if row.Bits != 0 {
			bits = fmt.Sprint(row.Bits)
		}
		label := row.Label
		if row.Device != "" && row.Device != "cpu" {
			label += " " + row.Device
		}
		cells = []string{bits, label}
	}
	for _, c := range row.Cells {
		here, verdict := c.Here, string(c.Verdict)
		switch c.Verdict {
		case paper.Missing:
			here, verdict = none, labels[c.Note]
		case paper.Explained, paper.Other:
			verdict = labels[c.Note]
		}
		cells = append(cells, c.Paper, here, verdict)
	}
	if g.Statements {
		cells = append(cells, row.Label)
	}
	return cells
}

func paperSummary(r *paper.Result) string {
	var parts []string
	add := func(v paper.Verdict, one, many string) {
		if n := r.Count(v); n > 0 {
			parts = append(parts, plural(n, one, many))
		}
	}
	add(paper.Agrees, "figure or statement agrees", "figures or statements agree")
	add(paper.Differs, "DIFFERS", "DIFFER")
	add(paper.Explained, "is not as printed (see the note)", "are not as printed (see the notes)")
	add(paper.Other, "depends on the machine", "depend on the machine")
	add(paper.Fails, "statement does not hold here", "statements do not hold here")
	add(paper.Missing, "could not be measured here", "could not be measured here")
	text := strings.Join(parts, "; ")
	if text == "" {
		text = "nothing was measured"
	}
	if n := len(r.Records); n > 0 {
		text += fmt.Sprintf(". %d of %d results are within their proved bounds", n-r.OutsideBound(), n)
	}
	return text + "."
}
