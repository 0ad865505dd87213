package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"mpbench/pkg/op"
)

// screens are command lines whose tables must fit any screen, and the columns that no screen is too narrow for.
func screens() map[string][]string {
	const quick = " -q --runs 1 --min-time 0 --warmup 0"
	lines := map[string][]string{
		"sum -d gensum:n=100 -L cond=1e0..1e20:x1e10 -m float64,kahan,dd --export scan.jsonl" + quick: {"error", "time"},
		"report scan.jsonl --pivot cond":                     {"float64", "dd"},
		"report scan.jsonl --columns method,error,bits,time": {"error", "bits", "time"},
		"compare scan.jsonl scan.jsonl":                      {"new", "corr. bits"},
		"methods":                                            {"float64"},
		"datasets":                                           {"gensum"},
		"info":                                               {"program"},
		"reduce -n 1000" + quick:                             {"time", "error"},
		"scan -n 1000" + quick:                               {"time", "error"},
		"solve -d convdiff:n=100 -q -m float64,dd":           {"time", "residual"},
		"sum --orders -q -d gensum:n=100,cond=1e20 -m float64,deferred":       {"float64"},
		"advise -d gensum:n=100,cond=1e20 --digits 20 --device cpu":           {"error", "time"},
		"sum x.npy y.npy --verbose":                                           {"x.npy", "y.npy"},
		"axpy x.npy y.npy":                                                    {"result", "float64"},
		"moduli --moduli-bits 16 --precision 100":                             {"moduli"},
		"spmv -d tridiagonal:n=30 -m float64,deferred --profile" + quick:      {"error", "time"},
		"gemv -d uniform11 -n 9 -m float64,rns-split,deferred --rows" + quick: {"error", "time"},
	}
	for _, o := range op.All() {
		lines[o.Name+" --dataset "+smallSets[o.Name]+quick] = []string{"error", "bits", "time"}
	}
	return lines
}

// smallSets are data of every operation.
var smallSets = map[string]string{
	"sum": "gensum:n=100,cond=1e20,uniform01:n=9", "dot": "gendot:n=100,cond=1e20", "axpy": "uniform11:n=10",
	"scal": "uniform11:n=10", "asum": "uniform11:n=10", "nrm2": "uniform11:n=10", "gemv": "gengemv:n=9,m=9",
	"symv": "uniform11:n=9", "trmv": "uniform11:n=9", "gemm": "uniform11:n=9", "spmv": "dominant:n=20",
}

// TestScreens: at 40, 80, 132 and 220 columns nothing is wider but single words and command lines to copy, and what
// each command is about is there.
func TestScreens(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"x", "y"} {
		var out, errs bytes.Buffer
		args := []string{"scal", "-d", "uniform11:n=50", "-m", "float64", "--runs", "1", "--min-time", "0", "-q",
			"--save-result", name + ".npy"}
		if code := run(context.Background(), args, &out, &errs); code != 0 {
			t.Fatal(errs.String())
		}
	}
	var list []string
	for line := range screens() {
		if strings.Contains(line, "--export") { // others read what it writes
			list = append([]string{line}, list...)
		} else {
			list = append(list, line)
		}
	}
	for _, line := range list {
		widths := []int{40, 132}
		if os.Getenv("MPBENCH_FULL_TESTS") == "1" || strings.HasPrefix(line, "report") {
			widths = []int{40, 80, 132, 220}
		}
		for _, width := range widths {
			checkScreen(t, line, screens()[line], width)
		}
	}
}

func checkScreen(t *testing.T, line string, subject []string, width int) {
	t.Helper()
	t.Setenv("COLUMNS", strconv.Itoa(width))
	var out, errs bytes.Buffer
	args := strings.Fields(line)
	if strings.Contains(line, "--export") && width != 40 {
		args = append(args[:len(args):len(args)], fmt.Sprintf("--export=%d.jsonl", width))
	}
	if code := run(context.Background(), args, &out, &errs); code != 0 {
		t.Errorf("mpbench %s: exits with %d: %s", line, code, errs.String())
	}
	for _, text := range strings.Split(out.String(), "\n") {
		words := strings.Fields(text)
		if utf8.RuneCountInString(text) <= width || len(words) == 1 || len(words) > 0 && words[0] == "mpbench" {
			continue
		}
		t.Errorf("mpbench %s: %d columns of %d: %s", line, utf8.RuneCountInString(text), width, text)
	}
	for _, word := range subject {
		if !strings.Contains(out.String(), word) {
			t.Errorf("mpbench %s: nothing of %s in %d columns:\n%s", line, word, width, out.String())
		}
	}
}
