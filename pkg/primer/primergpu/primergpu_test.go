package primergpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/primer"
)

func TestMain(m *testing.M) {
	gputest.Count()
	os.Exit(m.Run())
}

// operations lists those of a type.
func operations(elements string) (list []primer.Operation) {
	for _, o := range primer.Operations {
		if _, err := primer.Reduction.Parse(o.Name, elements); err == nil {
			list = append(list, o)
		}
	}
	return list
}

// TestLadder: every rung gives the exact result, or one within its bound, for lengths around those of warps and
// blocks, in blocks of several sizes and grids of one, two and three dimensions.
func TestLadder(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	t.Run("int32", func(t *testing.T) { testLadder[int32](t, d) })
	t.Run("int64", func(t *testing.T) { testLadder[int64](t, d) })
	t.Run("float32", func(t *testing.T) { testLadder[float32](t, d) })
	t.Run("float64", func(t *testing.T) { testLadder[float64](t, d) })
}

func testLadder[T primer.Number](t *testing.T, d *gpu.Device) {
	shapes := []Options{{Block: 64}, {Block: 128, Grid: 2}, {Block: 32, Grid: 3}}
	for i, o := range operations(primer.TypeName[T]()) {
		shape := shapes[i%len(shapes)]
		for _, n := range []int{0, 1, 31, 32, 33, shape.Block - 1, shape.Block, shape.Block + 1, 3001} {
			checkLadder(t, d, primer.NewProblem[T](o, n, uint64(n), 1), shape, Rungs)
		}
	}
	full := Options{Block: d.Info().ThreadsPerBlock}
	for _, n := range []int{full.Block - 1, full.Block, full.Block + 1} {
		checkLadder(t, d, primer.NewProblem[T](primer.Operations[0], n, 1, 1), full, Rungs)
	}
}

func checkLadder[T primer.Number](
	t *testing.T, d *gpu.Device, p *primer.Problem[T], o Options, rungs []Rung,
) (steps map[string][]gpu.Step) {
	t.Helper()
	l, err := NewLadder(d, p, o)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	steps = map[string][]gpu.Step{}
	for _, r := range rungs {
		for range 2 { // a second run finds what the first one left
			if _, err := l.Run(r); err != nil {
				t.Fatal(r.Name, ": ", err)
			}
			if v := p.Reference.Judge(l.Result()); !v.Right {
				t.Errorf("%s of %d by %s, %+v: %+v", r.Name, len(p.X), p.Name, o, v)
			}
		}
		steps[r.Name] = l.Steps()
	}
	return steps
}

// TestLong: many blocks, and as many passes as it takes; on a GPU 2^26 + 3 elements, for all types.
func TestLong(t *testing.T) {
	d := gputest.Device(t)
	n := 1<<20 + 3
	if gputest.Emulated() {
		t.Log("2^26 + 3 elements are for a GPU: 2^20 + 3 on the emulator")
		if testing.Short() {
			n = 1<<16 + 3
		}
	} else {
		n = 1<<26 + 3
	}
	sum := primer.Operations[0]
	checkLadder(t, d, primer.NewProblem[int32](sum, n, 1, 1), Options{}, Rungs)
	if gputest.Emulated() {
		n = 1<<14 + 3
	}
	checkLadder(t, d, primer.NewProblem[int64](sum, n, 1, 1), Options{Grid: 2}, Rungs)
	checkLadder(t, d, primer.NewProblem[float32](sum, n, 1, 1), Options{Grid: 3}, Rungs)
	checkLadder(t, d, primer.NewProblem[float64](sum, n, 1, 1), Options{}, Rungs)
}

// TestMinimum: NaN, infinities and zeros of both signs anywhere in a block.
func TestMinimum(t *testing.T) {
	d := gputest.Device(t)
	r := rand.New(rand.NewPCG(7, 7))
	nan, inf := float32(0), float32(1e30)
	nan, inf = nan/nan, inf*inf
	for _, values := range [][]float32{{1, nan}, {0, -1 / inf}, {inf, -inf}, {-1 / inf, 0, nan}, {inf}, {-2, 3, 1}} {
		for _, o := range primer.Operations[2:4] {
			x := make([]float32, 300)
			for i := range x {
				x[i] = values[r.IntN(len(values))]
			}
			c := primer.CombinerOf[float32](o)
			p := &primer.Problem[float32]{Combiner: c, X: x, Threads: 1, Reference: primer.NewReference(c, x)}
			checkLadder(t, d, p, Options{Block: 64}, Rungs)
		}
	}
}

