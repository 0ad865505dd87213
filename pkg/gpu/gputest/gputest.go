// Package gputest gives tests a device: the emulator, compiled from cuda/ with the host's C++ compiler, or a GPU.
//
//	MPBENCH_TEST_DEVICE=cuda:0   use this GPU in place of the emulator
//	MPBENCH_LIBCUDA=library      use this library, an emulator compiled before
//	MPBENCH_REQUIRE_EMULATOR=1   fail where the emulator cannot be compiled, rather than skip
//	MPBENCH_EMULATOR_FLAGS=...   compile the emulator with these arguments, such as -fsanitize=address
//	MPBENCH_SANITIZE=1           run only tests that are marked for a sanitizer, which is slow
package gputest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"mpbench/internal/parallel"
	"mpbench/pkg/device"
	"mpbench/pkg/gpu"
)

// Device returns the device under test. It skips the test, with a reason, where there is none.
func Device(t testing.TB) *gpu.Device {
	t.Helper()
	d, err := gpu.Open(device.Must(Name(t)).GPUs()[0])
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Devices returns n devices, the one under test first. It skips the test where a machine has not as many GPUs; the
// emulator has up to 8.
func Devices(t testing.TB, n int) (list []*gpu.Device) {
	t.Helper()
	list = append(list, Device(t))
	if err := gpu.Emulate(n); err != nil && !Emulated() {
		t.Skip("too few GPUs: ", err)
	} else if err != nil {
		t.Fatal(err)
	}
	for i := 0; len(list) < n; i++ {
		if i == list[0].Info().Index {
			continue
		}
		d, err := gpu.Open(i)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, d)
	}
	return list
}

// marked are the names of tests that a sanitizer is to watch.
var marked sync.Map

// Sanitize marks a test, with its subtests, as one that a sanitizer is to watch: together they launch every kernel, in
// minutes. It comes before Device or Name.
func Sanitize(t testing.TB) { marked.Store(t.Name(), true) }

// isMarked tells whether the test, or one that it is a part of, is marked.
func isMarked(name string) bool {
	for {
		if _, ok := marked.Load(name); ok {
			return true
		}
		i := strings.LastIndexByte(name, '/')
		if i < 0 {
			return false
		}
		name = name[:i]
	}
}

// Name returns the name of the device under test, after having made the emulator available if it is that.
func Name(t testing.TB) string {
	t.Helper()
	if os.Getenv("MPBENCH_SANITIZE") != "" && !isMarked(t.Name()) {
		t.Skip("not marked for a sanitizer")
	}
	if name := os.Getenv("MPBENCH_TEST_DEVICE"); name != "" {
		return name
	}
	if os.Getenv("MPBENCH_LIBCUDA") == "" {
		make := Library
		if counting.Load() && os.Getenv("MPBENCH_EMULATOR_FLAGS") == "" {
			make = CountingLibrary
		}
		library, err := make()
		if err != nil && (!errors.Is(err, errAbsent) || os.Getenv("MPBENCH_REQUIRE_EMULATOR") != "") {
			t.Fatal(err)
		}
		if err != nil {
			t.Skip("no device to test on: ", err)
		}
		os.Setenv("MPBENCH_LIBCUDA", library) // for the whole process: the library is opened once
	}
	return "cuda:0"
}

// Count makes the device under test, if it is the emulator, one that counts the steps of kernels ([gpu.Device.Steps]).
// It comes before Device or Name, in TestMain or in every test of a package, as the emulator is loaded once. Under a
// sanitizer nothing is counted.
func Count() { counting.Store(true) }

var counting atomic.Bool

// Emulated reports whether the device under test is the emulator, which is some 10,000 times slower than a GPU.
func Emulated() bool { return os.Getenv("MPBENCH_TEST_DEVICE") == "" }

// Library returns the path of the emulator's library, compiling it if its sources have changed; CountingLibrary that
// of one that counts the steps of kernels.
var (
	Library         = sync.OnceValues(func() (string, error) { return build(false) })
	CountingLibrary = sync.OnceValues(func() (string, error) { return build(true) })
)

// countingFlags make a compiler instrument kernels for counts.h, all reads included.
func countingFlags(compiler string) []string {
	flags := []string{"-fsanitize=thread", "-fsanitize-coverage=trace-pc"}
	if strings.Contains(filepath.Base(compiler), "clang") {
		flags = append(flags, "-mllvm", "-tsan-instrument-read-before-write")
	}
	return flags
}

