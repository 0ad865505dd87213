package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"mpbench/pkg/check"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
)

type checkOptions struct {
	update  bool
	junit   string
	github  string
	export  []string
	color   string
	quiet   bool
	verbose bool

	values, against, reading string
	transpose                bool
	limits                   map[string]*onceFlag // by name
	factors                  map[string]*onceFlag // by name
}

func newCheck() *cobra.Command {
	o := checkOptions{limits: map[string]*onceFlag{}, factors: map[string]*onceFlag{}}
	cmd := &cobra.Command{
		Use:   "check [PLAN]",
		Short: "Check results against limits, for CI: correct bits, bounds, hashes, relative times",
		Long: `Runs the checks of a plan, a YAML or JSON file, and exits with 1 if a row does not keep its limits, naming
each with what was expected and found. A plan lists commands (` + listed(op.Names()) + `) with their flags as keys,
and limits: correct-bits, within-bound, rel-error, ulp, result-hash, bits-lost, and the time relative to
another method. checks/README.md describes plans, and how times are compared on a busy machine.

With --values, checks numbers that another program computed, a .npy, .txt or .csv file, against the
exact result of the numbers in --against, with the limits of the flags.`,
		Example: `  mpbench check checks/mpbench.yaml --junit report.xml
  mpbench check checks/mpbench.yaml --update
  mpbench check --values total.npy --against sum:terms.npy --correct-bits 50
  mpbench check --values y.npy --against gemv:A.npy,x.npy --within float64
  mpbench check --values z.npy --against axpy:x.npy,y.npy --alpha 0.1 --ulp 1`,
		Args:              atMostOne("plan"),
		ValidArgsFunction: completeArguments(planFiles),
		RunE:              o.run,
	}
	o.addFlags(cmd)
	return cmd
}

func (o *checkOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVar(&o.update, "update", false, "show what differs from the baseline, and write a new one")
	f.StringVar(&o.junit, "junit", "", "also write the result as JUnit XML into `file`")
	f.StringVar(&o.github, "github", "auto", "annotations for GitHub: auto (if GITHUB_ACTIONS is true), always or never")
	f.StringArrayVar(&o.export, "export", nil,
		"write the measured records into `file`, in the format of its ending; repeatable")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "list all rows, with what they were judged by")
	addColor(cmd, &o.color, "colour")
	addQuiet(cmd, &o.quiet)
	f.StringVar(&o.values, "values", "", "check the numbers in `file` (.npy .txt .csv) instead of a plan ...")
	f.StringVar(&o.against, "against", "", "... against the exact result of `what`: "+againstForms()+", or a data set")
	f.StringVar(&o.reading, "reading", "double", "decimals of at most 17 digits in text files: double or exact")
	f.BoolVarP(&o.transpose, "transpose", "t", false, "the matrix of --against gemv:... is transposed")
	for _, name := range []string{"alpha", "beta"} {
		o.factors[name] = &onceFlag{}
		f.Var(o.factors[name], name, "this `factor` of --against, read as --reading says")
	}
	for _, limit := range []struct{ name, usage string }{
		{"correct-bits", "`bits` that must be correct at least, or exact"},
		{"rel-error", "relative `error` at most, as 1e-15"},
		{"ulp", "error at most in `units` of the last place of float64"},
		{"within", "the error must be within the proved bound of `method`, as float64"},
		{"result-hash", "the result's `hash`, 16 hexadecimal digits"},
	} {
		o.limits[limit.name] = &onceFlag{}
		f.Var(o.limits[limit.name], limit.name, limit.usage)
	}
	f.SortFlags = false
	completeFiles(cmd, "junit", []string{".xml"})
	completeFiles(cmd, "export", endings())
	completeFiles(cmd, "values", numberFiles)
	complete(cmd, "against", againstNames())
	complete(cmd, "within", catalog.Names())
	complete(cmd, "github", whens)
	complete(cmd, "reading", []string{"double", "exact"})
}

func (o *checkOptions) run(cmd *cobra.Command, args []string) error {
	if err := o.check(); err != nil {
		return err
	}
	plan, err := o.plan(cmd, args)
	if err != nil {
		return err
	}
	planned, err := planAllChecks(plan)
	if err != nil {
		return err
	}
	baseline, err := o.baseline(cmd.ErrOrStderr(), plan)
	if err != nil {
		return err
	}
	c := &checker{plan: plan, checks: planned, baseline: baseline, update: o.update, env: record.CaptureEnvironment(),
		ratios: checkRatios}
	c.progress = newProgress(cmd, cases(planned), o.quiet)
	err = c.run(cmd.Context())
	c.progress.Close()
	if err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		return &statusError{exitInterrupted, fmt.Sprintf("interrupted after %d of %d rows", len(c.rows), cases(planned))}
	}
	return o.report(cmd, c)
}

// check finds what is wrong with the flags before anything is measured.
func (o *checkOptions) check() error {
	output := outputOptions{format: "table", color: o.color, export: o.export}
	if err := cmp.Or(output.check(), checkChoice("github", o.github, whens)); err != nil {
		return err
	}
	if o.junit != "" {
		return report.CheckWritable(o.junit)
	}
	return nil
}

// plan reads the plan, or makes one of --values.
func (o *checkOptions) plan(cmd *cobra.Command, args []string) (*check.Plan, error) {
	if o.values != "" || o.against != "" {
		if len(args) > 0 {
			return nil, usagef("check takes a plan or --values, not both")
		}
		return o.valuesPlan(cmd)
	}
	for name := range o.limits {
		if cmd.Flags().Changed(name) {
			return nil, usagef("--%s goes with --values; a plan has its own limits", name)
		}
	}
	for name := range o.factors {
		if cmd.Flags().Changed(name) {
			return nil, usagef("--%s goes with --values; a plan has its own factors", name)
		}
	}
	if len(args) == 0 {
		return nil, usagef("check: name a plan, as checks/mpbench.yaml, or the numbers to check with --values and --against")
	}
	return untilSignal(cmd.Context(), func() (*check.Plan, error) {
		f, err := openFile(args[0], "a plan (.yaml or .json)")
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return check.Parse(f, args[0])
	})
}

