package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpbench/pkg/device"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
	"mpbench/pkg/sampling"
)

// job is one row of the results to be: a method on a problem.
type job struct {
	label   string
	key     string // the same for jobs that would give the same record
	id      string // record.Record.CaseID
	source  source
	method  method.Method
	config  method.Config // complete
	sampler sampling.Sampler

	baseline string // the method that the time is divided by, "" for none
	team     *team  // nil for one process
}

// over returns the job as one of a team, of which the number of ranks is a part of the case.
func (j job) over(t *team) job {
	if t != nil {
		j.key += fmt.Sprintf("; ranks=%d", t.Size())
		j.team = t
	}
	return j
}

func newJob(s source, m method.Method, c method.Config, sampler sampling.Sampler) job {
	label := s.key + " " + m.Name
	if m.Bits == 0 {
		label += fmt.Sprintf(" %d bits", c.Precision)
	}
	if c.Devices.Kind() != device.CPU {
		label += " on " + c.Devices.String()
	}
	return job{
		label: label, key: fmt.Sprint(s.key, "; ", m.Case(c), "; ", sampler), source: s, method: m, config: c,
		sampler: sampler,
	}
}

// beside returns the job whose time is divided by that of another method, "" for none.
func (j job) beside(baseline string) job {
	if j.baseline = baseline; baseline != "" {
		j.key += "; beside " + baseline
	}
	return j
}

// methodNames are those of jobs, and of what they are measured beside.
func methodNames(jobs []job) (names []string) {
	for _, j := range jobs {
		names = append(names, j.method.Name, j.baseline)
	}
	return names
}

// bits is the precision that the method is asked for, 0 for a format of fixed precision.
func (j job) bits() int {
	if j.method.Bits != 0 {
		return 0
	}
	return j.config.Precision
}

// measure returns the record, ok is false if the job was interrupted before it had one.
func (j job) measure(
	ctx context.Context, in loaded, progress func(sampling.SampleStatus),
) (measure.Result, bool, error) {
	s := j.sampler
	s.Progress = progress
	return measure.Measure(ctx, s, j.team.shared(j), j.config, in.Input)
}

// prepare returns what is timed.
func (j job) prepare(ctx context.Context, in loaded) (*measure.Operation, error) {
	return measure.Prepare(ctx, j.method, j.config, in.Input)
}

// isBaseline tells whether a job is the one that another's time is divided by: the same numbers, on the same device if
// the baseline runs there, at the same precision if it can be chosen.
func (j job) isBaseline(of job) bool {
	same := j.config.Devices.String() == of.config.Devices.String() || !j.method.Runs(of.config.Devices)
	return j.method.Name == of.baseline && j.source.key == of.source.key && same &&
		(j.method.Bits != 0 || of.method.Bits != 0 || j.config.Precision == of.config.Precision)
}

// ratio measures a job in turn with its baseline; nil if there is none among the jobs, or after an interruption.
func (j job) ratio(ctx context.Context, in loaded, jobs []job) (_ *record.Ratio, err error) {
	i := slices.IndexFunc(jobs, func(b job) bool { return b.isBaseline(j) })
	if i < 0 || j.method.Name == j.baseline {
		return nil, nil
	}
	operation, err := j.prepare(ctx, in)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, operation.Close()) }()
	baseline, err := jobs[i].prepare(ctx, in)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, baseline.Close()) }()
	s := sampling.RatioSampler{MaxTime: j.sampler.Timeout}
	r, ok := s.Measure(ctx, operation.Run, baseline.Run, func(r sampling.Ratio) bool { return r.Spread() < certain })
	if err := errors.Join(operation.Err(), baseline.Err()); err != nil || !ok {
		return nil, err
	}
	return &record.Ratio{
		Baseline: j.baseline, Median: r.Median, Lo: r.Lo, Hi: r.Hi, Confidence: r.Confidence, Rounds: r.Rounds,
	}, nil
}

// certain is the width of a ratio's interval that ends its measurement.
const certain = 0.01

// arrange brings jobs with the same data together, in the order of first appearance, and leaves each job once.
func arrange(jobs []job) []job {
	order, seen := map[string]int{}, map[string]bool{}
	jobs = slices.DeleteFunc(jobs, func(j job) bool {
		again := seen[j.key]
		seen[j.key] = true
		return again
	})
	for _, j := range jobs {
		if _, ok := order[j.source.key]; !ok {
			order[j.source.key] = len(order)
		}
	}
	slices.SortStableFunc(jobs, func(a, b job) int { return order[a.source.key] - order[b.source.key] })
	return jobs
}

