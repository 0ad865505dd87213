package bench

import (
	"fmt"
	"slices"
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

// slowFirstRatio is how much slower than the median the first sample must be to be worth a warning: a
// difference that is significant but small does no harm to a median.
const slowFirstRatio = 1.2

// outlierRatio is how far from the median a sample must be, in either direction, to count in a warning, for the same reason.
const outlierRatio = 1.1

// sampleWarnings looks for trouble in the samples of a measurement.
func (s Sampler) sampleWarnings(m Measurement, resolutionNs float64) []Warning {
	var ws []Warning
	add := func(code, advice, format string, args ...any) {
		ws = append(ws, Warning{code, fmt.Sprintf(format, args...), advice})
	}
	n, t := len(m.Timing.Samples), m.Timing
	if m.Stop == StopInterrupted {
		add(WarnInterrupted, "run it again for a full measurement", "interrupted after %s", count(n, "sample"))
	}
	if n == 0 {
		return ws
	}
	if n < s.Runs && m.Stop == StopTimeout {
		add(WarnFewRuns, "raise --timeout", "only %s instead of %d before the timeout", count(n, "sample"), s.Runs)
	}
	if m.Stop == StopTimeout && s.MaxNoise > 0 && t.RelMAD > s.MaxNoise {
		add(WarnNoisy, "close other programs, or raise --timeout or --max-noise",
			"samples vary by %.2g %% (relative MAD), more than %.2g %%", 100*t.RelMAD, 100*s.MaxNoise)
	}
	out := Outliers(t.Samples)
	first := len(out) > 0 && out[0] == 0 && t.Samples[0] > slowFirstRatio*t.Median
	if first {
		add(WarnSlowFirst, "raise --warmup", "the first sample took %.2g times the median", t.Samples[0]/t.Median)
		out = out[1:]
	}
	out = slices.DeleteFunc(out, func(i int) bool {
		return t.Samples[i] < outlierRatio*t.Median && t.Samples[i] > t.Median/outlierRatio
	})
	if len(out) >= 2 && 10*len(out) >= n { // a median bears less than that
		add(WarnOutliers, "close other programs or raise --runs", "%d of %d samples are outliers", len(out), n)
	}
	if sample := t.Median * float64(t.Iterations); resolutionNs > 0 && sample < minResolutions*resolutionNs {
		add(WarnShort, "measure more terms", "a sample of %.3g ns is close to the clock's resolution of %.3g ns",
			sample, resolutionNs)
	}
	return ws
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
