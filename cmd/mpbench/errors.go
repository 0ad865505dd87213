package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/internal/suggest"
	"mpbench/pkg/check"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/plot"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
	"mpbench/pkg/rns"
	"mpbench/pkg/rns/deferred"
)

// The exit codes.
const (
	exitOK          = 0
	exitCheckFailed = 1
	exitUsage       = 2
	exitUnavailable = 3
	exitInputOutput = 4
	exitInterrupted = 130
)

// statusError ends the program with a code. An empty text prints nothing: what there is to say has been said.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return e.text }

func usagef(format string, args ...any) error {
	return &statusError{exitUsage, fmt.Sprintf(format, args...)}
}

func inputOutputf(format string, args ...any) error {
	return &statusError{exitInputOutput, fmt.Sprintf(format, args...)}
}

func failedf(format string, args ...any) error {
	return &statusError{exitCheckFailed, fmt.Sprintf(format, args...)}
}

func isSilent(err error) bool {
	var status *statusError
	return errors.As(err, &status) && status.text == ""
}

// exitCode maps an error of any package to the program's exit code.
func exitCode(err error) int {
	var (
		status *statusError
		format *report.UnknownFormatError
		export *report.ExportError
		memory *method.MemoryError
		choice *method.Error
		wrong  *op.Error
		moduli *deferred.TooManyModuliError
		line   *record.LineError
		plan   *check.Error
		kind   *plot.UnknownKindError
		empty  *plot.NoDataError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &memory) && memory.Device != "", errors.Is(err, method.ErrUnavailable):
		return exitUnavailable
	case errors.As(err, &status):
		return status.code
	case errors.As(err, &kind), errors.As(err, &empty): // before export, which wraps them
		return exitUsage
	case errors.Is(err, datasets.ErrInput), errors.As(err, &export), errors.As(err, &line):
		return exitInputOutput
	case errors.Is(err, datasets.ErrUsage), errors.Is(err, rns.ErrModuli), errors.As(err, &choice),
		errors.As(err, &wrong),
		errors.As(err, &format), errors.As(err, &memory), errors.As(err, &moduli), errors.As(err, &plan):
		return exitUsage
	}
	return exitInputOutput
}

// flagError turns pflag's errors into one clear line, with the nearest flag's name for one that is unknown.
func flagError(cmd *cobra.Command, err error) error {
	var missing *pflag.NotExistError
	if errors.As(err, &missing) {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		if name := missing.GetSpecifiedName(); len(name) > 1 {
			return usagef("%s; see %s --help", suggest.Unknown("flag", "--"+name, prefixed("--", names)), cmd.CommandPath())
		}
	}
	var invalid *pflag.InvalidValueError
	if errors.As(err, &invalid) {
		f := invalid.GetFlag()
		return usagef("--%s %s: want %s", f.Name, invalid.GetValue(), wanted(f.Value.Type()))
	}
	return usagef("%v; see %s --help", err, cmd.CommandPath())
}

// wanted says in words what a flag of a type takes.
func wanted(kind string) string {
	switch kind {
	case "uint32", "uint64":
		return "a whole number of at least 0"
	case "int":
		return "a whole number"
	case "float64":
		return "a number"
	case "duration":
		return "a duration, as 500ms or 2s"
	case "bool":
		return "true or false"
	}
	return "a " + kind
}

func prefixed(prefix string, names []string) []string {
	return mapped(names, func(name string) string { return prefix + name })
}
