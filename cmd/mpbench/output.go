package main

import (
	"io"
	"os"
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
	f.StringArrayVar(&o.export, "export", nil, "also write `file`, in the format of its ending:\n"+strings.Join(endings(), " ")+"; repeatable")
	f.StringVar(&o.color, "color", "auto", "colour in tables: auto, always or never (NO_COLOR is honoured)")
	o.plot.addFlags(f, "for pictures (see mpbench plot): ")
	o.plot.complete(cmd)
	complete(cmd, "format", formatNames())
	completeFiles(cmd, "export", endings())
	complete(cmd, "color", []string{"auto", "always", "never"})
}

func formatNames() []string {
	var names []string
	for _, f := range report.Formats() {
		names = append(names, f.Name)
	}
	return names
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
	if err := checkColor(o.color); err != nil {
		return err
	}
	if err := o.plot.check(); err != nil {
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

func checkColor(color string) error {
	switch color {
	case "auto", "always", "never":
		return nil
	}
	return usagef("--color %s: want auto, always or never", color)
}

// write renders a run on standard output and into the export files. A file that fails does not keep the others from being
// written; the first error is returned.
func (o *outputOptions) write(cmd *cobra.Command, run *record.Run) error {
	format, err := report.FormatByName(o.format)
	if err != nil {
		return err
	}
	out := cmd.OutOrStdout()
	if err := format.Render(out, run, o.renderOptions(out)); err != nil {
		if exitCode(err) != exitUsage {
			err = inputOutputf("cannot write to standard output: %v", err)
		}
		return firstError(err, o.exportAll(run))
	}
	return o.exportAll(run)
}

func (o *outputOptions) exportAll(run *record.Run) error {
	var first error
	for _, path := range o.export {
		if path == o.journal {
			continue
		}
		first = firstError(first, report.Export(path, run, report.Options{Plot: o.plot.options()}))
	}
	return first
}

func firstError(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// renderOptions fits the output to the terminal.
func (o *outputOptions) renderOptions(out io.Writer) report.Options {
	color := o.color == "always" || o.color == "auto" && isTerminal(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
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
	var names []string
	for _, format := range report.DocumentFormats() {
		names = append(names, format.Name)
	}
	f.StringVar(&o.format, "format", "table", "format on standard output: table, markdown, csv, json or jsonl")
	if exports {
		f.StringArrayVar(&o.export, "export", nil, "also write the measured records to `file`, in the format of its ending, as sum does; repeatable")
		completeFiles(cmd, "export", endings())
	}
	f.StringVar(&o.color, "color", "auto", "colour in tables: auto, always or never (NO_COLOR is honoured)")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on standard error")
	f.SortFlags = false
	complete(cmd, "format", names)
	complete(cmd, "color", []string{"auto", "always", "never"})
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
	if err = format.Render(out, d, o.renderOptions(out)); err != nil {
		err = inputOutputf("cannot write to standard output: %v", err)
	}
	return firstError(err, o.exportAll(run))
}
