package main

import (
	"errors"
	"slices"

	"github.com/spf13/pflag"

	"mpbench/internal/suggest"
	"mpbench/pkg/check"
	"mpbench/pkg/op"
	"mpbench/pkg/sampling"
)

// planner makes the jobs of a command, as its flags say.
type planner struct {
	flags *pflag.FlagSet
	plan  func([]scan) ([]job, error)
}

// newPlanner returns the planner of an operation. One run of each job is enough: results are what is judged, and times are
// measured apart from them.
func newPlanner(command string) planner {
	f := pflag.NewFlagSet(command, pflag.ContinueOnError)
	o, _ := op.Lookup(command) // the plan's reader knows the operations
	options := newOperationOptions(o)
	options.sampler = sampling.Sampler{Runs: 1}
	options.addFlags(f)
	return planner{f, func(s []scan) ([]job, error) { return options.plan(s) }}
}

// samplingFlags are of no use in a check.
var samplingFlags = []string{"warmup", "runs", "min-time", "timeout", "max-noise"}

// set sets a flag from a plan.
func (p planner) set(s check.Setting) string {
	if slices.Contains(samplingFlags, s.Key) {
		return "a check decides by itself how often to measure; limits on times are in limits: time:"
	}
	f := p.flags.Lookup(s.Key)
	if f == nil {
		names := []string{"name", "command", "scan", "limits"}
		p.flags.VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(samplingFlags, f.Name) {
				names = append(names, f.Name)
			}
		})
		return suggest.Unknown("key", s.Key, names)
	}
	if err := p.flags.Set(s.Key, s.Value); err != nil {
		return "want " + wanted(f.Value.Type()) + ", have " + s.Value
	}
	return ""
}

// plannedCheck is a check with its jobs.
type plannedCheck struct {
	check      *check.Check
	jobs       []job
	references []job // of the method that times are relative to
}

// planCheck plans the jobs of a check of a command.
func planCheck(path string, c *check.Check) (plannedCheck, error) {
	planned := plannedCheck{check: c}
	var err error
	if planned.jobs, err = planSettings(path, c, c.Settings); err != nil {
		return planned, err
	}
	t := c.Limits.Time
	if t == nil {
		return planned, nil
	}
	relative := check.Setting{Key: "method", Value: t.RelativeTo.Value, Line: t.RelativeTo.Line}
	settings := slices.DeleteFunc(slices.Clone(c.Settings), func(s check.Setting) bool { return s.Key == "method" })
	planned.references, err = planSettings(path, c, append(settings, relative))
	if e := (*check.Error)(nil); errors.As(err, &e) {
		e.Line, e.Key = relative.Line, "relative-to" // all other settings were right before
	}
	return planned, err
}

// planSettings plans a check with the given settings. An error names the first of them that brings it about.
func planSettings(path string, c *check.Check, settings []check.Setting) ([]job, error) {
	scans := []scan{}
	for _, s := range c.Scans {
		parsed, err := parseScan(s.Value)
		if err != nil {
			return nil, &check.Error{Path: path, Line: s.Line, Key: "scan", Text: err.Error()}
		}
		scans = append(scans, parsed)
	}
	jobs, err := planWith(path, c.Command, settings, scans)
	if err == nil {
		return jobs, nil
	}
	for i := range settings {
		if _, e := planWith(path, c.Command, settings[:i+1], nil); e != nil && e.Error() == err.Error() {
			return nil, blame(path, settings[i], err)
		}
	}
	for i := range scans {
		if _, e := planWith(path, c.Command, settings, scans[:i+1]); e != nil && e.Error() == err.Error() {
			return nil, blame(path, c.Scans[i], err)
		}
	}
	return nil, &check.Error{Path: path, Line: c.Line, Key: c.Command, Text: oneLine(err)}
}

func blame(path string, s check.Setting, err error) error {
	if e := (*check.Error)(nil); errors.As(err, &e) {
		return e
	}
	return &check.Error{Path: path, Line: s.Line, Key: s.Key, Text: oneLine(err)}
}

func planWith(path, command string, settings []check.Setting, scans []scan) ([]job, error) {
	p := newPlanner(command)
	for _, s := range settings {
		if text := p.set(s); text != "" {
			return nil, &check.Error{Path: path, Line: s.Line, Key: s.Key, Text: text}
		}
	}
	return p.plan(scans)
}

// reference returns the job that the time of j is relative to: of the same data and the same precision, or of fixed precision.
func (p plannedCheck) reference(j job) (job, bool) {
	for _, bits := range []int{j.bits(), 0} {
		for _, r := range p.references {
			if r.source.key == j.source.key && r.bits() == bits && r.key != j.key {
				return r, true
			}
		}
	}
	for _, r := range p.references { // of another precision, where j's is fixed
		if r.source.key == j.source.key && j.bits() == 0 && r.key != j.key {
			return r, true
		}
	}
	return job{}, false
}
