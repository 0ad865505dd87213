package sampling

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"mpbench/pkg/record"
	"mpbench/pkg/stats"
)

// A Sampler decides how often an operation is run. The zero value takes one sample.
type Sampler struct {
	Warmup   int           // runs before the first sample
	Runs     int           // samples to take at least
	MinTime  time.Duration // time to spend on samples at least
	Timeout  time.Duration // time to spend at most, warm-up included; 0 for no limit. A run is never cut short
	MaxNoise float64       // relative MAD at which sampling may stop; 0 to stop at Runs and MinTime
	MaxRuns  int           // samples to take at most; 0 for 10000

	Prefix string // before the names of settings in errors and advice, such as "--" of flags

	Clock    Clock              // nil for SystemClock
	Progress func(SampleStatus) // called after each run, if not nil
}

// DefaultSampler returns the sampler of the command line's defaults.
func DefaultSampler() Sampler {
	return Sampler{Warmup: 1, Runs: 10, MinTime: 500 * time.Millisecond, Timeout: 5 * time.Second, MaxNoise: 0.05}
}

// SampleStatus tells how far a measurement has come.
type SampleStatus struct {
	Samples int           // taken so far
	Elapsed time.Duration // since the measurement began
	LastNs  float64       // duration of the last run's kernel
}

// A Measurement is what a Sampler found. After an interruption or an error it holds the samples until then.
type Measurement struct {
	Timing   record.Timing
	Phases   record.Phases // median of each phase over the samples that reported it, or else over warm-up
	Stop     record.StopRule
	Warnings []record.Warning
}

// Interrupted tells whether the context was cancelled before sampling was done.
func (m Measurement) Interrupted() bool { return m.Stop == record.StopInterrupted }

const (
	defaultMaxRuns = 10_000
	// minResolutions is how many times the clock's resolution a sample should last: 1 % of quantization.
	minResolutions = 100
	// minSample is the shortest sample that several operations are put together for.
	minSample = 10 * time.Microsecond
	// samplesAimed is how many samples should fill MinTime, so that records stay short.
	samplesAimed = 1000
	// maxIterations ends calibration where the clock stands still, or the operation takes no time at all.
	maxIterations = 1 << 24
)

// ErrNoKernel is the error of a body that does not report the kernel phase.
var ErrNoKernel = errors.New("bench: the measured function reported no kernel phase")

// Validate returns an error that names the first setting which makes no sense, in lower case with hyphens: "min-time".
func (s Sampler) Validate() error {
	switch {
	case s.Warmup < 0:
		return fmt.Errorf("%swarmup %d is negative", s.Prefix, s.Warmup)
	case s.Runs < 0:
		return fmt.Errorf("%sruns %d is negative", s.Prefix, s.Runs)
	case s.MinTime < 0:
		return fmt.Errorf("%smin-time %v is negative", s.Prefix, s.MinTime)
	case s.Timeout < 0:
		return fmt.Errorf("%stimeout %v is negative", s.Prefix, s.Timeout)
	case !(s.MaxNoise >= 0) || math.IsInf(s.MaxNoise, 0):
		return fmt.Errorf("%smax-noise %v is no ratio of at least 0", s.Prefix, s.MaxNoise)
	case s.MaxRuns < 0:
		return fmt.Errorf("the number of runs is limited to %d", s.MaxRuns)
	}
	return nil
}

// Measure runs body: Warmup times, and then for samples until a StopRule applies. There is at least one sample unless
// the context is cancelled or body fails; if warm-up alone outlasts Timeout, its last run is the sample.
//
// An operation that is short, compared with the resolution of the clock, 10 µs or a thousandth of MinTime, is
// run several times a sample; Timing.Iterations says how often. Finding that number takes some runs, which
// count as warm-up.
//
// A cancelled context is no error but a StopRule. An error of body is returned with what was measured before.
func (s Sampler) Measure(ctx context.Context, body func(*Timer) error) (Measurement, error) {
	if err := s.Validate(); err != nil {
		return Measurement{}, err
	}
	if s.Clock == nil {
		s.Clock = SystemClock()
	}
	s.MaxRuns = cmp.Or(s.MaxRuns, defaultMaxRuns)
	m := &measuring{Sampler: s, ctx: ctx, body: body, iterations: 1, phases: map[string][]float64{},
		warmPhases: map[string][]float64{}}
	stop, err := m.run()
	return m.result(stop), err
}

