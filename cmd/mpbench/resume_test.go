package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"mpbench/pkg/record"
)

// longRun are the arguments of a run of many short cases of all three commands' kinds of data.
func longRun(command, export string) []string {
	args := map[string][]string{
		"sum":  {"--dataset", "uniform11:n=200", "--method", "float64,kahan,reduce2,deferred", "-L", "seed=1..40:+1"},
		"dot":  {"--dataset", "gendot:n=100", "--method", "float64,dot2,deferred", "-L", "cond=1e1..1e30:x10"},
		"gemv": {"--n", "6", "--method", "float64,rns-basic,deferred", "-L", "seed=1..30:+1"},
	}[command]
	return append(append([]string{command}, args...), "--runs", "2", "--warmup", "0", "--min-time", "0", "--export",
		export)
}

// results are what must not depend on interruptions: everything but times, warnings about them and the environment.
func results(records []record.Record) []record.Record {
	var list []record.Record
	for _, r := range records {
		r.Time, r.Phases, r.StopRule, r.Throughput, r.Warnings, r.EnvID = record.Timing{}, nil, "", record.Throughput{}, nil,
			""
		list = append(list, r)
	}
	return list
}

func sameResults(t *testing.T, got, want []record.Record) {
	t.Helper()
	a, b := results(got), results(want)
	if len(a) != len(b) {
		t.Fatalf("%d records, want %d", len(a), len(b))
	}
	for i := range a {
		x, _ := a[i].MarshalJSON()
		y, _ := b[i].MarshalJSON()
		if string(x) != string(y) {
			t.Errorf("record %d: %s\nwant %s", i, x, y)
		}
	}
}

// mpbench runs the program in this process.
func mpbench(t testing.TB, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	var out, err strings.Builder
	code = run(context.Background(), args, &out, &err)
	return out.String(), err.String(), code
}

// fullTests is set for the long version of tests: MPBENCH_FULL_TESTS=1.
func fullTests() bool { return os.Getenv("MPBENCH_FULL_TESTS") != "" }

// TestKills kills runs at random moments, 200 times in the long version. No case is lost that was reported as
// finished, the file can be read every time, and the run that is resumed to its end has the same results as one that
// was never killed.
func TestKills(t *testing.T) {
	kills := 12
	switch {
	case fullTests():
		kills = 200
	case testing.Short():
		kills = 6
	}
	folder := t.TempDir()
	random := rand.New(rand.NewPCG(7, uint64(time.Now().UnixNano())))
	completed := 0
	for _, command := range []string{"sum", "dot", "gemv"} {
		want := filepath.Join(folder, command+".jsonl")
		if _, stderr, code := mpbench(t, append(longRun(command, want), "-q")...); code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		whole, err := readRun(t.Context(), want)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, command+"-killed.jsonl")
		for range (kills + 2) / 3 {
			killOnce(t, command, path, time.Duration(random.IntN(250))*time.Millisecond)
			if run, err := readRun(t.Context(), path); err == nil && len(run.Records) == len(whole.Records) {
				sameResults(t, run.Records, whole.Records)
				completed++
				_ = os.Remove(path)
			}
		}
		stdout, stderr, code := mpbench(t, append(longRun(command, path), "--resume", "--format", "jsonl")...)
		if code != 0 {
			t.Fatalf("exit code %d: %s", code, stderr)
		}
		run, err := readRun(t.Context(), path)
		if err != nil || run.Partial != nil {
			t.Fatalf("%v, %v", err, run)
		}
		sameResults(t, run.Records, whole.Records)
		if lines := strings.Count(stdout, `"schema":"mpbench/1"`); lines != len(whole.Records) {
			t.Errorf("%d records on standard output, want %d", lines, len(whole.Records))
		}
	}
	t.Logf("%d kills; %d runs were finished before theirs", (kills+2)/3*3, completed)
	if list, _ := filepath.Glob(filepath.Join(folder, ".*.tmp")); len(list) > kills {
		t.Errorf("temporary files: %v", list)
	}
}

// killOnce resumes a run and kills it after a while. What was in the file then must be there afterwards.
func killOnce(t *testing.T, command, path string, after time.Duration) {
	t.Helper()
	cmd := exec.Command("mpbench", append(longRun(command, path), "--resume", "--format", "jsonl")...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(after)
	finished := 0
	if run, err := readRun(t.Context(), path); err == nil {
		finished = len(run.Records)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // killed, or just finished
	run, err := readRun(t.Context(), path)
	if err != nil {
		if finished == 0 {
			return // killed before the first case
		}
		t.Fatal(err)
	}
	if n := len(run.Records); n < finished {
		t.Errorf("%d cases were finished, %d are in the file", finished, n)
	}
}

// TestFullDisk lets runs meet a file that cannot grow any more, and a small file system that is full: one clear error,
// exit code 4, and every earlier case in the file; with more room the run is resumed.
func TestFullDisk(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("limits file sizes as Linux does")
	}
	folder := t.TempDir()
	want := filepath.Join(folder, "whole.jsonl")
	if _, stderr, code := mpbench(t, append(longRun("sum", want), "-q")...); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	whole, err := readRun(t.Context(), want)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("limit", func(t *testing.T) {
		path := filepath.Join(folder, "limited.jsonl")
		for kib := 8; kib <= 40; kib += 16 { // dash counts in 512 bytes, bash in KiB
			out, err := exec.Command("sh", append([]string{"-c", "ulimit -f " + strconv.Itoa(kib) + `; exec mpbench "$@"`,
				"sh"},
				append(longRun("sum", path), "--resume", "--format", "csv")...)...).CombinedOutput()
			full(t, path, "file too large", string(out), err)
		}
		_, _, code := mpbench(t, append(longRun("sum", path), "--resume", "-q")...)
		finish(t, path, code, whole)
	})
	t.Run("tmpfs", func(t *testing.T) {
		small := t.TempDir()
		if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=64k", "none", small).CombinedOutput(); err != nil {
			t.Skipf("a small file system needs the right to mount: %s", out)
		}
		defer func() { _ = exec.Command("umount", small).Run() }()
		path := filepath.Join(small, "run.jsonl")
		out, err := exec.Command("mpbench", append(longRun("sum", path), "--format", "csv")...).CombinedOutput()
		full(t, path, "no space left on device", string(out), err)
		// Room for any number of samples: records are longer on a busy machine.
		if out, err := exec.Command("mount", "-o", "remount,size=16m", small).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		_, _, code := mpbench(t, append(longRun("sum", path), "--resume", "-q")...)
		finish(t, path, code, whole)
	})
}

// full checks a run that could not write all of its cases: those that it reported are in the file, and one more was
// printed.
func full(t *testing.T, path, why, out string, err error) {
	t.Helper()
	var exit *exec.ExitError
	if !asExit(err, &exit) || exit.ExitCode() != exitInputOutput || !strings.Contains(out,
		fmt.Sprintf("mpbench: cannot write %s: %s", path, why)) {
		t.Fatalf("%v: %s", err, out)
	}
	run, err := readRun(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if run.Partial != nil {
		t.Errorf("a part of a line is left: %q", run.Partial)
	}
	if n := strings.Count(out, "sum,"); n != len(run.Records)+1 {
		t.Errorf("%d records printed, %d in the file", n, len(run.Records))
	}
}

func finish(t *testing.T, path string, code int, whole *record.Run) {
	t.Helper()
	run, err := readRun(t.Context(), path)
	if code != 0 || err != nil {
		t.Fatalf("exit code %d, %v", code, err)
	}
	sameResults(t, run.Records, whole.Records)
}
