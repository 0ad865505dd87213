package record

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// The schemas of the lines of a result file.
const (
	RecordSchema      = "mpbench/1"
	EnvironmentSchema = "mpbench-env/1"
)

// A Record is one row of results: a method applied to a data set, its error against the exact result of the
// given inputs, and its time.
//
// Numbers that need not fit float64 are decimal strings such as "3.4873e-06", "1e-5000", "+Inf", "-Inf" or
// "NaN" (see ParseDecimal); an empty string stands for a number that is not known and is left out in JSON.
type Record struct {
	Schema  string  `json:"schema"`  // RecordSchema
	Command string  `json:"command"` // "sum", "dot", "gemv", ...
	Method  string  `json:"method"`  // as the user types it: "reduce2", "sumk:3"
	Format  string  `json:"format"`  // number format: "binary64", "rns"
	Device  string  `json:"device"`  // "cpu", "cuda:0", "emulated"
	Threads int     `json:"threads"`
	Dataset Dataset `json:"dataset"`
	Shape   Shape   `json:"shape"`
	Ranks   *Ranks  `json:"ranks,omitempty"` // processes that shared the problem, absent for one

	Factors map[string]string `json:"factors,omitempty"` // alpha, beta: those that are not 1 and 0
	Strides map[string]int    `json:"strides,omitempty"` // ldA, incx, ...: those that are not the usual ones

	PrecisionBits  int    `json:"precision_bits"`            // what was asked for
	ActualBits     int    `json:"actual_bits"`               // what the format gives
	Moduli         int    `json:"moduli,omitempty"`          // RNS formats: number of moduli
	ModuliBits     int    `json:"moduli_bits,omitempty"`     // RNS formats: width of the widest modulus
	Variant        string `json:"variant,omitempty"`         // which of several ways of computing ran
	Rounding       string `json:"rounding,omitempty"`        // RNS formats: "truncate", "nearest"
	Alignment      string `json:"alignment,omitempty"`       // RNS formats: "2018", "blas"
	Alignments     int    `json:"alignments,omitempty"`      // RNS formats: additions of a run whose exponents differed
	Roundings      int    `json:"roundings,omitempty"`       // RNS formats: results of a run that were rescaled
	MatrixBytes    int64  `json:"matrix_bytes,omitempty"`    // matrices: memory of A in the method's format
	WorkspaceBytes int64  `json:"workspace_bytes,omitempty"` // matrices: memory beside A, x and y
	Blocks         int    `json:"blocks,omitempty"`          // block-parallel methods
	BlockSize      int    `json:"block_size,omitempty"`      // block-parallel methods

	Value       string   `json:"value"`                // the computed result
	Exact       string   `json:"exact"`                // the exact result of the same inputs
	Reference   string   `json:"reference,omitempty"`  // how the exact result was found
	Condition   string   `json:"condition,omitempty"`  // condition number of the problem
	RelError    string   `json:"rel_error"`            // |value - exact| / |exact|, not capped; "+Inf" if only exact is 0
	AbsError    string   `json:"abs_error,omitempty"`  // |value - exact|
	ULPError    string   `json:"ulp_error,omitempty"`  // |value - exact| in units of the last place of the format
	CorrectBits *float64 `json:"correct_bits"`         // -log2(rel_error); null when the result is exact
	ExactResult bool     `json:"exact_result"`         // value equals exact
	Bound       string   `json:"bound,omitempty"`      // proved, on rel_error; absent where its conditions do not hold
	AbsBound    string   `json:"abs_bound,omitempty"`  // proved bound on abs_error
	WithinBound *bool    `json:"within_bound"`         // null without a bound
	Row         *int     `json:"row,omitempty"`        // vectors: the component of value, exact, errors and bounds
	NormError   string   `json:"norm_error,omitempty"` // vectors: ||y - y*||_1 / ||y*||_1
	NormBound   string   `json:"norm_bound,omitempty"` // vectors: bound on norm_error, equation (19) of the 2020 paper
	ResultHash  string   `json:"result_hash"`          // see ResultHash
	Solve       *Solve   `json:"solve,omitempty"`      // of command "solve", whose errors are residuals

	Time       Timing     `json:"time_ns"`
	Ratio      *Ratio     `json:"ratio,omitempty"`     // of the time to that of a method beside it
	Phases     Phases     `json:"phases_ns"`           // median of each phase
	Kernels    []Kernel   `json:"kernels,omitempty"`   // devices: what the kernels of a run did, in their order
	StopRule   StopRule   `json:"stop_rule,omitempty"` // what ended the sampling
	Throughput Throughput `json:"throughput"`
	Warnings   []Warning  `json:"warnings"`
	EnvID      string     `json:"env_id"`            // ID of the Environment that the record was made in
	CaseID     string     `json:"case_id,omitempty"` // of what was asked for, see NewCaseID; a run is continued by it
}

