package report

import (
	"bytes"
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/record"
)

// TestBenchstat runs benchstat itself, in the version of go.mod, over two runs of which the second takes twice the
// time: it finds that, and nothing to complain about.
func TestBenchstat(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("benchstat cannot be built: %v", err)
	}
	old, slow := testRun(), testRun()
	for i := range slow.Records {
		slow.Records[i].Time.Samples = slices.Clone(slow.Records[i].Time.Samples)
		for j := range slow.Records[i].Time.Samples {
			slow.Records[i].Time.Samples[j] *= 2
		}
	}
	folder := t.TempDir()
	var paths []string
	for name, run := range map[string]*record.Run{"old": old, "slow": slow} {
		path := filepath.Join(folder, name+".bench")
		if err := os.WriteFile(path, render(t, func(b *bytes.Buffer) error { return GoBench(b, run, Options{}) }),
			0o666); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	cmd := exec.Command("go", append([]string{"tool", "benchstat", "-format", "csv"}, paths...)...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	for line := range strings.Lines(stderr.String()) {
		// Some made-up records have too few samples for an interval, and one has less than 0 correct bits.
		if !strings.Contains(line, "need >= ") && !strings.Contains(line, "to compute geomean") {
			t.Errorf("benchstat says %s", line)
		}
	}
	checkBenchstat(t, old, stdout.String())
}

// checkBenchstat looks for each case of the run with twice the time and the same correct bits.
func checkBenchstat(t *testing.T, run *record.Run, text string) {
	t.Helper()
	in := csv.NewReader(strings.NewReader(text))
	in.FieldsPerRecord = -1
	lines, err := in.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]map[string][]string{} // unit -> benchmark -> line
	unit := ""
	for _, line := range lines {
		switch {
		case len(line) > 1 && line[0] == "" && slices.Contains([]string{"sec/op", "B/s", "correct-bits"}, line[1]):
			unit = line[1]
			if rows[unit] == nil { // each data set has tables of its own
				rows[unit] = map[string][]string{}
			}
		case len(line) > 5 && line[0] != "":
			rows[unit][line[0]] = line
		}
	}
	for i := range run.Records {
		r := &run.Records[i]
		if len(r.Time.Samples) < 6 {
			continue
		}
		name := benchmarkName(r).String()
		if line := rows["sec/op"][name]; line == nil || !strings.HasPrefix(line[5], "+100.00%") {
			t.Errorf("%s: %q, want twice the time", name, line)
		}
		if r.ExactResult {
			continue
		}
		if line := rows["correct-bits"][name]; line == nil || line[1] != line[3] || line[1] == "" {
			t.Errorf("%s: %q, want the same correct bits", name, line)
		}
	}
}
