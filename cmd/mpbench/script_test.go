package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"mpbench/internal/unprivileged"
)

// TestMain makes the test binary act as mpbench for the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"mpbench": func() { os.Exit(mainWithSignals()) },
		"mpbench-impatient": func() { // which saves what it has added whenever it can
			saveEvery = 0
			os.Exit(mainWithSignals())
		},
		"mpbench-panics": func() { // once the last argument, a file, has something
			go func() {
				for info, err := os.Stat(os.Args[len(os.Args)-1]); err != nil || info.Size() == 0; {
					time.Sleep(20 * time.Millisecond)
					info, err = os.Stat(os.Args[len(os.Args)-1])
				}
				panic("made by a test")
			}()
			os.Exit(mainWithSignals())
		},
	})
}

// TestScripts runs testdata/script. A script finds the exit code of its last command with the command code.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code":   scriptCode,
			"screen": scriptScreen,
			"npy":    scriptNPY,
			"lines":  scriptLines,
		},
		RequireExplicitExec: true,
	})
}

// scriptCode runs "code N program args...": the program must exit with N (or one of N|M), print at most one line on
// standard error and no stack trace.
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
	if !slices.Contains(strings.Split(args[0], "|"), strconv.Itoa(got)) {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
	stderr := ts.ReadFile("stderr")
	if strings.Contains(stderr, "goroutine ") || got != 0 && strings.Count(stderr, "mpbench: ") != 1 {
		ts.Fatalf("want one line on standard error, have %q", stderr)
	}
}

// screenLines and screenColumns are the screen that scriptScreen allows, tableLines what benchmarks may print.
const screenLines, screenColumns, tableLines = 24, 80, 40

// scriptScreen runs "screen N program args..." as scriptCode does; what it prints must fit a screen, but for the width
// of formats for programs.
func scriptScreen(ts *testscript.TestScript, neg bool, args []string) {
	scriptCode(ts, neg, args)
	text := ts.ReadFile("stdout")
	allowed := screenLines
	long := []string{"-m", "--bench", "advise", "info"}
	if slices.ContainsFunc(args, func(a string) bool { return slices.Contains(long, a) }) {
		allowed = tableLines
	}
	if n := strings.Count(text, "\n"); n > allowed {
		ts.Fatalf("%d lines, more than a screen", n)
	}
	for line := range strings.Lines(text) {
		n := utf8.RuneCountInString(strings.TrimRight(line, "\n"))
		if n > screenColumns && !slices.Contains(args, "--format") {
			ts.Fatalf("a line of %d columns: %s", n, line)
		}
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

// waitForRecords waits until a file has so many records.
func waitForRecords(t *testing.T, path string, n int) {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < time.Minute; time.Sleep(5 * time.Millisecond) {
		if run, err := readRun(t.Context(), path); err == nil && len(run.Records) >= n {
			return
		}
	}
	t.Fatalf("%s has not got %d records", path, n)
}

// TestInterrupt stops a run with a signal: what was measured is printed and exported, and the exit code is 130.
func TestInterrupt(t *testing.T) {
	for _, stop := range stops(t) {
		export := filepath.Join(t.TempDir(), "run.jsonl")
		cmd := exec.Command("mpbench", "sum", "--dataset", "uniform01:n=1000", "--method", "float64,reduce1,reduce2",
			"--runs", "5", "--min-time", "0", "-L", "seed=1..3000:+1", "--export", export)
		var stdout strings.Builder
		cmd.Stdout = &stdout
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		waitForRecords(t, export, 5)
		_ = cmd.Process.Signal(stop)
		checkInterrupted(t, cmd)
		printed, said := stdout.String(), stderr.String()
		if !strings.Contains(printed, "reduce1") || !strings.Contains(said, "mpbench: interrupted after") {
			t.Errorf("%v: stdout %.200q, stderr %.200q", stop, printed, said)
		}
		run, err := readRun(t.Context(), export)
		if err != nil || len(run.Records) < 5 {
			t.Errorf("%v: the export holds %v, %v", stop, run, err)
		}
	}
}

// stops lists the signals that end a run.
func stops(t *testing.T) []os.Signal {
	list := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if signal.Ignored(syscall.SIGHUP) {
		t.Log("a hangup is ignored, as under nohup, and so by the program: not tested")
		return list
	}
	return append(list, syscall.SIGHUP)
}

// checkInterrupted waits for a program that must end with exit code 130.
func checkInterrupted(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	err := cmd.Wait()
	var exit *exec.ExitError
	if !asExit(err, &exit) || exit.ExitCode() != exitInterrupted {
		t.Fatalf("%v: %v, want exit code 130", cmd.Args, err)
	}
}

// TestInterruptAtPipe: the first signal ends what waits for the other end of a pipe.
func TestInterruptAtPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.csv")
	if out, err := exec.Command("mkfifo", pipe).CombinedOutput(); err != nil {
		t.Skipf("no named pipes here: %v %s", err, out)
	}
	for _, args := range [][]string{{"report", pipe}, {"compare", pipe, pipe}, {"plot", pipe}, {"check", pipe}} {
		for _, stop := range stops(t) {
			cmd := exec.Command("mpbench", args...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			writer, err := os.OpenFile(pipe, os.O_WRONLY, 0) // waits until it is being read
			if err != nil {
				t.Fatal(err)
			}
			_ = cmd.Process.Signal(stop)
			checkInterrupted(t, cmd)
			_ = writer.Close()
		}
	}
	saved := filepath.Join(t.TempDir(), "run.jsonl")
	output(t, "sum", "-q", "-d", "mcnamee3", "-m", "float64", "--runs", "1", "--min-time", "0", "--export", saved)
	cmd := exec.Command("mpbench", "report", saved, "--export", pipe)
	table, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(table); lines.Scan(); {
		if strings.Contains(lines.Text(), runtime.Version()) { // its last line; then it waits for a reader of the pipe
			_ = cmd.Process.Signal(syscall.SIGINT)
		}
	}
	checkInterrupted(t, cmd)
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
