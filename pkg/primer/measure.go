package primer

import (
	"context"
	"strconv"
	"strings"

	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

// Step is what the warps of all blocks do between two barriers, as the emulator of GPU kernels counts it.
type Step struct {
	Warps     int // that do something
	Divergent int // whose threads go different ways
	Accesses  int // of shared memory, by warps
	Conflicts int // accesses beyond these, as banks are asked for several words
}

// Way is a case of a table: a way to compute on a device.
type Way struct {
	Name, Summary string
	Device        string
	Threads       int    // of processors, or of a block
	Grid          string // of blocks, as 1024x2
	Bytes         int64  // that have to be read and written
	Untimed       bool   // its times mean nothing, as those of an emulator

	Sample func(*sampling.Timer) error // runs it
	Judge  func() (Verdict, error)     // of the last run; nil for a copy, with which bandwidths are compared
	Steps  func() []Step               // of the last run; nil where nothing counts them
}

// Row is what was found, in the form of a line of output for programs.
type Row struct {
	Command   string  `json:"command"` // "reduce" or "scan"
	Operation string  `json:"operation"`
	Type      string  `json:"type"`
	N         int     `json:"n"`
	Way       string  `json:"way"`
	Summary   string  `json:"summary"`
	Device    string  `json:"device"`
	Threads   int     `json:"threads"`
	Grid      string  `json:"grid"`
	TimeNs    float64 `json:"time_ns"` // median; 0 if there is none
	LoNs      float64 `json:"lo_ns"`
	HiNs      float64 `json:"hi_ns"`
	Samples   int     `json:"samples"`
	GBPerS    float64 `json:"gb_per_s"`
	CopyShare float64 `json:"copy_share"` // of the bandwidth of a copy on the device; 0 if not known
	Speedup   float64 `json:"speedup"`    // against the row before on the device; 0 for none
	Value     string  `json:"value"`
	RelError  string  `json:"rel_error"`
	Bound     string  `json:"bound"`
	Exact     bool    `json:"exact"`
	Right     bool    `json:"right"`
	Divergent string  `json:"divergent_warps"` // by steps; "" where nothing counts them
	Conflicts string  `json:"bank_conflicts"`

	Copy bool `json:"copy"` // moves the numbers, and computes nothing
}

// Measure measures a way. A context that is cancelled is no error: ok is false.
func Measure(ctx context.Context, s sampling.Sampler, w Way) (row Row, ok bool, err error) {
	if w.Untimed {
		s = sampling.Sampler{}
	}
	m, err := s.Measure(ctx, w.Sample)
	if err != nil || m.Interrupted() {
		return Row{}, false, err
	}
	row = Row{
		Way: w.Name, Summary: w.Summary, Device: w.Device, Threads: w.Threads, Grid: w.Grid, Copy: w.Judge == nil,
		Right: true,
	}
	if !w.Untimed {
		row.TimeNs, row.LoNs, row.HiNs = m.Timing.Median, m.Timing.Lo, m.Timing.Hi
		row.Samples = len(m.Timing.Samples)
		row.GBPerS = record.NewThroughput(0, w.Bytes, row.TimeNs).BytesPerSecond / 1e9
	}
	if w.Steps != nil {
		steps := w.Steps()
		row.Divergent = list(steps, func(s Step) int { return s.Divergent })
		row.Conflicts = list(steps, func(s Step) int { return s.Conflicts })
	}
	if w.Judge != nil {
		v, err := w.Judge()
		if err != nil {
			return Row{}, false, err
		}
		row.Value, row.RelError, row.Bound, row.Exact, row.Right = v.Value, v.RelError, v.Bound, v.Exact, v.Right
	}
	return row, true, nil
}

// list writes a figure of each step.
func list(steps []Step, figure func(Step) int) string {
	var texts []string
	for _, s := range steps {
		texts = append(texts, strconv.Itoa(figure(s)))
	}
	return strings.Join(texts, " ")
}

// Compare fills the rows' figures that depend on others: on the copy on their device, and on the row before.
func Compare(rows []Row) {
	copies := map[string]float64{}
	before := map[string]float64{}
	for i := range rows {
		r := &rows[i]
		if r.Copy {
			copies[r.Device] = r.GBPerS
			continue
		}
		if copies[r.Device] > 0 {
			r.CopyShare = r.GBPerS / copies[r.Device]
		}
		if r.TimeNs > 0 && before[r.Device] > 0 {
			r.Speedup = before[r.Device] / r.TimeNs
		}
		before[r.Device] = r.TimeNs
	}
}
