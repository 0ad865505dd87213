package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"mpbench/pkg/device"
	"mpbench/pkg/method"
	"mpbench/pkg/op"
	"mpbench/pkg/report"
	"mpbench/pkg/rns"
	"mpbench/pkg/selftest"
)

func newSelftest() *cobra.Command {
	var output documentOptions
	device, choice := "all", selftestChoice{}
	cmd := &cobra.Command{
		Use:   "selftest [OPERATION...]",
		Short: "Test every method on every device of this machine against the exact reference, in half a minute",
		Long: `Computes sums, dot products and matrix-vector products of difficult data by every method on every
device and compares each result with its proved bound, with what a model of the algorithm in integer
arithmetic gives bit for bit, and with the exact result where nothing is rounded. Before that it compares the
processor's own arithmetic with the model: rounding mode, subnormal numbers, fused multiply-adds. Vector
code is tested with each set of instructions that the processor has, beside plain Go. Operations that are
named are tested alone. Methods that other commands run only where they are named are tested with --every.

With --for or --problems, random problems take the place of these data: numbers that cancel or lie far apart,
of any length, with any increments, factors, options and numbers of threads, each component against the exact
result and the proved bound, until the time is up or a result is wrong; the command that repeats it is printed.

A test that fails is named with the first wrong result, the cause if one is recognized, and what to do;
the exit code is 1.`,
		Example: `  mpbench selftest
  mpbench selftest sum dot
  mpbench selftest --for 10m --seed 1000
  mpbench selftest --device cuda:0 --format jsonl`,
		ValidArgs: operationNames(),
		RunE: func(cmd *cobra.Command, names []string) error {
			if err := output.check(); err != nil {
				return err
			}
			if err := choice.choose(cmd, names); err != nil {
				return err
			}
			devices, err := chooseDevices(device, nil)
			if err != nil {
				return err
			}
			choice.device = device
			return runSelftest(cmd, devices, choice, &output)
		},
	}
	cmd.Flags().StringVar(&device, "device", device, "devices, a list, or all that there are")
	output.addFlags(cmd, false)
	completeList(cmd, "device", []string{"all", "cpu", "cuda:0"})
	f := cmd.Flags()
	f.BoolVar(&choice.every, "every", false, "also methods that are run only where they are named")
	f.BoolVar(&choice.here, "this-path-only", false, "do not run the test again with narrower vector instructions")
	f.DurationVar(&choice.time, "for", 0, "test with random problems so long, as 10m")
	f.IntVar(&choice.problems, "problems", 0, "test with so many random problems")
	f.Uint64Var(&choice.seed, "seed", 1, "the seed of the first random problem; the next one has the next seed")
	return cmd
}

// selftestChoice says what is tested.
type selftestChoice struct {
	methods    method.Catalog
	operations []string // that are named
	device     string   // as it was asked for
	here       bool     // with the widest vector instructions only
	every      bool     // method

	time     time.Duration // of random problems
	problems int           // how many random problems
	seed     uint64
}

// random tells whether random problems are asked for.
func (c *selftestChoice) random() bool { return c.time > 0 || c.problems > 0 }

// choose sets the methods: of the operations that are named, or of all if none is.
func (c *selftestChoice) choose(cmd *cobra.Command, names []string) error {
	switch f := cmd.Flags(); {
	case c.time < 0:
		return usagef("--for %v: want a positive time, as 10m", c.time)
	case c.problems < 0:
		return usagef("--problems %d: want at least 1", c.problems)
	case f.Changed("seed") && !c.random():
		return usagef("--seed goes with --for or --problems")
	}
	for _, name := range names {
		if !slices.Contains(operationNames(), name) {
			return usagef("selftest: %q is no operation; known are %s", name, strings.Join(operationNames(), ", "))
		}
	}
	c.operations = names
	c.methods = slices.DeleteFunc(slices.Clone(catalog), func(m method.Method) bool {
		return m.Group != "" || m.Extra && !c.every || len(names) > 0 && !slices.Contains(names, m.Operation.Name)
	})
	return nil
}

func operationNames() []string {
	return mapped(catalog.Operations(), func(o *op.Operation) string { return o.Name })
}

func runSelftest(cmd *cobra.Command, devices []device.Set, c selftestChoice, output *documentOptions) error {
	start := time.Now()
	suite := selftest.All(c.methods, devices)
	var remarks []string
	if c.device == "all" {
		if _, noGPU := availableDevices(); noGPU != "" {
			remarks = append(remarks, "no GPU was tested: "+noGPU)
		}
	}
	if c.random() {
		rows, more := c.runRandom(cmd.Context(), suite)
		return finishSelftest(cmd, report.Selftest(rows, time.Since(start), append(remarks, more...)), rows, output)
	}
	suite.Progress = reporter(cmd, output.quiet)
	rows := suite.Run(cmd.Context())
	if !c.here && devices[0].Kind() == device.CPU {
		more, problems := narrowerPaths(cmd.Context(), c, suite.Progress)
		rows, remarks = append(rows, more...), append(remarks, problems...)
	}
	return finishSelftest(cmd, report.Selftest(rows, time.Since(start), remarks), rows, output)
}

// runRandom tests with random problems, and says how many and how to repeat the first that fails.
func (c *selftestChoice) runRandom(ctx context.Context, suite selftest.Suite) ([]selftest.Row, []string) {
	if c.time > 0 {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, c.time)
		defer stop()
	}
	rows, t := suite.Random(ctx, selftest.Problems{Seed: c.seed, Count: c.problems})
	remarks := []string{fmt.Sprintf(
		"%d random problems from seed %d on, %d components of results, half of them of %d terms or more",
		t.Problems, c.seed, t.Components, t.Terms,
	)}
	if t.Failed != nil {
		command := fmt.Sprintf("mpbench selftest %s --problems 1 --seed %d", t.Operation, *t.Failed)
		if c.device != "all" {
			command += " --device " + c.device
		}
		if c.every {
			command += " --every"
		}
		remarks = append(remarks, "repeat the first failure with: "+command)
	}
	return rows, remarks
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
func narrowerPaths(
	ctx context.Context, c selftestChoice, progress func(string),
) (rows []selftest.Row, problems []string) {
	settings := narrower()
	for _, path := range []string{"avx2", "none"} {
		setting, ok := settings[path]
		if !ok || ctx.Err() != nil {
			continue
		}
		if progress != nil {
			progress("everything on the CPU with " + strings.Replace(path, "none", "plain Go", 1))
		}
		more, err := selftestWith(ctx, c, setting)
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
func selftestWith(ctx context.Context, c selftestChoice, setting string) ([]selftest.Row, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, program)
	cmd.Args = []string{"mpbench", "selftest", "--this-path-only", "--device", "cpu", "--quiet", "--format", "jsonl"}
	if c.every {
		cmd.Args = append(cmd.Args, "--every")
	}
	cmd.Args = append(cmd.Args, c.operations...)
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
