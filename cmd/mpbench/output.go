package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"mpbench/pkg/record"
	"mpbench/pkg/report"
)

// outputOptions are the flags of every command that prints records.
type outputOptions struct {
	format string
	export []string
	color  string
	plot   plotOptions

	journal string // the file of export that has been written already
}

func (o *outputOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.format, "format", "table", "format on standard output: "+strings.Join(formatNames(), ", "))
	f.StringArrayVar(&o.export, "export", nil,
		"also write `file`, in the format of its ending:\n"+strings.Join(endings(), " ")+"; repeatable")
	addColor(cmd, &o.color, "colour in tables")
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
		Cases: cases, Quiet: quiet, Terminal: isTerminal(out), Width: func() int { return columns(out) },
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
	if _, err := report.FormatByName(o.format); err != nil {
		return err
	}
	if o.format == "png" && isTerminal(os.Stdout) {
		return usagef("--format png is not for a terminal; redirect standard output, or use --export FILE.png")
	}
	if err := cmp.Or(checkChoice("color", o.color, whens), o.plot.check()); err != nil {
		return err
	}
	return checkExports(o.export)
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
	return cmp.Or(outputError(format.Render(out, run, o.renderOptions(out))), o.exportAll(run))
}

// outputError is an error of rendering to standard output; one that is about the options stays.
func outputError(err error) error {
	if err != nil && exitCode(err) != exitUsage {
		return inputOutputf("cannot write to standard output: %v", err)
	}
	return err
}

func (o *outputOptions) exportAll(run *record.Run) error {
	var first error
	for _, path := range o.export {
		if path != o.journal {
			first = cmp.Or(first, report.Export(path, run, report.Options{Plot: o.plot.options()}))
		}
	}
	return first
}

// renderOptions fits the output to the terminal.
func (o *outputOptions) renderOptions(out io.Writer) report.Options {
	color := o.color == "always" || o.color == "auto" && isTerminal(out) && os.Getenv("NO_COLOR") == "" &&
		os.Getenv("TERM") != "dumb"
	return report.Options{Width: columns(out), Color: color, Plot: o.plot.options()}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// columns returns the width of the terminal behind w; elsewhere that of COLUMNS, or 80.
func columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
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
		f.StringArrayVar(&o.export, "export", nil,
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
	return cmp.Or(outputError(format.Render(out, d, o.renderOptions(out))), o.exportAll(run))
}

// complete makes the shell complete a flag from a list. A choice may have a description behind a tab.
func complete(cmd *cobra.Command, flag string, choices []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(choices, cobra.ShellCompDirectiveNoFileComp))
}

// completeList does so for each item of a list with commas.
func completeList(cmd *cobra.Command, flag string, choices []string) {
	items := func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		list := prefixed(typed[:strings.LastIndex(typed, ",")+1], choices)
		return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	_ = cmd.RegisterFlagCompletionFunc(flag, items)
}

func completeFiles(cmd *cobra.Command, flag string, endings []string) {
	_ = cmd.MarkFlagFilename(flag, withoutPoints(endings)...)
}

// Endings of the files that flags and arguments take.
var (
	numberFiles = []string{".npy", ".txt", ".csv"}
	matrixFiles = []string{".npy"}
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
