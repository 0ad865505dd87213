package methods_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/device"
	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// several returns the set of some GPUs.
func several(devices []*gpu.Device) device.Set {
	var members []device.Member
	for _, d := range devices {
		members = append(members, device.Member{Kind: device.CUDA, Index: d.Info().Index})
	}
	return device.Of(members...)
}

// eachOn calls f with all usual methods that several devices can share, ready for p bits or for those that they have.
func eachOn(t *testing.T, set device.Set, bits int, f func(t *testing.T, m method.Method, c method.Config)) {
	for _, m := range catalog {
		c := method.Config{Precision: bits, Devices: set}
		if m.Accepts(bits) != nil {
			c.Precision = 53
		}
		if c, err := m.Complete(c); err == nil && m.Missing() == nil && !m.Extra {
			t.Run(m.Operation.Name+"/"+m.Name, func(t *testing.T) { f(t, m, c) })
		}
	}
}

// TestSeveralGPUs: however the rows or terms are shared among two or three GPUs, with or without the processors, the
// bits are those of one GPU, and the record says which device has how much.
func TestSeveralGPUs(t *testing.T) {
	devices := gputest.Devices(t, 3)
	for _, members := range []int{2, 3} {
		set := several(devices[:members])
		eachOn(t, set, 106, func(t *testing.T, m method.Method, c method.Config) {
			p := problems.Choice{Seed: 7, Bits: c.Precision, Least: 7, Largest: 12}.Random(m.Operation)
			one := c
			one.Devices = several(devices[:1])
			want, _ := run(t, m, one, p)
			shape, err := p.Op.Shape(p)
			if err != nil {
				t.Fatal(err)
			}
			n := shape.Parts(p.Op)
			sets := []device.Set{set}
			if m.On[device.CPU] != nil && members == 2 {
				sets = append(sets, device.Must("cpu+"+devices[1].Name()))
			}
			for _, c.Devices = range sets {
				for _, first := range []int{0, min(1, n), n / 2, n} {
					shares := make([]int, members)
					shares[0], shares[members-1] = first, n-first
					if members == 3 && first > 1 {
						shares[0], shares[1] = first/2, first-first/2
					}
					checkShares(t, m, c, p, shares, want)
				}
			}
		})
	}
}

func checkShares(t *testing.T, m method.Method, c method.Config, p *op.Problem, shares []int, want numbers.Source) {
	t.Helper()
	e, err := method.NewShared(m, c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := method.PrepareShares(context.Background(), e, p, shares); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := e.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	y, err := e.Result()
	if err != nil {
		t.Fatal(err)
	}
	for i := range want.Len() {
		if got, want := numbers.At(y, i), numbers.At(want, i); !got.Equal(want) {
			t.Fatalf("%s, shares %v: component %d is %v, not %v", c.Devices, shares, i, got, want)
		}
	}
	info, active := e.Info(), 0
	for _, n := range shares {
		if n > 0 {
			active++
		}
	}
	if strings.Count(info.Variant, " of ") < active || strings.Count(info.Device, "+") != len(shares)-1 {
		t.Errorf("shares %v of %s: %q on %q", shares, c.Devices, info.Variant, info.Device)
	}
}

// TestSeveralFault: a GPU that faults while it shares a problem, at any moment, ends the run with one line that names
// it; nothing hangs, and the other device goes on to work.
func TestSeveralFault(t *testing.T) {
	if !gputest.Emulated() {
		t.Skip("a GPU faults on no request; the emulator does")
	}
	devices := gputest.Devices(t, 8)
	ill := 7
	for _, o := range []*op.Operation{op.Sum, op.Dot, op.Gemv} {
		m, _ := catalog.Lookup(o, "deferred")
		p := problems.Choice{Seed: 5, Bits: 106, Least: 8, Largest: 12}.Random(o)
		shape, err := p.Op.Shape(p)
		if err != nil {
			t.Fatal(err)
		}
		n := shape.Parts(p.Op)
		pair := []*gpu.Device{devices[0], devices[ill]}
		ill--
		e, err := method.NewShared(m, method.Config{Precision: 106, Devices: several(pair)})
		if err != nil {
			t.Fatal(err)
		}
		if err := method.PrepareShares(context.Background(), e, p, []int{n / 2, n - n/2}); err != nil {
			t.Fatal(err)
		}
		if err := pair[1].Do(func() error { pair[1].Break(2); return nil }); err != nil {
			t.Fatal(err)
		}
		for range 2 { // for good
			err := e.Run(context.Background())
			if !errors.Is(err, gpu.ErrFault) || !strings.HasPrefix(err.Error(), pair[1].Name()+": cu") ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("%s: error %v, want a fault of %s", o.Name, err, pair[1].Name())
			}
		}
		if err := e.Close(); err != nil && !errors.Is(err, gpu.ErrFault) {
			t.Error(err)
		}
		run(t, m, method.Config{Precision: 106, Devices: several(pair[:1])}, p)
	}
}
