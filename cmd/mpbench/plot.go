package main

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpbench/internal/suggest"
	"mpbench/pkg/plot"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
)

func newPlot() *cobra.Command {
	var picture plotOptions
	var title, methods, times string
	var width int
	var exports []string
	cmd := &cobra.Command{
		Use:   "plot FILE...",
		Short: "Draw saved results: errors, correct bits, times, phases",
		Long: `Draws the records of result files (.jsonl or .json; - is standard input) as SVG on standard output, or
into the files of --export, whose endings say the format (.svg .png).

Kinds of picture:
` + kindList() + `
Exact results have no place on a scale of errors: they stand in a band of their own at the edge.
Series differ in markers and dashes, not in colour alone.`,
		Example: `  mpbench sum --dataset gensum -L cond=1e0..1e80:x1e5 --export run.jsonl
  mpbench plot run.jsonl --export error.svg --export error.png
  mpbench gemv --precision 106,212,424 --export gemv.jsonl
  mpbench plot gemv.jsonl --kind time-precision --bandwidth 25 --export time.svg`,
		Args:              filesOfResults("plot"),
		ValidArgsFunction: completeArguments(resultFiles),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := checkPictures(cmd, picture, width, exports); err != nil {
				return err
			}
			if err := plot.CheckTimes(times, picture.kind); err != nil {
				return err
			}
			run, err := readRuns(cmd.Context(), args)
			if err != nil {
				return err
			}
			if err := keepMethods(run, methods); err != nil {
				return err
			}
			o := picture.options()
			o.Title, o.Width, o.Times = title, width, times
			return writePictures(cmd, run, o, exports)
		},
	}
	f := cmd.Flags()
	picture.addFlags(f, "")
	f.StringVar(&times, "times", plot.RunTimes, "`times` to draw: run, one-shot (with conversion and copies), or both")
	methods = "all"
	f.VarP(&listFlag{text: &methods}, "method", "m", "methods to draw, a list, or all")
	f.StringArrayVarP(&exports, "export", "o", nil, "write `file` (.svg .png) in place of standard output; repeatable")
	f.StringVar(&title, "title", "", "title in place of the usual one")
	f.IntVar(&width, "width", 0, "width in pixels (default 760); PNG has twice as many")
	f.SortFlags = false
	picture.complete(cmd)
	complete(cmd, "times", plot.TimeNames())
	completeFiles(cmd, "export", []string{".svg", ".png"})
	completeList(cmd, "method", append(catalog.Names(), "all"))
	return cmd
}

// plotOptions are the flags of every command that draws.
type plotOptions struct {
	kind      string
	bandwidth float64 // GB/s
}

func (o *plotOptions) addFlags(f *pflag.FlagSet, where string) {
	f.StringVar(&o.kind, "kind", plot.Auto, where+"`kind` of plot, or auto for the one that fits the results best")
	f.Float64Var(&o.bandwidth, "bandwidth", 0, where+"memory bandwidth in `GB/s`, for the memory floor of times")
}

func (o *plotOptions) complete(cmd *cobra.Command) {
	list := mapped(plot.Kinds(), func(k plot.Kind) string { return k.Name + "\t" + k.Summary })
	complete(cmd, "kind", append(list, plot.Auto+"\tthe kind that fits best"))
}

func (o *plotOptions) check() error {
	if !(o.bandwidth >= 0 && o.bandwidth < 1e9) {
		return usagef("--bandwidth %v: want a number of GB/s", o.bandwidth)
	}
	return plot.CheckKind(o.kind)
}

func (o *plotOptions) options() plot.Options {
	return plot.Options{Kind: o.kind, Bandwidth: o.bandwidth * 1e9}
}

func kindList() string {
	var b strings.Builder
	for _, k := range plot.Kinds() {
		fmt.Fprintf(&b, "  %-15s %s\n", k.Name, k.Summary)
	}
	return b.String()
}

// maxWidth bounds pictures: a PNG that is wider would take too much memory.
const maxWidth = 4000

// checkPictures finds what would make the drawing fail, before results are read.
func checkPictures(cmd *cobra.Command, picture plotOptions, width int, exports []string) error {
	if err := picture.check(); err != nil {
		return err
	}
	if width != 0 && (width < 360 || width > maxWidth) {
		return usagef("--width %d: want 360 to %d pixels", width, maxWidth)
	}
	for _, path := range exports {
		if f, err := report.FormatByPath(path); err != nil || f.Name != "svg" && f.Name != "png" {
			return usagef("--export %s: plot writes files that end with .svg or .png", path)
		}
	}
	if len(exports) == 0 && isTerminal(cmd.OutOrStdout()) {
		return usagef("plot: name a file, as --export picture.svg, or redirect standard output, which gets SVG")
	}
	return checkExports(exports)
}

func keepMethods(run *record.Run, list string) error {
	if namesAll(list) {
		return nil
	}
	var have, want []string
	for _, r := range run.Records {
		if !slices.Contains(have, r.Method) {
			have = append(have, r.Method)
		}
	}
	for _, name := range strings.Split(list, ",") {
		name = strings.TrimSpace(name)
		if !slices.Contains(have, name) {
			return usagef("--method: %s", suggest.Unknown("method of these results", name, have))
		}
		want = append(want, name)
	}
	run.Records = slices.DeleteFunc(run.Records, func(r record.Record) bool { return !slices.Contains(want, r.Method) })
	return nil
}

func writePictures(cmd *cobra.Command, run *record.Run, o plot.Options, exports []string) error {
	options := report.Options{Plot: o}
	ctx := cmd.Context()
	if len(exports) == 0 {
		return writeTo(ctx, os.Stdout.Name(), func() error {
			return outputError(report.SVG(cmd.OutOrStdout(), run, options))
		})
	}
	var first error
	for _, path := range exports {
		first = cmp.Or(first, writeTo(ctx, path, func() error { return report.Export(path, run, options) }))
	}
	return first
}
