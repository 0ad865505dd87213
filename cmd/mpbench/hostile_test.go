//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"mpbench/pkg/op"
)

// Limits of what a command line may do, however wrong it is.
const (
	hostileTime   = 10 * time.Second // of a processor, which other programs do not shorten
	hostileWait   = 5 * time.Minute  // on the wall: nothing may wait for what does not come
	hostileMemory = 2 << 30
)

// hostileCounts is how many command lines and files are tried: those of the short tests, or with
// MPBENCH_FULL_TESTS=hostile (MPBENCH_HOSTILE_SEED chooses others) 20,000 and 1,000.
func hostileCounts(t *testing.T) (flags, files int, seed uint64) {
	seed = 1
	if text := os.Getenv("MPBENCH_HOSTILE_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getenv("MPBENCH_FULL_TESTS") == "hostile" {
		return 20_000, 1000, seed
	}
	return 200, 60, seed
}

// attempt is what one run of the program in this process gave.
type attempt struct {
	args           []string
	code           int
	stdout, stderr string
	panicked       string
	late           bool
	took           time.Duration
}

// lastLineFile has the command line that ran last: a panic of another goroutine ends the test.
var lastLineFile = filepath.Join(os.TempDir(), "mpbench-hostile-last")

// processor returns the time that this process has had of processors.
func processor() time.Duration {
	var usage syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &usage) != nil {
		return 0
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// try runs a command line; after hostileTime it is left behind, cancelled.
func try(args []string) attempt {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	done := make(chan attempt, 1)
	_ = os.WriteFile(lastLineFile, fmt.Appendf(nil, "%q\n", args), 0o666)
	begin := time.Now()
	go func() {
		var stdout, stderr bytes.Buffer
		a := attempt{args: args}
		defer func() {
			if p := recover(); p != nil {
				a.panicked = fmt.Sprintf("%v\n%s", p, debug.Stack())
			}
			a.stdout, a.stderr, a.took = stdout.String(), stderr.String(), time.Since(begin)
			done <- a
		}()
		a.code = run(ctx, args, &stdout, &stderr)
	}()
	used := processor()
	for time.Since(begin) < hostileWait && processor()-used < hostileTime {
		select {
		case a := <-done:
			return a
		case <-time.After(100 * time.Millisecond):
		}
	}
	return attempt{args: args, late: true, took: time.Since(begin)}
}

// fault says what is wrong with an attempt, "" for nothing: a panic, a hang, too much memory, an unknown exit code, an
// error that is not told in one line.
func (a attempt) fault() string {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	lines := strings.Count(a.stderr, "\n")
	switch {
	case a.panicked != "":
		return "panics: " + a.panicked
	case a.late:
		return "is not done after " + a.took.String()
	case memory.Sys > hostileMemory:
		return fmt.Sprintf("takes %d MB", memory.Sys>>20)
	case !slices.Contains([]int{exitOK, exitCheckFailed, exitUsage, exitUnavailable, exitInputOutput}, a.code):
		return fmt.Sprintf("exits with %d", a.code)
	case a.code != exitOK && !strings.Contains(a.stderr, "mpbench: "):
		return fmt.Sprintf("exits with %d and says nothing", a.code)
	case a.code == exitUsage && (strings.Count(a.stderr, "mpbench: ") != 1 || lines > 20):
		return fmt.Sprintf("says too much: %.300s", a.stderr)
	case strings.Contains(a.stderr, "goroutine ") || strings.Contains(a.stderr, "runtime error"):
		return "shows its insides: " + a.stderr
	}
	return ""
}

// hostileFolder makes a folder of files, good and bad, and makes it the working folder.
func hostileFolder(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		"n.txt": "1\n2\n-3.5\n1e-400\n", "c.csv": "a,b\n1,2\n3,4\n", "empty.txt": "", "w.txt": "not a number\n",
		"i.txt": "inf\n-inf\nnan\n1\n", "broken.npy": "\x93NUMPY\x01\x00\xff\xff{", "dir.txt": "1\n",
		"m.mtx": "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 4\n2 1 1\n2 2 3\n",
		"p.yaml": "schema: mpbench-check/1\nchecks:\n  - command: sum\n    dataset: mcnamee3\n" +
			"    limits: {correct-bits: 10}\n",
		"q.json": "{", "bad.jsonl": "{\"schema\":\"mpbench/1\"}\n",
	} {
		must(os.WriteFile(name, []byte(text), 0o666))
	}
	must(os.Mkdir("folder", 0o777))
	for _, args := range [][]string{
		{"sum", "-q", "-d", "mcnamee3", "-m", "float64,deferred", "--runs", "2", "--min-time", "0", "-o", "run.jsonl"},
		{"scal", "n.txt", "--save-result", "v.npy"},
		{"gemv", "-q", "-n", "3", "-d", "uniform11", "-m", "float64", "--runs", "1", "--min-time", "0", "-o", "g.jsonl"},
	} {
		if a := try(args); a.code != 0 {
			t.Fatal(args, a.stderr)
		}
	}
}