type measuring struct {
	Sampler
	ctx        context.Context
	body       func(*Timer) error
	start      time.Duration // of the measurement
	first      time.Duration // start of the first sample
	index      int
	iterations int
	samples    []float64
	slow       float64 // how many times the median a first sample took that is left out; 0 where none is
	phases     map[string][]float64
	warmPhases map[string][]float64 // of the runs before the first sample
	nextCheck  int                  // number of samples at which the noise is computed again
}

func (m *measuring) run() (record.StopRule, error) {
	m.start = m.Clock.Now()
	timer, stop, err := m.warmUp()
	if timer != nil {
		m.keep(timer)
	}
	if stop != "" || err != nil {
		return stop, err
	}
	for {
		if stop := m.stopRule(); stop != "" {
			if m.dropSlowFirst() && len(m.samples) < m.Runs && (stop == record.StopMinimum || stop == record.StopNoise) {
				continue
			}
			return stop, nil
		}
		timer, stop, err := m.once()
		if stop != "" || err != nil {
			return stop, err
		}
		m.keep(timer)
	}
}

// warmUp makes the runs before the first sample, which it returns, and finds the number of iterations.
func (m *measuring) warmUp() (*Timer, record.StopRule, error) {
	for runs := 1; ; runs++ {
		if runs == max(1, m.Warmup) {
			runtime.GC() // garbage of earlier cases is not the samples' business; the last warm-up run fills the caches again
		}
		m.first = m.Clock.Now()
		timer, stop, err := m.once()
		if stop != "" || err != nil {
			return nil, stop, err
		}
		if enough := m.calibrate(timer); enough && runs > m.Warmup || m.timedOut() {
			return timer, "", nil
		}
		for name, ns := range timer.ns {
			m.warmPhases[name] = append(m.warmPhases[name], ns)
		}
		m.report(timer)
	}
}

// calibrate raises the number of iterations after a run that was too short, and tells if it was long enough.
func (m *measuring) calibrate(t *Timer) bool {
	target := max(minResolutions*m.Clock.Resolution(), minSample, m.MinTime/samplesAimed)
	if !t.measured || t.kernel >= target || m.iterations >= maxIterations {
		return true
	}
	// At most a hundredfold at once: the first runs are slow or below the clock's resolution.
	n := int(math.Ceil(1.2 * float64(m.iterations) * float64(target) / float64(max(t.kernel, 1))))
	m.iterations = max(m.iterations+1, min(n, 100*m.iterations, maxIterations))
	return false
}

// once runs the body for one sample.
func (m *measuring) once() (*Timer, record.StopRule, error) {
	if m.ctx.Err() != nil {
		return nil, record.StopInterrupted, nil
	}
	t := &Timer{clock: m.Clock, index: m.index, iterations: m.iterations, ns: record.Phases{}}
	err := m.body(t)
	m.index++
	if err != nil && m.ctx.Err() != nil && errors.Is(err, m.ctx.Err()) {
		return nil, record.StopInterrupted, nil
	}
	if err == nil {
		err = t.check()
	}
	if err != nil {
		return nil, record.StopError, err
	}
	return t, "", nil
}

func (m *measuring) keep(t *Timer) {
	m.iterations = t.iterations
	m.samples = append(m.samples, Picoseconds(t.ns[record.PhaseKernel]))
	for name, ns := range t.ns {
		m.phases[name] = append(m.phases[name], ns)
	}
	m.report(t)
}

func (m *measuring) report(t *Timer) {
	if m.Progress != nil {
		m.Progress(SampleStatus{len(m.samples), m.Clock.Now() - m.start, t.ns[record.PhaseKernel]})
	}
}

func (m *measuring) timedOut() bool {
	return m.Timeout > 0 && m.Clock.Now()-m.start >= m.Timeout
}

// stopRule returns the rule that ends sampling now, or "".
func (m *measuring) stopRule() record.StopRule {
	n := len(m.samples)
	switch {
	case m.ctx.Err() != nil:
		return record.StopInterrupted
	case n >= m.Runs && m.Clock.Now()-m.first >= m.MinTime && m.quiet(n):
		if m.MaxNoise == 0 {
			return record.StopMinimum
		}
		return record.StopNoise
	case m.timedOut():
		return record.StopTimeout
	case n >= m.MaxRuns:
		return record.StopMaxRuns
	}
	return ""
}

// quiet tells whether the n samples vary little enough. It looks whenever a tenth was added: n log n work in all.
func (m *measuring) quiet(n int) bool {
	if m.MaxNoise == 0 {
		return true
	}
	if n < m.nextCheck {
		return false
	}
	m.nextCheck = n + max(n/10, 1)
	return stats.RelativeMAD(m.samples) <= m.MaxNoise
}

