package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpbench/pkg/compare"
	"mpbench/pkg/report"
)

type compareOptions struct {
	failIf []string
	rerun  int
	alpha  float64
	format string
	color  string
}

func newCompare() *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare OLD NEW | OLD... -- NEW...",
		Short: "Compare saved runs: times with p-values and intervals, accuracy in bits",
		Long: `Compares result files (.jsonl or .json; - is standard input) case by case: an old and a new one, or
several runs a side, the old ones before -- and the new ones behind it. A change of the time is shown if
it is significant, otherwise the cell is ~. Correct bits are = where the result is the same.

Times differ from run to run by more than within one. With several runs a side, Student's t test of the
logarithms of their medians gives p < alpha, and 1 is outside the interval for the ratio. With one run a
side, it is the Mann-Whitney U test of the samples, and the interval is wider by what the cases of the two
runs differ by, most of which have not changed. --rerun takes two command lines in place of files, and runs
them in turns, as often each; what has changed is measured once more and must be found again.

Different data (by SHA-256) are refused. With --fail-if, rows that break a rule are marked, and the
exit code is 1:

  time>5%   the median is more than 5 % above the old one, and significantly so
  bits<-1   more than 1 correct bit is lost
  hash      the result has changed
  bound     the new result is outside its proved bound and the old one was not, or has none any more
  missing   a case of the old run is not in the new one`,
		Example: `  mpbench sum --export old.jsonl
  mpbench sum --export new.jsonl
  mpbench compare old.jsonl new.jsonl --fail-if 'time>5%' --fail-if 'bits<-1' --fail-if missing
  mpbench compare old-*.jsonl -- new-*.jsonl
  mpbench compare --rerun 5 'mpbench-1.0 sum -d gensum -m deferred' 'mpbench sum -d gensum -m deferred'`,
		Args:              arguments(2, math.MaxInt, "compare: name two files of results, the old one first"),
		ValidArgsFunction: completeArguments(resultFiles),
		RunE: func(cmd *cobra.Command, args []string) error {
			old, now, err := sides(args, cmd.ArgsLenAtDash())
			if err != nil {
				return err
			}
			return o.run(cmd, old, now)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.failIf, "fail-if", nil, "exit with 1 if a row breaks the `rule`: time>5%, bits<-1, hash, bound "+
		"or missing; repeatable")
	f.IntVar(&o.rerun, "rerun", 0, "run two command lines of mpbench in turns, `times` each, and compare their results")
	f.Float64Var(&o.alpha, "alpha", compare.DefaultAlpha, "level of significance, of each row")
	f.StringVar(&o.format, "format", "table", "format on standard output: table, markdown, csv or json")
	addColor(cmd, &o.color, "colour in tables")
	f.SortFlags = false
	complete(cmd, "format", mapped(report.CompareFormats(), func(f report.CompareFormat) string { return f.Name }))
	complete(cmd, "fail-if", []string{"time>5%", "bits<-1", "hash", "bound", "missing"})
	return cmd
}

// sides divides arguments at --, or into one and one.
func sides(args []string, dash int) (old, now []string, err error) {
	switch {
	case dash < 0 && len(args) == 2:
		dash = 1
	case dash < 0:
		return nil, nil, usagef("compare: %d files: put -- between the old and the new ones", len(args))
	case dash == 0 || dash == len(args):
		return nil, nil, usagef("compare: name files before and behind --, the old ones first")
	}
	old, now = args[:dash], args[dash:]
	if n := len(slices.DeleteFunc(slices.Clone(args), func(a string) bool { return a != "-" })); n > 1 {
		return nil, nil, usagef("compare: only one of the files can be standard input")
	}
	return old, now, nil
}

func (o *compareOptions) run(cmd *cobra.Command, oldNames, newNames []string) error {
	format, err := report.CompareFormatByName(o.format)
	if err != nil {
		return err
	}
	if err := checkChoice("color", o.color, whens); err != nil {
		return err
	}
	if !(o.alpha > 0 && o.alpha < 1) {
		return usagef("--alpha %v: want a number between 0 and 1", o.alpha)
	}
	var rules []compare.Rule
	for _, text := range o.failIf {
		rule, err := compare.ParseRule(text)
		if err != nil {
			return usagef("--fail-if: %v", err)
		}
		rules = append(rules, rule)
	}
	result, err := o.compare(cmd, oldNames, newNames)
	var data *compare.DataError
	var status *statusError
	oldPath, newPath := strings.Join(oldNames, ", "), strings.Join(newNames, ", ")
	switch {
	case errors.As(err, &status):
		return err
	case errors.As(err, &data):
		return inputOutputf("%s and %s cannot be compared: %v", oldPath, newPath, err)
	case err != nil:
		return inputOutputf("%s and %s: %v", oldPath, newPath, err)
	}
	result.Apply(rules)
	out := cmd.OutOrStdout()
	err = printTo(cmd, func() error {
		return format.Render(out, result, (&outputOptions{color: o.color}).renderOptions(out))
	})
	if err != nil {
		return err
	}
	if n := result.Failed(); n > 0 {
		return failedf("%d of %d cases failed", n, len(result.Rows)+len(result.OnlyOld))
	}
	return nil
}

// compare compares files, or what two command lines give now.
func (o *compareOptions) compare(cmd *cobra.Command, oldNames, newNames []string) (*compare.Result, error) {
	if cmd.Flags().Changed("rerun") {
		return o.runAgain(cmd, oldNames, newNames)
	}
	old, err := readRuns(cmd.Context(), oldNames)
	if err != nil {
		return nil, err
	}
	now, err := readRuns(cmd.Context(), newNames)
	if err != nil {
		return nil, err
	}
	for _, w := range slices.Concat(old.Warnings, now.Warnings) {
		fmt.Fprintln(cmd.ErrOrStderr(), "warning: "+w.String())
	}
	return compare.Compare(old, now, o.alpha)
}