// A Dataset says which numbers were used.
type Dataset struct {
	Name   string            `json:"name"`
	N      int               `json:"n"`
	Params map[string]string `json:"params"`
	SHA256 string            `json:"sha256"` // of the bit patterns
}

// Ranks says how processes shared a problem. The phase "communicate" is what that took beside their own work.
type Ranks struct {
	Library string   `json:"library"` // that connects them
	Hosts   []string `json:"hosts"`   // of each rank
	Devices []string `json:"devices"` // of each rank
	Divided string   `json:"divided"` // what each has some of: "rows", "terms"
	Shares  []int    `json:"shares"`  // how many
}

// A Shape gives the extents of the problem: n terms of a sum or a dot product, an m x n matrix, and so on.
type Shape struct {
	M     int    `json:"m,omitempty"`
	N     int    `json:"n"`
	K     int    `json:"k,omitempty"`
	NNZ   int    `json:"nnz,omitempty"`   // stored elements of a sparse matrix
	Trans string `json:"trans,omitempty"` // "N" or "T"; "NN", "NT", "TN" or "TT" of two matrices
	Uplo  string `json:"uplo,omitempty"`  // "U" or "L" where one triangle of the matrix is read
	Diag  string `json:"diag,omitempty"`  // "U" where the diagonal of a triangular matrix is ones, otherwise "N"
}

// Matrices says how matrices are meant: "op(A) = A^T, op(B) = B", "lower triangle"; "" where there is none.
func (s Shape) Matrices() string {
	var list []string
	for i, letter := range s.Trans {
		name := string(rune('A' + i))
		list = append(list, "op("+name+") = "+name+map[rune]string{'T': "^T"}[letter])
	}
	if s.Uplo != "" {
		list = append(list, map[string]string{"U": "upper", "L": "lower"}[s.Uplo]+" triangle")
	}
	if s.Diag == "U" {
		list = append(list, "diagonal of ones")
	}
	return strings.Join(list, ", ")
}

// Timing describes the time of one operation, in nanoseconds.
type Timing struct {
	Median     float64   `json:"median"`
	Lo         float64   `json:"lo"` // interval for the median, see MedianInterval
	Hi         float64   `json:"hi"`
	Samples    []float64 `json:"samples"`              // in the order they were taken, each the mean of Iterations
	Iterations int       `json:"iterations,omitempty"` // operations a sample; more than 1 for short operations
	Confidence float64   `json:"confidence,omitempty"` // of [Lo, Hi] covering the median; 0.95 or more from 6 samples on
	RelMAD     float64   `json:"rel_mad,omitempty"`    // median absolute deviation / median
}

// A Ratio is the time of a method divided by that of another one for the same problem, measured in turn: the median of
// the rounds' ratios, and an interval that covers it with the Confidence.
type Ratio struct {
	Baseline   string  `json:"baseline"` // the other method
	Median     float64 `json:"median"`
	Lo         float64 `json:"lo"`
	Hi         float64 `json:"hi"`
	Confidence float64 `json:"confidence"`
	Rounds     int     `json:"rounds"`
}

// A Kernel is one launch of a kernel on a device.
type Kernel struct {
	Phase       string  `json:"phase"` // the phase that its time belongs to
	Name        string  `json:"name"`
	Array       string  `json:"array"`           // that it computes, as the method calls it: "d", "y", "B"
	TimeNs      float64 `json:"time_ns"`         // median
	Bytes       int64   `json:"bytes"`           // read and written in device memory, each number once
	BytesShare  float64 `json:"bandwidth_share"` // bytes/s, as a share of the device's memory bandwidth; 0 if not known
	Occupancy   float64 `json:"occupancy"`       // share of a multiprocessor's threads that are resident
	Blocks      int     `json:"blocks"`
	Threads     int     `json:"threads"` // of a block
	SharedBytes int     `json:"shared_bytes"`
	Registers   int     `json:"registers"`   // of a thread
	LocalBytes  int     `json:"local_bytes"` // of a thread
}

