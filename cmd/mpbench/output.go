package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mpbench/datasets"
	"mpbench/pkg/comm"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
)

// outputOptions are the flags of every command that prints records.
type outputOptions struct {
	format  string
	export  []string
	color   string
	verbose bool
	samples bool
	plot    plotOptions

	tables  *report.Tables // what has been printed already; nil for nothing
	journal string         // the file of export that has been written already
}

func (o *outputOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "table", "format on standard output: "+strings.Join(formatNames(), ", "))
	f.StringArrayVarP(&o.export, "export", "o", nil,
		"also write `file`, in the format of its ending:\n"+strings.Join(endings(), " ")+"; repeatable")
	addColor(cmd, &o.color, "colour in tables")
	f.BoolVar(&o.verbose, "verbose", false, "what is known of the noise of each time; whole answers into pipes, too")
	f.BoolVar(&o.samples, "samples", false, "csv and parquet: one row a sample")
	o.plot.addFlags(f, "for pictures (see mpbench plot): ")
	o.plot.complete(cmd)
	complete(cmd, "format", formatNames())
	completeFiles(cmd, "export", endings())
}

// whens are the values of flags such as --color.
var whens = []string{"auto", "always", "never"}

func addColor(cmd *cobra.Command, color *string, what string) {
	cmd.Flags().StringVar(color, "color", "auto", what+": auto, always or never (NO_COLOR is honoured)")
	complete(cmd, "color", whens)
}

func addQuiet(cmd *cobra.Command, quiet *bool) {
	cmd.Flags().BoolVarP(quiet, "quiet", "q", false, "no progress on standard error")
}

func checkChoice(flag, value string, choices []string) error {
	if slices.Contains(choices, value) {
		return nil
	}
	last := len(choices) - 1
	return usagef("--%s %s: want %s or %s", flag, value, strings.Join(choices[:last], ", "), choices[last])
}

// reporter returns what writes progress to standard error, nil for none.
func reporter(cmd *cobra.Command, quiet bool) func(what string) {
	if quiet {
		return nil
	}
	return func(what string) { fmt.Fprintln(cmd.ErrOrStderr(), what) }
}

// newProgress shows on standard error how far a run of cases has come.
func newProgress(cmd *cobra.Command, cases int, quiet bool) report.Progress {
	out := cmd.ErrOrStderr()
	return report.NewProgress(out, report.ProgressOptions{
		Cases: cases, Terminal: !quiet && isTerminal(out), Width: func() int { return columns(out) },
	})
}

func formatNames() []string {
	return mapped(report.Formats(), func(f report.Format) string { return f.Name })
}

// mapped returns f of each element.
func mapped[T, U any](list []T, f func(T) U) []U {
	results := make([]U, len(list))
	for i, x := range list {
		results[i] = f(x)
	}
	return results
}

// endings returns the endings of file names that stand for a format.
func endings() []string {
	var list []string
	for _, f := range report.Formats() {
		list = append(list, f.Endings...)
	}
	return list
}

// check finds what would make the output fail, before anything is measured.
func (o *outputOptions) check() error {
	format, err := report.FormatByName(o.format)
	if err != nil {
		return err
	}
	if format.Binary && isTerminal(os.Stdout) {
		return usagef("--format %s is not for a terminal; redirect standard output, or use --export FILE%s", o.format,
			format.Endings[0])
	}
	if err := cmp.Or(checkChoice("color", o.color, whens), o.plot.check()); err != nil {
		return err
	}
	if err := checkExports(o.export); err != nil {
		return err
	}
	for _, path := range o.export {
		if f, err := report.FormatByPath(path); err == nil {
			format.HasSamples = format.HasSamples || f.HasSamples
		}
	}
	if o.samples && !format.HasSamples {
		return usagef("--samples goes with --format csv or parquet, or --export FILE.csv or FILE.parquet")
	}
	return nil
}

// checkExports finds out whether files can be written, in formats that there are.
func checkExports(paths []string) error {
	for _, path := range paths {
		if _, err := report.FormatByPath(path); err != nil {
			return err
		}
		if err := report.CheckWritable(path); err != nil {
			return err
		}
	}
	return nil
}

// write renders a run on standard output and into the export files. A file that fails does not keep the others from
// being written; the first error is returned.
func (o *outputOptions) write(cmd *cobra.Command, run *record.Run) error {
	format, err := report.FormatByName(o.format)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	print := func() error { return format.Render(out, run, o.renderOptions(out)) }
	if o.tables != nil {
		print = func() error { return o.tables.Close(run) }
	}
	return cmp.Or(printTo(cmd, print), o.exportAll(cmd.Context(), run))
}

// writeTable prints the tables of a data set at once, where tables are what is printed.
func (o *outputOptions) writeTable(cmd *cobra.Command, run *record.Run) error {
	if o.format != "table" {
		return nil
	}
	if o.tables == nil {
		out := cmd.OutOrStdout()
		o.tables = report.NewTables(out, o.renderOptions(out))
	}
	return printTo(cmd, func() error { return o.tables.Add(run) })
}

// printTo calls what prints to standard output.
func printTo(cmd *cobra.Command, print func() error) error {
	return writeTo(cmd.Context(), os.Stdout.Name(), func() error { return outputError(print()) })
}

// outputError is an error of rendering to standard output; one that is about the options stays.
func outputError(err error) error {
	if err != nil && exitCode(err) != exitUsage {
		return inputOutputf("cannot write to standard output: %v", err)
	}
	return err
}

