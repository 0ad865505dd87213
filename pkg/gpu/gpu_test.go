package gpu_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"mpbench/cuda/testkernels"
	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
)

// onDevice runs f on the thread of the device under test.
func onDevice(t *testing.T, f func(d *gpu.Device) error) {
	t.Helper()
	d := gputest.Device(t)
	if err := d.Do(func() error { return f(d) }); err != nil {
		t.Fatal(err)
	}
}

func function[P any](d *gpu.Device, name string) (*gpu.Kernel[P], error) {
	m, err := d.ModuleOf(testkernels.Kernels, "selftest")
	if err != nil {
		return nil, err
	}
	return gpu.Function[P](m, name)
}

func TestArguments(t *testing.T) {
	onDevice(t, func(d *gpu.Device) error {
		k, err := function[testkernels.ArgumentsArgs](d, "arguments")
		if err != nil {
			return err
		}
		out, err := gpu.Alloc[uint64](d, 6)
		if err != nil {
			return err
		}
		defer out.Free()
		p := testkernels.ArgumentsArgs{
			Out: out.Pointer(), Small: math.MaxUint32, Large: 1 << 63, Negative: -5, Real: math.Pi,
			Pair: testkernels.ArgumentPair{A: 7, B: math.MaxUint64},
		}
		if err := k.Launch(gpu.Launch{Block: gpu.Dim{X: 32}}, p); err != nil {
			return err
		}
		got := make([]uint64, 6)
		if err := out.Download(got); err != nil {
			return err
		}
		want := []uint64{math.MaxUint32, 1 << 63, math.MaxUint64 - 4, math.Float64bits(math.Pi), 7, math.MaxUint64}
		if !slices.Equal(got, want) {
			t.Errorf("the kernel saw %x, want %x", got, want)
		}
		return nil
	})
}

func TestFunctionChecksParameters(t *testing.T) {
	onDevice(t, func(d *gpu.Device) error {
		for name, err := range map[string]error{
			"wrong size":       second(function[struct{ Out, Small uint64 }](d, "warpSum")),
			"Go pointer":       second(function[struct{ Out *uint64 }](d, "warpSum")),
			"missing kernel":   second(function[struct{}](d, "nothing")),
			"size of a number": second(function[struct{ Out uint32 }](d, "warpSum")),
		} {
			if err == nil {
				t.Errorf("%s: no error", name)
			} else {
				t.Logf("%s: %v", name, err)
			}
		}
		return nil
	})
}

func second[T any](_ T, err error) error { return err }

func TestBlockSum(t *testing.T) {
	onDevice(t, func(d *gpu.Device) error {
		k, err := function[testkernels.BlockSumArgs](d, "blockSum")
		if err != nil {
			return err
		}
		r := rand.New(rand.NewPCG(1, 2))
		for _, n := range []int{0, 1, 31, 32, 33, 255, 256, 257, 5000} {
			x, want := make([]uint64, n), uint64(0)
			for i := range x {
				x[i] = r.Uint64()
				want += x[i]
			}
			got, err := sumOnDevice(d, k, x)
			if err != nil {
				return err
			}
			if got != want {
				t.Errorf("n = %d: got %d, want %d", n, got, want)
			}
		}
		return nil
	})
}

func sumOnDevice(d *gpu.Device, k *gpu.Kernel[testkernels.BlockSumArgs], x []uint64) (uint64, error) {
	return launchSum(d, k, gpu.Launch{Grid: gpu.Dim{X: 3}, Block: gpu.Dim{X: 64}, Shared: 8 * 64}, x)
}

func launchSum(d *gpu.Device, k *gpu.Kernel[testkernels.BlockSumArgs], l gpu.Launch, x []uint64) (uint64, error) {
	in, err := gpu.Upload(d, x)
	if err != nil {
		return 0, err
	}
	defer in.Free()
	sum, err := gpu.Upload(d, []uint64{0})
	if err != nil {
		return 0, err
	}
	defer sum.Free()
	if err := k.Launch(l, testkernels.BlockSumArgs{Sum: sum.Pointer(), X: in.Pointer(), N: uint64(len(x))}); err != nil {
		return 0, err
	}
	got := make([]uint64, 1)
	err = sum.Download(got)
	return got[0], err
}