// hostileFiles are arguments, and values of flags that name files.
var hostileFiles = []string{"n.txt", "v.npy", "c.csv:b", "c.csv:all", "m.mtx", "c.csv", "i.txt", "w.txt", "empty.txt",
	"broken.npy", "run.jsonl", "g.jsonl", "bad.jsonl", "q.json", "p.yaml", "folder", "none.txt", "/dev/null", "",
	"out.svg"}

// good and bad are values of flags by their types; bad ones must never be taken.
var (
	goodValues = map[string][]string{
		"int": {"0", "1", "2", "3", "7", "16", "100", "1000", "10^2", "-1", "9223372036854775807", "99999"},
		"string": {"all", "float64", "deferred", "kahan,dd", "mcnamee3", "gensum:n=100,cond=1e20", "uniform01:n=50",
			"basel:n=9",
			"cpu", "auto", "table", "csv", "jsonl", "gobench", "json", "markdown", "sum", "U", "N", "exact", "time",
			"cond", "n",
			"method=float64", "53", "24,53,240", "1e-400", "0.1", "inf", "nan", "2", "x:1", "bits<-1"},
		"duration": {"0", "1ms", "5ms", "-1s", "1h"}, "float": {"0", "0.5", "1", "-1", "1e308", "nan", "inf"},
		"uint": {"0", "1", "18446744073709551615"},
		"list": {"n=1..4:x2", "n=2^3..2^5:x2", "method=float64,kahan", "precision=53,100", "cond=1e0..1e20:x1e10",
			"seed=1,2"},
	}
	badValues = map[string][]string{
		"int": {"", "x", "1.5.2", "0x", "1e", "--", "10^99", "9223372036854775808"}, "duration": {"", "5", "x", "1 s"},
		"float": {"", "x", "1..2", "0,5"}, "uint": {"", "-1", "x", "18446744073709551616"}, "string": {""},
	}
)

// fitting are values that flags of these names are meant for.
var fitting = map[string][]string{
	"method": {"all", "float64", "deferred", "bigfloat,dd", "float64,deferred"}, "precision": {"53", "106", "53,240",
		"30..60:x2"},
	"dataset": {"uniform01:n=20", "uniform11:n=5", "gensum:n=9,cond=1e9", "mcnamee1", "hilbert:n=3", "basel:n=5"},
	"n":       {"1", "2", "20", "10^2"}, "m": {"1", "3"}, "k": {"2"}, "digits": {"1", "20", "100"}, "seed": {"1", "7"},
	"format": {"table", "csv", "json", "jsonl", "markdown", "gobench", "html", "svg"}, "color": {"always", "never"},
	"alpha": {"0", "1", "0.1", "1e-400", "nan", "-2"}, "beta": {"0", "1", "inf", "0.3"}, "uplo": {"U", "L"},
	"diag":    {"N", "U"},
	"reading": {"exact", "double"}, "threads": {"1", "2"}, "times": {"run", "both"},
	"kind":   {"auto", "front", "error", "bits"},
	"sort":   {"time", "-bits"},
	"filter": {"n>1", "method=float64", "time<1e9"}, "columns": {"method,time", "bits,error,n"}, "pivot": {"n",
		"method", "bits"},
	"fail-if": {"time>5%", "bits<-1", "hash", "bound", "missing"}, "incx": {"1", "2", "-3"}, "incy": {"1", "-1"},
	"lda":    {"7"},
	"export": {"a.csv", "a.svg", "a.jsonl", "a.parquet", "a.html", "a.bench", "a.md"}, "save-result": {"y.npy", "y.txt"},
	"input": {"n.txt", "v.npy", "c.csv:a"}, "input-x": {"n.txt", "v.npy"}, "input-y": {"v.npy", "n.txt"},
	"input-a":     {"m.mtx"},
	"moduli-bits": {"8", "16", "31"}, "blocks": {"1", "4"}, "block-size": {"32", "64"}, "html": {"p.html"},
	"op": {"sum", "dot"},
}

// quick keeps a random run short; it comes last, so that it holds.
var quick = []string{"--runs=1", "--min-time=0", "--warmup=0", "--timeout=50ms"}

