package check

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"

	"mpbench/pkg/record"
)

// BaselineSchema is the schema of a baseline.
const BaselineSchema = "mpbench-baseline/1"

// A Baseline holds what the rows of a plan were when it was last updated. It is a JSON object with one row a line, so
// that a difference between two of them is read as one.
type Baseline struct {
	Schema  string        `json:"schema"`
	CPU     string        `json:"cpu"`  // that the time ratios were measured on
	SIMD    string        `json:"simd"` // its widest vector extension
	Threads int           `json:"threads"`
	Rows    []BaselineRow `json:"rows"`
}

// A BaselineRow is a row of a baseline.
type BaselineRow struct {
	Check       string   `json:"check"`
	Case        string   `json:"case"` // see Names
	SHA256      string   `json:"sha256"`
	CorrectBits *float64 `json:"correct_bits"` // null for an exact result
	ResultHash  string   `json:"result_hash"`
	TimeRatio   float64  `json:"time_ratio,omitempty"`  // 0 if it was not measured
	RelativeTo  string   `json:"relative_to,omitempty"` // the method that the ratio is to
}

func (b *BaselineRow) bits() float64 {
	if b.CorrectBits == nil {
		return math.Inf(1)
	}
	return *b.CorrectBits
}

// Names makes the names of rows in a baseline.
type Names map[string]int

// Of returns the name of a record's row: Record.Case, without the threads unless the check asks for a number of them,
// so that it is the same on every machine. Rows of a check that differ in nothing that records hold are numbered.
func (n Names) Of(c *Check, r *record.Record) string {
	name := r.Case()
	if !c.setsThreads() {
		name = name[:strings.LastIndex(name, "/threads=")]
	}
	key := c.Name + "\x00" + name
	n[key]++
	if n[key] > 1 {
		name += fmt.Sprintf("#%d", n[key])
	}
	return name
}

func (c *Check) setsThreads() bool {
	return slices.ContainsFunc(c.Settings, func(s Setting) bool { return s.Key == "threads" }) ||
		slices.ContainsFunc(c.Scans, func(s Setting) bool { return strings.HasPrefix(s.Value, "threads=") })
}

// NewBaseline returns the baseline of rows measured in an environment, without those whose limits do not refer to it.
func NewBaseline(rows []Row, env record.Environment) *Baseline {
	b := &Baseline{Schema: BaselineSchema, CPU: env.CPU.Brand, SIMD: env.CPU.SIMD, Threads: env.Threads,
		Rows: []BaselineRow{}}
	for i := range rows {
		r := &rows[i]
		if !r.Check.Limits.NeedsBaseline() {
			continue
		}
		row := BaselineRow{
			Check: r.Check.Name, Case: r.Case, SHA256: r.Record.Dataset.SHA256, ResultHash: r.Record.ResultHash,
		}
		if bits := CorrectBitsOf(&r.Record); !math.IsInf(bits, 1) {
			row.CorrectBits = &bits
		}
		if r.Time != nil && r.Check.Limits.Time.Slower != nil {
			row.TimeRatio, row.RelativeTo = math.Round(r.Time.Ratio.Median*1e4)/1e4, r.Time.RelativeTo
		}
		b.Rows = append(b.Rows, row)
	}
	return b
}

// Row returns the row of a case, nil if there is none. A nil Baseline has no rows.
func (b *Baseline) Row(check, name string) *BaselineRow {
	if b == nil {
		return nil
	}
	for i := range b.Rows {
		if b.Rows[i].Check == check && b.Rows[i].Case == name {
			return &b.Rows[i]
		}
	}
	return nil
}

// timesApart says which other machine the baseline's times are of, "" if they are of this one's kind.
func (b *Baseline) timesApart(env record.Environment) string {
	switch {
	case b.CPU != env.CPU.Brand:
		return "another processor, " + b.CPU
	case b.SIMD != env.CPU.SIMD:
		return "other vector instructions, " + b.SIMD
	case b.Threads != env.Threads:
		return fmt.Sprintf("another number of threads, %d", b.Threads)
	}
	return ""
}

