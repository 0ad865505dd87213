package plot

import (
	"fmt"
	"slices"
	"strings"

	"mpbench/internal/suggest"
	"mpbench/pkg/record"
)

// Times that Options.Times takes.
const (
	RunTimes     = "run"      // of an operation on numbers that are converted and in place
	OneShotTimes = "one-shot" // of that together with the conversion, and copies from and to a device
	BothTimes    = "both"     // one beside the other
)

// TimeNames returns what Options.Times takes.
func TimeNames() []string { return []string{RunTimes, OneShotTimes, BothTimes} }

// timeKinds are the kinds with an axis of times.
var timeKinds = []string{"front", "time-n", "time-precision"}

// A TimesError is a usage error: times that are not there, or a kind that draws none.
type TimesError struct{ Times, Kind string }

func (e *TimesError) Error() string {
	if e.Kind == "" {
		return suggest.Unknown("kind of times", e.Times, TimeNames())
	}
	return fmt.Sprintf("times %q are for pictures with an axis of times, which are %s; %s has none", e.Times,
		strings.Join(timeKinds, ", "), e.Kind)
}

// CheckTimes returns a *TimesError unless Options.Times may be times, for a kind that may be empty or Auto.
func CheckTimes(times, kind string) error {
	switch {
	case times == "" || times == RunTimes:
	case !slices.Contains(TimeNames(), times):
		return &TimesError{Times: times}
	case kind != "" && kind != Auto && !slices.Contains(timeKinds, kind):
		return &TimesError{times, kind}
	}
	return nil
}

// withTimes returns the records with other times in place of those of runs, or beside them.
func withTimes(records []*record.Record, times string) []*record.Record {
	if times == "" || times == RunTimes {
		return records
	}
	var list []*record.Record
	for _, r := range records {
		once := *r
		if hasTime(r) {
			more := r.OneShotNs() - r.Time.Median
			once.Time.Median += more
			once.Time.Lo += more
			once.Time.Hi += more
		}
		if times == BothTimes {
			once.Method += ", one-shot"
			list = append(list, r)
		}
		list = append(list, &once)
	}
	return list
}
