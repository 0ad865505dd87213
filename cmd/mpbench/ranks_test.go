package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mpbench/pkg/comm"
	"mpbench/pkg/comm/commtest"
	"mpbench/pkg/numbers"
	"mpbench/pkg/record"
)

// overRanksOf runs mpbench over n ranks and returns what it prints. It must succeed.
func overRanksOf(t *testing.T, l commtest.Launcher, n int, args ...string) string {
	t.Helper()
	r := l.Command(t, n, nil, append([]string{"mpbench"}, args...)...)
	if code := r.Code(t); code != 0 {
		t.Fatalf("%s -n %d mpbench %q: exit code %d\n%s", l.Name, n, args, code, r.Stderr.String())
	}
	return r.Stdout.String()
}

// rankCounts are how many ranks are tried.
func rankCounts() []int {
	if testing.Short() {
		return []int{3}
	}
	return []int{1, 2, 3, 4, 8}
}

// hashes returns the case of each record with the hash of its result.
func hashes(t *testing.T, path string) map[string]string {
	t.Helper()
	run, err := readRun(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]string{}
	for _, r := range run.Records {
		list[fmt.Sprintf("%s %s %d %s", r.Command, r.Method, r.PrecisionBits, r.Dataset.Label())] = r.ResultHash
	}
	return list
}

// TestRanksBenchmark: the bits of one process at any number of ranks and threads, and records that say who had what.
func TestRanksBenchmark(t *testing.T) {
	commands := map[string][]string{
		"sum": {"sum", "-d", "gensum:cond=1e25,uniform01", "-m", "deferred", "-n", "3001"},
		"dot": {"dot", "-d", "gendot:cond=1e25", "-m", "deferred", "-n", "3001"},
		"gemv": {"gemv", "-d", "gengemv:cond=1e20", "-m", "float64,deferred,dd", "-n", "31", "--m", "50", "--alpha", "3",
			"--beta=-1"},
	}
	for _, l := range commtest.Launchers(t) {
		for name, command := range commands {
			command = append(command, "-q", "-p", "53,240", "--runs", "1", "--warmup", "0", "--min-time", "0")
			single := filepath.Join(t.TempDir(), "single.jsonl")
			output(t, append(command, "-o", single)...)
			want := hashes(t, single)
			for _, n := range rankCounts() {
				path := filepath.Join(t.TempDir(), "ranks.jsonl")
				overRanksOf(t, l, n, append(command, "--threads", strconv.Itoa(1+n%4), "-o", path)...)
				got := hashes(t, path)
				for c, hash := range want {
					if got[c] != hash {
						t.Errorf("%s -n %d: %s is %q, want %q", l.Name, n, c, got[c], hash)
					}
				}
				checkRanksRecords(t, path, name, n)
			}
		}
	}
}

