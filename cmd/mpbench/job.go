package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpbench/pkg/bench"
	"mpbench/pkg/report"
)

// job is one row of the results to be: terms to load, which several jobs may share, and a measurement on them.
type job struct {
	label string
	key   string // the same for jobs that would give the same record
	data  string // the same for jobs with the same data

	load    func() (any, error)
	measure func(ctx context.Context, data any, progress func(bench.SampleStatus)) (r bench.Record, ok bool, err error)
}

// arrange brings jobs with the same data together, in the order in which the data come first, and leaves each job once.
func arrange(jobs []job) []job {
	order, seen := map[string]int{}, map[string]bool{}
	jobs = slices.DeleteFunc(jobs, func(j job) bool {
		again := seen[j.key]
		seen[j.key] = true
		return again
	})
	for _, j := range jobs {
		if _, ok := order[j.data]; !ok {
			order[j.data] = len(order)
		}
	}
	slices.SortStableFunc(jobs, func(a, b job) int { return order[a.data] - order[b.data] })
	return jobs
}

// runOptions are the flags of measuring commands that -L cannot scan.
type runOptions struct {
	output outputOptions
	scans  []string
	quiet  bool
	dryRun bool
}

func (o *runOptions) addFlags(cmd *cobra.Command) {
	o.output.addFlags(cmd)
	f := cmd.Flags()
	f.StringArrayVarP(&o.scans, "scan", "L", nil, "measure for each of several values of a flag or of a data set's parameter:\n`name=values`, as n=2^10..2^20:x4 or method=reduce1,reduce2; repeatable")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on standard error")
	f.BoolVar(&o.dryRun, "dry-run", false, "list what would be measured")
	f.SortFlags = false
}

// run plans the jobs and measures them, or only lists them.
func (o *runOptions) run(cmd *cobra.Command, plan func([]scan) ([]job, error)) error {
	if err := o.output.check(); err != nil {
		return err
	}
	scans, err := parseScans(o.scans)
	if err != nil {
		return err
	}
	jobs, err := plan(scans)
	if err != nil {
		return err
	}
	if o.dryRun {
		return listJobs(cmd.OutOrStdout(), jobs)
	}
	return o.measure(cmd, jobs)
}

func listJobs(w io.Writer, jobs []job) error {
	var b strings.Builder
	for _, j := range jobs {
		fmt.Fprintln(&b, j.label)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// measure measures the jobs and writes what there is, even if it was interrupted or a job failed.
func (o *runOptions) measure(cmd *cobra.Command, jobs []job) error {
	errOut := cmd.ErrOrStderr()
	progress := report.NewProgress(errOut, report.ProgressOptions{
		Cases: len(jobs), Quiet: o.quiet, Terminal: isTerminal(errOut), Width: func() int { return columns(errOut) },
	})
	env := bench.CaptureEnvironment()
	records, err := measureJobs(cmd.Context(), jobs, env.ID, progress)
	progress.Close()
	if len(records) > 0 {
		run := &bench.Run{Environments: []bench.Environment{env}, Records: records}
		err = firstError(o.output.write(cmd, run), err)
	}
	switch {
	case cmd.Context().Err() != nil && (err == nil || exitCode(err) == exitCheckFailed):
		return &statusError{exitInterrupted, fmt.Sprintf("interrupted after %d of %d cases", len(records), len(jobs))}
	case err != nil:
		return err
	}
	return checkRecords(records)
}

// measureJobs returns the records of the jobs up to the first error or interruption.
func measureJobs(ctx context.Context, jobs []job, envID string, progress report.Progress) ([]bench.Record, error) {
	var records []bench.Record
	var data any
	loaded := ""
	for _, j := range jobs {
		if ctx.Err() != nil {
			break
		}
		progress.Begin(j.label)
		if j.data != loaded {
			var err error
			if data, err = j.load(); err != nil {
				return records, err
			}
			loaded = j.data
		}
		r, ok, err := j.measure(ctx, data, progress.Sample)
		if err != nil {
			return records, err
		}
		if ok {
			r.EnvID = envID
			records = append(records, r)
			progress.End(summarize(r))
		}
	}
	return records, nil
}

// summarize is what progress says of a finished case.
func summarize(r bench.Record) string {
	verdict := "exact"
	if !r.ExactResult {
		verdict = "error " + r.RelError
	}
	if r.OutsideBound() {
		verdict += ", OUTSIDE ITS BOUND"
	}
	return verdict
}

// checkRecords fails if a result is outside its bound.
func checkRecords(records []bench.Record) error {
	outside := 0
	for _, r := range records {
		if r.OutsideBound() {
			outside++
		}
	}
	if outside > 0 {
		return &statusError{exitCheckFailed, fmt.Sprintf("%d of %d results are outside their proved bound", outside, len(records))}
	}
	return nil
}