func TestOptions(t *testing.T) {
	d := gputest.Device(t)
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{Block: 2048}, "a block has at most 1024"}, {Options{Block: 100}, "power of two"},
		{Options{Block: 16}, "power of two"}, {Options{Grid: 4}, "want 1, 2 or 3"},
	} {
		_, err := NewLadder(d, primer.NewProblem[int32](primer.Operations[0], 5, 1, 1), c.options)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c.options, err)
		}
	}
}

func TestGrid(t *testing.T) {
	for _, blocks := range []int{1, 2, 7, 65535, 65536, 1 << 20, 1<<26 + 3} {
		for dimensions := 1; dimensions <= 3; dimensions++ {
			g := gridOf(blocks, dimensions)
			if all := g.X * max(1, g.Y) * max(1, g.Z); all < blocks || max(g.Y, g.Z) > 65535 || all > 2*blocks+2 {
				t.Errorf("%d blocks, %d dimensions: %+v", blocks, dimensions, g)
			}
		}
	}
}

// counting returns a device that counts.
func counting(t *testing.T) *gpu.Device {
	d := gputest.Device(t)
	if !d.Counts() {
		t.Skip("the device under test does not count steps: the emulator does, without a sanitizer")
	}
	return d
}

// TestSteps compares the counts with what they must be for a block of 512 threads, 16 warps: 9 steps of additions,
// between one that loads and one that stores.
func TestSteps(t *testing.T) {
	steps := checkLadder(t, counting(t), primer.NewProblem[int32](primer.Operations[0], 512, 1, 1),
		Options{Block: 512}, Rungs[:4])
	for _, c := range []struct {
		rung                 string
		divergent, conflicts []uint64
	}{
		// 2s < 32: some threads of every warp; then one of every warp that works, 16 512/32s of them
		{"divergent", []uint64{0, 16, 16, 16, 16, 16, 8, 4, 2, 1, 1}, make([]uint64, 11)},
		// s: 256/s threads work, in whole warps until s = 8. Three accesses (two reads, one write) of each warp of
		// threads that are 2s words apart: 2s words of the bank with most of them, at most as many as threads work.
		{"strided", []uint64{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1},
			[]uint64{0, 8 * 3 * 1, 4 * 3 * 3, 2 * 3 * 7, 3 * 15, 3 * 15, 3 * 7, 3 * 3, 3 * 1, 0, 0}},
		{"sequential", []uint64{0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}, make([]uint64, 11)},
	} {
		var divergent, conflicts []uint64
		for _, s := range steps[c.rung] {
			divergent, conflicts = append(divergent, s.Divergent), append(conflicts, s.Conflicts)
		}
		if !slices.Equal(divergent, c.divergent) || !slices.Equal(conflicts, c.conflicts) {
			t.Errorf("%s: divergent warps %v, want %v; bank conflicts %v, want %v", c.rung, divergent, c.divergent,
				conflicts, c.conflicts)
		}
	}
	for _, p := range primer.Patterns { // what the page's indices give
		for i, s := range p.Steps(512) {
			if got := steps[p.Name][i+1]; int(got.Divergent) != s.Divergent || int(got.Conflicts) != s.Conflicts {
				t.Errorf("%s, step %d: %+v, want %+v", p.Name, i+1, got, s)
			}
		}
	}
	global := steps["global"]
	if len(global) != 11 || slices.ContainsFunc(global, func(s gpu.Step) bool { return s.Accesses > 0 }) {
		t.Errorf("global: %v: shared memory is used", global)
	}
}

// TestWideElements: elements of 8 bytes are served to half a warp at a time, without conflicts of their own.
func TestWideElements(t *testing.T) {
	steps := checkLadder(t, counting(t), primer.NewProblem[int64](primer.Operations[0], 64, 1, 1), Options{Block: 64},
		Rungs[3:4])["sequential"]
	for i, s := range steps {
		if s.Conflicts != 0 {
			t.Errorf("step %d: %d conflicts", i, s.Conflicts)
		}
	}
	// 64 threads store: 4 half warps; then 32 read two and write one: 2 half warps three times
	if steps[0].Accesses != 4 || steps[1].Accesses != 6 {
		t.Errorf("%d and %d accesses", steps[0].Accesses, steps[1].Accesses)
	}
}

func ExampleRungs() {
	for _, r := range Rungs {
		fmt.Println(r.Name)
	}
	// Output:
	// global
	// divergent
	// strided
	// sequential
	// first-add
	// shuffle
	// vector
}

// TestScan: scans have the bits of the CPU's, which are right, inclusive and exclusive, for lengths around those of
// packs, rows and tiles, and again with the same memory.
func TestScan(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	t.Run("int32", func(t *testing.T) { testScan[int32](t, d) })
	t.Run("int64", func(t *testing.T) { testScan[int64](t, d) })
	t.Run("float32", func(t *testing.T) { testScan[float32](t, d) })
	t.Run("float64", func(t *testing.T) { testScan[float64](t, d) })
}