// left out are commands that take long whatever their flags are, or wait.
var lengthy = []string{"mpbench selftest", "mpbench completion", "mpbench paper", "mpbench man", "mpbench check",
	"mpbench advise", "mpbench plan"}

// randomLine returns a random command line, and the flag that has a bad value, "" for none.
func randomLine(r *rand.Rand, list []*cobra.Command) (args []string, wrong string) {
	pick := func(values []string) string { return values[r.IntN(len(values))] }
	c := list[r.IntN(len(list))]
	args = strings.Fields(c.CommandPath())[1:]
	files := hostileFiles[r.IntN(2)*8:]
	if _, isOperation := op.Lookup(c.Name()); isOperation && r.IntN(2) > 0 {
		files = hostileFiles[:6]
	} else if slices.Contains([]string{"report", "compare", "plot"}, c.Name()) && r.IntN(4) > 0 {
		files = []string{"run.jsonl", "g.jsonl"}
	}
	for range []int{0, 0, 1, 1, 2, 2, 3}[r.IntN(7)] {
		args = append(args, pick(files))
	}
	var flags []*pflag.Flag
	c.LocalFlags().VisitAll(func(f *pflag.Flag) { flags = append(flags, f) })
	if len(flags) == 0 {
		return args, ""
	}
	for range 1 + r.IntN(4) {
		f := flags[r.IntN(len(flags))]
		kind := map[string]string{"int": "int", "uint64": "uint", "uint": "uint", "duration": "duration", "float64": "float",
			"float": "float", "bool": "bool"}[f.Value.Type()]
		if kind == "" {
			kind = "string"
		}
		value := ""
		switch {
		case f.Name == "device" || f.Name == "rerun":
			continue
		case kind == "bool":
			args = append(args, "--"+f.Name)
			continue
		case fitting[f.Name] != nil && r.IntN(5) > 0:
			value = pick(fitting[f.Name])
		case f.Name == "scan":
			value = pick(goodValues["list"])
		case strings.HasPrefix(f.Name, "input") || f.Name == "export" || f.Name == "save-result" || f.Name == "html":
			value = pick(hostileFiles)
		case len(badValues[kind]) > 0 && r.IntN(8) == 0:
			value, wrong = pick(badValues[kind]), f.Name
		default:
			value = pick(goodValues[kind])
		}
		args = append(args, "--"+f.Name+"="+value)
	}
	named := func(name string) bool {
		return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "--"+name) })
	}
	if named("scan=cond") && !named("n=") && !named("dataset") { // of the default data, of full size
		args = append(args, "--n=30")
	}
	if slices.Contains(args, "--orders") {
		return append(args, "--dataset=uniform01:n=20"), wrong
	}
	if slices.ContainsFunc(flags, func(f *pflag.Flag) bool { return f.Name == "min-time" }) {
		args = append(args, quick...)
		_, isOperation := op.Lookup(c.Name())
		if isOperation && r.IntN(4) == 0 {
			args = append(args, "--dataset=uniform01:n=20")
		}
	}
	return args, wrong
}

// setTwice tells whether a flag is set again behind the bad value, which then counts for nothing where it could be
// read.
func setTwice(args []string, name string) bool {
	n := 0
	for _, a := range args {
		if strings.HasPrefix(a, "--"+name+"=") {
			n++
		}
	}
	return n > 1
}

// hostilePart is how many command lines one process tries: cobra keeps every flag that a completion was ever
// registered for, and each command line is given a root of its own.
const hostilePart = 250

// hostileParts tries command lines in processes of their own.
func hostileParts(t *testing.T, parts int) {
	for part := range parts {
		c := exec.Command(os.Args[0], "-test.run", "^TestHostileFlags$", "-test.v")
		c.Env = append(os.Environ(), "MPBENCH_HOSTILE_PART="+strconv.Itoa(part))
		out, err := c.CombinedOutput()
		if err != nil {
			t.Errorf("part %d: %v\n%s", part, err, out)
		} else if lines := strings.Split(strings.TrimSpace(string(out)), "\n"); len(lines) > 2 {
			t.Logf("part %d: %s", part, strings.TrimSpace(lines[len(lines)-3]))
		}
	}
}

