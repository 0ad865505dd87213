package main

import (
	"github.com/spf13/cobra"

	"mpbench/pkg/record"
	"mpbench/pkg/report"
)

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
