package sampling

import (
	"mpbench/pkg/record"
)

// Fill fills the fields of r that describe time: Time, Phases, StopRule, Throughput, and the warnings
// that the samples give cause for.
func (m Measurement) Fill(r *record.Record, elements, bytes int64) {
	r.Time = m.Timing
	r.Phases = m.Phases
	r.StopRule = m.Stop
	r.Throughput = record.NewThroughput(elements, bytes, m.Timing.Median)
	r.Warnings = append(r.Warnings, m.Warnings...)
}