// build compiles the emulator, for counting or not.
func build(count bool) (string, error) {
	sources, err := sourceFolder()
	if err != nil {
		return "", err
	}
	compiler, err := findCompiler()
	if err != nil {
		return "", err
	}
	var kernelFlags []string
	if count {
		kernelFlags = countingFlags(compiler)
	}
	c, err := newCompilation(sources, kernelFlags)
	if err != nil {
		return "", err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	folder := filepath.Join(cache, "mpbench")
	library := filepath.Join(folder, "emulator-"+c.hash+".so")
	if _, err := os.Stat(library); err == nil {
		return library, nil
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return "", err
	}
	unfinished, err := os.CreateTemp(folder, "emulator-*.tmp")
	if err != nil {
		return "", err
	}
	unfinished.Close()
	defer os.Remove(unfinished.Name())
	if err := c.run(compiler, unfinished.Name()); err != nil {
		return "", fmt.Errorf("compiling the emulator: %w", err)
	}
	// several tests may compile at once: the last wins, all are the same
	return library, os.Rename(unfinished.Name(), library)
}

// errAbsent is what errors wrap that tell of something that a machine need not have.
var errAbsent = errors.New("there is no emulator here")

// sourceFolder returns the folder cuda of the source tree.
func sourceFolder() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	folder := filepath.Join(filepath.Dir(file), "..", "..", "..", "cuda")
	if _, err := os.Stat(filepath.Join(folder, "emulator", "driver.cpp")); !ok || err != nil {
		return "", fmt.Errorf("%w: its sources are missing", errAbsent)
	}
	return folder, nil
}

func findCompiler() (string, error) {
	if compiler := os.Getenv("CXX"); compiler != "" {
		return compiler, nil
	}
	for _, name := range []string{"clang++-19", "g++", "clang++"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: it needs a C++ compiler (Debian: apt-get install g++)", errAbsent)
}

// compilation is what makes a library.
type compilation struct {
	flags, kernelFlags []string
	scheduler, kernels []string // sources
	hash               string   // of all
}

// newCompilation finds the sources. MPBENCH_EMULATOR_FLAGS adds arguments, such as -fsanitize=address.
func newCompilation(folder string, kernelFlags []string) (*compilation, error) {
	flags := append([]string{"-std=c++17", "-O1", "-g", "-fPIC", "-fvisibility=hidden", "-Wno-unknown-pragmas"},
		strings.Fields(os.Getenv("MPBENCH_EMULATOR_FLAGS"))...)
	if kernelFlags != nil {
		flags = append(flags, "-DMP_COUNT")
	}
	sum := sha256.New()
	fmt.Fprintln(sum, flags, kernelFlags, runtime.GOARCH)
	c := &compilation{flags: append(flags, "-I"+folder), kernelFlags: kernelFlags}
	var all []string
	for _, pattern := range []string{"emulator/*", "*.cuh", "*.cu", "testkernels/*.cu"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			return nil, err
		}
		all = append(all, files...)
	}
	slices.Sort(all)
	for _, file := range all {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		fmt.Fprintln(sum, filepath.Base(file), len(text))
		sum.Write(text)
		switch filepath.Ext(file) {
		case ".cpp":
			c.scheduler = append(c.scheduler, file)
		case ".cu":
			c.kernels = append(c.kernels, file)
		}
	}
	c.hash = fmt.Sprintf("%x", sum.Sum(nil)[:8])
	return c, nil
}

// run compiles the kernels, and then the library, without the kernels' flags: no sanitizer is linked that is not asked
// for.
func (c *compilation) run(compiler, library string) error {
	folder, err := os.MkdirTemp("", "emulator-*")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	compile := func(lists ...[]string) error {
		cmd := exec.Command(compiler, slices.Concat(lists...)...)
		cmd.Dir = folder                              // of the objects
		cmd.Env = append(os.Environ(), "LD_PRELOAD=") // AddressSanitizer's, which is for the test alone
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%v\n%s", err, out)
		}
		return nil
	}
	failures := make([]error, len(c.kernels))
	parallel.Tasks(0, len(c.kernels), func(_, i int) {
		failures[i] = compile(c.flags, c.kernelFlags, []string{"-c", "-x", "c++", c.kernels[i]})
	})
	if err := errors.Join(failures...); err != nil {
		return err
	}
	objects, err := filepath.Glob(filepath.Join(folder, "*.o"))
	if err != nil {
		return err
	}
	return compile(c.flags, []string{"-shared", "-o", library}, c.scheduler, objects)
}
