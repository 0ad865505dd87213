package gpu_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"mpbench/cuda/testkernels"
	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
)

// childVariable names the action that a child process is to do: faults and broken drivers stay with a process for
// good.
const childVariable = "MPBENCH_TEST_CHILD"

// inChild runs the test again in a child process with more environment, and returns what it printed.
func inChild(t *testing.T, action string, environment ...string) string {
	t.Helper()
	name := gputest.Name(t)
	cmd := exec.Command(os.Args[0], "-test.run=^TestChild$", "-test.v")
	cmd.Env = append(append(os.Environ(), childVariable+"="+action, "MPBENCH_TEST_DEVICE="+name), environment...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", action, err, out)
	}
	return string(out)
}

// TestChild does the action of a child process.
func TestChild(t *testing.T) {
	action := actions[os.Getenv(childVariable)]
	if action == nil {
		return // only in a child process
	}
	action(t)
}

var actions = map[string]func(*testing.T){
	"no driver":   expectOpen(gpu.ErrNoDriver),
	"fault":       expectFault("fault"),
	"divergence":  expectFault("divergent"),
	"out of room": expectOutOfMemory,
}

func expectOpen(kind error) func(*testing.T) {
	return func(t *testing.T) {
		_, err := gpu.Open(0)
		if !errors.Is(err, kind) {
			t.Fatalf("error %v, want %v", err, kind)
		}
		t.Log("error: ", err)
	}
}

// expectFault launches a kernel that fails and checks that the device refuses all later work with that fault.
func expectFault(name string) func(*testing.T) {
	return func(t *testing.T) {
		d := gputest.Device(t)
		err := d.Do(func() error { return launchFault(d, name) })
		if !errors.Is(err, gpu.ErrFault) {
			t.Fatalf("error %v, want a fault", err)
		}
		t.Log("error: ", err)
		if again := d.Do(func() error { return nil }); !errors.Is(again, gpu.ErrFault) {
			t.Fatalf("after a fault: error %v, want the fault", again)
		}
	}
}

func launchFault(d *gpu.Device, name string) error {
	out, err := gpu.Alloc[uint64](d, 64)
	if err != nil {
		return err
	}
	launch := gpu.Launch{Block: gpu.Dim{X: 32}}
	if name == "divergent" {
		k, err := function[testkernels.DivergentArgs](d, name)
		if err != nil {
			return err
		}
		err = k.Launch(launch, testkernels.DivergentArgs{Out: gpu.Pointer[uint32](out.Pointer())})
		return errors.Join(err, d.Sync())
	}
	k, err := function[testkernels.FaultArgs](d, name)
	if err != nil {
		return err
	}
	if err := k.Launch(launch, testkernels.FaultArgs{Out: out.Pointer(), Offset: 1 << 40}); err != nil {
		return err
	}
	return d.Sync()
}

func expectOutOfMemory(t *testing.T) {
	d := gputest.Device(t)
	err := d.Do(func() error {
		before := d.Memory().Current
		_, err := gpu.Alloc[byte](d, int(d.Info().MemoryBytes)+1)
		if d.Memory().Current != before {
			t.Error("a failed allocation counts")
		}
		return err
	})
	if !errors.Is(err, gpu.ErrOutOfMemory) {
		t.Fatalf("error %v, want out of memory", err)
	}
	t.Log("error: ", err)
	if err := d.Do(d.Sync); err != nil {
		t.Fatalf("the device is not usable any more: %v", err)
	}
}

func TestNoDriver(t *testing.T) {
	out := inChild(t, "no driver", "MPBENCH_LIBCUDA=/nowhere/libcuda.so.1")
	for _, part := range []string{"no CUDA driver: looked for /nowhere/libcuda.so.1", "No such file"} {
		if !strings.Contains(out, part) {
			t.Errorf("%q is not in %s", part, out)
		}
	}
}

func TestFaultIsSticky(t *testing.T) {
	if out := inChild(t, "fault"); !strings.Contains(out, "CUDA_ERROR_ILLEGAL_ADDRESS (700)") {
		t.Errorf("no illegal address in %s", out)
	}
}

func TestDivergentBarrier(t *testing.T) {
	if !gputest.Emulated() {
		t.Skip("a divergent barrier may hang a GPU; only the emulator finds it")
	}
	if out := inChild(t, "divergence"); !strings.Contains(out, "emulator: divergent barrier in divergent") {
		t.Errorf("the emulator does not name the kernel: %s", out)
	}
}

func TestOutOfMemory(t *testing.T) {
	if out := inChild(t, "out of room"); !strings.Contains(out, "bytes asked for") {
		t.Errorf("the error does not say how much was asked for: %s", out)
	}
}

func TestNoDevice(t *testing.T) {
	gputest.Device(t)
	_, err := gpu.Open(99)
	if !errors.Is(err, gpu.ErrNoDevice) || !strings.Contains(err.Error(), "cuda:99; there") {
		t.Errorf("error %v", err)
	}
}
