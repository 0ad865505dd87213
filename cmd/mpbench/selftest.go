package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpbench/pkg/device"
	"mpbench/pkg/report"
	"mpbench/pkg/rns"
	"mpbench/pkg/selftest"
)

func newSelftest() *cobra.Command {
	var output documentOptions
	device, here := "all", false
	cmd := &cobra.Command{
		Use:   "selftest",
		Short: "Test every method on every device of this machine against the exact reference, in seconds",
		Long: `Computes sums, dot products and matrix-vector products of difficult data by every method on every
device and compares each result with its proved bound, with what a model of the algorithm in integer
arithmetic gives bit for bit, and with the exact result where nothing is rounded. Before that it compares the
processor's own arithmetic with the model: rounding mode, subnormal numbers, fused multiply-adds. Vector
code is tested with each set of instructions that the processor has, beside plain Go.

A test that fails is named with the first wrong result, the cause if one is recognized, and what to do;
the exit code is 1.`,
		Example: `  mpbench selftest
  mpbench selftest --device cuda:0 --format jsonl`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := output.check(); err != nil {
				return err
			}
			devices, err := chooseDevices(device)
			if err != nil {
				return err
			}
			return runSelftest(cmd, devices, here, device == "all", &output)
		},
	}
	cmd.Flags().StringVar(&device, "device", device, "devices, a list, or all that there are")
	output.addFlags(cmd, false)
	completeList(cmd, "device", []string{"all", "cpu", "cuda:0"})
	cmd.Flags().BoolVar(&here, "this-path-only", false, "do not run the test again with narrower vector instructions")
	return cmd
}

func runSelftest(cmd *cobra.Command, devices []device.Set, here, all bool, output *documentOptions) error {
	start := time.Now()
	suite := selftest.All(catalog, devices)
	suite.Progress = reporter(cmd, output.quiet)
	rows := suite.Run(cmd.Context())
	var remarks []string
	if all {
		if _, noGPU := availableDevices(); noGPU != "" {
			remarks = append(remarks, "no GPU was tested: "+noGPU)
		}
	}
	if !here && devices[0].Kind() == device.CPU {
		more, problems := narrowerPaths(cmd.Context(), suite.Progress)
		rows, remarks = append(rows, more...), append(remarks, problems...)
	}
	return finishSelftest(cmd, report.Selftest(rows, time.Since(start), remarks), rows, output)
}

// finishSelftest prints the result; a failure is an error that names what failed.
func finishSelftest(cmd *cobra.Command, d *report.Document, rows []selftest.Row, output *documentOptions) error {
	env := captureEnvironment()
	d.Environment = &env
	if err := output.print(cmd, d, nil); err != nil {
		return err
	}
	if cmd.Context().Err() != nil {
		return &statusError{exitInterrupted, "interrupted; what was tested until then is above"}
	}
	var names []string
	for _, r := range rows {
		if !r.Pass() {
			names = append(names, report.SelftestName(r))
		}
	}
	if len(names) > 0 {
		return failedf("%d of %d tests failed: %s", len(names), len(rows), strings.Join(names, "; "))
	}
	return nil
}

// narrower lists the settings of GODEBUG that leave less than the vector instructions in use.
func narrower() map[string]string {
	const avx2, none = "cpu.avx512f=off", "cpu.avx512f=off,cpu.avx2=off"
	switch rns.SIMD() {
	case "avx512":
		return map[string]string{"avx2": avx2, "none": none}
	case "avx2":
		return map[string]string{"none": none}
	}
	return nil
}

// narrowerPaths runs this program's self-test again, as processes of its own, since the choice of vector instructions
// is made when a program starts. problems are about processes that could not be started.
func narrowerPaths(ctx context.Context, progress func(string)) (rows []selftest.Row, problems []string) {
	settings := narrower()
	for _, path := range []string{"avx2", "none"} {
		setting, ok := settings[path]
		if !ok || ctx.Err() != nil {
			continue
		}
		if progress != nil {
			progress("everything on the CPU with " + strings.Replace(path, "none", "plain Go", 1))
		}
		more, err := selftestWith(ctx, setting)
		var exit *exec.ExitError
		switch {
		case ctx.Err() != nil:
		case err == nil:
			rows = append(rows, more...)
		case errors.As(err, &exit):
			rows = append(rows, selftest.Row{
				Operation: "process", Method: "selftest", Device: "cpu", Path: path, Checks: 1, Failed: 1,
				Failure: fmt.Sprintf("the self-test with GODEBUG=%s ended with %v", setting, err),
				Advice:  "Run it by hand with this setting.",
			})
		default:
			problems = append(problems, fmt.Sprintf("%s was not tested: %v", path, err))
		}
	}
	return rows, problems
}

// selftestWith runs the self-test of the CPU under a setting of GODEBUG.
func selftestWith(ctx context.Context, setting string) ([]selftest.Row, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Args = []string{"mpbench", "selftest", "--this-path-only", "--device", "cpu", "--quiet", "--format", "jsonl"}
	if before := os.Getenv("GODEBUG"); before != "" {
		setting = before + "," + setting
	}
	cmd.Env = append(os.Environ(), "GODEBUG="+setting)
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == exitCheckFailed && len(out) > 0 {
		err = nil // the rows say what failed
	}
	if err != nil {
		return nil, err
	}
	var rows []selftest.Row
	for line := range bytes.Lines(out) {
		var row report.SelftestRow
		if err := json.Unmarshal(line, &row); err != nil {
			return nil, fmt.Errorf("its output is not as expected: %w", err)
		}
		rows = append(rows, row.Row())
	}
	return rows, nil
}