// ReadBaseline reads a baseline. One that does not exist is nil without an error.
func ReadBaseline(path string) (*Baseline, error) {
	text, err := readRegular(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		var pathErr *fs.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return nil, &Error{Path: path, Text: err.Error()}
	}
	b, wrong := parseBaseline(text)
	if wrong != nil {
		wrong.Path, wrong.Damaged = path, true
		return nil, wrong
	}
	return b, nil
}

func parseBaseline(text []byte) (*Baseline, *Error) {
	b := &Baseline{}
	if err := json.Unmarshal(text, b); err != nil {
		return nil, &Error{Line: record.JSONErrorLine(text, err), Text: "no baseline: " + record.Explain(err).Error()}
	}
	if b.Schema != BaselineSchema {
		return nil, &Error{Key: "schema", Text: fmt.Sprintf("%q is not known; want %s", clip(b.Schema), BaselineSchema)}
	}
	for i := range b.Rows {
		r := &b.Rows[i]
		if first := b.Row(r.Check, r.Case); !reflect.DeepEqual(first, r) {
			return nil, &Error{Key: "rows", Text: fmt.Sprintf("%s: %s is there twice, with different content", r.Check,
				r.Case)}
		}
	}
	return b, nil
}

// maxBaselineBytes bounds a baseline, of which a row takes some hundred bytes.
const maxBaselineBytes = 1 << 28

// readRegular reads a file that has an end.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxBaselineBytes:
		return nil, errors.New("is no baseline; want a file that mpbench check has written")
	}
	return os.ReadFile(path)
}

// Write writes the baseline, one row a line.
func (b *Baseline) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	head, err := json.Marshal(Baseline{b.Schema, b.CPU, b.SIMD, b.Threads, []BaselineRow{}})
	if err != nil {
		return err
	}
	fmt.Fprint(out, strings.TrimSuffix(string(head), "]}"))
	for i, row := range b.Rows {
		line, err := json.Marshal(row)
		if err != nil {
			return err
		}
		if i > 0 {
			fmt.Fprint(out, ",")
		}
		fmt.Fprintf(out, "\n%s", line)
	}
	fmt.Fprintln(out, "\n]}")
	return out.Flush()
}

// A Change is a row that differs between two baselines.
type Change struct {
	Check, Case string
	Kind        string   // "new", "gone" or "changed"
	Details     []string // what has changed: "correct bits 53.0 -> 50.0"
}

// Changes lists what differs between a baseline, which may be nil, and a new one; of time ratios, 5 % or more.
func Changes(old, now *Baseline) []Change {
	var list []Change
	for i := range now.Rows {
		row := &now.Rows[i]
		before := old.Row(row.Check, row.Case)
		if before == nil {
			list = append(list, Change{row.Check, row.Case, "new", nil})
		} else if details := before.changes(row); len(details) > 0 {
			list = append(list, Change{row.Check, row.Case, "changed", details})
		}
	}
	if old == nil {
		return list
	}
	for _, row := range old.Rows {
		if now.Row(row.Check, row.Case) == nil {
			list = append(list, Change{row.Check, row.Case, "gone", nil})
		}
	}
	return list
}

// ratioChange is the relative change of a time ratio that is worth a new baseline.
const ratioChange = 0.05

func (b *BaselineRow) changes(now *BaselineRow) []string {
	var list []string
	add := func(what, old, new string) {
		if old != new {
			list = append(list, fmt.Sprintf("%s %s -> %s", what, old, new))
		}
	}
	add("data", b.SHA256, now.SHA256)
	add("result hash", b.ResultHash, now.ResultHash)
	add("correct bits", bitsText(b.bits()), bitsText(now.bits()))
	if b.SHA256 == now.SHA256 && b.ResultHash == now.ResultHash && b.bits() != now.bits() {
		list = append(list, "the result is the same, so that the old row has been edited or was made by another version")
	}
	if b.RelativeTo != now.RelativeTo || math.Abs(now.TimeRatio-b.TimeRatio) > ratioChange*b.TimeRatio {
		add("time", b.ratioText(), now.ratioText())
	}
	return list
}

func (b *BaselineRow) ratioText() string {
	if b.RelativeTo == "" {
		return "none"
	}
	return fmt.Sprintf("%.3g times %s", b.TimeRatio, b.RelativeTo)
}