func (o *checkOptions) valuesPlan(cmd *cobra.Command) (*check.Plan, error) {
	switch {
	case o.values == "":
		return nil, usagef("--against goes with --values, the file of the results")
	case o.against == "":
		return nil, usagef("--values goes with --against, what the values are results of, as sum:input.npy")
	case o.update:
		return nil, usagef("--update goes with a plan; --values has no baseline")
	}
	c := check.Check{
		Name: o.values + " against " + o.against, Values: check.Setting{Key: "values", Value: o.values},
		Against: check.Setting{Key: "against", Value: o.against}, Reading: check.Setting{Key: "reading", Value: o.reading},
		Transpose: o.transpose,
	}
	for _, name := range []string{"alpha", "beta"} {
		if cmd.Flags().Changed(name) {
			c.Factors = append(c.Factors, check.Setting{Key: name, Value: o.factors[name].text})
		}
	}
	for name, value := range o.limits {
		if !cmd.Flags().Changed(name) {
			continue
		}
		if text := c.Limits.Set(name, value.text, 0); text != "" {
			return nil, usagef("--%s: %s", name, text)
		}
	}
	if c.Limits == (check.Limits{}) || c.Limits.NeedsBaseline() {
		return nil, usagef("--values needs a limit: --correct-bits, --rel-error, --ulp, --within or --result-hash with " +
			"16 digits")
	}
	return &check.Plan{Checks: []check.Check{c}}, nil
}

// baseline reads the baseline if the plan needs one.
func (o *checkOptions) baseline(stderr io.Writer, plan *check.Plan) (*check.Baseline, error) {
	if !plan.NeedsBaseline() {
		if o.update {
			return nil, usagef("--update: no limit of %s refers to a baseline", plan.Path)
		}
		return nil, nil
	}
	if o.update {
		if err := report.CheckWritable(plan.Baseline); err != nil {
			return nil, err
		}
	}
	b, err := check.ReadBaseline(plan.Baseline)
	var wrong *check.Error
	switch {
	case o.update && errors.As(err, &wrong) && wrong.Damaged:
		fmt.Fprintf(stderr, "warning: %v; it will be replaced\n", err)
		return nil, nil
	case err != nil:
		return nil, inputOutputf("%v", err)
	case b == nil && !o.update:
		return nil, inputOutputf("%s: no such file; make the baseline with mpbench check --update %s", plan.Baseline,
			plan.Path)
	}
	return b, nil
}

// report judges the rows and writes everything that was asked for.
func (o *checkOptions) report(cmd *cobra.Command, c *checker) error {
	baseline := c.baseline
	if o.update {
		baseline = check.NewBaseline(c.rows, c.env)
	}
	result := check.NewResult(c.plan, c.rows, baseline)
	out := cmd.OutOrStdout()
	options := (&outputOptions{color: o.color}).renderOptions(out)
	err := report.CheckText(out, result, o.verbose || o.values != "", options)
	if err == nil && (o.github == "always" || o.github == "auto" && os.Getenv("GITHUB_ACTIONS") == "true") {
		err = report.CheckGitHub(out, result)
	}
	err = outputError(err)
	if o.junit != "" {
		write := func(w io.Writer) error { return report.CheckJUnit(w, result) }
		err = cmp.Or(err, writeTo(cmd.Context(), o.junit, func() error { return report.WriteFile(o.junit, write) }))
	}
	if err := cmp.Or(err, o.exportRecords(cmd.Context(), c)); err != nil {
		return err
	}
	if n := result.Failed(); n > 0 {
		return failedf("%d of %d rows failed", n, len(result.Rows))
	}
	if o.update {
		warnUncertain(cmd.ErrOrStderr(), c.rows)
		return updateBaseline(out, c.plan.Baseline, c.baseline, baseline, options)
	}
	return nil
}

// warnUncertain names the rows whose time ratio is not known well enough for the limit that refers to it.
func warnUncertain(w io.Writer, rows []check.Row) {
	for i := range rows {
		r := &rows[i]
		if t := r.Check.Limits.Time; t != nil && t.Slower != nil && r.Time != nil &&
			r.Time.Ratio.Spread() > t.Slower.Value/100 {
			fmt.Fprintf(w, "warning: %s: the time ratio is known to %.2g %% only; update the baseline on a quiet machine, or "+
				"raise slower\n",
				r.Label(), 100*r.Time.Ratio.Spread())
		}
	}
}

func (o *checkOptions) exportRecords(ctx context.Context, c *checker) error {
	run := &record.Run{Environments: []record.Environment{c.env}}
	for _, r := range c.rows {
		run.Records = append(run.Records, r.Record)
	}
	return (&outputOptions{export: o.export}).exportAll(ctx, run)
}

func updateBaseline(w io.Writer, path string, old, now *check.Baseline, options report.Options) error {
	changes := check.Changes(old, now)
	if len(changes) == 0 {
		_, err := fmt.Fprintf(w, "%s is up to date\n", path)
		return err
	}
	if err := outputError(report.CheckChanges(w, changes, options)); err != nil {
		return err
	}
	if err := report.WriteFile(path, now.Write); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "%s: written, %d of %d rows changed\n", path, len(changes), len(now.Rows))
	return err
}

// againstNames are completions of --against.
func againstNames() []string {
	return append(mapped(op.Names(), func(name string) string { return name + ":" }), allSetNames()...)
}
