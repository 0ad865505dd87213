package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"mpbench/pkg/record"
	"mpbench/pkg/report"
)

func newReport() *cobra.Command {
	var output outputOptions
	var page, filter, sort string
	var arrange arrangement
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Render saved results again, in any format",
		Long: "Reads result files (.jsonl or .json; - is standard input) and renders their records as " +
			"sum does.",
		Example: "  mpbench sum --export run.jsonl\n  mpbench report run.jsonl --format markdown\n  mpbench " +
			"report run.jsonl --html run.html\n  mpbench report run.jsonl --filter 'method=deferred,prec>100' --sort time " +
			"--columns method,cond,time\n  mpbench report scan.jsonl --pivot cond --columns bits,time\n  mpbench report " +
			"run.jsonl --samples --export samples.parquet",
		Args:              filesOfResults("report"),
		ValidArgsFunction: completeArguments(resultFiles),
		RunE: func(cmd *cobra.Command, args []string) error {
			if page != "" {
				if err := checkPage(page); err != nil {
					return err
				}
				output.export = append(output.export, page)
			}
			if err := cmp.Or(output.check(), arrange.check(cmd, &output)); err != nil {
				return err
			}
			all, err := readRuns(cmd.Context(), args)
			if err != nil {
				return err
			}
			if filter != "" {
				err = report.Filter(all, filter)
			}
			if sort != "" {
				err = cmp.Or(err, report.Sort(all, sort))
			}
			if err != nil {
				return err
			}
			write := output.write
			if arrange.on() {
				write = func(cmd *cobra.Command, run *record.Run) error { return arrange.write(cmd, &output, run) }
			}
			if err := write(cmd, all); err != nil {
				return err
			}
			return checkRecords(all.Records)
		},
	}
	cmd.Flags().StringVar(&filter, "filter", "", "only the records that meet all `conditions` of a list, as "+
		"method=deferred,prec>100,cond<1e20")
	cmd.Flags().StringVar(&sort, "sort", "", "sort by `fields`, as time or -bits (descending) or dataset,error")
	cmd.Flags().StringVar(&page, "html", "", "also write `file`, one page for a browser with sortable tables, pictures "+
		"and environment")
	completeFiles(cmd, "html", []string{".html"})
	arrange.addFlags(cmd)
	output.addFlags(cmd)
	for _, flag := range []string{"filter", "sort", "columns", "pivot"} {
		completeList(cmd, flag, report.FieldNames())
	}
	return cmd
}

// An arrangement is a choice of the fields that are shown, in place of the usual tables.
type arrangement struct{ columns, pivot string }

// pivotColumns are what a pivot shows if nothing else is asked for.
const pivotColumns = "error,time"

func (a *arrangement) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&a.columns, "columns", "", "one table with these `fields`, as method,cond,error,time")
	f.StringVar(&a.pivot, "pivot", "", "a line for each value of a `field`, as cond, a column for each method, and a "+
		"table for\neach of --columns (default "+pivotColumns+")")
}

func (a *arrangement) on() bool { return a.columns != "" || a.pivot != "" }

// check finds formats that are not made of rows and columns alone.
func (a *arrangement) check(cmd *cobra.Command, o *outputOptions) error {
	if !a.on() {
		return nil
	}
	flag := "columns"
	if a.pivot != "" {
		flag = "pivot"
	}
	names := mapped(report.DocumentFormats(), func(f report.DocumentFormat) string { return f.Name })
	if !slices.Contains(names, o.format) {
		return usagef("--%s goes with --format %s, not with %s", flag, strings.Join(names, ", "), o.format)
	}
	for _, path := range o.export {
		if f, err := report.FormatByPath(path); err == nil && !slices.Contains(names, f.Name) {
			return usagef("--%s goes with files of the formats %s, not with %s", flag, strings.Join(names, ", "), path)
		}
	}
	if a.pivot != "" && o.samples {
		return usagef("--pivot has one result in a cell: leave out --samples")
	}
	return nil
}

func (a *arrangement) write(cmd *cobra.Command, o *outputOptions, run *record.Run) error {
	out := cmd.OutOrStdout()
	opts := o.renderOptions(out)
	var d *report.Document
	var err error
	if a.pivot != "" {
		d, err = report.Pivot(run, a.pivot, cmp.Or(a.columns, pivotColumns), opts)
	} else {
		d, err = report.Select(run, a.columns, o.samples, opts)
	}
	if err != nil {
		return err
	}
	render := func(name string, opts report.Options) func(io.Writer) error {
		return func(w io.Writer) error {
			format, err := report.DocumentFormatByName(name)
			if err != nil {
				return err
			}
			return format.Render(w, d, opts)
		}
	}
	err = printTo(cmd, func() error { return render(o.format, opts)(out) })
	for _, path := range o.export {
		format, wrong := report.FormatByPath(path)
		err = cmp.Or(err, wrong, writeTo(cmd.Context(), path, func() error {
			return report.WriteFile(path, render(format.Name, o.fileOptions()))
		}))
	}
	return err
}

// filesOfResults refuses to do without any file.
func filesOfResults(command string) cobra.PositionalArgs {
	return arguments(1, math.MaxInt, command+": name a file of results, such as run.jsonl, or - for standard input")
}

// checkPage refuses a name that --export would take for another format.
func checkPage(path string) error {
	if f, err := report.FormatByPath(path); err != nil || f.Name != "html" {
		return usagef("--html %s: want a name that ends with .html", path)
	}
	return nil
}

func readRuns(ctx context.Context, paths []string) (*record.Run, error) {
	all := &record.Run{}
	for _, path := range paths {
		run, err := readRun(ctx, path)
		if err != nil {
			return nil, err
		}
		all.Environments = append(all.Environments, run.Environments...)
		all.Records = append(all.Records, run.Records...)
		all.Warnings = append(all.Warnings, run.Warnings...)
	}
	return all, nil
}

// readRun reads a file of results, or standard input.
func readRun(ctx context.Context, path string) (*record.Run, error) {
	return untilSignal(ctx, func() (*record.Run, error) { return readResults(path) })
}

func readResults(path string) (*record.Run, error) {
	in := os.Stdin
	if path != "-" {
		f, err := openFile(path, "a file of results (.jsonl or .json)")
		if err != nil {
			return nil, err
		}
		defer f.Close()
		in = f
	}
	run, err := record.ReadRecords(in)
	const wanted = "want the .jsonl or .json that --export writes"
	switch named := strings.HasPrefix(filepath.Ext(path), ".json"); {
	case err != nil && !named && path != "-":
		return nil, inputOutputf("%s: is no file of results; %s (%v)", path, wanted, err)
	case err != nil:
		return nil, inputOutputf("%s: %v", path, err)
	case len(run.Records) == 0:
		return nil, inputOutputf("%s: no records; %s", path, wanted)
	}
	return run, nil
}

// openFile opens what must not be a folder.
func openFile(path, wanted string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, inputOutputf("%s: %v", path, cause(err))
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		f.Close()
		return nil, inputOutputf("%s is a folder; want %s", path, wanted)
	}
	return f, nil
}

// cause is an error of the file system without the operation and the path, which the message has already.
func cause(err error) error {
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		return pathError.Err
	}
	return err
}
