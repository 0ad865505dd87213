package sampling

import (
	"fmt"
	"slices"

	"mpbench/pkg/record"
	"mpbench/pkg/stats"
)

// slowFirstRatio is how much slower than the median the first sample must be to be worth a warning: a
// difference that is significant but small does no harm to a median.
const slowFirstRatio = 1.2

// outlierRatio is how far from the median a sample must be, in either direction, to count in a warning, for the same reason.
const outlierRatio = 1.1

// sampleWarnings looks for trouble in the samples of a measurement.
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
		add(record.WarnFewRuns, "raise "+s.Prefix+"timeout", "only %s instead of %d before the timeout", record.Count(n, "sample"), s.Runs)
	}
	if m.Stop == record.StopTimeout && s.MaxNoise > 0 && t.RelMAD > s.MaxNoise {
		add(record.WarnNoisy, "close other programs, or raise "+s.Prefix+"timeout or "+s.Prefix+"max-noise",
			"samples vary by %.2g %% (relative MAD), more than %.2g %%", 100*t.RelMAD, 100*s.MaxNoise)
	}
	out := stats.Outliers(t.Samples)
	first := len(out) > 0 && out[0] == 0 && t.Samples[0] > slowFirstRatio*t.Median
	if first {
		add(record.WarnSlowFirst, "raise "+s.Prefix+"warmup", "the first sample took %.2g times the median", t.Samples[0]/t.Median)
		out = out[1:]
	}
	out = slices.DeleteFunc(out, func(i int) bool {
		return t.Samples[i] < outlierRatio*t.Median && t.Samples[i] > t.Median/outlierRatio
	})
	if len(out) >= 2 && 10*len(out) >= n { // a median bears less than that
		add(record.WarnOutliers, "close other programs or raise "+s.Prefix+"runs", "%d of %d samples are outliers", len(out), n)
	}
	if sample := t.Median * float64(t.Iterations); resolutionNs > 0 && sample < minResolutions*resolutionNs {
		add(record.WarnShort, "measure more terms", "a sample of %.3g ns is close to the clock's resolution of %.3g ns",
			sample, resolutionNs)
	}
	return ws
}