// Shared memory beyond what a kernel may use by default: asked for by launches and before occupancies are computed,
// and what one of two that hold the same kernel asks for does not take away from the other.
func TestMuchSharedMemory(t *testing.T) {
	onDevice(t, func(d *gpu.Device) error {
		var kernels [2]*gpu.Kernel[testkernels.BlockSumArgs]
		for i := range kernels {
			var err error
			if kernels[i], err = function[testkernels.BlockSumArgs](d, "blockSum"); err != nil {
				return err
			}
		}
		most := d.Info().SharedPerBlock
		if most < 64<<10 {
			t.Skipf("needs a device with 64 KiB of shared memory a block: this one has %d bytes", most)
		}
		occupancy, err := kernels[0].Occupancy(64, most)
		if err != nil {
			return err
		}
		if want := 64 / float64(d.Info().ThreadsPerMP); occupancy != want {
			t.Errorf("occupancy %g with all the shared memory, want that of one block, %g", occupancy, want)
		}
		for _, l := range []struct{ kernel, shared int }{{0, most}, {1, 60 << 10}, {0, most}, {1, most}} {
			launch := gpu.Launch{Block: gpu.Dim{X: 64}, Shared: l.shared}
			got, err := launchSum(d, kernels[l.kernel], launch, []uint64{3, 4})
			if err != nil || got != 7 {
				t.Errorf("%d bytes: got %d, %v", l.shared, got, err)
			}
		}
		if _, err := kernels[0].Occupancy(64, most+1); err == nil || !strings.Contains(err.Error(), "shared memory") {
			t.Errorf("more than the device has: %v", err)
		}
		return nil
	})
}

func TestWarpSum(t *testing.T) {
	onDevice(t, func(d *gpu.Device) error {
		k, err := function[testkernels.WarpSumArgs](d, "warpSum")
		if err != nil {
			return err
		}
		out, err := gpu.Alloc[uint64](d, 3)
		if err != nil {
			return err
		}
		defer out.Free()
		if err := k.Launch(gpu.Launch{Block: gpu.Dim{X: 32}}, testkernels.WarpSumArgs{Out: out.Pointer()}); err != nil {
			return err
		}
		got := make([]uint64, 3)
		if err := out.Download(got); err != nil {
			return err
		}
		if want := []uint64{31 * 32 * 63 / 6, 0xaaaaaaaa, 31}; !slices.Equal(got, want) {
			t.Errorf("got %x, want %x", got, want)
		}
		return nil
	})
}

// A panic in Do is an error of the caller, on any goroutine; the end of the goroutine is the caller's; and the device
// goes on.
func TestDoEndsAsItsFunction(t *testing.T) {
	d := gputest.Device(t)
	failed := make(chan error)
	go func() { failed <- d.Do(func() error { panic("oh") }) }()
	err := <-failed
	var p *gpu.PanicError
	if !errors.As(err, &p) || p.Value != "oh" || !strings.Contains(p.Stack, "TestDoEndsAsItsFunction") {
		t.Errorf("a panic is %v", err)
	}
	ended := make(chan bool)
	go func() {
		defer close(ended)
		d.Do(func() error { runtime.Goexit(); return nil })
		t.Error("Do returned")
	}()
	<-ended
	if err := d.Do(d.Sync); err != nil {
		t.Error(err)
	}
}

// TestNested: a call into a device from its own thread is an error, also from a function called there; the other
// device calls go on.
func TestNested(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "windows" {
		t.Skip("threads have no numbers on " + runtime.GOOS)
	}
	d := gputest.Device(t)
	var inner error
	if err := d.Do(func() error { inner = d.Do(d.Sync); return nil }); err != nil {
		t.Error(err)
	}
	if !errors.Is(inner, gpu.ErrNested) {
		t.Errorf("a nested call is %v", inner)
	}
	var others sync.WaitGroup
	for range 50 {
		others.Go(func() {
			runtime.LockOSThread()
			failOn(t, d.Do(d.Sync))
		})
	}
	others.Wait()
}

func failOn(t *testing.T, err error) {
	if err != nil {
		t.Error(err)
	}
}

// TestEarly: on a device that can let kernels begin early, modules that are made for that are taken; products in
// rns/deferred/deferredgpu use them.
func TestEarly(t *testing.T) {
	if gputest.Device(t).Info().Major < 9 {
		t.Skip("needs a device of compute capability 9.0")
	}
	onDevice(t, func(d *gpu.Device) error {
		for name, want := range map[string]bool{"deferred": true, "planes": false} {
			m, err := d.Module(name)
			if err != nil {
				return err
			}
			if gpu.Early(m) != want {
				t.Errorf("kernels of %s may begin early: %v", name, !want)
			}
		}
		return nil
	})
}
