// Command mpbench tells which summation method, at which precision, gives how many correct digits for how much time.
//
// See README.md, or mpbench help.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"mpbench/internal/suggest"
	"mpbench/pkg/op"
)

// run executes the command line and returns the exit code. Results go to stdout, progress and an error's line to
// stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err != nil && !isSilent(err) {
		fmt.Fprintf(stderr, "mpbench: %s\n", oneLine(err))
	}
	return exitCode(err)
}

// oneLine returns an error's text without line breaks and without the name of the package it comes from.
func oneLine(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	for _, name := range []string{"reduce: ", "gemv: ", "rns: ", "gpu: "} {
		text = strings.TrimPrefix(text, name)
	}
	return text
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "mpbench",
		Short: "Which method, at which precision, gives how many correct digits for how much time",
		Long: `mpbench sums numbers by many methods, compares each result with the exact sum and with the
method's proved error bound, and times it.

Exit codes: 0 all right; 1 a result is outside its bound; 2 usage; 3 a device or library is
not available; 4 input or output failed; 130 interrupted (what was measured is printed).`,
		Example: "  mpbench sum --precision 240\n  mpbench sum --input data.npy --method float64,kahan,reduce2 " +
			"--precision 120",
		SilenceUsage:      true,
		SilenceErrors:     true,
		Args:              unknownCommand,
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, err) })
	for _, o := range op.All() {
		root.AddCommand(newOperation(o))
	}
	root.AddCommand(newModuli(), newDatasets(), newMethods(), newInfo(), newReport(), newMan())
	root.AddCommand(newPaper(), newSelftest(), newAdvise())
	root.AddCommand(newCheck(), newCompare())
	root.AddCommand(newPlot())
	return root
}

// unknownCommand refuses arguments of the root command, with the nearest command's name.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := mapped(cmd.Commands(), (*cobra.Command).Name)
	return usagef("%s; see mpbench help", suggest.Unknown("command", args[0], append(names, "help", "completion")))
}

// arguments refuses less or more arguments than a command takes, with a message that says what it wants.
func arguments(least, most int, message string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < least || len(args) > most {
			return usagef("%s", message)
		}
		return nil
	}
}

// atMostOne refuses a second argument.
func atMostOne(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) > 1 {
			return usagef("%s takes one %s: %q", cmd.Name(), what, args[1])
		}
		return nil
	}
}

// noArguments refuses arguments of a command that takes flags only.
func noArguments(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usagef("%s takes no argument, only flags: %q", cmd.CommandPath(), args[0])
	}
	return nil
}

func main() {
	os.Exit(mainWithSignals())
}

// mainWithSignals runs the program; a first interrupt or termination request cancels it, a second one ends it.
func mainWithSignals() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

func newMan() *cobra.Command {
	return &cobra.Command{
		Use:   "man FOLDER",
		Short: "Write the manual pages into a folder",
		Long: "Writes a manual page for every command into a folder, which is made if need be: mpbench.1, " +
			"mpbench-sum.1, ...",
		Args: arguments(1, 1, "man: name one folder for the pages"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o777); err != nil {
				return inputOutputf("cannot make the folder %s: %v", args[0], cause(err))
			}
			root := cmd.Root()
			root.DisableAutoGenTag = true
			header := &doc.GenManHeader{Title: "MPBENCH", Section: "1", Source: "mpbench", Manual: "mpbench manual"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return inputOutputf("cannot write the pages: %v", errors.Unwrap(err))
			}
			return nil
		},
	}
}
