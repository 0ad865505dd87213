package sampling

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"mpbench/pkg/record"
)

// fakeClock stands still unless a test moves it.
type fakeClock struct {
	now        time.Duration
	resolution time.Duration
}

func (c *fakeClock) Now() time.Duration        { return c.now }
func (c *fakeClock) Resolution() time.Duration { return c.resolution }

// advance returns a function that moves the clock by the durations in turn, the last one again and again.
func (c *fakeClock) advance(durations ...time.Duration) func() {
	i := 0
	return func() {
		c.now += durations[min(i, len(durations)-1)]
		i++
	}
}

func kernel(f func()) func(*Timer) error {
	return func(t *Timer) error {
		t.Time(record.PhaseKernel, f)
		return nil
	}
}

func codes(ws []record.Warning) []string {
	var codes []string
	for _, w := range ws {
		codes = append(codes, w.Code)
	}
	return codes
}

const ms = time.Millisecond

func TestStopRules(t *testing.T) {
	for name, c := range map[string]struct {
		sampler Sampler
		times   []time.Duration
		samples int
		rule    record.StopRule
		codes   []string
	}{
		"zero value":    {Sampler{}, []time.Duration{ms}, 1, record.StopMinimum, nil},
		"least runs":    {Sampler{Runs: 10, MinTime: 5 * ms}, []time.Duration{ms}, 10, record.StopMinimum, nil},
		"least time":    {Sampler{Runs: 10, MinTime: 50 * ms}, []time.Duration{ms}, 50, record.StopMinimum, nil},
		"quiet at once": {Sampler{Runs: 10, MaxNoise: 0.01}, []time.Duration{ms}, 10, record.StopNoise, nil},
		"quiet in the end": {Sampler{Runs: 3, MaxNoise: 0.01}, []time.Duration{ms, 2 * ms, 3 * ms, ms}, 5,
			record.StopNoise, nil},
		"never quiet": {Sampler{Runs: 3, MaxNoise: 0.01, Timeout: 20 * ms}, cycle(99, ms, 2*ms, 3*ms), 11,
			record.StopTimeout, []string{record.WarnNoisy}},
		"timeout": {Sampler{Runs: 10, Timeout: 3 * ms}, []time.Duration{ms}, 3, record.StopTimeout,
			[]string{record.WarnFewRuns}},
		"one long run": {Sampler{Runs: 10, Timeout: 3 * ms}, []time.Duration{time.Hour}, 1, record.StopTimeout,
			[]string{record.WarnFewRuns}},
		"long warm-up": {Sampler{Warmup: 5, Runs: 10, Timeout: 3 * ms}, []time.Duration{2 * ms}, 1, record.StopTimeout,
			[]string{record.WarnFewRuns}},
		"timeout in a quiet": {Sampler{Runs: 10, MaxNoise: 0.1, Timeout: 10 * ms}, []time.Duration{ms}, 10, record.StopNoise,
			nil},
		"most runs": {Sampler{Runs: 2, MinTime: time.Hour, MaxRuns: 7}, []time.Duration{4 * time.Second}, 7,
			record.StopMaxRuns, nil},
		"slow first sample": {Sampler{Runs: 10}, []time.Duration{5 * ms, ms}, 10, record.StopMinimum,
			[]string{record.WarnSlowFirst}},
		"slow warm-up": {Sampler{Warmup: 1, Runs: 10}, []time.Duration{5 * ms, ms}, 10, record.StopMinimum, nil},
		"harmless outliers": {Sampler{Runs: 10}, []time.Duration{100 * ms, 109 * ms, 100 * ms, 100 * ms, 109 * ms,
			100 * ms}, 10, record.StopMinimum, nil},
		"outliers": {Sampler{Runs: 10}, []time.Duration{ms, 9 * ms, ms, ms, 9 * ms, ms}, 10, record.StopMinimum,
			[]string{record.WarnOutliers}},
	} {
		t.Run(name, func(t *testing.T) {
			clock := &fakeClock{}
			c.sampler.Clock = clock
			m, err := c.sampler.Measure(context.Background(), kernel(clock.advance(c.times...)))
			if err != nil {
				t.Fatal(err)
			}
			if len(m.Timing.Samples) != c.samples || m.Stop != c.rule || m.Timing.Iterations != 1 {
				t.Errorf("%d samples of %d, stopped by %q; want %d of 1, %q",
					len(m.Timing.Samples), m.Timing.Iterations, m.Stop, c.samples, c.rule)
			}
			if got := codes(m.Warnings); !slices.Equal(got, c.codes) {
				t.Errorf("warnings %v, want %v: %v", got, c.codes, m.Warnings)
			}
			for _, w := range m.Warnings {
				if w.Advice == "" {
					t.Errorf("no advice: %v", w)
				}
			}
		})
	}
}

func cycle(n int, durations ...time.Duration) []time.Duration {
	return slices.Repeat(durations, n)
}

