package superaccgpu

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"mpbench/datasets"
	"mpbench/pkg/gpu/gputest"
)

// lengths are around the borders of warps, blocks and of what a warp takes at a time, with full sizes on a GPU.
func lengths() []int {
	list := []int{0, 1, 2, 3, 63, 64, 65, 127, 128, 129, 1000, 3001}
	if !gputest.Emulated() {
		list = append(list, 1023, 1024, 1025, 100_003, 1<<20, 1<<24+1)
	}
	return list
}

func TestSum(t *testing.T) {
	for _, f := range families {
		for i, n := range lengths() {
			x := f.make(uint64(n), n)
			compare(t, fmt.Sprintf("%s, n = %d", f.name, n), deviceSum(t, x, nil, []int{32, 64, 320}[i%3]), cpuSum(x))
		}
	}
}

func TestDot(t *testing.T) {
	gputest.Sanitize(t)
	for i, f := range families {
		for j, n := range lengths() {
			g := families[(i+j)%len(families)]
			x, y := f.make(uint64(n), n), g.make(uint64(n)+1, n)
			compare(t, fmt.Sprintf("%s * %s, n = %d", f.name, g.name, n), deviceSum(t, x, y, []int{32, 64, 320}[j%3]),
				cpuDot(x, y))
		}
	}
}

// One warp alone, which empties its bins, its lanes' digits and its own many times.
func TestLongRuns(t *testing.T) {
	n := 140_001
	if !gputest.Emulated() {
		n = 2_000_001
	}
	for _, f := range families {
		x, y := f.make(3, n), f.make(4, n)
		v, err := newVector(gputest.Device(t), x, nil, 32)
		if err != nil {
			t.Fatal(err)
		}
		v.engine.sumBlocks = 1
		got := cpuSum(nil)
		if _, err := v.Sum(got, false); err != nil {
			t.Fatal(err)
		}
		v.Free()
		compare(t, f.name, got, cpuSum(x))

		if v, err = newVector(gputest.Device(t), x, y, 32); err != nil {
			t.Fatal(err)
		}
		v.engine.dotBlocks = 1
		got = cpuSum(nil)
		if _, err := v.Sum(got, true); err != nil {
			t.Fatal(err)
		}
		v.Free()
		compare(t, f.name+", products", got, cpuDot(x, y))
	}
}

// All named data sets.
func TestDatasets(t *testing.T) {
	gputest.Sanitize(t)
	for _, s := range datasets.Vectors.Sets() {
		spec, err := datasets.Vectors.Parse(s.Name)
		if err != nil {
			t.Fatal(err)
		}
		d, err := datasets.Generate(spec, datasets.Options{N: 2000, Seed: 1})
		if err != nil {
			if d, err = datasets.Generate(spec, datasets.Options{Seed: 1}); err != nil {
				t.Errorf("%s: %v", s.Name, err)
				continue
			}
		}
		x, ok := d.X.Float64()
		if !ok || gputest.Emulated() && len(x) > 20_000 {
			t.Logf("%s: skipped: %d terms", s.Name, d.N)
			continue
		}
		compare(t, s.Name, deviceSum(t, x, nil, 64), cpuSum(x))
	}
}

// 10^4 random lengths and exponent spreads on a GPU, some on the emulator.
func TestRandomShapes(t *testing.T) {
	count := 500
	if !gputest.Emulated() {
		count = 10_000
	}
	r := rand.New(rand.NewPCG(7, 7))
	for i := range count {
		n, spread := r.IntN(1200), 1+r.IntN(1+r.IntN(2046))
		x, y := make([]float64, n), make([]float64, n)
		for j := range n {
			x[j] = finite(r.Uint64()&^(0x7ff<<52) | uint64(1+r.IntN(spread))<<52)
			y[j] = finite(r.Uint64()&^(0x7ff<<52) | uint64(2046-r.IntN(spread))<<52)
		}
		name := fmt.Sprintf("shape %d: n = %d, %d exponents", i, n, spread)
		compare(t, name, deviceSum(t, x, nil, 64), cpuSum(x))
		compare(t, name+", products", deviceSum(t, x, y, 64), cpuDot(x, y))
	}
}
