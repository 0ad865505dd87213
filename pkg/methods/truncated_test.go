package methods_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// TestTruncated compares deferred of numbers of widely different size, on the CPU, a device and both, with the exact
// sums.
func TestTruncated(t *testing.T) {
	precisions := []int{24, 53, 106, 424, 1696, 4096}
	if testing.Short() {
		precisions = precisions[1:3]
	}
	places := sets(t)
	for _, precision := range precisions {
		for turn := range 4 {
			wide, trans := turn%2 == 1, turn/2 == 1
			// float64 is not truncated to so many bits; many moduli take long
			if precision > 424 && (!wide || turn/2 != precision/4096) {
				continue
			}
			t.Run(fmt.Sprint(precision, "/", turn), func(t *testing.T) {
				r := rand.New(rand.NewPCG(uint64(precision), uint64(turn)))
				rows, terms := 40, 24
				if precision > 424 {
					rows, terms = 12, 6
				}
				if trans {
					rows, terms = terms, rows
				}
				checkTruncated(t, places, problems.Truncated(r, trans, rows, terms, precision, 40, wide), precision)
			})
		}
	}
}

func checkTruncated(t *testing.T, places []device.Set, p *op.Problem, precision int) {
	t.Helper()
	m, _ := catalog.Lookup(op.Gemv, "deferred")
	for _, set := range places {
		if precision > 424 && set.Kind() != device.CUDA {
			continue
		}
		checkRounded(t, m, method.Config{Precision: precision, Devices: set, Threads: 2}, p)
	}
	// It was truncation that was tested, and rows that were computed again.
	e, err := m.New(method.Config{Precision: precision, Devices: places[1]})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := method.Run(context.Background(), e, p); err != nil {
		t.Fatal(err)
	}
	recomputed := 0
	variant := e.Info().Variant
	_, err = fmt.Sscanf(variant, "truncated factors, %d", &recomputed)
	if err != nil || recomputed < 1 || recomputed > 3 {
		t.Errorf("variant %q", variant)
	}
}

// TestReconsidered has so many rows that truncation leaves open that all sums are exact after Prepare, where there is
// memory for that.
func TestReconsidered(t *testing.T) {
	m, _ := catalog.Lookup(op.Gemv, "deferred")
	onGPU := sets(t)[1]
	for turn := range 4 {
		r := rand.New(rand.NewPCG(71, uint64(turn)))
		p := problems.Truncated(r, turn/2 == 1, 16, 16, 106, 4, turn%2 == 1)
		checkRounded(t, m, method.Config{Precision: 106, Devices: onGPU}, p)
		info := infoOf(t, m, method.Config{Precision: 106, Devices: onGPU}, p)
		if strings.Contains(info.Variant, "truncated") {
			t.Errorf("on the device: %q", info.Variant)
		}
		for _, bytes := range []int64{0, 4 * int64(info.Moduli) * 16 * 16 / 2} {
			c := method.Config{Precision: 106, Threads: 1, MaxBytes: bytes}
			checkRounded(t, m, c, p)
			if truncated := strings.Contains(infoOf(t, m, c, p).Variant, "truncated"); truncated != (bytes > 0) {
				t.Errorf("with %d bytes the CPU's sums are truncated: %v", bytes, truncated)
			}
		}
	}
}

func infoOf(t *testing.T, m method.Method, c method.Config, p *op.Problem) method.Info {
	t.Helper()
	e, err := m.New(c)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := method.Run(context.Background(), e, p); err != nil {
		t.Fatal(err)
	}
	return e.Info()
}

// TestTruncatedSpecial has infinities and NaN among such numbers.
func TestTruncatedSpecial(t *testing.T) {
	m, _ := catalog.Lookup(op.Gemv, "deferred")
	for seed := range uint64(6) {
		r := rand.New(rand.NewPCG(61, seed))
		p := problems.Truncated(r, seed%2 == 1, 12, 12, 53, 6, false)
		a := p.Matrix()
		problems.Set(a, 3, 2, math.Inf(-1))
		problems.Set(a, 7, 5, math.NaN())
		if seed > 3 {
			problems.Set(p.X, 4, 0, math.Inf(1))
		}
		want, _ := run(t, m, method.Config{Precision: 53, Threads: 1}, p)
		for _, set := range sets(t)[1:] {
			got, _ := run(t, m, method.Config{Precision: 53, Threads: 1, Devices: set}, p)
			special := 0
			for i := range got.Len() {
				v, w := numbers.At(got, i), numbers.At(want, i)
				if !v.Equal(w) {
					t.Fatalf("seed %d on %s, component %d: %v, want %v", seed, set, i, v, w)
				}
				if v.Class != exact.Finite {
					special++
				}
			}
			if special < 2 {
				t.Errorf("seed %d: %d infinities and NaN", seed, special)
			}
		}
	}
}

// TestStreamed: what is streamed has the bits of what is in memory, on every device that streams.
func TestStreamed(t *testing.T) {
	seeds := uint64(40)
	if gputest.Emulated() {
		seeds = 16
	}
	for _, m := range catalog {
		for _, set := range sets(t) {
			if !slices.Contains(m.Streams, set.Kind()) {
				continue
			}
			for _, precision := range []int{53, 106, 424} {
				for seed := range seeds {
					checkStreamed(t, m, set, precision, seed)
				}
			}
		}
	}
}

func checkStreamed(t *testing.T, m method.Method, set device.Set, precision int, seed uint64) {
	t.Helper()
	c := problems.Choice{
		Seed: seed, Kind: problems.Kind(seed) % problems.Kinds, Bits: []int{0, precision}[seed/4%2], Largest: 30,
	}
	p := c.Random(m.Operation)
	want, _ := run(t, m, method.Config{Precision: precision}, p)
	got, _ := run(t, m, method.Config{Precision: precision, Devices: set, Stream: true, Threads: 2}, p)
	for i := range want.Len() {
		if !numbers.At(got, i).Equal(numbers.At(want, i)) {
			t.Fatalf("%s of %+v at %d bits on %s, component %d: %v, want %v",
				m.Operation.Name, c, precision, set, i, numbers.At(got, i), numbers.At(want, i))
		}
	}
}
