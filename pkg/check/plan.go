// Package check judges results against limits, so that a program that runs by itself can guard numbers: a Plan lists
// what to measure with the limits of each row, a Baseline holds what the rows were, and Judge says what each row
// fails, with expected and found. Times are judged as ratios of two methods of one run (sampling.RatioSampler).
package check

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// Schema is the schema of a plan.
const Schema = "mpbench-check/1"

// A Plan is a file of checks.
type Plan struct {
	Path     string // of the file, "" where the plan is no file
	Baseline string // path of the baseline
	Checks   []Check
}

// A Check is a list of rows with limits: those of a command with settings, or numbers computed elsewhere.
type Check struct {
	Name string
	Line int // of the plan

	Command  string    // an operation; "" for Values
	Settings []Setting // flags of the command
	Scans    []Setting // values of -L

	Values    Setting // a file of numbers ...
	Against   Setting // ... and what their exact values follow from, "sum:input.npy"
	Reading   Setting // of Values and Against, "" for double
	Transpose bool
	Factors   []Setting // of Against: alpha, beta

	Limits Limits
}

// A Setting is a key with a value and its place in the plan.
type Setting struct {
	Key, Value string
	Line       int
}

// Limits are what rows are judged by, each unless it is nil. A Line of 0 stands for a flag of the command line.
type Limits struct {
	WithinBound  *Flag        // the error is within the method's proved bound; asked for unless it is there and false
	CorrectBits  *CorrectBits // at least
	BitsLost     *Number      // correct bits fewer than in the baseline, at most
	RelError     *Text        // at most, a decimal of any size
	ULP          *Number      // error in units of the last place, at most
	ResultHash   *Text        // 16 hexadecimal digits, or "baseline"
	WithinMethod *Text        // values: the error is within the proved bound of the method of that name
	Time         *TimeLimit
}

// A Flag is a limit that is asked for or not.
type Flag struct {
	Value bool
	Line  int
}

// A Number is a limit of any size from 0 on.
type Number struct {
	Value float64
	Line  int
}

// Text is a limit that is a text.
type Text struct {
	Value string
	Line  int
}

// CorrectBits is a number of correct bits, or an exact result.
type CorrectBits struct {
	Number
	Exact bool
}

// String returns the limit as plans have it.
func (c CorrectBits) String() string {
	if c.Exact {
		return "exact"
	}
	return fmt.Sprintf("at least %g", c.Value)
}

// A TimeLimit bounds the time of a row divided by another method's on the same data at the same precision.
type TimeLimit struct {
	RelativeTo Text
	AtMost     *Number // the ratio
	Slower     *Number // in per cent of the baseline's ratio
}

// NeedsBaseline tells whether a limit refers to the baseline.
func (l Limits) NeedsBaseline() bool {
	return l.BitsLost != nil || l.ResultHash != nil && l.ResultHash.Value == FromBaseline ||
		l.Time != nil && l.Time.Slower != nil
}

// FromBaseline stands for the baseline's content of a limit.
const FromBaseline = "baseline"

// NeedsBaseline tells whether a check of the plan does.
func (p *Plan) NeedsBaseline() bool {
	return slices.ContainsFunc(p.Checks, func(c Check) bool { return c.Limits.NeedsBaseline() })
}

// DefaultBaseline is the baseline of a plan that names none: "checks/x.baseline.json" of "checks/x.yaml".
func DefaultBaseline(plan string) string {
	return strings.TrimSuffix(plan, filepath.Ext(plan)) + ".baseline.json"
}

// An Error says what is wrong in a plan or a baseline, and where.
type Error struct {
	Path string
	Line int    // 0 where the whole file is meant
	Key  string // "" where none is to blame
	Text string

	Damaged bool // a baseline can be read, and its content is wrong
}

func (e *Error) Error() string {
	place := e.Path
	if e.Line > 0 {
		place = fmt.Sprintf("%s:%d", e.Path, e.Line)
	}
	if e.Key != "" {
		place += ": " + e.Key
	}
	return place + ": " + e.Text
}
