package main

import (
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/comm/commtest"
	"mpbench/pkg/gpu/gputest"
)

// twoGPUs makes programs that the test starts find an emulator of two GPUs.
func twoGPUs(t *testing.T) {
	t.Helper()
	library, err := gputest.Library()
	if err != nil {
		t.Skip("no emulator of GPUs: ", err)
	}
	t.Setenv("MPBENCH_LIBCUDA", library)
	t.Setenv("MPBENCH_EMULATOR_DEVICES", "2")
}

// ended runs the program in a process of its own, which loads a driver of its own, and returns its standard error.
func ended(t *testing.T, args []string, want int) string {
	t.Helper()
	cmd := exec.Command("mpbench", args...)
	var errs strings.Builder
	cmd.Stderr = &errs
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != want {
		t.Fatalf("mpbench %q: %v, want exit code %d\n%s", args, err, want, errs.String())
	}
	return errs.String()
}

// TestGPUsTogether: cuda:all are all GPUs of the machine, which share a problem: the bits of one of them, and records
// that name the devices; streamed and under MPI, too.
func TestGPUsTogether(t *testing.T) {
	twoGPUs(t)
	folder := t.TempDir()
	t.Chdir(folder)
	writeNPY(t, "x.npy", rand.New(rand.NewPCG(3, 4)), 5000)
	quick := []string{"-q", "--runs", "1", "--warmup", "0", "--min-time", "0"}
	for _, command := range []string{
		"sum -m deferred -n 2001 -p 53,240", "dot -m deferred -n 2001", "gemv -m deferred,dd -n 20 -p 106",
		"sum -i x.npy -m deferred --stream",
	} {
		args := append(strings.Fields(command), quick...)
		ended(t, append(args, "--device", "cuda:0", "-o", "one.jsonl"), 0)
		want := hashes(t, "one.jsonl")
		for device, name := range map[string]string{
			"cuda:all": "emulated+emulated:1", "cuda:1+cuda:0": "emulated:1+emulated", "cuda:1": "emulated:1",
			"cpu+cuda:all": "cpu+emulated+emulated:1",
		} {
			if device[:3] == "cpu" && strings.Contains(command, "dd") {
				continue // whose bits differ between kinds of devices
			}
			path := filepath.Join(t.TempDir(), "run.jsonl")
			ended(t, append(args, "--device", device, "-o", path), 0)
			run, err := readRun(t.Context(), path)
			if err != nil {
				t.Fatal(err)
			}
			if got := hashes(t, path); len(got) != len(want) {
				t.Errorf("%s on %s: %d results, want %d", command, device, len(got), len(want))
			}
			for c, hash := range hashes(t, path) {
				if hash != want[c] {
					t.Errorf("%s on %s: %s is %s, want %s", command, device, c, hash, want[c])
				}
			}
			for _, r := range run.Records {
				if r.Device != name || strings.Contains(device, "+") && !strings.Contains(r.Variant, " of ") {
					t.Errorf("%s on %s: recorded as %s, %q", command, device, r.Device, r.Variant)
				}
			}
		}
	}
	for _, l := range commtest.Launchers(t)[:1] {
		path := filepath.Join(folder, "ranks.jsonl")
		args := append([]string{"sum", "-m", "deferred", "-d", "uniform01:n=2001", "--device", "cuda:local", "-o", path},
			quick...)
		overRanksOf(t, l, 3, args...)
		run, err := readRun(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"emulated", "emulated:1", "emulated"}
		if r := run.Records[0].Ranks; r == nil || !slices.Equal(r.Devices, want) {
			t.Errorf("ranks have %+v, want the devices %q", r, want)
		}
	}
}

// TestGPUsFail: what one of two GPUs cannot do ends the program with one line that names it. Nothing hangs.
func TestGPUsFail(t *testing.T) {
	twoGPUs(t)
	t.Chdir(t.TempDir())
	writeNPY(t, "x.npy", rand.New(rand.NewPCG(3, 4)), 5000)
	for _, c := range []struct {
		fault, command string
		code           int
		message        string
	}{
		{"1:60", "sum -m deferred -d uniform01:n=20001 --device cuda:all", 4, "cuda:1: cu"},
		{"0:90", "gemv -m deferred -d uniform11:m=50,n=50 --device cuda:all", 4, "cuda:0: cu"},
		{"1:2", "sum -i x.npy --stream -m deferred --device cuda:all", 4, "cuda:1: cu"},
		{"", "sum --device cuda:0+cuda:2", 3, "device cuda:2 is not available: no such device: cuda:2; there are cuda:0 to"},
		{"", "sum --device cuda:1+cuda:1", 2, "unknown device"},
		{"", "sum -m kahan --device cuda:all", 2, "kahan does not run on cuda:0+cuda:1"},
	} {
		t.Setenv("MPBENCH_EMULATOR_FAULT", c.fault)
		text := ended(t, append(strings.Fields(c.command), "-q"), c.code)
		if !strings.HasPrefix(text, "mpbench: "+c.message) || strings.Count(text, "\n") != 1 ||
			c.fault != "" && !strings.Contains(text, "CUDA_ERROR_ILLEGAL_ADDRESS (700)") {
			t.Errorf("%s: want the line %q: %s", c.command, c.message, text)
		}
	}
}

// TestGPUsFailOverRanks: the fault of a GPU of one rank ends all with a line that names both.
func TestGPUsFailOverRanks(t *testing.T) {
	twoGPUs(t)
	const ill = `[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 1 ] && export MPBENCH_EMULATOR_FAULT=1:60; exec mpbench "$@"`
	for _, l := range commtest.Launchers(t) {
		r := l.Command(t, 2, nil, append([]string{"sh", "-c", ill, "sh"},
			strings.Fields("sum -m deferred -q -d uniform01:n=20001 --device cuda:local")...)...)
		code, text := r.Code(t), r.Stderr.String()
		line := regexp.MustCompile(`(?m)^mpbench: rank 1 of 2 on .*: cuda:1: cu.*CUDA_ERROR_ILLEGAL_ADDRESS`)
		if code != exitInputOutput || strings.Count(text, "mpbench: ") != 1 || !line.MatchString(text) {
			t.Errorf("%s: exit code %d\n%s", l.Name, code, text)
		}
	}
}