func testScan[T primer.Number](t *testing.T, d *gpu.Device) {
	tile := primer.TileElements[T]()
	for i, o := range operations(primer.TypeName[T]()) {
		lengths := []int{0, 1, 31, 32, 33, 1000}
		if i < 3 { // + and *, and one that does not round
			lengths = append(lengths, tile-1, tile, tile+1, 3*tile+7)
		}
		for _, n := range lengths {
			checkScan(t, d, primer.NewProblem[T](o, n, uint64(n), 2), i%2 == 1)
		}
		checkScan(t, d, primer.NewProblem[T](o, tile+5, 1, 2), i%2 == 0)
	}
}

func checkScan[T primer.Number](t *testing.T, d *gpu.Device, p *primer.Problem[T], exclusive bool) {
	t.Helper()
	s, err := NewScan(d, p, exclusive)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := primer.NewPrefixReference(p.Combiner, p.X, exclusive)
	want := make([]T, len(p.X))
	scanner := primer.Scanners[T](p.Operation)[1] // two passes, or the fixed grouping
	scanner.Scan(p.Combiner, want, p.X, exclusive, 2)
	if v := r.Judge(want, false); !v.Right {
		t.Fatalf("%s of %d by %s: %+v", scanner.Name, len(p.X), p.Name, v)
	}
	for range 2 {
		if _, err := s.Run(); err != nil {
			t.Fatal(err)
		}
		y, err := s.Result()
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(y, want) { // there is no NaN
			t.Errorf("%d elements by %s, exclusive %v: not the bits of the CPU", len(p.X), p.Name, exclusive)
		}
	}
}

// TestLongScan: more tiles than a group has; on a GPU 2^26 + 3 elements.
func TestLongScan(t *testing.T) {
	d := gputest.Device(t)
	n := 1<<26 + 3
	if gputest.Emulated() {
		n = (primer.GroupTiles+1)*primer.TileElements[int64]() + 3
		t.Logf("2^26 + 3 elements are for a GPU: %d on the emulator", n)
	}
	sum := primer.Operations[0]
	checkScan(t, d, primer.NewProblem[int64](sum, n, 1, 0), true)
	if testing.Short() {
		return
	}
	checkScan(t, d, primer.NewProblem[float64](sum, n, 1, 0), false)
	checkScan(t, d, primer.NewProblem[int32](sum, n, 1, 0), false)
	checkScan(t, d, primer.NewProblem[float32](sum, n, 1, 0), true)
}

// TestExactScan: every sum is exact, and rounded once: of numbers of both signs and of 60 binades, of subnormal
// numbers, of sums that cancel, around the lengths of tiles.
func TestExactScan(t *testing.T) {
	gputest.Sanitize(t)
	d := gputest.Device(t)
	testExactScan[float32](t, d, 40, -149)
	testExactScan[float64](t, d, 60, -1074)
	sum := primer.Operations[0]
	wide := &primer.Problem[float64]{Combiner: primer.CombinerOf[float64](sum), X: []float64{1, 0x1p-200}}
	if _, err := NewExactScan(d, wide, false); !errors.Is(err, ErrWide) {
		t.Error(err)
	}
	if _, err := NewExactScan(d, primer.NewProblem[int32](sum, 5, 1, 1), false); !errors.Is(err, ErrNoSum) {
		t.Error(err)
	}
}

func testExactScan[T float32 | float64](t *testing.T, d *gpu.Device, spread, least int) {
	r := rand.New(rand.NewPCG(8, 8))
	c := primer.CombinerOf[T](primer.Operations[0])
	tile := primer.TileElements[T]() / primer.TileRows * wide.rows
	for _, low := range []int{least, -60, 0} {
		for i, n := range []int{0, 1, 33, tile - 1, tile, tile + 1, 3*tile + 9} {
			x := make([]T, n)
			for k := range x {
				x[k] = T(math.Ldexp(float64(r.Int64N(1<<25)-1<<24), low+r.IntN(spread)))
				if k%5 == 4 {
					x[k] = -x[k-1]
				}
			}
			s, err := NewExactScan(d, &primer.Problem[T]{Combiner: c, X: x}, i%2 == 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Run(); err != nil {
				t.Fatal(err)
			}
			y, err := s.Result()
			if err != nil {
				t.Fatal(err)
			}
			if v := primer.NewPrefixReference(c, x, i%2 == 0).Judge(y, true); !v.Right {
				t.Errorf("%d elements from 2^%d on: %+v", n, low, v)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