func (m *measuring) result(stop record.StopRule) Measurement {
	r := Measurement{Timing: newTiming(m.samples, m.iterations), Phases: record.Phases{}, Stop: stop}
	for _, name := range record.StandardPhases {
		r.Phases[name] = 0
	}
	for name, ns := range m.warmPhases {
		r.Phases[name] = Picoseconds(stats.Median(ns))
	}
	for name, ns := range m.phases {
		r.Phases[name] = Picoseconds(stats.Median(ns))
	}
	if len(m.samples) == 0 {
		r.Phases[record.PhaseKernel] = 0
	}
	r.Warnings = m.sampleWarnings(r, float64(m.Clock.Resolution()))
	if m.slow > 0 {
		r.Warnings = append(r.Warnings, record.Warning{Code: record.WarnSlowFirst, Advice: "raise " + m.Prefix + "warmup",
			Text: fmt.Sprintf("the first sample took %.2g times the median and is left out", m.slow)})
	}
	return r
}

// dropSlowFirst leaves a slow first sample out, which belongs to the warm-up, and tells whether there was one.
func (m *measuring) dropSlowFirst() bool {
	out := stats.Outliers(m.samples)
	median := stats.Median(m.samples)
	if m.slow > 0 || len(out) == 0 || out[0] != 0 || m.samples[0] <= slowFirstRatio*median {
		return false
	}
	m.slow, m.samples = m.samples[0]/median, m.samples[1:]
	return true
}

// newTiming summarizes samples in nanoseconds, each the mean of the given number of operations.
func newTiming(samples []float64, iterations int) record.Timing {
	t := record.Timing{Samples: samples, Iterations: iterations}
	if len(samples) == 0 {
		return t
	}
	i := stats.MedianInterval(samples, 0.95)
	t.Median, t.RelMAD = stats.Median(samples), stats.RelativeMAD(samples)
	t.Lo, t.Hi, t.Confidence = i.Lo, i.Hi, i.Confidence
	return t
}

// Fill fills the fields of r that describe time: Time, Phases, StopRule, Throughput, and adds Warnings.
func (m Measurement) Fill(r *record.Record, elements, bytes int64) {
	r.Time = m.Timing
	r.Phases = m.Phases
	r.StopRule = m.Stop
	r.Throughput = record.NewThroughput(elements, bytes, m.Timing.Median)
	r.Warnings = append(r.Warnings, m.Warnings...)
}

// slowFirstRatio is how much slower than the median the first sample must be to be left out: a difference that is
// significant but small does no harm to a median.
const slowFirstRatio = 1.2

// outlierRatio is how far from the median, up or down, a sample must be to count in a warning, for the same reason.
const outlierRatio = 1.1

func (s Sampler) sampleWarnings(m Measurement, resolutionNs float64) []record.Warning {
	var ws []record.Warning
	add := func(code, advice, format string, args ...any) {
		ws = append(ws, record.Warning{Code: code, Text: fmt.Sprintf(format, args...), Advice: advice})
	}
	n, t := len(m.Timing.Samples), m.Timing
	if m.Stop == record.StopInterrupted {
		add(record.WarnInterrupted, "run it again for a full measurement", "interrupted after %s", record.Count(n, "sample"))
	}
	if n == 0 {
		return ws
	}
	if n < s.Runs && m.Stop == record.StopTimeout {
		add(record.WarnFewRuns, "raise "+s.Prefix+"timeout", "only %s instead of %d before the timeout",
			record.Count(n, "sample"), s.Runs)
	}
	if m.Stop == record.StopTimeout && s.MaxNoise > 0 && t.RelMAD > s.MaxNoise {
		add(record.WarnNoisy, "close other programs, or raise "+s.Prefix+"timeout or "+s.Prefix+"max-noise",
			"samples vary by %.2g %% (relative MAD), more than %.2g %%", 100*t.RelMAD, 100*s.MaxNoise)
	}
	out := slices.DeleteFunc(stats.Outliers(t.Samples), func(i int) bool {
		return t.Samples[i] < outlierRatio*t.Median && t.Samples[i] > t.Median/outlierRatio
	})
	if len(out) >= 2 && 10*len(out) >= n { // a median bears less than that
		add(record.WarnOutliers, "close other programs or raise "+s.Prefix+"runs", "%d of %d samples are outliers", len(out),
			n)
	}
	if sample := t.Median * float64(t.Iterations); resolutionNs > 0 && sample < minResolutions*resolutionNs {
		add(record.WarnShort, "measure more terms", "a sample of %.3g ns is close to the clock's resolution of %.3g ns",
			sample, resolutionNs)
	}
	return ws
}