// runOptions are the flags of measuring commands that -L cannot scan.
type runOptions struct {
	output outputOptions
	scans  []string
	quiet  bool
	dryRun bool
	resume bool

	details *details // of results that are vectors
	notices *notices // of the plan
	team    *team    // ranks that share the problems, nil for one process
}

func (o *runOptions) addFlags(cmd *cobra.Command) {
	o.output.addFlags(cmd)
	f := cmd.Flags()
	f.StringArrayVarP(&o.scans, "scan", "L", nil,
		"measure for each of several values of a flag or of a data set's parameter:\n`name=values`, as n=2^10..2^20:x4 or "+
			"method=reduce1,reduce2; repeatable")
	f.BoolVar(&o.resume, "resume", false,
		"continue the run in the .jsonl file of --export; what is finished there is not repeated")
	addQuiet(cmd, &o.quiet)
	f.BoolVar(&o.dryRun, "dry-run", false, "list what would be measured")
	f.SortFlags = false
}

// run plans the jobs and measures them, or only lists them.
func (o *runOptions) run(cmd *cobra.Command, plan func([]scan) ([]job, error)) error {
	jobs, err := o.jobs(cmd, plan)
	if err = o.team.agree(cmd.Context(), err); err != nil {
		return err
	}
	if o.team.worker() {
		o.team.jobs = jobs
		return nil
	}
	env := captureEnvironment(methodNames(jobs)...)
	earlier, err := o.readEarlier(cmd.Context(), jobs, env)
	if err != nil {
		return err
	}
	if o.dryRun {
		if err := checkFiles(cmd.Context(), jobs); err != nil {
			return err
		}
		return listJobs(cmd.OutOrStdout(), earlier.remaining(jobs))
	}
	return o.measure(cmd, jobs, env, earlier)
}

// jobs plans what is measured, and finds what would make the output fail: the root's alone, of a team.
func (o *runOptions) jobs(cmd *cobra.Command, plan func([]scan) ([]job, error)) ([]job, error) {
	if !o.team.worker() {
		if err := o.output.check(); err != nil {
			return nil, err
		}
	}
	scans, err := parseScans(o.scans)
	if err != nil {
		return nil, err
	}
	jobs, err := plan(scans)
	o.notices.print(cmd.ErrOrStderr())
	if err != nil {
		return nil, err
	}
	for i := range jobs {
		jobs[i].id = record.NewCaseID(cmd.Name() + " " + jobs[i].key)
	}
	return jobs, o.details.checkJobs(len(jobs))
}

// checkFiles finds what would make the reading of a file fail, and methods that have too little memory beside it.
func checkFiles(ctx context.Context, jobs []job) error {
	var key string // of the file that was read last, as jobs with the same one follow each other
	var p *op.Problem
	for _, j := range jobs {
		if !j.source.fromFile || ctx.Err() != nil {
			continue
		}
		if key != j.source.key {
			var err error
			if p, err = j.source.outline(); err != nil {
				return err
			}
			key = j.source.key
		}
		if err := j.checkMemory(p); err != nil {
			return err
		}
	}
	return nil
}

// checkOutline is checkMemory of a data set that is not loaded yet.
func (j job) checkOutline() error {
	if j.source.fromFile {
		return nil
	}
	p, err := j.source.outline()
	return cmp.Or(err, j.checkMemory(p))
}

// checkMemory returns a *method.MemoryError if the method is known to have too little memory for a problem; of ranks,
// which share it, nothing is known.
func (j job) checkMemory(p *op.Problem) error {
	if j.team != nil || p == nil {
		return nil
	}
	return j.method.CheckMemory(j.config, p)
}

