package main

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"mpbench/pkg/accurate"
	"mpbench/pkg/partial"
)

// writeNumbers writes n random numbers of widely different size into a .npy file, and returns them.
func writeNumbers(t *testing.T, path string, n int) []float64 {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	header := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%d,), }", n)
	header += strings.Repeat(" ", 117-len(header)) + "\n"
	data := append([]byte("\x93NUMPY\x01\x00\x76\x00"), header...)
	x := make([]float64, n)
	for i := range x {
		x[i] = math.Ldexp(r.Float64()-0.5, r.IntN(200)-100)
		data = binary.LittleEndian.AppendUint64(data, math.Float64bits(x[i]))
	}
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	return x
}

func resultText(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) + "\n" }

// TestKilled: a stream and a part that are killed go on where they were, without reading again what had been added.
func TestKilled(t *testing.T) {
	folder := t.TempDir()
	data := filepath.Join(folder, "x.npy")
	const n = 8 << 20 // 16 runs
	want := resultText(accurate.Sum(writeNumbers(t, data, n)))
	for _, c := range []struct{ name, flags string }{
		{"stream", "sum -q --verbose --stream --state "}, {"part", "partial sum -q --resume -o "},
	} {
		state := filepath.Join(folder, c.name+".mps")
		args := append(strings.Fields(c.flags), state, data)
		cmd := exec.Command("mpbench-impatient", args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for begin := time.Now(); ; time.Sleep(time.Millisecond) {
			if _, err := os.Stat(state); err == nil || time.Since(begin) > time.Minute {
				break
			}
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		have := stateOf(t, state)
		if have.Terms() == 0 || have.Terms() > n {
			t.Fatalf("%s: %d terms had been added", c.name, have.Terms())
		}
		out, err := exec.Command("mpbench", args...).Output()
		if err != nil {
			t.Fatalf("%s goes on: %v", c.name, err)
		}
		if c.name == "stream" {
			bytes := 8 * (n - int(have.Terms()))
			if text := fmt.Sprintf("%.1f MB in", float64(bytes)/1e6); bytes > 1e6 && !strings.Contains(string(out), text) {
				t.Errorf("%s: %s, want %s", c.name, out, text)
			}
		}
		if s := stateOf(t, state); s.Complete() != nil || s.Terms() != n {
			t.Errorf("%s: %v, %d terms", c.name, s.Complete(), s.Terms())
		}
		if got := output(t, "merge", state); got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}

func stateOf(t *testing.T, path string) *partial.State {
	t.Helper()
	s, err := readState(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// program finds a program of the page about parts: a fenced block of a language that has a text.
func program(t *testing.T, language, text string) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/scale.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllSubmatch(page, -1) {
		if strings.Contains(string(m[1]), text) {
			return string(m[1])
		}
	}
	t.Fatalf("docs/scale.md has no %s program with %q", language, text)
	return ""
}

// TestMultiprocessing runs the page's programs in Python: parts by processes of the standard library, through the
// command line, and the reader of the format, in exact arithmetic. The programs are run as they stand in the page.
func TestMultiprocessing(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here: the programs of docs/scale.md are not run")
	}
	folder := t.TempDir()
	want := resultText(accurate.Sum(writeNumbers(t, filepath.Join(folder, "data.npy"), 100_003)))
	run := func(code string) string {
		file := filepath.Join(folder, "program.py")
		if err := os.WriteFile(file, []byte(code), 0o666); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(python, file)
		cmd.Dir = folder
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	if got := run(program(t, "python", "multiprocessing")); got != want {
		t.Errorf("multiprocessing: %s, want %s", got, want)
	}
	exact := run(program(t, "python", "def read(") + "\nsums = {}\nfor k in range(8):\n" +
		"    for i, s in read(f'part-{k}.mps').items():\n        sums[i] = sums.get(i, 0) + s\nprint(float(sums[0]))\n")
	if a, _ := strconv.ParseFloat(strings.TrimSpace(exact), 64); resultText(a) != want {
		t.Errorf("reader: %s, want %s", exact, want)
	}
}
