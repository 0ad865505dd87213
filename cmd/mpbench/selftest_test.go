package main

import (
	"context"
	"strings"
	"testing"
	"time"

	"mpbench/pkg/report"
	"mpbench/pkg/selftest"
)

// TestSelftestFailure: a row that failed is printed with what to do, and ends the program with exit code 1 and its
// name.
func TestSelftestFailure(t *testing.T) {
	rows := []selftest.Row{
		{Operation: "sum", Method: "kahan", Format: "binary64", Device: "cpu", Path: "none", Checks: 5},
		{Operation: "dot", Method: "dot2", Format: "binary64", Device: "cuda:0", Path: "none", Checks: 5, Failed: 1,
			Failure: "ties: expected 1, found 2", Advice: "Look after the device."},
	}
	var stdout strings.Builder
	cmd := newSelftest()
	cmd.SetOut(&stdout)
	cmd.SetContext(context.Background())
	err := finishSelftest(cmd, report.Selftest(rows, time.Second, nil), rows,
		&documentOptions{outputOptions: outputOptions{format: "table", color: "auto"}})
	if exitCode(err) != exitCheckFailed || err.Error() != "1 of 2 tests failed: dot dot2 on cuda:0" {
		t.Errorf("%v, exit code %d", err, exitCode(err))
	}
	for _, want := range []string{"FAILED: dot dot2 on cuda:0", "expected 1, found 2", "Look after the device."} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("no %q in\n%s", want, stdout.String())
		}
	}
}

// TestSelftestPaths: the self-test runs again with less than the processor's vector instructions, and the rows come
// back.
func TestSelftestPaths(t *testing.T) {
	rows, problems := narrowerPaths(context.Background(), selftestChoice{operations: []string{"sum"}}, nil)
	if len(problems) != 0 || selftest.Failed(rows) != 0 {
		t.Fatalf("%v, %d rows failed", problems, selftest.Failed(rows))
	}
	seen := map[string]int{}
	for _, r := range rows {
		seen[r.Path]++
	}
	for path := range narrower() {
		if seen[path] == 0 {
			t.Errorf("nothing was tested with %s: %v", path, seen)
		}
	}
	if len(narrower()) == 0 {
		t.Log("this processor, or build, has plain Go only")
	}
}
