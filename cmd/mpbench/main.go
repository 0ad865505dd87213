// Command mpbench tells which summation method, at which precision, gives how many correct digits for how much time.
//
// See README.md, or mpbench help.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"mpbench/internal/suggest"
	"mpbench/pkg/comm"
	"mpbench/pkg/op"
	"mpbench/pkg/record"
	"mpbench/pkg/report"
)

// run executes the command line and returns the exit code. Results go to stdout, progress and an error's line to
// stderr.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := rootFor(args)
	out := &checkedOutput{Writer: stdout}
	root.SetOut(out)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if lost := out.failed.Load(); lost != nil && (err == nil || errors.Is(err, *lost)) {
		err = inputOutputf("cannot write to standard output: %v", cause(*lost))
	}
	if err != nil && !isSilent(err) {
		fmt.Fprintf(stderr, "mpbench: %s\n", oneLine(err))
	}
	return exitCode(err)
}

// checkedOutput keeps the first error of writing, which not every command hands on.
type checkedOutput struct {
	io.Writer
	failed atomic.Pointer[error]
}

func (c *checkedOutput) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	if err != nil {
		c.failed.CompareAndSwap(nil, &err)
	}
	return n, err
}

// oneLine returns an error's text without line breaks and without the name of the package it comes from.
func oneLine(err error) string {
	text := strings.Join(strings.Fields(err.Error()), " ")
	for _, name := range []string{"reduce: ", "gemv: ", "rns: ", "gpu: "} {
		text = strings.TrimPrefix(text, name)
	}
	return text
}

// rootFor is the root command with a command line.
func rootFor(args []string) *cobra.Command {
	completing.Store(len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd))
	root := newRoot()
	root.SetArgs(args)
	return root
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
		Version:           versionText(),
		RunE:              func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			return cmp.Or(checkRanks(cmd), checkEmpty(cmd.Flags()))
		},
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return flagError(cmd, err) })
	for _, o := range op.All() {
		root.AddCommand(newOperation(o))
	}
	root.AddCommand(newModuli(), newDatasets(), newMethods(), newInfo(), newReport(), newMan())
	root.AddCommand(newPartial(), newMerge(), newPlan())
	root.AddCommand(newReduce(), newScan(), newSolve())
	root.AddCommand(newPaper(), newSelftest(), newAdvise())
	root.AddCommand(newCheck(), newCompare())
	root.AddCommand(newPlot(), newVersion())
	root.SetHelpCommand(newHelp())
	root.SetVersionTemplate("{{.Version}}\n")
	return root
}

// unknownCommand refuses arguments of the root command, with the nearest command's name.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	names := mapped(cmd.Commands(), (*cobra.Command).Name)
	return usagef("%s; see mpbench help", suggest.Unknown("command", args[0], names))
}

// newHelp is help, of commands that there are.
func newHelp() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Help about any command",
		Long:  "Prints what a command does, its flags and examples; without a name, the list of commands.",
		RunE: func(cmd *cobra.Command, args []string) error {
			about, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return unknownCommand(cmp.Or(about, cmd.Root()), rest)
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			about, _, err := cmd.Root().Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return mapped(about.Commands(), (*cobra.Command).Name), cobra.ShellCompDirectiveNoFileComp
		},
	}
}

func newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Long:  "Prints the version of the module, the commit if it is known, and what the program was compiled by.",
		Args:  noArguments,

		Annotations: map[string]string{overRanks: "yes"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintln(cmd.OutOrStdout(), cmd.Root().Version)
			return err
		},
	}
}

// versionText describes the program in one line.
func versionText() string {
	program, compiler := record.CaptureProgram()
	text := program.Module + " " + cmp.Or(program.Version, "(devel)")
	if program.Commit != "" {
		text += ", commit " + program.Commit
		if program.Modified {
			text += " with changes"
		}
	}
	return fmt.Sprintf("%s, %s %s/%s", text, compiler.Version, compiler.OS, compiler.Arch)
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

// mainWithSignals runs the program; a first interrupt, hangup or termination request cancels it, a second one ends it.
// A hangup that is ignored, as under nohup, stays so. Launchers send several, and end what does not end soon. Of the
// ranks that one started the first one speaks for all.
func mainWithSignals() int {
	ends := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		ends = append(ends, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), ends...)
	defer stop()
	switch launch := comm.Launched(); {
	case launch.Launcher == "":
		context.AfterFunc(ctx, stop)
	case launch.Rank > 0:
		return run(ctx, os.Args[1:], io.Discard, io.Discard)
	}
	return run(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// untilSignal returns what f does, or the error of an interruption: what waits for the other end of a pipe cannot be
// cancelled, and is left behind.
func untilSignal[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := f()
		done <- result{value, err}
	}()
	select {
	case r := <-done:
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, &statusError{exitInterrupted, "interrupted"}
	}
}

// patience is how long a reader may take for what an interrupted program still writes. mpirun of Open MPI reads
// nothing between the signal to end and the end of all, a second later: what is not in files waits for it no longer.
func patience() time.Duration {
	if comm.Launched().Launcher != "" {
		return 100 * time.Millisecond
	}
	return 5 * time.Second
}

// writeTo calls write, which writes what is named; where that is no regular file, an interruption ends the waiting for
// a reader.
func writeTo(ctx context.Context, name string, write func() error) error {
	if !report.IsDirect(name) {
		return write()
	}
	if ctx.Err() != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), patience())
		defer cancel()
	}
	_, err := untilSignal(ctx, func() (struct{}, error) { return struct{}{}, write() })
	return err
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
			header := &doc.GenManHeader{Section: "1", Source: "mpbench", Manual: "mpbench manual"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return inputOutputf("cannot write the pages: %v", errors.Unwrap(err))
			}
			return nil
		},
	}
}
