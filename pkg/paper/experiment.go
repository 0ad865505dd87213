// Package paper repeats the experiments of two papers and of slides, and compares every figure that they print with
// ours.
//
// Each experiment has a file: the paper's figures with the table they stand in, what is run for them, and how they are
// compared. Results and errors of sums are functions of the data and the algorithm, so a figure either has the printed
// digits or a note says why not; times and shares of times are those of another machine and stand side by side, and
// what the text says of them ("twice as fast") is a statement of its own. What cannot run on this machine is listed
// with the reason.
//
// Sources: K. Isupov, V. Knyazkov, A. Kuvaev, "Summation of the multiple accuracy on central and graphic processors
// using the MPRES library", Izvestiya SFedU. Engineering Sciences 8 (2018) 191-203, DOI
// 10.23683/2311-3103-2018-8-191-203; K. Isupov, V. Knyazkov, "Multiple-precision matrix-vector multiplication on
// graphics processing units", Program Systems: Theory and Applications 11:3(46) (2020) 61-84, DOI
// 10.25209/2079-3316-2020-11-3-61-84; D. Mukunoki, slides on triple and quadruple precision BLAS and BiCGStab on
// GPUs. An experiment of its own is the page on reductions, whose example is repeated step by step.
package paper

import (
	"context"
	"slices"

	"mpbench/pkg/record"
)

// An Experiment is a table or figure of a paper.
type Experiment struct {
	Name   string // as users type it: "mpres2018-table2"
	Title  string
	Source string // the paper and the place in it
	Needs  string // what it takes to run all of it
	Sizes  string // of the data
	run    func(context.Context, *Lab, *Result) error

	NoRecords bool // it is no method of the catalog that is measured
}

const (
	paper2018 = "Isupov, Knyazkov, Kuvaev 2018, DOI 10.23683/2311-3103-2018-8-191-203"
	paper2020 = "Isupov, Knyazkov 2020, DOI 10.25209/2079-3316-2020-11-3-61-84"
)

var experiments = []Experiment{
	table1, table2, figure6, figure7, table3, table4, table5, tripleAxpy, tripleGemv, tripleGemm,
	bicgstabQuad, reductionPage,
}

// Experiments returns all experiments, in the order of the papers.
func Experiments() []Experiment { return slices.Clone(experiments) }

// Lookup returns the experiment of a name.
func Lookup(name string) (Experiment, bool) {
	i := slices.IndexFunc(experiments, func(e Experiment) bool { return e.Name == name })
	if i < 0 {
		return Experiment{}, false
	}
	return experiments[i], true
}

// Run repeats the experiment. An interruption by ctx is no error: Interrupted is set, and the result holds a part.
func (e Experiment) Run(ctx context.Context, lab *Lab) (*Result, error) {
	r := &Result{Experiment: e}
	err := e.run(ctx, lab, r)
	r.Records = lab.records
	if ctx.Err() != nil {
		r.Interrupted = true
		return r, nil
	}
	return r, err
}

// A Verdict says how a figure of the paper compares with the one found here.
type Verdict string

// The verdicts. Only Differs means that something is wrong.
const (
	Agrees    Verdict = "yes"  // the printed digits, or the statement holds
	Differs   Verdict = "NO"   // the figure is one that the algorithm gives, and it came out otherwise
	Explained Verdict = "note" // not the printed digits; the note says why, as far as it is known
	Other     Verdict = "-"    // a time of another machine: not to be equal
	Unprinted Verdict = ""     // the paper prints no figure
	Missing   Verdict = "none" // could not be run here; the note says what is missing
	Fails     Verdict = "no"   // a statement about times does not hold here
)

// A Cell is one figure.
type Cell struct {
	Paper   string // as printed, "" where nothing is
	Here    string // as measured, "" where nothing could be
	Verdict Verdict
	Note    string // key of a note of the Result, "" for none
}

// A Row holds the figures of one method, or of one statement.
type Row struct {
	Bits   int    // precision, 0 if it does not apply
	Label  string // method, part of a method, or statement
	Device string // where it ran, "" if it did not
	Cells  []Cell // one for each quantity of the group
}

// A Group is a part of an experiment: a data set of a table, or the statements of the text.
type Group struct {
	Title      string
	Facts      []string
	Quantities []string // "value", "error", "time", ...
	Statements bool     // the labels are sentences
	Rows       []Row
}

// A Note explains cells.
type Note struct{ Key, Text string }

// A Result is an experiment as it was run here.
type Result struct {
	Experiment  Experiment
	Groups      []Group
	Notes       []Note // in the order of their first use
	Records     []record.Record
	Interrupted bool
}

// note adds a note unless it is there, and returns its key.
func (r *Result) note(key, text string) string {
	if !slices.ContainsFunc(r.Notes, func(n Note) bool { return n.Key == key }) {
		r.Notes = append(r.Notes, Note{key, text})
	}
	return key
}

// Count returns how many cells have a verdict.
func (r *Result) Count(v Verdict) int {
	n := 0
	for _, g := range r.Groups {
		for _, row := range g.Rows {
			for _, c := range row.Cells {
				if c.Verdict == v {
					n++
				}
			}
		}
	}
	return n
}

// OutsideBound returns how many of the measured results are outside their proved bounds.
func (r *Result) OutsideBound() int { return record.CountOutside(r.Records) }