func listJobs(w io.Writer, jobs []job) error {
	var b strings.Builder
	for _, j := range jobs {
		fmt.Fprintln(&b, j.label)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// measure measures the jobs that are not finished and writes what there is, even after an interruption or error.
func (o *runOptions) measure(cmd *cobra.Command, jobs []job, env record.Environment, earlier *earlierRun) error {
	ctx := cmd.Context()
	if err := earlier.checkFiles(ctx, jobs); err != nil {
		return err
	}
	journal, err := o.openJournal(earlier)
	if err != nil {
		return err
	}
	left := earlier.remaining(jobs)
	if earlier.path != "" && !o.quiet {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s: %d of %d cases are finished\n", earlier.path, len(jobs)-len(left), len(jobs))
	}
	progress := newProgress(cmd, len(left), o.quiet)
	m := measurer{env: env, journal: journal, earlier: earlier, jobs: jobs, details: o.details, progress: progress}
	if len(earlier.finished) == 0 {
		m.done = func(records []record.Record) error {
			progress.Clear()
			return o.output.writeTable(cmd, &record.Run{Records: records})
		}
	}
	records, err := m.measure(ctx, left)
	o.team.dismiss(ctx)
	m.progress.Close()
	if journal != nil {
		err = cmp.Or(err, journal.Close())
	}
	records = earlier.inOrder(jobs, records)
	if len(records) > 0 {
		run := &record.Run{Environments: earlier.environments(env), Records: records}
		err = cmp.Or(err, o.output.write(cmd, run))
	}
	switch code := exitCode(err); {
	case ctx.Err() != nil && (err == nil || code == exitCheckFailed || code == exitInterrupted):
		return &statusError{exitInterrupted, fmt.Sprintf("interrupted after %d of %d cases", len(records), len(jobs))}
	case err != nil:
		return err
	}
	return checkRecords(records)
}

type measurer struct {
	env      record.Environment
	progress report.Progress
	journal  *report.Journal // nil without one
	earlier  *earlierRun
	jobs     []job // all of them, finished or not
	details  *details
	done     func([]record.Record) error // what to do with all records of a problem; nil for nothing
}

// measure returns the records of the jobs up to the first error or interruption. All of them are in the journal, but
// for the last one if writing that failed.
func (m measurer) measure(ctx context.Context, jobs []job) (records []record.Record, err error) {
	var data cache
	defer data.close()
	begun := 0 // the first record of the problem
	finish := func() error {
		fresh := records[begun:]
		if begun = len(records); m.done == nil || len(fresh) == 0 {
			return nil
		}
		return m.done(fresh)
	}
	defer func() { err = cmp.Or(err, finish()) }()
	for i, j := range jobs {
		if ctx.Err() != nil {
			break
		}
		if i > 0 && j.source.key != jobs[i-1].source.key {
			if err := finish(); err != nil {
				return records, err
			}
		}
		m.progress.Begin(j.label)
		in, err := data.load(ctx, j.source)
		if err != nil {
			return records, ignoreCancel(ctx, err)
		}
		result, ok, err := j.measure(ctx, in, m.progress.Sample)
		if err != nil {
			return records, err
		}
		if !ok {
			continue
		}
		m.details.add(result, in.Input)
		r := result.Record
		if r.Ratio, err = j.ratio(ctx, in, m.jobs); err != nil {
			return records, ignoreCancel(ctx, err)
		}
		r.EnvID, r.CaseID = m.env.ID, j.id
		if err := m.earlier.checkData(j, r.Dataset.SHA256); err != nil {
			return records, err
		}
		records = append(records, r)
		if m.journal != nil {
			if err := m.journal.Add(m.env, r); err != nil {
				return records, err
			}
		}
		m.progress.End()
	}
	return records, nil
}

// cache holds the problem that was loaded last, as jobs with the same one follow each other.
type cache struct {
	key    string
	loaded loaded
}

func (c *cache) load(ctx context.Context, s source) (loaded, error) {
	if c.key == s.key && c.key != "" {
		return c.loaded, nil
	}
	c.close()
	in, err := s.loadBy(ctx, measure.NewSampledInput)
	if err == nil {
		c.key, c.loaded = s.key, in
	}
	return in, err
}

// close closes a file that is open for reading, of which no error can matter any more.
func (c *cache) close() {
	_ = c.loaded.Close()
	*c = cache{}
}

// ignoreCancel returns nil for the error of an interruption, which is reported elsewhere.
func ignoreCancel(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// checkRecords fails if a result is outside its bound.
func checkRecords(records []record.Record) error {
	if outside := record.CountOutside(records); outside > 0 {
		return failedf("%d of %d results are outside their proved bound", outside, len(records))
	}
	return nil
}
