package methods_test

import (
	"context"
	"errors"
	"os"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/device"
	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// TestRefusedCalls: whichever call of the driver is refused by a device whose memory others fill, of many calls some,
// the engine returns that error or gives the bits that it gives otherwise; it gives all memory back, and the next run
// is right.
func TestRefusedCalls(t *testing.T) {
	d := gputest.Device(t)
	if !gputest.Emulated() {
		t.Skip("a GPU refuses no call on request; the emulator does")
	}
	everything := os.Getenv("MPBENCH_FULL_TESTS") != ""
	for _, m := range catalog {
		for _, set := range sets(t)[1:] {
			if m.Extra && set.Kind() == device.Hybrid && !everything {
				continue // formats that no table shows share what devices do together with the others
			}
			for _, stream := range []bool{false, true} {
				c := method.Config{Precision: 106, Devices: set, Stream: stream}
				if m.Accepts(c.Precision) != nil {
					c.Precision = 53
				}
				if _, err := m.Complete(c); err == nil && !(m.Extra && testing.Short()) {
					t.Run(m.Operation.Name+"/"+m.Name, func(t *testing.T) { checkRefused(t, m, c, d) })
				}
			}
		}
	}
}

func checkRefused(t *testing.T, m method.Method, c method.Config, d *gpu.Device) {
	p := problems.Choice{Seed: 3, Bits: c.Precision, Least: 6, Largest: 9}.Random(m.Operation)
	want, _ := run(t, m, c, p)
	for after := 0; ; after++ {
		switch {
		case after > 24 && (m.Extra || testing.Short()):
			after += 16
		case after > 24:
			after += 4
		}
		refusedRun(t, m, c, p, d, after, want) // makes what the device keeps
		before := memory(t, d)
		left := refusedRun(t, m, c, p, d, after, want)
		if now := memory(t, d); now != before {
			t.Fatalf("call %d refused: %d bytes of the device are in use, %d before", after, now, before)
		}
		y, _ := run(t, m, c, p)
		sameBits(t, after, y, want)
		if left >= 0 {
			return
		}
	}
}

// refusedRun runs with a refused call, and returns how many calls there still were to serve.
func refusedRun(t *testing.T, m method.Method, c method.Config, p *op.Problem, d *gpu.Device, after int,
	want numbers.Source) (left int) {
	t.Helper()
	refuse(t, d, after)
	y, err := timedRun(m, c, p)
	left = refuse(t, d, -1)
	if panicked := (*gpu.PanicError)(nil); errors.As(err, &panicked) {
		t.Fatalf("call %d refused: %v\n%s", after, err, panicked.Stack)
	}
	var memory *method.MemoryError
	if err != nil && !errors.Is(err, gpu.ErrOutOfMemory) && !errors.As(err, &memory) {
		t.Fatalf("call %d refused: %v", after, err)
	}
	if err == nil {
		sameBits(t, after, y, want)
	}
	return left
}

// refuse makes the emulator refuse a call, and returns how many it still had to serve before.
func refuse(t *testing.T, d *gpu.Device, after int) (left int) {
	t.Helper()
	if err := d.Do(func() error { left = d.Refuse(after); return nil }); err != nil {
		t.Fatal(err)
	}
	return left
}

func memory(t *testing.T, d *gpu.Device) (bytes int64) {
	t.Helper()
	if err := d.Do(func() error { bytes = d.Memory().Current; return nil }); err != nil {
		t.Fatal(err)
	}
	return bytes
}

// timedRun computes a problem with a new engine, twice if the engine takes its time itself.
func timedRun(m method.Method, c method.Config, p *op.Problem) (y numbers.Source, err error) {
	e, err := m.New(c)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	if err := method.Run(context.Background(), e, p); err != nil {
		return nil, err
	}
	if timed, ok := e.(method.Timed); ok {
		if err := timed.RunTimed(context.Background()); err != nil {
			return nil, err
		}
		timed.Times()
	}
	return e.Result()
}

func sameBits(t *testing.T, after int, y, want numbers.Source) {
	t.Helper()
	for i := range want.Len() {
		if !numbers.At(y, i).Equal(numbers.At(want, i)) {
			t.Fatalf("call %d refused: component %d is %v, not %v", after, i, numbers.At(y, i), numbers.At(want, i))
		}
	}
}
