package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/internal/suggest"
	"mpbench/pkg/check"
	"mpbench/pkg/measure"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
	"mpbench/pkg/sampling"
)

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
			r, specials, err := givenRecord(ctx, c.plan.Path, planned.check)
			if err != nil || ctx.Err() != nil {
				return ignoreCancel(ctx, err)
			}
			c.add(planned.check, r, nil, specials)
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
	for _, w := range r.Warnings {
		if w.Code == record.WarnHeader {
			unchecked = append(unchecked, w.Text)
		}
	}
	c.rows = append(c.rows, check.Row{Check: of, Case: name, Record: r, Time: time, Unchecked: unchecked})
	c.progress.End()
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

// samplingFlags are of no use in a check.
var samplingFlags = []string{"warmup", "runs", "min-time", "timeout", "max-noise"}

// setFlag sets a flag from a plan. It returns what is wrong, or "".
func setFlag(flags *pflag.FlagSet, s check.Setting) string {
	if slices.Contains(samplingFlags, s.Key) {
		return "a check decides by itself how often to measure; limits on times are in limits: time:"
	}
	f := flags.Lookup(s.Key)
	if f == nil {
		names := []string{"name", "command", "scan", "limits"}
		flags.VisitAll(func(f *pflag.Flag) {
			if !slices.Contains(samplingFlags, f.Name) {
				names = append(names, f.Name)
			}
		})
		return suggest.Unknown("key", s.Key, names)
	}
	if err := flags.Set(s.Key, s.Value); err != nil || s.Value == "" {
		return "want " + wanted(f.Value.Type()) + ", have " + s.Value
	}
	return ""
}

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

// planWith plans the jobs of a command. One run of each is enough: results are what is judged, and times are measured
// apart from them.
func planWith(path, command string, settings []check.Setting, scans []scan) ([]job, error) {
	o, _ := op.Lookup(command) // the plan's reader knows the operations
	options := newOperationOptions(o)
	options.sampler = sampling.Sampler{Runs: 1}
	flags := pflag.NewFlagSet(command, pflag.ContinueOnError)
	options.addFlags(flags)
	for _, s := range settings {
		if text := setFlag(flags, s); text != "" {
			return nil, &check.Error{Path: path, Line: s.Line, Key: s.Key, Text: text}
		}
	}
	jobs, err := options.plan(scans)
	if left := options.notices.lines; err == nil && len(left) > 0 {
		return nil, usagef("cannot be measured: %s", left[0]) // a check without rows that are expected says too little
	}
	return jobs, err
}

// reference returns the job that the time of j is relative to: of the same data and precision, or of a fixed one.
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

// givenBits is the precision that units of the last place of given values are those of.
const givenBits = 53

// given are values of a file, to be compared with the exact result of what against names.
type given struct {
	check *check.Check
	path  string // of the plan
	operands
}

// givenRecord compares the values of a check with the exact ones. It says which of the numbers that the exact result
// follows from is no number.
func givenRecord(ctx context.Context, plan string, c *check.Check) (record.Record, []string, error) {
	g := given{check: c, path: plan}
	if err := g.parseAgainst(); err != nil {
		return record.Record{}, nil, err
	}
	in, err := g.load(ctx)
	if err != nil {
		return record.Record{}, nil, err
	}
	r, err := g.compare(ctx, in)
	return r, specialNumbers(c.Against.Value, in.Problem), err
}

// specialNumbers names the first infinity or NaN of each operand.
func specialNumbers(against string, p *op.Problem) (list []string) {
	for _, o := range p.Op.Operands {
		a := p.Operand(o.Name)
		if a.Absent() || a.AllFinite() {
			continue
		}
		for k := range a.Len() {
			i, j := k%a.Rows, k/a.Rows
			if a.SpanAt(i, j).Class < numbers.Infinite {
				continue
			}
			place := fmt.Sprintf("%s[%d]", o.Name, i)
			if a.Cols > 1 {
				place = fmt.Sprintf("%s[%d, %d]", o.Name, i, j)
			}
			v := numbers.At(a.Source, a.Index(i, j))
			list = append(list, fmt.Sprintf("%s: %s is %s, so that exact results are none", against, place, v))
			break
		}
	}
	return list
}

