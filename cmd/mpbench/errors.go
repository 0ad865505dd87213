package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpbench/datasets"
	"mpbench/internal/suggest"
	"mpbench/pkg/check"
	"mpbench/pkg/comm"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/plot"
	"mpbench/pkg/ranks"
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
		beyond *method.RangeError
		wrong  *op.Error
		moduli *deferred.TooManyModuliError
		line   *record.LineError
		plan   *check.Error
		kind   *plot.UnknownKindError
		empty  *plot.NoDataError
		times  *plot.TimesError
		filter *report.FilterError
		rank   *ranks.Error
		lost   *ranks.LostError
	)
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &rank):
		return rank.Code
	case errors.As(err, &lost) && errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &memory) && memory.Device != "", errors.Is(err, method.ErrUnavailable), lost != nil,
		errors.Is(err, comm.ErrUnavailable):
		return exitUnavailable
	case errors.As(err, &status):
		return status.code
	case errors.As(err, &kind), errors.As(err, &empty), errors.As(err, &times),
		errors.As(err, &filter): // before export, which wraps them
		return exitUsage
	case errors.Is(err, datasets.ErrInput), errors.As(err, &export), errors.As(err, &line):
		return exitInputOutput
	case errors.Is(err, datasets.ErrUsage), errors.Is(err, rns.ErrModuli), errors.As(err, &choice),
		errors.As(err, &beyond),
		errors.As(err, &wrong),
		errors.As(err, &format), errors.As(err, &memory), errors.As(err, &moduli), errors.As(err, &plan):
		return exitUsage
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	return exitInputOutput
}

// flagError turns pflag's errors into one clear line, with the nearest flag's name for one that is unknown.
func flagError(cmd *cobra.Command, err error) error {
	if args := cmd.Flags().Args(); !cmd.HasParent() && len(args) > 0 { // flags of a command that there is not
		return unknownCommand(cmd, args)
	}
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
		var status *statusError
		if errors.As(err, &status) {
			return usagef("--%s: %s", f.Name, status.text)
		}
		return usagef("--%s %s: want %s", f.Name, invalid.GetValue(), wanted(f.Value.Type()))
	}
	return usagef("%v; see %s --help", err, cmd.CommandPath())
}

// checkEmpty refuses a flag that was given an empty text, which is never what was meant.
func checkEmpty(flags *pflag.FlagSet) (err error) {
	flags.Visit(func(f *pflag.Flag) {
		texts := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			texts = list.GetSlice()
		}
		if slices.Contains(texts, "") && err == nil {
			err = usagef("--%s is empty: want %s", f.Name, wanted(f.Value.Type()))
		}
	})
	return err
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
	case "string", "stringArray":
		return "a text"
	}
	return "a " + kind
}

func prefixed(prefix string, names []string) []string {
	return mapped(names, func(name string) string { return prefix + name })
}
