package main

import (
	"errors"
	"io/fs"
	"math"
	"os"

	"github.com/spf13/cobra"

	"mpbench/pkg/record"
	"mpbench/pkg/report"
)

func newReport() *cobra.Command {
	var output outputOptions
	var page string
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Render saved results again, in any format",
		Long: "Reads result files (.jsonl or .json; - is standard input) and renders their records as " +
			"sum does.",
		Example: "  mpbench sum --export run.jsonl\n  mpbench report run.jsonl --format markdown\n  mpbench " +
			"report run.jsonl --html run.html",
		Args:              filesOfResults("report"),
		ValidArgsFunction: completeArguments(resultFiles),
		RunE: func(cmd *cobra.Command, args []string) error {
			if page != "" {
				if err := checkPage(page); err != nil {
					return err
				}
				output.export = append(output.export, page)
			}
			if err := output.check(); err != nil {
				return err
			}
			all, err := readRuns(args)
			if err != nil {
				return err
			}
			if err := output.write(cmd, all); err != nil {
				return err
			}
			return checkRecords(all.Records)
		},
	}
	cmd.Flags().StringVar(&page, "html", "", "also write `file`, one page for a browser with sortable tables, pictures "+
		"and environment")
	completeFiles(cmd, "html", []string{".html"})
	output.addFlags(cmd)
	return cmd
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

func readRuns(paths []string) (*record.Run, error) {
	all := &record.Run{}
	for _, path := range paths {
		run, err := readRun(path)
		if err != nil {
			return nil, err
		}
		all.Environments = append(all.Environments, run.Environments...)
		all.Records = append(all.Records, run.Records...)
		all.Warnings = append(all.Warnings, run.Warnings...)
	}
	return all, nil
}

func readRun(path string) (*record.Run, error) {
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
	if err != nil {
		return nil, inputOutputf("%s: %v", path, err)
	}
	if len(run.Records) == 0 {
		return nil, inputOutputf("%s: no records; want the .jsonl or .json that --export writes", path)
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
