package main

import (
	"context"
	"errors"
	"math"

	"mpbench/pkg/check"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
	"mpbench/pkg/sampling"
)

// checker measures the rows of a plan.
type checker struct {
	plan     *check.Plan
	checks   []plannedCheck
	baseline *check.Baseline // nil if there is none
	update   bool            // measure what a new baseline needs
	env      record.Environment
	ratios   sampling.RatioSampler
	progress report.Progress

	names check.Names
	rows  []check.Row
	data  cache
}

// planAllChecks plans every check of a plan, so that all that is wrong with it is found before anything is measured.
func planAllChecks(plan *check.Plan) ([]plannedCheck, error) {
	var list []plannedCheck
	for i := range plan.Checks {
		c := &plan.Checks[i]
		if c.Command == "" {
			list = append(list, plannedCheck{check: c})
			continue
		}
		planned, err := planCheck(plan.Path, c)
		if err != nil {
			return nil, err
		}
		list = append(list, planned)
	}
	return list, nil
}

// cases is the number of rows.
func cases(checks []plannedCheck) int {
	n := 0
	for _, c := range checks {
		n += max(len(c.jobs), 1)
	}
	return n
}

// run measures all rows, up to the first error or interruption, and judges them but for the baseline.
func (c *checker) run(ctx context.Context) error {
	c.names = check.Names{}
	defer c.data.close()
	for _, planned := range c.checks {
		if planned.check.Command == "" {
			c.progress.Begin(planned.check.Name)
			r, err := givenRecord(ctx, c.plan.Path, planned.check)
			if err != nil || ctx.Err() != nil {
				return ignoreCancel(ctx, err)
			}
			c.add(planned.check, r, nil, nil)
			continue
		}
		for _, j := range planned.jobs {
			if ctx.Err() != nil {
				return nil
			}
			if err := c.measure(ctx, planned, j); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *checker) measure(ctx context.Context, planned plannedCheck, j job) error {
	c.progress.Begin(j.label)
	problem := j.source
	problem.key = planned.check.Command + " " + problem.key
	in, err := c.data.load(ctx, problem)
	if err != nil {
		return ignoreCancel(ctx, err)
	}
	result, ok, err := j.measure(ctx, in, c.progress.Sample)
	if err != nil || !ok {
		return err
	}
	r := result.Record
	r.EnvID = c.env.ID
	name := c.names.Of(planned.check, &r)
	time, unchecked, err := c.time(ctx, planned, j, in, c.baseline.Row(planned.check.Name, name))
	if err != nil || ctx.Err() != nil {
		return err
	}
	c.addNamed(planned.check, name, r, time, unchecked)
	return nil
}

func (c *checker) add(of *check.Check, r record.Record, time *check.Time, unchecked []string) {
	r.EnvID = c.env.ID
	c.addNamed(of, c.names.Of(of, &r), r, time, unchecked)
}

func (c *checker) addNamed(of *check.Check, name string, r record.Record, time *check.Time, unchecked []string) {
	c.rows = append(c.rows, check.Row{Check: of, Case: name, Record: r, Time: time, Unchecked: unchecked})
	c.progress.End(summarize(r))
}

// time compares the time of a job with that of its reference. The result is nil where there is nothing to compare.
func (c *checker) time(
	ctx context.Context, planned plannedCheck, j job, in loaded, base *check.BaselineRow,
) (*check.Time, []string, error) {
	limit := planned.check.Limits.Time
	if limit == nil {
		return nil, nil, nil
	}
	reference, ok := planned.reference(j)
	if !ok { // it is the reference itself
		return nil, nil, nil
	}
	t := &check.Time{RelativeTo: limit.RelativeTo.Value}
	measured := c.update && limit.Slower != nil
	if measured {
		base = nil // the baseline is to be replaced
	}
	var unchecked []string
	var why string
	if t.Limit, t.Line, why = limit.LimitOf(base, c.baseline, c.env); why != "" {
		unchecked = []string{why}
	}
	if math.IsInf(t.Limit, 1) && !measured {
		return nil, unchecked, nil
	}
	operation, err := j.prepare(ctx, in)
	if err != nil {
		return nil, nil, err
	}
	against, err := reference.prepare(ctx, in)
	if err != nil {
		return nil, nil, errors.Join(err, operation.Close())
	}
	if !math.IsInf(t.Limit, 1) {
		t.Ratio, t.Slower, _ = c.ratios.Exceeds(ctx, t.Limit, operation.Run, against.Run)
	}
	if measured {
		t.Ratio, _ = c.ratios.Best(ctx, operation.Run, against.Run)
	}
	err = errors.Join(operation.Err(), against.Err(), operation.Close(), against.Close())
	return t, unchecked, err
}
