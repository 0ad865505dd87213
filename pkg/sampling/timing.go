package sampling

import (
	"mpbench/pkg/record"
	"mpbench/pkg/stats"
)

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