func checkRanksRecords(t *testing.T, path, name string, n int) {
	t.Helper()
	run, err := readRun(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range run.Records {
		if n == 1 {
			if r.Ranks != nil {
				t.Errorf("%s: one rank has %+v", name, r.Ranks)
			}
			continue
		}
		_, communicated := r.Phases[record.PhaseCommunicate]
		if r.Ranks == nil || len(r.Ranks.Hosts) != n || len(r.Ranks.Shares) != n || r.Ranks.Library == "" || !communicated ||
			r.Ranks.Divided != map[bool]string{true: "rows", false: "terms"}[name == "gemv"] {
			t.Errorf("%s: %d ranks have %+v, phases %v", name, n, r.Ranks, r.Phases)
		}
	}
}

// writeNPY writes numbers whose sums cancel into a .npy file.
func writeNPY(t *testing.T, path string, r *rand.Rand, n int) {
	t.Helper()
	x := make(numbers.Float64s, n)
	for i := range x {
		x[i] = math.Ldexp(r.Float64()-0.5, r.IntN(120))
	}
	data, err := npyFile(path, x)
	if err == nil {
		err = os.WriteFile(path, data, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRanksAnswer: answers about files have the bits of one process; several files are one vector, divided by bytes.
func TestRanksAnswer(t *testing.T) {
	folder := t.TempDir()
	t.Chdir(folder)
	r := rand.New(rand.NewPCG(1, 2))
	for i, n := range []int{1000, 1, 5003} {
		writeNPY(t, fmt.Sprintf("part-%d.npy", i), r, n)
	}
	writeNPY(t, "x.npy", r, 11)
	var lines []string
	for i := range 17 * 11 {
		lines = append(lines, strconv.FormatFloat(math.Ldexp(r.Float64()-0.5, i%90), 'g', -1, 64))
	}
	matrix := "%%MatrixMarket matrix array real general\n17 11\n" + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile("a.mtx", []byte(matrix), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, l := range commtest.Launchers(t) {
		for _, n := range rankCounts() {
			for _, args := range [][]string{
				{"sum", "part-*.npy"}, {"sum", "part-0.npy", "part-2.npy"}, {"dot", "x.npy", "x.npy"},
			} {
				want := output(t, args...)
				if got := overRanksOf(t, l, n, args...); got != want {
					t.Errorf("%s -n %d %q: %q, want %q", l.Name, n, args, got, want)
				}
			}
			args := []string{"gemv", "a.mtx", "x.npy", "--alpha", "3", "--save-result"}
			output(t, append(args, "one.txt")...)
			overRanksOf(t, l, n, append(args, "ranks.txt")...)
			one, err1 := os.ReadFile("one.txt")
			ranks, err2 := os.ReadFile("ranks.txt")
			if err1 != nil || err2 != nil || string(one) != string(ranks) {
				t.Errorf("%s -n %d %q: %s, want %s", l.Name, n, args, ranks, one)
			}
		}
		text := overRanksOf(t, l, 2, "sum", "part-*.npy", "--verbose")
		if !regexp.MustCompile(`(?m)^ranks +2 on 1 host, (Open MPI|MPICH).*; 3002 rows each; `).MatchString(text) {
			t.Errorf("%s: %s", l.Name, text)
		}
	}
}

// running starts a long run over ranks, each of which notes its process, and waits until it has some records.
func running(t *testing.T, l commtest.Launcher, n, cases int, export string) (r *commtest.Run, pids []int) {
	t.Helper()
	folder := t.TempDir()
	note := `echo $$ > ` + folder + `/${OMPI_COMM_WORLD_RANK:-$PMI_RANK}; exec "$@"`
	r = l.Command(t, n, nil, append([]string{"sh", "-c", note, "sh", "mpbench"}, rankedRun(cases, export)...)...)
	if err := r.Start(); err != nil {
		t.Fatal(err)
	}
	waitForRecords(t, export, 3)
	for rank := range n {
		text, err := os.ReadFile(filepath.Join(folder, strconv.Itoa(rank)))
		if err != nil {
			t.Fatal(err)
		}
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		pids = append(pids, pid)
	}
	return r, pids
}

func signalTo(t *testing.T, pid int, s os.Signal) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(s)
	}
	if err != nil {
		t.Error(err)
	}
}

// waitUntilStuck waits until a run whose output nobody reads writes no records any more.
func waitUntilStuck(t *testing.T, export string) {
	t.Helper()
	for size := int64(-1); ; time.Sleep(time.Second) {
		info, err := os.Stat(export)
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() == size {
			return
		}
		size = info.Size()
	}
}

// rankedRun is a command line of many cases.
func rankedRun(cases int, export string) []string {
	return []string{"sum", "-q", "-d", "uniform01:n=1000", "-m", "deferred", "-p", "53", "--runs", "3",
		"--timeout", "50ms", "--min-time", "0", "-L", fmt.Sprintf("seed=1..%d:+1", cases), "-o", export}
}

// TestRanksPanic: a rank that panics ends all, with the trace that a single process shows, which names the fault.
func TestRanksPanic(t *testing.T) {
	const chosen = `[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && exec mpbench-panics "$@"; exec mpbench "$@"`
	for _, l := range commtest.Launchers(t) {
		export := filepath.Join(t.TempDir(), "run.jsonl")
		start := time.Now()
		r := l.Command(t, 3, nil, append([]string{"sh", "-c", chosen, "sh"}, rankedRun(400, export)...)...)
		code, text := r.Code(t), r.Stderr.String()
		if want := map[string]int{"openmpi": 2, "mpich": 2}[l.Name]; code != want && !(l.Name == "mpich" && code == 9) ||
			strings.Count(text, "panic: made by a test") != 1 || time.Since(start) > 25*time.Second {
			t.Errorf("%s: exit code %d after %v\n%s", l.Name, code, time.Since(start), text)
		}
		if before, err := readRun(t.Context(), export); err != nil || len(before.Environments) == 0 {
			t.Errorf("%s: what was written: %+v, %v", l.Name, before, err)
		}
	}
}

// TestRanksUnreachable: ranks between which there is no connection end at once, and each says so at most once.
func TestRanksUnreachable(t *testing.T) {
	for _, l := range commtest.Launchers(t) {
		if l.Name != "openmpi" {
			continue // MPICH takes whatever transport there is
		}
		start := time.Now()
		r := l.Command(t, 2, nil, "mpbench", "sum", "-d", "uniform01:n=100", "-m", "deferred", "-q")
		r.Env = append(r.Env, "OMPI_MCA_pml=ob1", "OMPI_MCA_btl=self")
		code, text := r.Code(t), r.Stderr.String()
		if code != 1 || time.Since(start) > 20*time.Second || !strings.Contains(text, "unable to reach each other") ||
			strings.Contains(text, "goroutine ") || strings.Count(text, "mpbench: ") > 2 {
			t.Errorf("exit code %d after %v\n%s", code, time.Since(start), text)
		}
	}
}

// TestRanksResume: a run that was killed goes on over as many ranks.
func TestRanksResume(t *testing.T) {
	const cases = 40
	for _, l := range commtest.Launchers(t) {
		export := filepath.Join(t.TempDir(), "run.jsonl")
		r, pids := running(t, l, 2, cases, export)
		signalTo(t, pids[0], syscall.SIGKILL)
		r.Code(t)
		before, err := readRun(t.Context(), export)
		if err != nil {
			t.Fatal(err)
		}
		args := append(rankedRun(cases, export), "--resume")
		overRanksOf(t, l, 2, args...)
		after, err := readRun(t.Context(), export)
		if err != nil || len(after.Records) != cases {
			t.Fatalf("%s: %d records, %v", l.Name, len(after.Records), err)
		}
		for i, old := range before.Records {
			if i > 0 && i < len(before.Records)-1 && !slices.Equal(old.Time.Samples, after.Records[i].Time.Samples) {
				t.Errorf("%s: case %d was measured again", l.Name, i)
			}
		}
		if testing.Short() {
			return
		}
	}
}

// TestRanksRefused: what cannot be done has one line and the exit code of one process.
func TestRanksRefused(t *testing.T) {
	t.Chdir(t.TempDir())
	r := rand.New(rand.NewPCG(1, 2))
	writeNPY(t, "x.npy", r, 100)
	onRank1 := `if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then `
	for i, c := range []struct {
		shell       string // before mpbench
		environment string
		args        []string
		code        int
		message     string
	}{
		{"", comm.LibraryVariable + "=/nowhere/libmpi.so", []string{"sum", "x.npy"}, 3,
			"mpbench: rank 0: MPI is not available: mpirun of "},
		{"", comm.LibraryVariable + "=libc.so.6", []string{"sum", "x.npy"}, 3, "libc.so.6 is no MPI library"},
		{"", "", []string{"info"}, 2, "mpbench: mpbench info works in one process, and mpirun of "},
		{"", "", []string{"sum", "--method", "kahan"}, 2, "the bits of kahan depend on how ranks share the terms"},
		{"", "", []string{"sum", "y.npy"}, 4, "mpbench: y.npy: no such file\n"},
		{"", "", []string{"sum", "x.npy", "--digit", "3"}, 2, "unknown flag"},
		{"", "", []string{"dot", "x.npy"}, 2, "dot takes the files"},
		{onRank1 + "cd /; fi; ", "", []string{"sum", "x.npy"}, 4, "mpbench: rank 1 of 2 on "},
		{onRank1 + "cd /; fi; ", "", []string{"sum", "-i", "x.npy", "-m", "deferred", "-q"}, 4, "x.npy: no such file"},
		{onRank1 + "head -c 700 x.npy > short/x.npy; cd short; fi; ", "", []string{"sum", "x.npy"}, 4,
			"mpbench: rank 1 of 2 "},
		{"", "", []string{"sum", "-d", "uniform01:n=100", "-m", "deferred", "-q", "-o", "/nowhere/run.jsonl"}, 4,
			"mpbench: cannot write /nowhere/run.jsonl"},
	} {
		for k, l := range commtest.Launchers(t) {
			if testing.Short() && (i%4 != 0 || k > 0) { // a launch takes a second
				continue
			}
			if err := os.MkdirAll("short", 0o777); err != nil {
				t.Fatal(err)
			}
			run := l.Command(t, 2, nil, append([]string{"sh", "-c", c.shell + `exec "$@"`, "sh", "mpbench"}, c.args...)...)
			run.Env = append(run.Env, c.environment)
			code := run.Code(t)
			text := run.Stderr.String()
			lines := strings.Count(text, "mpbench: ")
			if c.environment != "" && l.Name == "mpich" && lines == 2 {
				lines = 1 // ranks without MPI do not know of each other, and MPICH ends the others late
			}
			if code != c.code || lines != 1 || !strings.Contains(text, c.message) {
				t.Errorf("%s, %q %q: exit code %d, want %d and %q in\n%s", l.Name, c.environment, c.args, code, c.code, c.message,
					text)
			}
		}
	}
}

// TestRanksFullDisk: a full disk of one host, which keeps what its rank has added, ends all with the rank that has it.
func TestRanksFullDisk(t *testing.T) {
	if err := exec.Command("unshare", "-m", "true").Run(); err != nil {
		t.Skipf("no file system can be mounted here for one rank: unshare -m: %v", err)
	}
	t.Chdir(t.TempDir())
	writeNPY(t, "x.npy", rand.New(rand.NewPCG(1, 2)), 100)
	if err := os.Mkdir("state", 0o777); err != nil {
		t.Fatal(err)
	}
	const full = `if [ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ]; then
		exec unshare -m sh -c 'mount -t tmpfs -o size=4k full state && head -c 4096 /dev/zero > state/all; exec "$@"' sh "$@"
	fi
	exec "$@"`
	for _, l := range commtest.Launchers(t) {
		args := []string{"sh", "-c", full, "sh", "mpbench", "sum", "x.npy", "--stream", "--state", "state/x.mps"}
		r := l.Command(t, 2, nil, args...)
		code, text := r.Code(t), r.Stderr.String()
		line := regexp.MustCompile(`mpbench: rank 1 of 2 on .*: cannot write state.*no space left on device`)
		if code != exitInputOutput || strings.Count(text, "mpbench: ") != 1 || !line.MatchString(text) {
			t.Errorf("%s: exit code %d\n%s", l.Name, code, text)
		}
	}
}