// TestSamplesKept: every sample is there, in order, and the summary fits them.
func TestSamplesKept(t *testing.T) {
	clock := &fakeClock{}
	m, err := Sampler{Warmup: 2, Runs: 6, Clock: clock}.Measure(context.Background(),
		kernel(clock.advance(9*ms, 8*ms, ms, 3*ms, 2*ms, 6*ms, 5*ms, 4*ms)))
	if err != nil {
		t.Fatal(err)
	}
	want := record.Timing{
		Median: 3.5e6, Lo: 1e6, Hi: 6e6, Confidence: 1 - 2.0/64, RelMAD: 1.5 / 3.5, Iterations: 1,
		Samples: []float64{1e6, 3e6, 2e6, 6e6, 5e6, 4e6},
	}
	if math.Abs(m.Timing.Confidence-want.Confidence) > 1e-14 {
		t.Errorf("confidence %v, want %v", m.Timing.Confidence, want.Confidence)
	}
	m.Timing.Confidence = want.Confidence
	if !slices.Equal(m.Timing.Samples, want.Samples) || m.Timing.Median != want.Median ||
		m.Timing.Lo != want.Lo || m.Timing.Hi != want.Hi || m.Timing.RelMAD != want.RelMAD {
		t.Errorf("got %+v, want %+v", m.Timing, want)
	}
}

// TestShortOperation: several runs make a sample where one would be shorter than 100 times the resolution of
// the clock, and the mean is what counts.
func TestShortOperation(t *testing.T) {
	for _, c := range []struct {
		resolution, operation, minTime time.Duration
		atLeast                        time.Duration // a sample's
	}{
		{20 * time.Nanosecond, 3 * time.Nanosecond, 0, 10 * time.Microsecond},
		{time.Microsecond, 3 * time.Nanosecond, 0, 100 * time.Microsecond},
		{20 * time.Nanosecond, 700 * time.Nanosecond, 500 * ms, 500 * time.Microsecond},
		{20 * time.Nanosecond, ms, 500 * ms, ms},
	} {
		clock := &fakeClock{resolution: c.resolution}
		m, err := Sampler{Warmup: 1, Runs: 10, MinTime: c.minTime, Clock: clock}.Measure(context.Background(),
			kernel(clock.advance(c.operation)))
		if err != nil {
			t.Fatal(err)
		}
		sample := time.Duration(m.Timing.Iterations) * c.operation
		if sample < c.atLeast || sample > 2*c.atLeast {
			t.Errorf("%v at resolution %v: %d iterations make %v", c.operation, c.resolution, m.Timing.Iterations, sample)
		}
		if m.Timing.Median != float64(c.operation) || len(m.Warnings) != 0 {
			t.Errorf("%v: median %v, warnings %v", c.operation, m.Timing.Median, m.Warnings)
		}
		if n := len(m.Timing.Samples); n > samplesAimed+10 {
			t.Errorf("%v: %d samples", c.operation, n)
		}
	}
}

// TestNoTime: a clock that stands still, as for an operation on nothing, ends all the same and is no division by 0.
func TestNoTime(t *testing.T) {
	m, err := Sampler{Warmup: 1, Runs: 10, MaxNoise: 0.05, Clock: &fakeClock{resolution: 20}}.Measure(
		context.Background(), kernel(func() {}))
	if err != nil {
		t.Fatal(err)
	}
	if m.Timing.Median != 0 || m.Timing.RelMAD != 0 || m.Stop != record.StopNoise {
		t.Errorf("got %v, stopped by %q", m.Timing, m.Stop)
	}
	if got := codes(m.Warnings); !slices.Equal(got, []string{record.WarnShort}) {
		t.Errorf("warnings %v", got)
	}
	var r record.Record
	m.Fill(&r, 0, 0)
	if r.Throughput != (record.Throughput{}) {
		t.Errorf("throughput %v", r.Throughput)
	}
}

