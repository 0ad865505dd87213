package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpbench/pkg/device"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
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
	return measure.Measure(ctx, s, j.method, j.config, in.Input)
}

// prepare returns what is timed.
func (j job) prepare(ctx context.Context, in loaded) (*measure.Operation, error) {
	return measure.Prepare(ctx, j.method, j.config, in.Input)
}

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
	for i := range jobs {
		jobs[i].id = record.NewCaseID(cmd.Name() + " " + jobs[i].key)
	}
	if err := o.details.checkJobs(len(jobs)); err != nil {
		return err
	}
	env := captureEnvironment()
	earlier, err := o.readEarlier(jobs, env)
	if err != nil {
		return err
	}
	if o.dryRun {
		return listJobs(cmd.OutOrStdout(), earlier.remaining(jobs))
	}
	return o.measure(cmd, jobs, env, earlier)
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
	m := measurer{env: env, journal: journal, earlier: earlier, details: o.details, progress: progress}
	records, err := m.measure(ctx, left)
	m.progress.Close()
	if journal != nil {
		err = cmp.Or(err, journal.Close())
	}
	records = earlier.inOrder(jobs, records)
	if len(records) > 0 {
		run := &record.Run{Environments: earlier.environments(env), Records: records}
		err = cmp.Or(err, o.output.write(cmd, run))
	}
	switch {
	case ctx.Err() != nil && (err == nil || exitCode(err) == exitCheckFailed):
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
	details  *details
}

// measure returns the records of the jobs up to the first error or interruption. All of them are in the journal, but
// for the last one if writing that failed.
func (m measurer) measure(ctx context.Context, jobs []job) ([]record.Record, error) {
	var records []record.Record
	var data cache
	defer data.close()
	for _, j := range jobs {
		if ctx.Err() != nil {
			break
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
		m.progress.End(summarize(r))
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
	in, err := s.load(ctx)
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

// summarize is what progress says of a finished case.
func summarize(r record.Record) string {
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
func checkRecords(records []record.Record) error {
	if outside := record.CountOutside(records); outside > 0 {
		return failedf("%d of %d results are outside their proved bound", outside, len(records))
	}
	return nil
}

// earlierRun is what an unfinished run of the same command line left in its file; an empty one if there is none.
type earlierRun struct {
	path     string
	kept     *record.Run              // its environments and the records of its finished cases
	finished map[string]record.Record // by case ID
	sha256   map[string]string        // of the data of finished cases, by the key of the source
}

// readEarlier returns the run that --resume continues, an empty one if there is nothing to continue.
func (o *runOptions) readEarlier(jobs []job, env record.Environment) (*earlierRun, error) {
	if !o.resume {
		return &earlierRun{kept: &record.Run{}}, nil
	}
	path, ok := report.JournalPath(o.output.export)
	if !ok {
		return nil, usagef("--resume continues a file: name it with --export FILE.jsonl")
	}
	if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() &&
		info.Size() == 0 {
		return &earlierRun{kept: &record.Run{}}, nil
	}
	run, err := readRun(path)
	if err != nil {
		return nil, err
	}
	if err := checkEnvironments(path, run.Environments, env); err != nil {
		return nil, err
	}
	return newEarlierRun(path, run, jobs)
}

// newEarlierRun checks that all records of the run are of planned jobs. Cases that were interrupted are not finished.
func newEarlierRun(path string, run *record.Run, jobs []job) (*earlierRun, error) {
	e := &earlierRun{path, &record.Run{Environments: run.Environments}, map[string]record.Record{}, map[string]string{}}
	data := map[string]string{} // case ID -> key of the source
	for _, j := range jobs {
		data[j.id] = j.source.key
	}
	for i, r := range run.Records {
		planned, ok := data[r.CaseID]
		switch {
		case r.CaseID == "":
			return nil, inputOutputf("%s: record %d has no case_id, so that it cannot be continued; export to another file",
				path, i+1)
		case !ok:
			return nil, usagef("%s holds a case that this command line does not measure (%s); give the command line and "+
				"the version of mpbench that it was made by, or export to another file", path, r.Case())
		case r.StopRule == record.StopInterrupted:
			continue
		}
		if _, twice := e.finished[r.CaseID]; !twice {
			e.finished[r.CaseID] = r
			e.kept.Records = append(e.kept.Records, r)
			e.sha256[planned] = r.Dataset.SHA256
		}
	}
	return e, nil
}

// checkEnvironments refuses to continue a run of another machine or program.
func checkEnvironments(path string, earlier []record.Environment, env record.Environment) error {
	for _, old := range earlier {
		if d, ok := record.Comparable(old, env); !ok {
			return usagef("%s was made in another environment (%s); continue it there, or export to another file", path, d)
		}
	}
	return nil
}

// checkData refuses data that are not those of the finished cases.
func (e *earlierRun) checkData(j job, sha256 string) error {
	if old, ok := e.sha256[j.source.key]; ok && old != sha256 {
		return inputOutputf("%s: the data of %q have changed since (SHA-256 %.16s..., now %.16s...); export to another file",
			e.path, j.label, old, sha256)
	}
	return nil
}

// remaining returns the jobs that are not finished.
func (e *earlierRun) remaining(jobs []job) []job {
	return slices.DeleteFunc(slices.Clone(jobs), func(j job) bool {
		_, done := e.finished[j.id]
		return done
	})
}

// checkFiles refuses input files that have changed and of which no job is left that would find out.
func (e *earlierRun) checkFiles(ctx context.Context, jobs []job) error {
	loads := map[string]bool{}
	for _, j := range e.remaining(jobs) {
		loads[j.source.key] = true
	}
	for _, j := range jobs {
		if !j.source.fromFile || loads[j.source.key] || ctx.Err() != nil {
			continue
		}
		loads[j.source.key] = true
		in, err := j.source.load(ctx)
		if err != nil {
			return ignoreCancel(ctx, err)
		}
		if err := cmp.Or(e.checkData(j, in.Dataset.SHA256), in.Close()); err != nil {
			return err
		}
	}
	return nil
}

// inOrder returns the records of finished jobs and the new ones in the order of the jobs.
func (e *earlierRun) inOrder(jobs []job, records []record.Record) []record.Record {
	all := map[string]record.Record{}
	maps.Copy(all, e.finished)
	for _, r := range records {
		all[r.CaseID] = r
	}
	var list []record.Record
	for _, j := range jobs {
		if r, ok := all[j.id]; ok {
			list = append(list, r)
		}
	}
	return list
}

// environments returns those of an earlier run and the present one, each once.
func (e *earlierRun) environments(env record.Environment) []record.Environment {
	list := slices.DeleteFunc(slices.Clone(e.kept.Environments),
		func(old record.Environment) bool { return old.ID == env.ID })
	return append(list, env)
}

// openJournal returns the journal of the first .jsonl file of --export, nil if there is none.
func (o *runOptions) openJournal(earlier *earlierRun) (*report.Journal, error) {
	path, ok := report.JournalPath(o.output.export)
	if !ok {
		return nil, nil
	}
	journal, err := report.NewJournal(path, earlier.kept)
	if err == nil {
		o.output.journal = path
	}
	return journal, err
}
