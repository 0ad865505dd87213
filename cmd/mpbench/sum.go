package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"mpbench/datasets"
	"mpbench/pkg/bench"
	"mpbench/pkg/report"
)

// newSum builds the command sum.
func newSum() *cobra.Command {
	options := defaultSumOptions()
	var output outputOptions
	var scans []string
	var quiet, dryRun bool
	cmd := &cobra.Command{
		Use:   "sum",
		Short: "Sum numbers by many methods and compare with the exact sum",
		Long: `Sums each data set by each method at each precision. Every result is compared with the exact sum
of the same numbers and with the method's proved error bound, and timed.

A row's error is |value - exact| / |exact|, never capped; correct bits are -log2 of it. The
time is that of the summation alone, of numbers converted to the method's format beforehand; the
conversion is shown apart.`,
		Example: `  mpbench sum --precision 240
  mpbench sum --precision 30,60,120,240 --moduli-bits 16 --dataset mcnamee1,mcnamee2,mcnamee3
  mpbench sum --input data.npy --method float64,kahan,reduce2 --export run.jsonl
  mpbench sum --dataset gensum --method neumaier,reduce1 -L cond=1e0..1e60:x1e10
  mpbench sum --dataset uniform01 --method reduce1,reduce2 -L n=2^10..2^20:x4 --format csv`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			parsed, err := parseScans(scans)
			if err != nil {
				return err
			}
			cases, err := planSum(options, parsed)
			if err != nil {
				return err
			}
			if dryRun {
				return listCases(cmd.OutOrStdout(), cases)
			}
			return runSum(cmd, cases, output, quiet)
		},
	}
	options.addFlags(cmd.Flags())
	output.addFlags(cmd)
	f := cmd.Flags()
	f.StringArrayVarP(&scans, "scan", "L", nil, "measure for each of several values of a flag or of a data set's parameter:\n`name=values`, as n=2^10..2^20:x4 or method=reduce1,reduce2; repeatable")
	f.BoolVarP(&quiet, "quiet", "q", false, "no progress on standard error")
	f.BoolVar(&dryRun, "dry-run", false, "list what would be measured")
	f.SortFlags = false
	complete(cmd, "method", methodNames())
	complete(cmd, "dataset", datasets.Names())
	complete(cmd, "rounding", []string{"truncate", "nearest"})
	complete(cmd, "alignment", []string{"2018", "blas"})
	complete(cmd, "reading", []string{"double", "exact"})
	return cmd
}

func parseScans(texts []string) ([]scan, error) {
	var list []scan
	for _, text := range texts {
		s, err := parseScan(text)
		if err != nil {
			return nil, err
		}
		list = append(list, s)
	}
	return list, nil
}

func listCases(w io.Writer, cases []sumCase) error {
	var b strings.Builder
	for _, c := range cases {
		fmt.Fprintln(&b, c.label())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// runSum measures the cases and writes what there is, even if it was interrupted or a case failed.
func runSum(cmd *cobra.Command, cases []sumCase, output outputOptions, quiet bool) error {
	errOut := cmd.ErrOrStderr()
	progress := report.NewProgress(errOut, report.ProgressOptions{
		Cases: len(cases), Quiet: quiet, Terminal: isTerminal(errOut), Width: func() int { return columns(errOut) },
	})
	env := bench.CaptureEnvironment()
	records, err := measureCases(cmd.Context(), cases, env.ID, progress)
	progress.Close()
	if len(records) > 0 {
		run := &bench.Run{Environments: []bench.Environment{env}, Records: records}
		err = firstError(output.write(cmd, run), err)
	}
	switch {
	case cmd.Context().Err() != nil && (err == nil || exitCode(err) == exitCheckFailed):
		return &statusError{exitInterrupted, fmt.Sprintf("interrupted after %d of %d cases", len(records), len(cases))}
	case err != nil:
		return err
	}
	return checkRecords(records)
}

// measureCases returns the records of the cases up to the first error or interruption.
func measureCases(ctx context.Context, cases []sumCase, envID string, progress report.Progress) ([]bench.Record, error) {
	var records []bench.Record
	var in bench.SumInput
	loaded := ""
	for _, c := range cases {
		if ctx.Err() != nil {
			break
		}
		progress.Begin(c.label())
		if c.source.key != loaded {
			data, err := c.source.load()
			if err != nil {
				return records, err
			}
			in, loaded = bench.NewSumInput(data), c.source.key
		}
		c.sampler.Progress = progress.Sample
		r, ok, err := bench.MeasureSum(ctx, c.sampler, c.method, c.options, in)
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