func TestPhases(t *testing.T) {
	clock := &fakeClock{}
	m, err := Sampler{Warmup: 1, Runs: 4, Clock: clock}.Measure(context.Background(), func(t *Timer) error {
		if t.Index() == 0 {
			t.Time("setup", clock.advance(7*ms)) // during the warm-up only
		}
		if t.Index() < 3 {
			t.Time(record.PhaseConvert, clock.advance(time.Duration(t.Index()+1)*ms))
		}
		t.AddNs(record.PhaseH2D, 11.5)
		t.Time(record.PhaseKernel, clock.advance(ms))
		t.Time(record.PhaseKernel, clock.advance(2*ms)) // two parts of one phase
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want := record.Phases{"setup": 7e6, record.PhaseConvert: 2.5e6, record.PhaseH2D: 11.5, record.PhaseKernel: 3e6,
		record.PhaseD2H: 0}
	for name, ns := range want {
		if m.Phases[name] != ns {
			t.Errorf("%s: %v ns, want %v", name, m.Phases[name], ns)
		}
	}
	if m.Timing.Median != 3e6 || len(m.Phases) != len(want) {
		t.Errorf("got %v and %v", m.Timing, m.Phases)
	}
}

// TestDeviceTime: a kernel whose time comes from elsewhere is never run several times a sample.
func TestDeviceTime(t *testing.T) {
	m, err := Sampler{Runs: 3, Clock: &fakeClock{resolution: 20}}.Measure(context.Background(), func(t *Timer) error {
		t.AddNs(record.PhaseKernel, 2500.25)
		return nil
	})
	if err != nil || m.Timing.Iterations != 1 || m.Timing.Median != 2500.25 || len(m.Timing.Samples) != 3 {
		t.Errorf("got %+v, %v", m.Timing, err)
	}
}

func TestCancel(t *testing.T) {
	for _, at := range []int{0, 1, 2, 5} { // runs before the cancellation; the first is warm-up
		ctx, cancel := context.WithCancel(context.Background())
		clock := &fakeClock{}
		if at == 0 {
			cancel()
		}
		m, err := Sampler{Warmup: 1, Runs: 10, Clock: clock}.Measure(ctx, func(t *Timer) error {
			t.Time(record.PhaseKernel, clock.advance(ms))
			if t.Index()+1 == at {
				cancel()
			}
			return nil
		})
		cancel()
		if err != nil || !m.Interrupted() || len(m.Timing.Samples) != max(at-1, 0) {
			t.Errorf("cancelled in run %d: %d samples, stopped by %q, %v", at, len(m.Timing.Samples), m.Stop, err)
		}
		if got := codes(m.Warnings); !slices.Equal(got, []string{record.WarnInterrupted}) {
			t.Errorf("warnings %v", got)
		}
	}
}

// TestCancelInside: a body that gives up because of the context is an interruption too; its run does not count.
func TestCancelInside(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	clock := &fakeClock{}
	m, err := Sampler{Runs: 10, Clock: clock}.Measure(ctx, func(t *Timer) error {
		if t.Index() == 3 {
			cancel()
			return ctx.Err()
		}
		t.Time(record.PhaseKernel, clock.advance(ms))
		return nil
	})
	if err != nil || !m.Interrupted() || len(m.Timing.Samples) != 3 {
		t.Errorf("%d samples, stopped by %q, %v", len(m.Timing.Samples), m.Stop, err)
	}
}

func TestFailingBody(t *testing.T) {
	broken := errors.New("broken")
	clock := &fakeClock{}
	m, err := Sampler{Runs: 10, Clock: clock}.Measure(context.Background(), func(t *Timer) error {
		t.Time(record.PhaseKernel, clock.advance(ms))
		if t.Index() == 4 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) || m.Stop != record.StopError || len(m.Timing.Samples) != 4 {
		t.Errorf("%d samples, stopped by %q, %v", len(m.Timing.Samples), m.Stop, err)
	}
	_, err = Sampler{}.Measure(context.Background(), func(*Timer) error { return nil })
	if !errors.Is(err, ErrNoKernel) {
		t.Errorf("no kernel phase: %v", err)
	}
	for _, ns := range []float64{math.NaN(), math.Inf(1), -1} {
		_, err = Sampler{}.Measure(context.Background(), func(t *Timer) error {
			t.AddNs(record.PhaseKernel,
				ns)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), "kernel") {
			t.Errorf("%v ns: %v", ns, err)
		}
	}
}

func TestSamplerValidate(t *testing.T) {
	if err := DefaultSampler().Validate(); err != nil {
		t.Error(err)
	}
	for flag, s := range map[string]Sampler{
		"--warmup": {Warmup: -1}, "--runs": {Runs: -1}, "--min-time": {MinTime: -1}, "--timeout": {Timeout: -1},
		"--max-noise": {MaxNoise: math.NaN()}, "--max-noise ": {MaxNoise: -0.1}, " --max-noise": {MaxNoise: math.Inf(1)},
		"runs": {MaxRuns: -1},
	} {
		s.Prefix = "--"
		_, err := s.Measure(context.Background(), nil)
		if err == nil || !strings.Contains(err.Error(), strings.TrimSpace(flag)) {
			t.Errorf("%s: %v", flag, err)
		}
	}
}

func TestProgress(t *testing.T) {
	var seen []SampleStatus
	clock := &fakeClock{}
	s := Sampler{Warmup: 1, Runs: 2, Clock: clock, Progress: func(s SampleStatus) { seen = append(seen, s) }}
	if _, err := s.Measure(context.Background(), kernel(clock.advance(ms, 2*ms, 3*ms))); err != nil {
		t.Fatal(err)
	}
	want := []SampleStatus{{0, ms, 1e6}, {1, 3 * ms, 2e6}, {2, 6 * ms, 3e6}}
	if !slices.Equal(seen, want) {
		t.Errorf("got %v, want %v", seen, want)
	}
}

func TestSystemClock(t *testing.T) {
	c := SystemClock()
	if r := c.Resolution(); r <= 0 || r > 100*ms {
		t.Errorf("resolution %v", r)
	}
	if a, b := c.Now(), c.Now(); b < a {
		t.Errorf("%v before %v", a, b)
	}
}