// Throughput says how much was processed in a second at the median time. Bytes are decimal: 1 GB is 10^9 bytes.
type Throughput struct {
	ElementsPerSecond float64 `json:"elements_per_s"`
	BytesPerSecond    float64 `json:"bytes_per_s"`
	Elements          int64   `json:"elements,omitempty"` // elements an operation processes
	Bytes             int64   `json:"bytes,omitempty"`    // bytes an operation has to read and write
}

// NewThroughput returns the throughput of an operation that processes the given numbers of elements and bytes
// in medianNs nanoseconds; the rates are 0 when the time is not known, or below what any clock shows.
func NewThroughput(elements, bytes int64, medianNs float64) Throughput {
	t := Throughput{Elements: elements, Bytes: bytes}
	if medianNs >= 0.001 { // a picosecond: samples are rounded to that
		t.ElementsPerSecond = float64(elements) / medianNs * 1e9
		t.BytesPerSecond = float64(bytes) / medianNs * 1e9
	}
	return t
}

// OutsideBound tells whether the result is worse than its proved bound allows, which means that something is
// broken: the method, its proof, or the machine.
func (r *Record) OutsideBound() bool { return r.WithinBound != nil && !*r.WithinBound }

// CountOutside returns how many results are outside their proved bounds.
func CountOutside(records []Record) int {
	n := 0
	for _, r := range records {
		if r.OutsideBound() {
			n++
		}
	}
	return n
}

// A Run is the content of a result file.
type Run struct {
	Environments []Environment
	Records      []Record

	Warnings []Warning // about the file, such as a last line that is cut off
	Partial  []byte    // the text of a last line that is cut off
	Size     int64     // bytes of the file up to the end of the last whole line
}

// Environment returns the environment with the given ID, and false when the run does not hold it.
func (r *Run) Environment(id string) (Environment, bool) {
	for _, env := range r.Environments {
		if env.ID == id {
			return env, true
		}
	}
	return Environment{}, false
}

// The phases that every record names.
const (
	PhaseConvert = "convert" // inputs to the method's own number format
	PhaseH2D     = "h2d"     // copy to the device
	PhaseKernel  = "kernel"  // the operation itself; its time is the record's time
	PhaseD2H     = "d2h"     // copy from the device
	PhaseHost    = "host"    // what the host does with a device's results; in records of devices only

	PhaseCompute     = "compute"     // of the slowest of several processes
	PhaseCommunicate = "communicate" // the rest of the operation: results sent and merged
)

// StandardPhases are the phases that every record names, in their order of execution.
var StandardPhases = []string{PhaseConvert, PhaseH2D, PhaseKernel, PhaseD2H}

// Phases are durations in nanoseconds by name of phase.
type Phases map[string]float64

// OneShotNs returns the time of a run together with what comes before and after it where numbers are used once: the
// conversion, and copies from and to a device.
func (r *Record) OneShotNs() float64 {
	total := r.Time.Median
	for _, name := range []string{PhaseConvert, PhaseH2D, PhaseD2H, PhaseHost} {
		total += r.Phases[name]
	}
	return total
}

// Names returns the standard phases in their order of execution, and then the others in alphabetical order.
func (p Phases) Names() []string {
	names := slices.Clone(StandardPhases)
	for _, name := range slices.Sorted(maps.Keys(p)) {
		if !slices.Contains(StandardPhases, name) {
			names = append(names, name)
		}
	}
	return names
}

// MarshalJSON writes the phases in the order of Names, with 0 for a standard phase that did not occur.
func (p Phases) MarshalJSON() ([]byte, error) {
	text := []byte{'{'}
	for i, name := range p.Names() {
		key, err1 := json.Marshal(name)
		value, err2 := json.Marshal(p[name])
		if err := cmp.Or(err1, err2); err != nil {
			return nil, err
		}
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(text, key...), ':'), value...)
	}
	return append(text, '}'), nil
}

// A StopRule says what ended a measurement.
type StopRule string

// The rules, in the order in which they are tried before each sample.
const (
	StopInterrupted StopRule = "interrupted" // the context was cancelled
	StopMinimum     StopRule = "minimum"     // Runs and MinTime are reached, and no noise limit is set
	StopNoise       StopRule = "noise"       // Runs and MinTime are reached, and the relative MAD is at most MaxNoise
	StopTimeout     StopRule = "timeout"     // Timeout has passed
	StopMaxRuns     StopRule = "max-runs"    // MaxRuns samples are taken
	StopError       StopRule = "error"       // the operation failed
)

