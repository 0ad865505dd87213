// Package plot draws records (pkg/record): correct digits against time, error against condition number, correct bits
// against precision, time against size and precision, phases, and the figures of the 2018 paper. It draws from records
// alone, so that a saved run can be drawn again.
//
// Pictures can be read without colour: every series has its own marker and dashes. What no scale of numbers holds has
// a band of its own at the edge: exact results (error 0, infinitely many correct bits), infinite errors and condition
// numbers. Axes of errors and condition numbers are those of decimal logarithms, so that they reach beyond the range
// of float64.
//
// The same records give the same picture, byte for byte, on one kind of processor; others may round differently.
package plot

import (
	"fmt"
	"slices"
	"strings"

	"mpbench/internal/suggest"
	"mpbench/pkg/record"
)

// Auto is the kind that stands for the one that fits the records best.
const Auto = "auto"

// Options say what is drawn, and how.
type Options struct {
	Kind      string  // name of a Kind; empty or Auto for the one that fits best
	Title     string  // in place of the kind's own
	Bandwidth float64 // bytes per second that memory gives, for the memory floor of times; 0 draws none
	Times     string  // which times are drawn, one of TimeNames; empty for those of runs
	Width     int     // pixels; 0 for 760
	Inline    bool    // SVG for a page: no background, no XML header
}

// A Kind is one way to look at a run.
type Kind struct {
	Name    string // as in --kind
	Summary string // one line
	Needs   string // what records it draws, as an error says it

	// draw returns nil where the records hold nothing to draw.
	draw func([]*record.Record, Options) *chart
	// fits tells whether the picture says something: whether there is more than one value along its axis.
	fits func([]*record.Record) bool
	// several refuses records that do not fit.
	several bool
}

// Kinds returns all kinds.
func Kinds() []Kind {
	const precisions = "at several precisions, as of -p 106,212,424"
	return []Kind{
		{"front", "correct digits against time, with the Pareto front and what is proved",
			"results with times and errors", drawFront, hasFront, false},
		{"error", "relative error against condition number", "results with errors and condition numbers", drawError,
			severalConditions, false},
		{"bits", "correct bits against precision", "results of a method " + precisions, drawBits, severalPrecisions, true},
		{"time-n", "time against the number of terms", "times of a method for several n, as of -L n=1e3..1e6:x10",
			drawTimeN, severalSizes, true},
		{"time-precision", "time against precision, with the memory floor for a bandwidth",
			"times of a method " + precisions, drawTimePrecision, severalTimedPrecisions, true},
		{"phases", "conversion, copies and parts of the operation as stacked bars", "times with phases", drawPhases,
			hasPhases, false},
		{"residuals", "residuals of iterative solvers against iterations", "results of mpbench solve", drawResiduals,
			hasResiduals, false},
		{"sparse-rates", "GFlop/s of products of sparse matrices, sorted by those of the first method",
			"times of mpbench spmv, or results of mpbench solve, for several matrices", drawSparseRates, severalMatrices, true},
		{"mpres2018-fig6", "time against precision as in the 2018 paper: reduce1, reduce2, reduce3 by blocks",
			"times of sums by reduce1, reduce2 or reduce3", drawFigure6, isFigure6, false},
		{"mpres2018-fig7", "the same for the serial and residue-parallel sums on a GPU",
			"times of sums by reduce1, reduce2 and their variants on GPUs", drawFigure7, isFigure7, false},
		tripleBLAS("axpy", true), tripleBLAS("gemv", false), tripleBLAS("gemm", false),
	}
}

// KindNames returns the names that Options.Kind takes.
func KindNames() []string {
	names := []string{Auto}
	for _, k := range Kinds() {
		names = append(names, k.Name)
	}
	return names
}

// An UnknownKindError is a usage error: there is no such kind.
type UnknownKindError struct{ Name string }

func (e *UnknownKindError) Error() string {
	return suggest.Unknown("kind of plot", e.Name, KindNames())
}

// A NoDataError says that the records hold nothing that a kind draws.
type NoDataError struct{ Kind Kind }

