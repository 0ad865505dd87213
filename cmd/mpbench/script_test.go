package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"mpbench/internal/unprivileged"
)

// TestMain makes the test binary act as mpbench for the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mpbench": func() { os.Exit(mainWithSignals()) },
	})
}

// TestScripts runs testdata/script. A script finds the exit code of its last command with the command code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code":  scriptCode,
			"npy":   scriptNPY,
			"lines": scriptLines,
		},
		RequireExplicitExec: true,
	})
}

// scriptCode runs "code N program args...": the program must exit with N, print at most one line on standard error and
// no stack trace.
func scriptCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args...")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if exit := (*exec.ExitError)(nil); err != nil {
		if !asExit(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if want, _ := strconv.Atoi(args[0]); got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	stderr := ts.ReadFile("stderr")
	if strings.Contains(stderr, "goroutine ") || got != 0 && strings.Count(stderr, "mpbench: ") != 1 {
		ts.Fatalf("want one line on standard error, have %q", stderr)
	}
}

func asExit(err error, exit **exec.ExitError) bool {
	e, ok := err.(*exec.ExitError)
	*exit = e
	return ok
}

// scriptNPY writes "npy file dtype claimed value...": a file whose header claims so many numbers of a type.
func scriptNPY(ts *testscript.TestScript, _ bool, args []string) {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s,), }", args[1], args[2])
	header += strings.Repeat(" ", 63-(10+len(header))%64) + "\n"
	data := append([]byte("\x93NUMPY\x01\x00"), byte(len(header)), byte(len(header)>>8))
	data = append(data, header...)
	for _, text := range args[3:] {
		x, err := strconv.ParseFloat(text, 64)
		ts.Check(err)
		switch args[1] {
		case "<f8":
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(x))
		case ">f8":
			data = binary.BigEndian.AppendUint64(data, math.Float64bits(x))
		case "<f4":
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(x)))
		case ">f4":
			data = binary.BigEndian.AppendUint32(data, math.Float32bits(float32(x)))
		}
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}

// scriptLines runs "lines N file": the file (or stdout) has N lines.
func scriptLines(ts *testscript.TestScript, _ bool, args []string) {
	if got := strconv.Itoa(strings.Count(ts.ReadFile(args[1]), "\n")); got != args[0] {
		ts.Fatalf("%s has %s lines, want %s", args[1], got, args[0])
	}
}

// TestReadOnlyFolder: an export into a folder that may not be written to fails before anything is measured and leaves
// nothing behind.
func TestReadOnlyFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "locked")
	if err := os.Mkdir(folder, 0o555); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(folder, "run.jsonl")
	var stdout, stderr strings.Builder
	code := 0
	unprivileged.Run(t, func() { code = run(context.Background(), []string{"sum", "--export", path}, &stdout, &stderr) })
	if want := "mpbench: cannot write " + path + ": permission denied\n"; code != exitInputOutput ||
		stderr.String() != want || stdout.Len() != 0 {
		t.Errorf("code %d, stderr %q, want %q", code, stderr.String(), want)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 0 {
		t.Errorf("the folder holds %v, %v", entries, err)
	}
}

// TestInterrupt stops a run with an interrupt: what was measured is printed and exported, and the exit code is 130.
func TestInterrupt(t *testing.T) {
	dir := t.TempDir()
	export := filepath.Join(dir, "run.jsonl")
	program := filepath.Join(dir, "mpbench")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	cmd := exec.Command(program, "sum", "--dataset", "uniform01:n=1000", "--method", "float64,reduce1,reduce2",
		"--runs", "5", "--min-time", "0", "-L", "seed=1..3000:+1", "--export", export)
	var stdout strings.Builder
	cmd.Stdout = &stdout
	progress, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stderr := ""
	for lines := bufio.NewScanner(progress); lines.Scan(); {
		stderr += lines.Text() + "\n"
		if strings.HasPrefix(lines.Text(), "[5/") {
			_ = cmd.Process.Signal(syscall.SIGINT)
		}
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if !asExit(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Fatalf("%v, want exit code 130; %s", err, stderr)
	}
	if !strings.Contains(stdout.String(), "reduce1") || !strings.Contains(stderr, "mpbench: interrupted after") {
		t.Errorf("stdout %.200q, stderr %.200q", stdout.String(), stderr)
	}
	run, err := readRun(export)
	if err != nil || len(run.Records) < 5 {
		t.Errorf("the export holds %v, %v", run, err)
	}
}

// TestCancelled covers the same path in one process: a context that is cancelled from the start measures nothing.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var stdout, stderr strings.Builder
	if code := run(ctx, []string{"sum", "-q"}, &stdout, &stderr); code != exitInterrupted || stdout.Len() != 0 {
		t.Errorf("code %d, stdout %q, stderr %q", code, stdout.String(), stderr.String())
	}
}