// compare compares the values with the exact ones of a problem.
func (g *given) compare(ctx context.Context, in loaded) (record.Record, error) {
	c := g.check
	reading, err := datasets.ParseReading(g.reading)
	if err != nil {
		return record.Record{}, placed(g.path, c.Reading, err.Error())
	}
	m, err := g.within()
	if err != nil {
		return record.Record{}, err
	}
	values, err := datasets.Load(c.Values.Value, reading)
	if err != nil {
		return record.Record{}, err
	}
	if g.op.Scalar && values.N != 1 {
		return record.Record{}, inputOutputf("%s holds %d numbers; the result of %s is one", c.Values.Value, values.N,
			g.op.Name)
	}
	if n := in.Reference.Shape.Components; values.N != n {
		return record.Record{}, inputOutputf("%s holds %d numbers; the result has %d", c.Values.Value, values.N, n)
	}
	var limit measure.Limit
	if m != nil {
		limit, err = in.Limit(ctx, *m, method.Config{Precision: givenBits, MaxBytes: memoryLimit()})
		if err != nil {
			return record.Record{}, err
		}
	}
	name := measure.Given{Name: filepath.Base(c.Values.Value), Format: check.GivenFormat, Bits: givenBits}
	r, err := in.Given(name, values.X.Source, limit)
	r.Warnings = append(r.Warnings, headerWarnings(values)...)
	return r, err
}

// parseAgainst reads "sum:FILE", "gemv:MATRIX,VECTOR" or "sum:DATA SET".
func (g *given) parseAgainst() error {
	against := g.check.Against
	name, list, ok := strings.Cut(against.Value, ":")
	if !ok || list == "" {
		return placed(g.path, against, "want "+againstForms()+", or a data set, as sum:mcnamee1")
	}
	o, ok := op.Lookup(name)
	if !ok {
		return placed(g.path, against, suggest.Unknown("command", name, check.Commands))
	}
	g.operands = newOperands(o)
	g.transpose = g.check.Transpose
	if g.check.Reading.Value != "" {
		g.reading = g.check.Reading.Value
	}
	for _, f := range g.check.Factors {
		if _, ok := g.factors[f.Key]; !ok {
			return placed(g.path, f, o.Name+" has no such factor")
		}
		g.factors[f.Key] = f.Value
	}
	files := strings.Split(list, ",")
	if !check.IsFile(files[0]) {
		g.dataset = list // the commas are those of a data set
		return nil
	}
	arrays := inputsOf(o)
	if g.scaled() && len(files) > len(arrays) {
		arrays = o.Arrays()
	}
	if len(files) != len(arrays) {
		return placed(g.path, against, fmt.Sprintf("names %s; want %d", record.Count(len(files), "file"), len(arrays)))
	}
	for i, a := range arrays {
		g.files[a.Name] = []string{files[i]}
	}
	return nil
}

// inputsOf returns the arrays that an operation reads with the default factors.
func inputsOf(o *op.Operation) (list []op.Operand) {
	for _, a := range o.Arrays() {
		if !a.Optional {
			list = append(list, a)
		}
	}
	return list
}

// againstForms says what --against takes: "sum:FILE, dot:FILE,FILE or gemv:MATRIX,FILE".
func againstForms() string {
	var forms []string
	for _, o := range op.All() {
		var files []string
		for _, a := range inputsOf(o) {
			if a.Kind == op.Matrix {
				files = append(files, "MATRIX")
			} else {
				files = append(files, "VECTOR")
			}
		}
		forms = append(forms, o.Name+":"+strings.Join(files, ","))
	}
	return strings.Join(forms, ", ")
}

// load returns the problem.
func (g *given) load(ctx context.Context) (loaded, error) {
	sources, err := g.sources(0)
	if err != nil {
		return loaded{}, placed(g.path, g.check.Against, err.Error())
	}
	if len(sources) != 1 {
		return loaded{}, placed(g.path, g.check.Against, fmt.Sprintf("names %d data sets; want one", len(sources)))
	}
	return sources[0].load(ctx)
}

// within returns the method whose bound is asked for, nil for none.
func (g *given) within() (*method.Method, error) {
	limit := g.check.Limits.WithinMethod
	if limit == nil {
		return nil, nil
	}
	chosen, err := chooseMethods(limit.Value, catalog.Of(g.op))
	if err == nil && len(chosen) == 1 {
		return &chosen[0], nil
	}
	text := "want one method"
	if err != nil {
		text = err.Error()
	}
	return nil, placed(g.path, check.Setting{Key: "within", Value: limit.Value, Line: limit.Line}, text)
}

// placed is an error about a setting: of a plan with file and line, of the command line with its flag.
func placed(plan string, s check.Setting, text string) error {
	if plan == "" {
		return usagef("--%s %s: %s", s.Key, s.Value, text)
	}
	return &check.Error{Path: plan, Line: s.Line, Key: s.Key, Text: text}
}