func (e *NoDataError) Error() string {
	return fmt.Sprintf("nothing to draw for %s (%s): it takes %s; the kind auto chooses a kind that fits",
		e.Kind.Name, e.Kind.Summary, e.Kind.Needs)
}

// CheckKind returns an *UnknownKindError unless there is a kind of that name.
func CheckKind(name string) error {
	_, err := kindByName(name)
	return err
}

// kindByName returns the kind, a nil pointer for Auto.
func kindByName(name string) (*Kind, error) {
	if name == "" || name == Auto {
		return nil, nil
	}
	for _, k := range Kinds() {
		if k.Name == name {
			return &k, nil
		}
	}
	return nil, &UnknownKindError{name}
}

// Fitting returns the kinds that say something about the records, and in any case the one that Auto stands for.
func Fitting(run *record.Run) []Kind {
	records := pointers(run)
	best := choose(records)
	var list []Kind
	for _, k := range Kinds() {
		if k.fits(records) && k.draw(records, Options{}) != nil || best != nil && k.Name == best.Name {
			list = append(list, k)
		}
	}
	return list
}

// choose returns the kind that shows what differs between the records: the front of methods on few problems; of scans,
// sums and dot products over precisions are looked at for their accuracy, matrix-vector products for their time.
func choose(records []*record.Record) *Kind {
	order := map[string]int{"residuals": -1, "time-n": 0, "error": 1, "bits": 2, "time-precision": 3}
	if len(records) > 0 && records[0].Command == "gemv" {
		order["bits"], order["time-precision"] = 3, 2
	}
	if hasFront(records) && fewProblems(records) && !severalConditions(records) && !severalSizes(records) {
		k, _ := kindByName("front")
		return k
	}
	var best *Kind
	for _, k := range Kinds() {
		if i, ok := order[k.Name]; ok && k.fits(records) && (best == nil || i < order[best.Name]) {
			best = &k
		}
	}
	if best != nil {
		return best
	}
	for _, name := range []string{"error", "bits", "phases"} { // single points
		k, _ := kindByName(name)
		if k.draw(records, Options{}) != nil {
			return k
		}
	}
	return nil
}

// New draws a run. It returns an *UnknownKindError for a kind that does not exist, a *NoDataError where the records
// hold nothing that the kind draws, and a *TimesError where it has no such times; with Auto there is always a picture.
func New(run *record.Run, o Options) (*Figure, error) {
	kind, err := kindByName(o.Kind)
	if err != nil {
		return nil, err
	}
	records := pointers(run)
	auto := kind == nil
	if auto {
		kind = choose(records)
	}
	var c *chart
	if kind != nil && (auto || !kind.several || kind.fits(records)) {
		if err := CheckTimes(o.Times, kind.Name); err != nil {
			return nil, err
		}
		c = kind.draw(withTimes(records, o.Times), o)
	}
	switch {
	case c == nil && !auto:
		return nil, &NoDataError{*kind}
	case c == nil:
		c = &chart{title: "No results"}
	default:
		c.facts = facts(run, records)
		if o.Times == OneShotTimes || o.Times == BothTimes {
			c.notes = append(c.notes, "one-shot: with the conversion of the numbers, and copies from and to a device")
		}
	}
	if o.Title != "" {
		c.title = o.Title
	}
	return newFigure(c, o), nil
}

func pointers(run *record.Run) []*record.Record {
	list := make([]*record.Record, len(run.Records))
	for i := range run.Records {
		list[i] = &run.Records[i]
	}
	return list
}

func facts(run *record.Run, records []*record.Record) string {
	var commands, parts []string
	for _, r := range records {
		commands = appendNew(commands, r.Command)
	}
	parts = append(parts, strings.Join(commands, ", "))
	if len(records) == 1 {
		parts = append(parts, "1 result")
	} else {
		parts = append(parts, fmt.Sprintf("%d results", len(records)))
	}
	var machines []string
	for _, env := range run.Environments {
		name := env.CPU.Brand
		for _, gpu := range env.GPUs {
			name += " + " + gpu.Name
		}
		machines = appendNew(machines, name)
	}
	return strings.Join(append(parts, machines...), " · ")
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}
