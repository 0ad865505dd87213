package comm_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mpbench/pkg/comm"
	"mpbench/pkg/comm/commtest"
)

// start returns ranks of this test binary.
func start(t *testing.T, l commtest.Launcher, n int, what string, environment ...string) *commtest.Run {
	t.Helper()
	r := l.Command(t, n, nil, os.Args[0], what)
	r.Env = append(append(r.Env, "MPBENCH_COMM_RANK=1"), environment...)
	return r
}

// library is the other implementation's.
var otherLibrary = map[string]string{"openmpi": "libmpich.so.12", "mpich": "libmpi.so.40"}

// ranks are how many are started.
func ranks() []int {
	if testing.Short() {
		return []int{2}
	}
	return []int{1, 2, 4}
}

func TestMPI(t *testing.T) {
	for _, l := range commtest.Launchers(t) {
		for _, n := range ranks() {
			r := start(t, l, n, "check")
			if code := r.Code(t); code != 0 {
				t.Fatalf("%s, %d ranks: exit code %d\n%s%s", l.Name, n, code, r.Stdout.String(), r.Stderr.String())
			}
			for i := range n {
				if want := fmt.Sprintf("rank %d of %d, %d of %d here, ", i, n, i, n); !strings.Contains(r.Stdout.String(), want) {
					t.Errorf("%s, %d ranks: no %q in\n%s", l.Name, n, want, r.Stdout.String())
				}
			}
		}
	}
}

// TestMPISignals: faults stay panics, which MPICH's handlers would end the process at.
func TestMPISignals(t *testing.T) {
	for _, l := range commtest.Launchers(t) {
		r := start(t, l, 2, "signals")
		if code := r.Code(t); code != 0 {
			t.Errorf("%s: exit code %d\n%s%s", l.Name, code, r.Stdout.String(), r.Stderr.String())
		}
	}
}

// TestMPIDeadline: a rank that never comes does not keep another waiting beyond its context, and Abort ends it.
func TestMPIDeadline(t *testing.T) {
	for _, l := range commtest.Launchers(t) {
		r := start(t, l, 2, "deadline")
		if code := r.Code(t); code != 7 || !strings.Contains(r.Stdout.String(), "late") {
			t.Errorf("%s: exit code %d, want 7\n%s%s", l.Name, code, r.Stdout.String(), r.Stderr.String())
		}
	}
}

// TestMPILibrary: a missing library, one that is none, and that of another implementation have an error each.
func TestMPILibrary(t *testing.T) {
	for _, l := range commtest.Launchers(t) {
		cases := map[string]string{
			"/nowhere/libmpi.so": "none of the libraries /nowhere/libmpi.so can be loaded (",
			"libc.so.6":          "libc.so.6 is no MPI library",
		}
		if other := otherLibrary[l.Name]; len(commtest.Launchers(t)) == 2 {
			cases[other] = "started 2 processes, of which " + other
		}
		for library, want := range cases {
			r := start(t, l, 2, "check", comm.LibraryVariable+"="+library)
			if code := r.Code(t); code != 3 || !strings.Contains(r.Stdout.String(), want) {
				t.Errorf("%s with %s: exit code %d, want 3 and %q\n%s%s", l.Name, library, code, want, r.Stdout.String(),
					r.Stderr.String())
			}
		}
	}
}

// TestMPIStandard: the standard ABI, of a library that passes everything on to MPICH's.
func TestMPIStandard(t *testing.T) {
	for _, l := range commtest.Launchers(t) {
		if l.Name != "mpich" {
			continue
		}
		library := filepath.Join(t.TempDir(), "libmpi_abi.so.1")
		out, err := exec.Command("g++", "-shared", "-fPIC", "-o", library, "testdata/standard.cc", "-ldl").CombinedOutput()
		if err != nil {
			t.Skipf("no C++ compiler: %v %s", err, out)
		}
		r := start(t, l, 3, "check", comm.LibraryVariable+"="+library)
		want := "rank 2 of 3, 2 of 3 here, the standard ABI"
		if code := r.Code(t); code != 0 || !strings.Contains(r.Stdout.String(), want) {
			t.Errorf("exit code %d\n%s%s", code, r.Stdout.String(), r.Stderr.String())
		}
	}
}
