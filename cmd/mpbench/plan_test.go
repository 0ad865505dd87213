package main

import (
	"math"
	"os"
	"strings"
	"testing"
)

// TestPlanFolder: a folder is measured by a file that is not left there; one that cannot be written to says so.
func TestPlanFolder(t *testing.T) {
	diskSample = 1 << 20
	folder := t.TempDir()
	text := output(t, "plan", "--n", "1e9", "--engine", "0.001", "--memory", "900GB/s", "--disk", folder)
	if !strings.Contains(text, "measured here") || !strings.Contains(text, "bound by reading") {
		t.Error(text)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
	if _, err := os.Stat("/proc/self"); err != nil {
		t.Skip("there is no /proc, a folder in which nobody can write")
	}
	if _, text, code := mpbench(t, "plan", "--n", "10", "--disk", "/proc"); code != exitInputOutput ||
		!strings.HasPrefix(text, "mpbench: cannot write /proc/") || strings.Count(text, "\n") != 1 {
		t.Errorf("exit code %d: %s", code, text)
	}
}

// TestPlanCompared: a prediction within 25 % is one, and what is further off fails.
func TestPlanCompared(t *testing.T) {
	for predicted, code := range map[float64]int{1: exitOK, 1.24: exitOK, 0.76: exitOK, 1.26: exitCheckFailed,
		0.74: exitCheckFailed, 9: exitCheckFailed} {
		var out strings.Builder
		err := compared(&out, predicted, 1)
		if exitCode(err) != code || !strings.Contains(out.String(), "it took 1 s here") {
			t.Errorf("%g: %v\n%s", predicted, err, &out)
		}
	}
	line := "plan --op dot --n 1000 --memory 1GB/s --engine 1e9 --verify"
	_, text, code := mpbench(t, strings.Fields(line)...)
	if code != exitCheckFailed || !strings.Contains(text, "mpbench: the prediction is ") {
		t.Errorf("an engine of a second a term: exit code %d: %s", code, text)
	}
}

func TestParseRate(t *testing.T) {
	for text, want := range map[string]float64{
		"5GB/s": 5e9, "1.5 TB/s": 1.5e12, "100Gbit/s": 12.5e9, "8kbit/s": 1000, "3MB/s": 3e6,
		"": 0, "5": 0, "5GB": 0, "-1GB/s": 0, "0GB/s": 0, "infGB/s": 0, "nanGB/s": 0, "GB/s": 0, "5gb/s": 0,
	} {
		if got, ok := parseRate(text); ok != (want > 0) || math.Abs(got-want) > 1e-12*want {
			t.Errorf("%q: %g, %v, want %g", text, got, ok, want)
		}
	}
}

func TestSpanText(t *testing.T) {
	for seconds, want := range map[float64]string{
		0: "0 µs", 2e-7: "0.2 µs", 0.0123: "12.3 ms", 1: "1 s", 119: "119 s", 600: "10 min", 7200: "2 h",
		1e7: "116 days",
	} {
		if got := spanText(seconds); got != want {
			t.Errorf("%g: %s, want %s", seconds, got, want)
		}
	}
}
