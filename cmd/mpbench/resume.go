package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"

	"mpbench/pkg/record"
	"mpbench/pkg/report"
)

// earlierRun is what an unfinished run of the same command line left in its file; an empty one if there is none.
type earlierRun struct {
	path     string
	kept     *record.Run              // its environments and the records of its finished cases
	finished map[string]record.Record // by case ID
	sha256   map[string]string        // of the data of finished cases, by the key of the source
}

// readEarlier returns the run that --resume continues, an empty one if there is nothing to continue.
func (o *runOptions) readEarlier(ctx context.Context, jobs []job, env record.Environment) (*earlierRun, error) {
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
	run, err := readRun(ctx, path)
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