// TestHostileFlags: no random combination of flags panics, hangs, takes more than 2 GiB, or is silent about what is
// wrong; a bad value of a flag is never taken for another.
func TestHostileFlags(t *testing.T) {
	count, _, seed := hostileCounts(t)
	part := 0
	if text := os.Getenv("MPBENCH_HOSTILE_PART"); text != "" {
		part, _ = strconv.Atoi(text)
		count = hostilePart
	}
	if count > hostilePart {
		hostileParts(t, count/hostilePart)
		return
	}
	hostileFolder(t)
	var list []*cobra.Command
	for _, c := range commands(newRoot()) {
		isLengthy := slices.ContainsFunc(lengthy, func(name string) bool { return strings.HasPrefix(c.CommandPath(), name) })
		if c.HasParent() && !isLengthy {
			list = append(list, c)
		}
	}
	r := rand.New(rand.NewPCG(seed, uint64(13+part)))
	codes, slowest, faults := map[int]int{}, attempt{}, 0
	for i := range count {
		args, wrong := randomLine(r, list)
		a := try(args)
		if i%1000 == 999 {
			t.Logf("%d command lines, exit codes %v", i+1, codes)
		}
		codes[a.code]++
		if a.took > slowest.took {
			slowest = a
		}
		fault := a.fault()
		help := slices.ContainsFunc(args, func(arg string) bool { return arg == "--help" || arg == "--version" })
		if fault == "" && wrong != "" && a.code == exitOK && !help && !setTwice(args, wrong) {
			fault = "takes the bad value of --" + wrong
		}
		if fault != "" {
			t.Errorf("mpbench %q: %s", args, fault)
			if faults++; faults == 20 {
				t.Fatal("and perhaps more")
			}
		}
	}
	t.Logf("%d command lines, exit codes %v; the slowest took %v: %q", count, codes, slowest.took, slowest.args)
}

// TestHostileFiles: no damaged file makes a command that reads it panic, hang, take more than 2 GiB, or fall silent.
func TestHostileFiles(t *testing.T) {
	_, count, seed := hostileCounts(t)
	hostileFolder(t)
	readers := map[string][][]string{
		".npy": {{"sum"}, {"nrm2"}, {"scal"}}, ".txt": {{"sum"}, {"sum", "--reading=exact"}}, ".csv": {{"sum"}, {"asum"}},
		".mtx": {{"spmv", "--input-a"}, {"sum"}},
		".jsonl": {{"report"}, {"report", "--pivot=n"}, {"plot", "-o", "x.svg"}, {"compare", "run.jsonl"}, {"report",
			"--format=html"}},
		".json": {{"report"}, {"check"}}, ".yaml": {{"check", "--dry-run"}},
	}
	if a := try([]string{"report", "run.jsonl", "-o", "run.json"}); a.code != 0 {
		t.Fatal(a.stderr)
	}
	good := []string{"n.txt", "c.csv", "v.npy", "m.mtx", "run.jsonl", "g.jsonl", "run.json", "p.yaml"}
	r := rand.New(rand.NewPCG(seed, 17))
	codes, slowest := map[int]int{}, attempt{}
	for i := range count {
		name := good[r.IntN(len(good))]
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		bad := "bad" + strconv.Itoa(i%8) + filepath.Ext(name)
		if err := os.WriteFile(bad, damaged(r, data), 0o666); err != nil {
			t.Fatal(err)
		}
		ways := readers[filepath.Ext(name)]
		a := try(append(slices.Clone(ways[r.IntN(len(ways))]), bad))
		codes[a.code]++
		if a.took > slowest.took {
			slowest = a
		}
		if fault := a.fault(); fault != "" {
			text, _ := os.ReadFile(bad)
			t.Errorf("mpbench %q: %s\nthe file: %.400q", a.args, fault, text)
		}
	}
	t.Logf("%d files, exit codes %v; the slowest took %v: %q", count, codes, slowest.took, slowest.args)
}

// damaged changes a file in one or some of the ways in which files are damaged, or made to do damage.
func damaged(r *rand.Rand, data []byte) []byte {
	data = slices.Clone(data)
	for range 1 + r.IntN(4) {
		if len(data) == 0 {
			return data
		}
		at := r.IntN(len(data))
		switch r.IntN(8) {
		case 0:
			data[at] ^= 1 << r.IntN(8)
		case 1:
			data = data[:at]
		case 2:
			data = slices.Insert(data, at, []byte(strings.Repeat("9", 1+r.IntN(400)))...)
		case 3:
			data = slices.Insert(data, at, data[:at]...)
		case 4:
			data = bytes.Replace(data, []byte{'1'}, []byte("9223372036854775807"), 1+r.IntN(3))
		case 5:
			data = slices.Insert(data, at, []byte([]string{"\x00", "\r", "\n\n", "\xff\xfe", "{", "]", "\"", "1e999999999",
				"NaN",
				"null", "-", ",", "{}"}[r.IntN(13)])...)
		case 6:
			data[at] = byte(r.IntN(256))
		case 7:
			end := at + r.IntN(len(data)-at)
			data = slices.Delete(data, at, end)
		}
	}
	return data
}
