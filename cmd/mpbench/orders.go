package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpbench/pkg/op"
	"mpbench/pkg/report"
	"mpbench/pkg/sampling"
	"mpbench/pkg/scatter"
)

// ordersOption is the flag --orders: results in all orders and divisions are compared, and nothing is timed.
type ordersOption struct{ on bool }

func (o *ordersOption) addFlags(f *pflag.FlagSet, operation *op.Operation) {
	if scatter.Applies(operation) {
		f.BoolVar(&o.on, "orders", false, fmt.Sprintf(
			"instead of timing, compute every order of the terms in 1 to %d blocks and say which methods give\n"+
				"the same bits, and how far the results of the others scatter", scatter.MostBlocks))
	}
}

// run plans the jobs and prints a table for each data set.
func (o *ordersOption) run(cmd *cobra.Command, run runOptions, plan func([]scan) ([]job, error)) error {
	if run.output.format != "table" && run.output.format != "markdown" || len(run.output.export) > 0 || run.resume {
		return usagef("--orders prints a table; it goes with neither --format, --export nor --resume")
	}
	if name := timingFlag(cmd); name != "" {
		return usagef("--orders times nothing and keeps no results; leave --%s out", name)
	}
	scans, err := parseScans(run.scans)
	if err != nil {
		return err
	}
	jobs, err := plan(scans)
	run.notices.print(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	for _, j := range jobs {
		if j.config.Stream {
			return usagef("--orders needs all numbers in memory; leave --stream out")
		}
	}
	if run.dryRun {
		return listJobs(cmd.OutOrStdout(), jobs)
	}
	progress := newProgress(cmd, len(jobs), run.quiet)
	defer progress.Close()
	var data cache
	defer data.close()
	for first := 0; first < len(jobs); {
		last := first
		var rows [][]string
		for ; last < len(jobs) && jobs[last].source.key == jobs[first].source.key; last++ {
			progress.Begin(jobs[last].label)
			row, err := orderRow(cmd.Context(), &data, jobs[last])
			if cmd.Context().Err() != nil {
				return &statusError{exitInterrupted, fmt.Sprintf("interrupted after %d of %d cases", last, len(jobs))}
			}
			if err != nil {
				return err
			}
			progress.End()
			rows = append(rows, row)
		}
		progress.Clear()
		if err := writeOrders(cmd.OutOrStdout(), first == 0, jobs[first].source.key, rows); err != nil {
			return err
		}
		first = last
	}
	return nil
}

// timingFlag returns the name of a flag that was set and is about times or results, "" for none.
func timingFlag(cmd *cobra.Command) (name string) {
	about := pflag.NewFlagSet("timing", pflag.ContinueOnError)
	addSampler(about, new(sampling.Sampler))
	for _, other := range []string{"bandwidth", "profile", "rows", "save-result"} {
		about.Bool(other, false, "")
	}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if about.Lookup(f.Name) != nil {
			name = f.Name
		}
	})
	return name
}

// orderRow computes what a method gives for all orders of a problem.
func orderRow(ctx context.Context, data *cache, j job) ([]string, error) {
	in, err := data.load(ctx, j.source)
	if err != nil {
		return nil, err
	}
	s, err := scatter.Measure(ctx, j.method, j.config, in.Problem)
	if err != nil {
		return nil, err
	}
	verdict := "depends on order and blocks"
	switch {
	case s.Same() && j.method.Merges:
		verdict = "the same bits, by design"
	case s.Same():
		verdict = "the same bits here"
	case s.Orders == 1:
		verdict = "depends on blocks"
	case s.Blocks == 1:
		verdict = "depends on order"
	}
	return []string{
		j.method.Name, strconv.Itoa(j.config.Precision), fmt.Sprintf("%d of %d", s.Results, s.Runs), scientific(s.Scatter()),
		scientific(s.WorstError()), verdict,
	}, nil
}

// scientific writes a number of two digits; nothing for one that is not known.
func scientific(x float64) string {
	switch {
	case math.IsNaN(x):
		return ""
	case x == 0:
		return "0"
	}
	return strconv.FormatFloat(x, 'e', 1, 64)
}

func writeOrders(w io.Writer, first bool, title string, rows [][]string) error {
	if !first {
		fmt.Fprintln(w)
	}
	text := fmt.Sprintf("%s: %d orders, each in 1, 2, 4, ... blocks, at most %d", title, len(scatter.Names),
		scatter.MostBlocks)
	fmt.Fprintf(w, "%s\n\n", strings.Join(report.BreakText(text, columns(w)), "\n"))
	heads := []string{"method", "bits", "different", "scatter", "worst error", "result"}
	return report.List(w, heads, rows, columns(w))
}
