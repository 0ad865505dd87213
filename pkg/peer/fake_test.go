package peer_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/peer"
	"mpbench/pkg/peer/peertest"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "missing" {
		for _, m := range peer.Methods() {
			fmt.Println(m.Operation.Name, m.Name, m.Missing())
		}
		return
	}
	if err := peertest.Compile(); err != nil {
		fmt.Fprintln(os.Stderr, "methods with loops are not tested:", err)
	}
	folder, err := os.MkdirTemp("", "peers")
	if err == nil && gputest.Emulated() && os.Getenv(peer.Variable) != peer.Off {
		err = fakeLibraries(folder)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "cublas and cusparse are not tested:", err)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// fakeLibraries makes a folder of what stands for cuBLAS and cuSPARSE, beside the loops that there are, the one for
// libraries.
func fakeLibraries(folder string) error {
	loops, err := os.ReadFile(filepath.Join(peer.Folder(), "loops.so"))
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "loops.so"), loops, 0o777)
	}
	for _, name := range []string{"cublas", "cusparse"} {
		if err == nil {
			err = peertest.Library(filepath.Join(folder, "lib"+name+".so.13"), filepath.Join("testdata", name+".c"))
		}
	}
	if err == nil {
		err = os.Setenv(peer.Variable, folder)
	}
	return err
}

// TestVersions: libraries that are too old, and loops of another version, are named, in a process that finds them
// before those of the system.
func TestVersions(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{
		"libmpfr.so.6": `const char *mpfr_get_version(void) { return "4.0.2"; }
			void mpfr_add(void) {} void mpfr_sum(void) {}`,
		"libflint.so.22": `const char flint_version[] = "2.9.0"; void fmpz_add(void) {}`,
		"loops.so":       `int mpbench_loops(void) { return 0; }`,
	} {
		source := filepath.Join(folder, "fake.c")
		if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := peertest.Library(filepath.Join(folder, name), source); err != nil {
			t.Skip("no C compiler: ", err)
		}
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "missing")
	command.Env = append(os.Environ(), peer.Variable+"="+folder)
	out, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{
		"sum mpfr <nil>\n",
		"dot mpfr mpfr: not available: MPFR 4.0.2 in " + folder + "/libmpfr.so.6 has no mpfr_dot; it needs 4.1.0 or newer\n",
		"axpy mpfr-loop mpfr-loop: not available: MPFR 4.0.2 in " + folder + "/libmpfr.so.6 has no mpfr_sub",
		"loops.so is of another version of mpbench; scripts/peers compiles this one's\n",
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no line %q in\n%s", want, out)
		}
	}
}

// TestAvailable: what can run here is said once, and nothing else than that it is missing keeps a method from running.
func TestAvailable(t *testing.T) {
	for _, m := range peer.Methods() {
		if err := m.Missing(); err != nil && !errors.Is(err, method.ErrUnavailable) {
			t.Errorf("%s of %s: %v", m.Name, m.Operation.Name, err)
		}
	}
}