// Codes of warnings. They are part of the record format; the texts are not.
const (
	WarnOutliers    = "outliers"       // samples far from the median
	WarnSlowFirst   = "slow-first-run" // the first sample alone is slow
	WarnNoisy       = "noisy"          // stopped before the relative MAD was low enough
	WarnFewRuns     = "few-runs"       // fewer samples than asked for
	WarnShort       = "short"          // a sample is close to the resolution of the clock
	WarnInterrupted = "interrupted"    // the user stopped the run
	WarnTruncated   = "truncated"      // the last line of a file is cut off
	WarnBusy        = "busy"           // other programs use the processors
	WarnNoBound     = "no-bound"       // the conditions of the method's error bound do not hold
	WarnGovernor    = "governor"       // the processor's clock follows the load
	WarnTuning      = "tuning"         // launch parameters could not be read or kept
	WarnHeader      = "header"         // a line of the input was skipped
	WarnSampled     = "sampled"        // not all components were compared with exact ones
)

// A Warning tells that a result is to be taken with care, and what to do about it.
type Warning struct {
	Code   string `json:"code"`
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
}

// String returns the text and the advice in one line.
func (w Warning) String() string {
	if w.Advice == "" {
		return w.Text
	}
	return w.Text + "; " + w.Advice
}

// Count returns a number with its noun, in the plural but for 1: "1 sample", "3 samples".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Bytes writes a number of bytes in decimal units: "8.0 TB".
func Bytes(n int64) string {
	value, unit := float64(n), 0
	units := []string{"bytes", "kB", "MB", "GB", "TB", "PB", "EB"}
	for value >= 1000 && unit < len(units)-1 {
		value /= 1000
		unit++
	}
	if unit == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", value, units[unit])
}

// Label returns the data set as users type it: "gensum:c=1e20,seed=1". Parameters are in alphabetical order.
func (d Dataset) Label() string {
	if len(d.Params) == 0 {
		return d.Name
	}
	var b strings.Builder
	b.WriteString(d.Name)
	sep := byte(':')
	for _, key := range slices.Sorted(maps.Keys(d.Params)) {
		b.WriteByte(sep)
		b.WriteString(key + "=" + d.Params[key])
		sep = ','
	}
	return b.String()
}

// A Setting is one of the choices that tell one case from another.
type Setting struct{ Key, Value string }

// Settings returns everything that was chosen for the record, in a fixed order: method, data set, shape,
// precision and the options that the method uses. Results, times and the environment are no part of it.
func (r *Record) Settings() []Setting {
	s := []Setting{{"method", r.Method}}
	add := func(key string, value any, present bool) {
		if present {
			s = append(s, Setting{key, fmt.Sprint(value)})
		}
	}
	add("precision", r.PrecisionBits, true)
	add("dataset", r.Dataset.Label(), true)
	add("m", r.Shape.M, r.Shape.M != 0)
	add("n", r.Shape.N, true)
	add("k", r.Shape.K, r.Shape.K != 0)
	add("nnz", r.Shape.NNZ, r.Shape.NNZ != 0)
	add("trans", r.Shape.Trans, r.Shape.Trans != "")
	add("uplo", r.Shape.Uplo, r.Shape.Uplo != "")
	add("diag", r.Shape.Diag, r.Shape.Diag != "")
	for _, name := range slices.Sorted(maps.Keys(r.Factors)) {
		add(name, r.Factors[name], true)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Strides)) {
		add(name, r.Strides[name], true)
	}
	add("device", r.Device, r.Device != "" && r.Device != "cpu")
	if r.Ranks != nil {
		add("ranks", len(r.Ranks.Hosts), true)
	}
	add("moduli-bits", r.ModuliBits, r.ModuliBits != 0)
	add("rounding", r.Rounding, r.Rounding != "")
	add("alignment", r.Alignment, r.Alignment != "")
	add("blocks", r.Blocks, r.Blocks != 0)
	add("block-size", r.BlockSize, r.BlockSize != 0)
	if r.Solve != nil {
		add("algorithm", r.Solve.Algorithm, r.Solve.Algorithm != "bicgstab")
		add("precondition", r.Solve.Precondition, r.Solve.Precondition != "none")
		add("float64-matrix", fmt.Sprint(r.Solve.Float64Matrix), r.Solve.Float64Matrix)
	}
	return s
}

// Case identifies what was measured, on the same data if Dataset.SHA256 agrees too.
func (r *Record) Case() string {
	var b strings.Builder
	b.WriteString(r.Command)
	for _, s := range r.Settings() {
		b.WriteString("/" + s.Key + "=" + s.Value)
	}
	fmt.Fprintf(&b, "/threads=%d", r.Threads)
	return b.String()
}
