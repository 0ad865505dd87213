package reduce

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/exact"
	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/rns"
)

// twins are the methods of GPUs by the CPU method whose bits they must have.
var twins = map[string][]string{
	"reduce1": {"reduce1s", "reduce1p"},
	"reduce2": {"reduce2s", "reduce2p"},
	"reduce3": {"reduce3", "reduce3p"},
}

// onDevice is a Summer of a method on the device under test with terms loaded.
func onDevice(t testing.TB, method string, o Options, terms Terms) DeviceSummer {
	t.Helper()
	o.Device = gputest.Name(t)
	m, ok := Lookup(method)
	if !ok {
		t.Fatalf("no method %s", method)
	}
	s, err := m.New(o)
	if err != nil {
		t.Fatal(err)
	}
	d := s.(DeviceSummer)
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := s.Load(terms); err != nil {
		t.Fatal(err)
	}
	return d
}

// resultOf returns the RNS number that a Summer of such numbers has computed.
func resultOf(s Summer) *rns.Float {
	switch s := s.(type) {
	case *reduce1:
		return s.sum
	case *reduce2:
		return s.sum
	case *reduce3:
		return s.sum
	}
	return s.(*deviceSum).sum
}

// compareTwins sums on the device and on the CPU and compares sign, residues and exponent.
func compareTwins(t *testing.T, what string, methods []string, o Options, terms Terms) {
	t.Helper()
	for twin, list := range twins {
		if !slices.Contains(methods, twin) {
			continue
		}
		reference := run(t, twin, o, terms)
		want := resultOf(reference)
		for _, name := range list {
			d := onDevice(t, name, o, terms)
			if _, err := d.SumPhases(context.Background()); err != nil {
				t.Fatalf("%s %s: %v", what, name, err)
			}
			got := resultOf(d)
			if !d.Value().Equal(reference.Value()) || d.Value().IsFinite() && (got.Neg != want.Neg || got.Exp != want.Exp || !slices.Equal(got.Residues(), want.Residues())) {
				t.Errorf("%s %s: %s*2^%d, want %s*2^%d as %s", what, name, d.Value().Text(20), got.Exp, reference.Value().Text(20), want.Exp, twin)
			}
			if err := d.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// sweep is how much the tests compare: the emulator is slow, a GPU adds 10^6 numbers of 1696 bits in order in half a minute.
type sweep struct {
	precisions []struct{ bits, moduliBits int }
	sets       []string
	sizes      []int
	grids      []grid
	serial     func(n, precision int) bool // whether the orders of one thread or one block are to be compared
}

type precisionOf = struct{ bits, moduliBits int }

func newSweep() sweep {
	if gputest.Emulated() {
		return sweep{
			precisions: []precisionOf{{30, 16}, {53, 31}, {106, 31}, {240, 16}, {424, 31}, {1696, 31}},
			sets: []string{
				"mcnamee1", "mcnamee3", "uniform01:n=257", "uniform11:n=60", "anderson:n=133", "gensum:n=141,cond=1e40", "zhuhayes1:n=64", "zhuhayes3:n=64,delta=400",
				"zhuhayes4:n=140,delta=400", "harmonic:n=99", "basel:n=100", "extremes:kind=subnormals,n=20", "extremes:kind=overflow",
			},
			sizes:  []int{1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 127, 128, 129, 1000},
			grids:  []grid{{1, 1}, {2, 4}, {3, 8}, {1, 32}, {2, 64}},
			serial: func(int, int) bool { return true },
		}
	}
	return sweep{
		precisions: []precisionOf{{30, 16}, {30, 31}, {53, 9}, {53, 31}, {60, 16}, {106, 31}, {120, 16}, {212, 31}, {240, 16}, {424, 31}, {480, 16}, {848, 31}, {1696, 31}},
		sets: []string{
			"mcnamee1", "mcnamee2", "mcnamee3", "uniform01:n=20000", "uniform11:n=20001", "anderson:n=17777", "gensum:n=20000,cond=1e40",
			"zhuhayes1:n=20480", "zhuhayes2:n=20480,delta=400", "zhuhayes3:n=20480,delta=400", "zhuhayes4:n=20480,delta=400", "harmonic:n=20000",
			"basel:n=20000", "extremes:kind=overflow", "extremes:kind=subnormals,n=10000",
		},
		sizes:  []int{1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097, 32767, 32768, 32769, 99_999, 100_000, 1_000_000},
		grids:  []grid{{256, 64}, {1056, 128}, {1, 64}, {32, 64}, {64, 1024}},
		serial: func(n, precision int) bool { return n*precision <= 32_000_000 && (n <= 1000 || !testing.Short()) },
	}
}

func (s sweep) methods(n, precision int) []string {
	if s.serial(n, precision) {
		return []string{"reduce1", "reduce2", "reduce3"}
	}
	return []string{"reduce3"}
}

// TestGPUDataSets compares every GPU method with its CPU twin on all data sets at all precisions.
func TestGPUDataSets(t *testing.T) {
	gputest.Name(t)
	s := newSweep()
	for i, set := range s.sets {
		terms := generate(t, set)
		for k, p := range s.precisions {
			o := Options{Precision: p.bits, ModuliBits: p.moduliBits, Rounding: rns.Rounding((i + k) & 1), Alignment: rns.Alignment((i + k) >> 1 & 1)}
			if gputest.Emulated() && terms.Len()*p.bits > 40_000 && k > 0 {
				continue
			}
			g := s.grids[(i+k)%len(s.grids)]
			o.Blocks, o.BlockSize = g.Blocks, g.BlockSize
			compareTwins(t, fmt.Sprintf("%s p=%d/%d %v %v %v", set, p.bits, p.moduliBits, o.Rounding, o.Alignment, g), s.methods(terms.Len(), p.bits), o, terms)
		}
	}
}

// TestGPUSizes compares at sizes around those of blocks and grids, with every grid.
func TestGPUSizes(t *testing.T) {
	gputest.Name(t)
	s := newSweep()
	all := generate(t, fmt.Sprintf("uniform11:n=%d", slices.Max(s.sizes)))
	for _, n := range s.sizes {
		terms := Terms{Float64: all.Float64[:n]}
		for k, p := range s.precisions {
			if gputest.Emulated() && (p.bits > 240 || k != n%4) {
				continue
			}
			for i, g := range s.grids {
				if n >= 50_000 && i >= 2 {
					break // for time
				}
				methods := []string{"reduce3"}
				if i == 0 {
					methods = s.methods(n, p.bits)
				}
				o := Options{Precision: p.bits, ModuliBits: p.moduliBits, Blocks: g.Blocks, BlockSize: g.BlockSize}
				compareTwins(t, fmt.Sprintf("n=%d p=%d/%d %v", n, p.bits, p.moduliBits, g), methods, o, terms)
			}
		}
	}
}

// TestGPUWideTerms compares sums of numbers with significands of full length.
func TestGPUWideTerms(t *testing.T) {
	gputest.Name(t)
	n := 10_000
	if gputest.Emulated() {
		n = 24
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for _, p := range newSweep().precisions {
		wide := make([]*big.Rat, n)
		for i := range wide {
			x := new(big.Int)
			for range p.bits/64 + 1 {
				x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(rng.Uint64()))
			}
			if rng.IntN(2) == 0 {
				x.Neg(x)
			}
			wide[i] = new(big.Rat).SetFrac(x, new(big.Int).Lsh(big.NewInt(1), uint(rng.IntN(40))))
		}
		o := Options{Precision: p.bits, ModuliBits: p.moduliBits, Blocks: 3, BlockSize: 4}
		compareTwins(t, fmt.Sprintf("wide terms p=%d", p.bits), []string{"reduce1", "reduce2", "reduce3"}, o, Terms{Wide: wide})
	}
}

// TestGPUSlotsInDeviceMemory: partial sums that exceed the shared memory of a block.
func TestGPUSlotsInDeviceMemory(t *testing.T) {
	terms := generate(t, "uniform11:n=2100")
	for _, method := range []string{"reduce3", "reduce3p"} {
		o := Options{Precision: 240, ModuliBits: 16, Blocks: 2, BlockSize: 1024}
		if gputest.Emulated() && method == "reduce3" {
			o.Blocks = 1
		}
		d := onDevice(t, method, o, terms)
		if _, err := d.SumPhases(context.Background()); err != nil {
			t.Fatal(err)
		}
		if shared := d.(*deviceSum).order.(*deviceBlocks).slots == nil; shared && o.BlockSize*4*32 > 227<<10 {
			t.Errorf("%s: residues in shared memory", method)
		}
		if want := run(t, "reduce3", o, terms).Value(); !d.Value().Equal(want) {
			t.Errorf("%s: %v, want %v", method, d.Value(), want)
		}
	}
}

// TestGPUReload: a Summer can be loaded again, with more terms, fewer, none and special ones.
func TestGPUReload(t *testing.T) {
	for _, method := range []string{"reduce1s", "reduce2p", "reduce3", "reduce3p"} {
		d := onDevice(t, method, Options{Precision: 60, Blocks: 2, BlockSize: 2}, Terms{Float64: []float64{1}})
		for _, c := range []struct {
			terms []float64
			want  float64
		}{{[]float64{1, 2, 3}, 6}, {[]float64{math.Inf(1), 1}, math.Inf(1)}, {[]float64{0.5, 0.25}, 0.75}, {[]float64{}, 0}, {[]float64{0, 0}, 0}, {make([]float64, 100), 0}} {
			if err := d.Load(Terms{Float64: c.terms}); err != nil {
				t.Fatal(err)
			}
			first, err := d.SumPhases(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			d.Sum()
			if got := d.Value().Float64(); got != c.want || d.Err() != nil {
				t.Errorf("%s of %v: %v, %v", method, c.terms, got, d.Err())
			}
			if again, _ := d.SumPhases(context.Background()); again.CopyIn != 0 || first.CopyIn == 0 && len(c.terms) > 0 && c.want < math.Inf(1) {
				t.Errorf("%s: terms copied in %v, and again in %v", method, first.CopyIn, again.CopyIn)
			}
		}
	}
}

// TestGPUErrorBound: the bounds are those of the CPU methods and hold.
func TestGPUErrorBound(t *testing.T) {
	terms := generate(t, "gensum:n=50,cond=1e30")
	for twin, list := range twins {
		for _, name := range list {
			o := Options{Precision: 60, Blocks: 2, BlockSize: 4}
			d := onDevice(t, name, o, terms)
			d.Sum()
			want := run(t, twin, o, terms).ErrorBound(summary(terms))
			got := d.ErrorBound(summary(terms))
			if got.Cmp(want) != 0 || !exact.Measure(d.Value(), summary(terms).Sum).Within(got) {
				t.Errorf("%s: bound %v, want %v", name, exact.FormatRat(got, 5), exact.FormatRat(want, 5))
			}
		}
	}
}

// chunkOf is where an order of one group keeps the number of terms of a launch.
func chunkOf(d DeviceSummer) *int {
	switch order := d.(*deviceSum).order.(type) {
	case *deviceRecursive:
		return &order.chunk
	case *devicePairwise:
		return &order.chunk
	}
	return nil
}

// TestGPUChunks: results do not depend on how many terms a launch adds.
func TestGPUChunks(t *testing.T) {
	for _, n := range []int{1, 2, 3, 15, 16, 17, 31, 32, 33, 100} {
		terms := generate(t, fmt.Sprintf("uniform11:n=%d", n))
		for _, twin := range []string{"reduce1", "reduce2"} {
			want := run(t, twin, Options{Precision: 60}, terms).Value()
			for _, name := range twins[twin] {
				d := onDevice(t, name, Options{Precision: 60}, terms)
				for _, chunk := range []int{2, 4, 16, 32} {
					*chunkOf(d) = chunk
					if d.Sum(); d.Err() != nil || !d.Value().Equal(want) {
						t.Errorf("%s of %d terms, %d a launch: %v, %v, want %v", name, n, chunk, d.Value(), d.Err(), want)
					}
				}
			}
		}
	}
}

// countdown is a context that is cancelled when it was asked so many times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// TestGPUInterruption: a sum that is cancelled between two launches ends there, and can be run again.
func TestGPUInterruption(t *testing.T) {
	terms := generate(t, "uniform01:n=100")
	for _, name := range []string{"reduce1s", "reduce2p"} {
		d := onDevice(t, name, Options{Precision: 60}, terms)
		*chunkOf(d) = 10
		ctx := &countdown{context.Background(), 3}
		if _, err := d.SumPhases(ctx); !errors.Is(err, context.Canceled) || ctx.left != -1 {
			t.Errorf("%s: error %v, %d looks at the context left", name, err, ctx.left)
		}
		if d.Sum(); d.Err() != nil || !d.Value().Equal(run(t, name[:7], Options{Precision: 60}, terms).Value()) {
			t.Errorf("%s after an interruption: %v, %v", name, d.Value(), d.Err())
		}
	}
}

// TestGPUMemory: memory that is closed is given back, and terms that do not fit are an error that says so.
func TestGPUMemory(t *testing.T) {
	device := gputest.Device(t)
	var before, after gpu.Memory
	memory := func(m *gpu.Memory) {
		_ = device.Do(func() error { *m = device.Memory(); return nil })
	}
	memory(&before)
	d := onDevice(t, "reduce3", Options{Precision: 240, Blocks: 1 << 20, BlockSize: 1024}, Terms{Float64: []float64{1, 2, 3}})
	d.Sum()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	memory(&after)
	if cold := int64(3 * device.Info().L2Bytes); after.Current > before.Current+cold {
		t.Errorf("%d bytes in use before, %d after", before.Current, after.Current)
	}
	if !gputest.Emulated() {
		return
	}
	t.Setenv("MPBENCH_EMULATOR_MEMORY", fmt.Sprint(after.Current+4000))
	d = onDevice(t, "reduce3", Options{Precision: 240}, generate(t, "uniform01:n=1000"))
	if d.Sum(); !errors.Is(d.Err(), gpu.ErrOutOfMemory) {
		t.Errorf("error %v", d.Err())
	}
}

// TestGPUDevices: a method without the device of the options says which it has.
func TestGPUDevices(t *testing.T) {
	for _, c := range []struct{ method, device, want string }{
		{"reduce1s", "", "reduce1s does not run on device cpu; it runs on cuda"},
		{"reduce1s", "cpu", "reduce1s does not run on device cpu; it runs on cuda"},
		{"float64", "cuda:0", "float64 does not run on device cuda:0; it runs on cpu"},
		{"reduce3", "gpu", "reduce3 does not run on device gpu; it runs on cpu, cuda"},
	} {
		m, _ := Lookup(c.method)
		if _, err := m.New(Options{Precision: 60, Device: c.device}); !errors.Is(err, ErrOption) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s on %q: %v, want %q", c.method, c.device, err, c.want)
		}
	}
	m, _ := Lookup("reduce3")
	if _, err := m.NewDot(Options{Precision: 60, Device: "cuda:0"}); !errors.Is(err, ErrOption) {
		t.Errorf("dot product on a GPU: %v", err)
	}
}
