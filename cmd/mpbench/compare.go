package main

import (
	"errors"

	"github.com/spf13/cobra"

	"mpbench/pkg/compare"
	"mpbench/pkg/report"
)

type compareOptions struct {
	failIf []string
	alpha  float64
	format string
	color  string
}

func newCompare() *cobra.Command {
	var o compareOptions
	cmd := &cobra.Command{
		Use:   "compare OLD NEW",
		Short: "Compare two saved runs: times with p-values and intervals, accuracy in bits",
		Long: `Compares two result files (.jsonl or .json; - is standard input) case by case. ` +
			`A change of the time is shown if it is
significant: the Mann-Whitney U test gives p < alpha, and 1 is outside the interval for the ratio of the
medians; otherwise the cell is ~. Correct bits are = where the result is the same.

Different data (by SHA-256) are refused. With --fail-if, rows that break a rule are marked, and the
exit code is 1:

  time>5%   the median is more than 5 % above the old one, and significantly so
  bits<-1   more than 1 correct bit is lost
  hash      the result has changed
  bound     the new result is outside its proved bound and the old one was not
  missing   a case of the old run is not in the new one`,
		Example: `  mpbench sum --export old.jsonl
  mpbench sum --export new.jsonl
  mpbench compare old.jsonl new.jsonl --fail-if 'time>5%' --fail-if 'bits<-1' --fail-if missing`,
		Args:              arguments(2, 2, "compare: name two files of results, the old one first"),
		ValidArgsFunction: completeArguments(resultFiles),
		RunE:              func(cmd *cobra.Command, args []string) error { return o.run(cmd, args[0], args[1]) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.failIf, "fail-if", nil, "exit with 1 if a row breaks the `rule`: time>5%, bits<-1, hash, bound "+
		"or missing; repeatable")
	f.Float64Var(&o.alpha, "alpha", compare.DefaultAlpha, "level of significance, of each row")
	f.StringVar(&o.format, "format", "table", "format on standard output: table, markdown, csv or json")
	addColor(cmd, &o.color, "colour in tables")
	f.SortFlags = false
	complete(cmd, "format", mapped(report.CompareFormats(), func(f report.CompareFormat) string { return f.Name }))
	complete(cmd, "fail-if", []string{"time>5%", "bits<-1", "hash", "bound", "missing"})
	return cmd
}

func (o *compareOptions) run(cmd *cobra.Command, oldPath, newPath string) error {
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
	if oldPath == "-" && newPath == "-" {
		return usagef("compare: only one of the files can be standard input")
	}
	old, err := readRun(oldPath)
	if err != nil {
		return err
	}
	now, err := readRun(newPath)
	if err != nil {
		return err
	}
	result, err := compare.Compare(old, now, o.alpha)
	var data *compare.DataError
	switch {
	case errors.As(err, &data):
		return inputOutputf("%s and %s cannot be compared: %v", oldPath, newPath, err)
	case err != nil:
		return inputOutputf("%s and %s: %v", oldPath, newPath, err)
	}
	result.Apply(rules)
	out := cmd.OutOrStdout()
	err = outputError(format.Render(out, result, (&outputOptions{color: o.color}).renderOptions(out)))
	if err != nil {
		return err
	}
	if n := result.Failed(); n > 0 {
		return failedf("%d of %d cases failed", n, len(result.Rows)+len(result.OnlyOld))
	}
	return nil
}