func (o *outputOptions) exportAll(ctx context.Context, run *record.Run) error {
	var first error
	for _, path := range o.export {
		if path != o.journal {
			export := func() error { return report.Export(path, run, o.fileOptions()) }
			first = cmp.Or(first, writeTo(ctx, path, export))
		}
	}
	return first
}

// fileOptions are those of export files.
func (o *outputOptions) fileOptions() report.Options {
	return report.Options{Samples: o.samples, Plot: o.plot.options()}
}

// renderOptions fits the output to the terminal.
func (o *outputOptions) renderOptions(out io.Writer) report.Options {
	color := o.color == "always" || o.color == "auto" && isTerminal(out) && os.Getenv("NO_COLOR") == "" &&
		os.Getenv("TERM") != "dumb"
	opts := o.fileOptions()
	opts.Width, opts.Color, opts.Verbose = columns(out), color, o.verbose
	return opts
}

// fileOf returns the file that a writer writes to, if it is one.
func fileOf(w io.Writer) (*os.File, bool) {
	if c, ok := w.(*checkedOutput); ok {
		w = c.Writer
	}
	f, ok := w.(*os.File)
	return f, ok
}

// isTerminal tells whether a writer writes to a user's terminal. Under a launcher nothing does: Open MPI gives ranks
// terminals of its own, wherever what they write goes then.
func isTerminal(w io.Writer) bool {
	f, ok := fileOf(w)
	return ok && comm.Launched().Launcher == "" && term.IsTerminal(int(f.Fd()))
}

// columns returns the width of the terminal behind w; elsewhere that of COLUMNS, or 80.
func columns(w io.Writer) int {
	if f, ok := fileOf(w); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
	}
	if width, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && width > 0 {
		return width
	}
	return 80
}

// documentOptions are the flags of commands that print a document and may export the records behind it.
type documentOptions struct {
	outputOptions
	quiet bool
}

// addFlags declares the flags; exports says that there are records to export.
func (o *documentOptions) addFlags(cmd *cobra.Command, exports bool) {
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "table", "format on standard output: table, markdown, csv, json or jsonl")
	if exports {
		f.StringArrayVarP(&o.export, "export", "o", nil,
			"also write the measured records to `file`, in the format of its ending, as sum does; repeatable")
		completeFiles(cmd, "export", endings())
	}
	addColor(cmd, &o.color, "colour in tables")
	addQuiet(cmd, &o.quiet)
	f.SortFlags = false
	complete(cmd, "format", mapped(report.DocumentFormats(), func(f report.DocumentFormat) string { return f.Name }))
}

// check finds what would make the output fail, before anything is measured.
func (o *documentOptions) check() error {
	if _, err := report.DocumentFormatByName(o.format); err != nil {
		return err
	}
	records := o.outputOptions
	records.format = "table"
	return records.check()
}

// print writes the document to standard output and the records into the export files.
func (o *documentOptions) print(cmd *cobra.Command, d *report.Document, run *record.Run) error {
	format, err := report.DocumentFormatByName(o.format)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	print := func() error { return outputError(format.Render(out, d, o.renderOptions(out))) }
	return cmp.Or(writeTo(cmd.Context(), os.Stdout.Name(), print), o.exportAll(cmd.Context(), run))
}

// completing tells whether a shell asks what a command line may go on with: cobra keeps every flag that is registered
// for that, with its command, until the process ends.
var completing atomic.Bool

func register(cmd *cobra.Command, flag string, f cobra.CompletionFunc) {
	if completing.Load() {
		_ = cmd.RegisterFlagCompletionFunc(flag, f)
	}
}

// complete makes the shell complete a flag from a list. A choice may have a description behind a tab.
func complete(cmd *cobra.Command, flag string, choices []string) {
	register(cmd, flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
}

// completeList does so for each item of a list with commas.
func completeList(cmd *cobra.Command, flag string, choices []string) {
	items := func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		list := prefixed(typed[:strings.LastIndex(typed, ",")+1], choices)
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	register(cmd, flag, items)
}

// completeSets completes a list of data sets: their names and, behind a colon, their parameters.
func completeSets(cmd *cobra.Command, flag string, families ...*datasets.Family) {
	choices := func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		var list []string
		for _, f := range families {
			list = append(list, prefixed(typed[:strings.LastIndexAny(typed, ",:")+1], f.Continue(typed))...)
		}
		slices.Sort(list)
		return slices.Compact(list), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	register(cmd, flag, choices)
}

func completeFiles(cmd *cobra.Command, flag string, endings []string) {
	_ = cmd.MarkFlagFilename(flag, withoutPoints(endings)...)
}

// Endings of the files that flags and arguments take.
var (
	numberFiles = datasets.Extensions()
	matrixFiles = []string{".npy", ".npz", ".mtx"}
	sparseFiles = []string{".mtx", ".npz"}
	vectorFiles = []string{".npy", ".txt"}
	resultFiles = []string{".jsonl", ".json"}
	planFiles   = []string{".yaml", ".yml", ".json"}
)

func completeArguments(endings []string) func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return withoutPoints(endings), cobra.ShellCompDirectiveFilterFileExt
	}
}

// withoutPoints returns endings of files as shells take them.
func withoutPoints(endings []string) []string {
	return mapped(endings, func(e string) string { return strings.TrimPrefix(e, ".") })
}
