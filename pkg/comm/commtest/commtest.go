// Package commtest starts programs as ranks of the MPI launchers that are installed, for tests.
package commtest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"
)

// Launcher is an mpirun.
type Launcher struct {
	Name    string // "openmpi" or "mpich"
	program string
}

// launchers are those of Debian, which installs several side by side.
var launchers = []Launcher{{"openmpi", "mpirun.openmpi"}, {"mpich", "mpirun.mpich"}}

// permissions tell Open MPI to run as root, on fewer cores than ranks, and not to bind ranks to cores.
var permissions = []string{
	"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "OMPI_MCA_rmaps_base_oversubscribe=1",
	"OMPI_MCA_hwloc_base_binding_policy=none",
}

// RequireVariable names the environment variable with which a missing launcher fails a test.
const RequireVariable = "MPBENCH_REQUIRE_MPI"

// Launchers returns the launchers that there are, and skips the test with a reason where there are none.
func Launchers(t testing.TB) (list []Launcher) {
	t.Helper()
	for _, l := range launchers {
		if _, err := exec.LookPath(l.program); err != nil {
			t.Logf("%v (Debian: apt-get install openmpi-bin mpich)", err)
			if os.Getenv(RequireVariable) != "" {
				t.Fatalf("%s is set", RequireVariable)
			}
			continue
		}
		list = append(list, l)
	}
	if list == nil {
		t.Skip("no MPI is installed: nothing is tried over ranks")
	}
	return list
}

// runVariable marks the processes of a Run.
const runVariable = "MPBENCH_TEST_RUN"

// Run is a program that is started as ranks.
type Run struct {
	*exec.Cmd
	Stdout, Stderr bytes.Buffer
	mark           string
}

// limit is how long a run may take.
const limit = 2 * time.Minute

// Command returns n ranks of a program; flags are the launcher's.
func (l Launcher) Command(t testing.TB, n int, flags []string, program ...string) *Run {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	t.Cleanup(cancel)
	args := slices.Concat([]string{"-n", strconv.Itoa(n)}, flags, program)
	r := &Run{Cmd: exec.CommandContext(ctx, l.program, args...)}
	r.mark = fmt.Sprintf("%s=%d-%d", runVariable, os.Getpid(), time.Now().UnixNano())
	r.Cmd.Stdout, r.Cmd.Stderr, r.WaitDelay = &r.Stdout, &r.Stderr, 5*time.Second
	r.Env = slices.Concat(os.Environ(), permissions, []string{r.mark})
	return r
}

// Code waits for the end and returns the launcher's exit code. It fails the test where a process is left.
func (r *Run) Code(t testing.TB) int {
	t.Helper()
	if r.Process == nil {
		if err := r.Start(); err != nil {
			t.Fatal(err)
		}
	}
	_ = r.Wait() // of which the code says what there is to know
	for begin := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		left := r.processes()
		if len(left) == 0 {
			return r.ProcessState.ExitCode()
		}
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("processes %v are left; standard error:\n%s", left, r.Stderr.String())
		}
	}
}

// processes returns those that have the mark of the run in their environment.
func (r *Run) processes() (ids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(text, []byte(r.mark)) {
			continue
		}
		if id, err := strconv.Atoi(filepath.Base(filepath.Dir(name))); err == nil && id != os.Getpid() {
			ids = append(ids, id)
		}
	}
	return ids
}
