package rnsgpu

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"

	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// grid is blocks of a size.
type grid struct{ blocks, size int }

type base struct{ bits, moduliBits int }

// sweep is how much the tests compare: the emulator is slow, a GPU adds 10^6 numbers of 1696 bits in order in half a
// minute.
type sweep struct {
	bases  []base
	sets   []string
	sizes  []int
	grids  []grid
	serial func(n, precision int) bool // whether the orders of one thread or one block are to be compared
}

func newSweep() sweep {
	if gputest.Emulated() {
		return sweep{
			bases: []base{{30, 16}, {53, 31}, {106, 31}, {240, 16}, {424, 31}, {1696, 31}},
			sets: []string{
				"mcnamee1", "mcnamee3", "uniform01:n=257", "uniform11:n=60", "anderson:n=133", "gensum:n=141,cond=1e40",
				"zhuhayes1:n=64", "zhuhayes3:n=64,delta=400", "zhuhayes4:n=140,delta=400", "harmonic:n=99", "basel:n=100",
				"extremes:kind=subnormals,n=20", "extremes:kind=overflow",
			},
			sizes: []int{
				1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 48, 49, 63, 64, 65, 127, 128, 129, 1000,
			},
			grids:  []grid{{1, 1}, {2, 4}, {3, 8}, {1, 32}, {2, 64}},
			serial: func(int, int) bool { return true },
		}
	}
	return sweep{
		bases: []base{
			{30, 16}, {30, 31}, {53, 9}, {53, 31}, {60, 16}, {106, 31}, {120, 16}, {212, 31}, {240, 16}, {424, 31}, {480, 16},
			{848, 31}, {1696, 31},
		},
		sets: []string{
			"mcnamee1", "mcnamee2", "mcnamee3", "uniform01:n=20000", "uniform11:n=20001", "anderson:n=17777",
			"gensum:n=20000,cond=1e40", "zhuhayes1:n=20480", "zhuhayes2:n=20480,delta=400", "zhuhayes3:n=20480,delta=400",
			"zhuhayes4:n=20480,delta=400", "harmonic:n=20000", "basel:n=20000", "extremes:kind=overflow",
			"extremes:kind=subnormals,n=10000",
		},
		sizes: []int{
			1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 4095, 4096, 4097, 32767, 32768, 32769, 99_999, 100_000, 1_000_000,
		},
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

var (
	roundings  = []string{"truncate", "nearest"}
	alignments = []string{"2018", "blas"}
)

// TestSumDataSets compares every method with its CPU twin on all data sets at all precisions.
func TestSumDataSets(t *testing.T) {
	gputest.Device(t)
	s := newSweep()
	for i, set := range s.sets {
		p := sumOf(t, set)
		n := p.X.Rows
		for k, b := range s.bases {
			if gputest.Emulated() && n*b.bits > 40_000 && k > 0 {
				continue
			}
			g := s.grids[(i+k)%len(s.grids)]
			c := options(b.bits, "moduli-bits", b.moduliBits, "blocks", g.blocks, "block-size", g.size,
				"rounding", roundings[(i+k)&1], "alignment", alignments[(i+k)>>1&1])
			compareAll(t, fmt.Sprintf("%s, %d bits, %v", set, b.bits, c.Options), s.methods(n, b.bits), c, p)
		}
	}
}

// TestSumSizes compares at sizes around those of blocks and grids, with every grid.
func TestSumSizes(t *testing.T) {
	gputest.Device(t)
	s := newSweep()
	all := uniform(t, slices.Max(s.sizes))
	for _, n := range s.sizes {
		t.Run(fmt.Sprint(n), func(t *testing.T) { checkSizes(t, s, n, all.Part(0, n)) })
	}
}

func checkSizes(t *testing.T, s sweep, n int, p *op.Problem) {
	t.Helper()
	for k, b := range s.bases {
		if gputest.Emulated() && (b.bits > 240 || k != n%4) {
			continue
		}
		for i, g := range s.grids {
			if n >= 50_000 && (i >= 2 || b.bits > 480) {
				break // for time
			}
			names := []string{"reduce3"}
			if i == 0 {
				names = s.methods(n, b.bits)
			}
			c := options(b.bits, "moduli-bits", b.moduliBits, "blocks", g.blocks, "block-size", g.size)
			compareAll(t, fmt.Sprintf("%d terms, %d bits, %v", n, b.bits, c.Options), names, c, p)
		}
	}
}

// wideNumbers returns n numbers with significands of more than p bits.
func wideNumbers(rng *rand.Rand, n, p int) numbers.Array {
	list := make(numbers.Bigs, n)
	for i := range list {
		x := new(big.Int)
		for range p/64 + 1 {
			x.Lsh(x, 64).Or(x, new(big.Int).SetUint64(rng.Uint64()))
		}
		if rng.IntN(2) == 0 {
			x.Neg(x)
		}
		f := new(big.Float).SetPrec(uint(x.BitLen() + 1)).SetInt(x)
		list[i] = f.SetMantExp(f, -rng.IntN(40))
	}
	return numbers.Vector(list)
}

// TestWideSums compares sums of numbers with significands of full length.
func TestWideSums(t *testing.T) {
	gputest.Device(t)
	n := 10_000
	if gputest.Emulated() {
		n = 24
	}
	rng := rand.New(rand.NewPCG(7, 8))
	for _, b := range newSweep().bases {
		p := &op.Problem{Op: op.Sum, X: wideNumbers(rng, n, b.bits)}
		c := options(b.bits, "moduli-bits", b.moduliBits, "blocks", 3, "block-size", 4)
		compareAll(t, fmt.Sprintf("wide terms, %d bits", b.bits), []string{"reduce1", "reduce2", "reduce3"}, c, p)
	}
}

// TestDots compares dot products of numbers with significands of full length, and with more numbers than before.
func TestDots(t *testing.T) {
	gputest.Sanitize(t)
	gputest.Device(t)
	n := 20_000
	switch {
	case gputest.Emulated():
		n = 65
	case testing.Short():
		n = 1000
	}
	rng := rand.New(rand.NewPCG(9, 10))
	for _, b := range newSweep().bases {
		c := options(b.bits, "moduli-bits", b.moduliBits, "blocks", 3, "block-size", 4)
		e := engineOn(t, op.Dot, "reduce3", "reduce3", c)
		x, y := wideNumbers(rng, n, b.bits), wideNumbers(rng, n, b.bits)
		for _, n := range []int{0, 1, 9, n} {
			p := &op.Problem{Op: op.Dot, X: x.Part(0, n), Y: y.Part(0, n)}
			compare(t, fmt.Sprintf("%d products of %d bits", n, b.bits), components(t, e, p), reference(t, op.Dot, "reduce3", c,
				p))
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSlotsInDeviceMemory: partial sums that exceed the shared memory of a block.
func TestSlotsInDeviceMemory(t *testing.T) {
	gputest.Sanitize(t)
	gputest.Device(t)
	p := uniform(t, 2100)
	for _, variant := range []string{"reduce3", "reduce3p"} {
		c := options(240, "moduli-bits", 16, "blocks", 2, "block-size", 1024)
		if gputest.Emulated() && variant == "reduce3" {
			c.Options["blocks"] = "1"
		}
		e := engineOn(t, op.Sum, "reduce3", variant, c)
		compare(t, variant, components(t, e, p), reference(t, op.Sum, "reduce3", c, p))
		if shared := e.(*sumEngine).order.(*blocks).slots == nil; shared && 1024*4*32 > 227<<10 {
			t.Errorf("%s: residues in shared memory", variant)
		}
	}
}

// chunkOf is where an order of one group keeps the number of terms of a launch.
func chunkOf(e method.Engine) *int {
	switch order := e.(*sumEngine).order.(type) {
	case *recursive:
		return &order.chunk
	case *pairwise:
		return &order.chunk
	}
	return nil
}

// TestChunks: results do not depend on how many terms a launch adds.
func TestChunks(t *testing.T) {
	gputest.Sanitize(t)
	gputest.Device(t)
	for _, n := range []int{1, 2, 3, 15, 16, 17, 31, 32, 33, 100} {
		p := uniform(t, n)
		for _, name := range []string{"reduce1", "reduce2"} {
			want := reference(t, op.Sum, name, options(60), p)
			for variant := range constructors[name] {
				e := engineOn(t, op.Sum, name, variant, options(60))
				for _, chunk := range []int{2, 4, 16, 32} {
					*chunkOf(e) = chunk
					compare(t, fmt.Sprintf("%s of %d terms, %d a launch", variant, n, chunk), components(t, e, p), want)
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

// TestInterruption: a sum that is cancelled between two launches ends there, and can be run again.
func TestInterruption(t *testing.T) {
	p := uniform(t, 100)
	for name, variant := range map[string]string{"reduce1": "reduce1s", "reduce2": "reduce2p"} {
		e := engineOn(t, op.Sum, name, variant, options(60))
		*chunkOf(e) = 10
		if err := e.Prepare(context.Background(), p); err != nil {
			t.Fatal(err)
		}
		ctx := &countdown{context.Background(), 3}
		if err := e.Run(ctx); !errors.Is(err, context.Canceled) || ctx.left != -1 {
			t.Errorf("%s: error %v, %d looks at the context left", variant, err, ctx.left)
		}
		if err := e.Run(context.Background()); err != nil {
			t.Errorf("%s after an interruption: %v", variant, err)
		}
		compare(t, variant+" after an interruption", resultOf(t, e), reference(t, op.Sum, name, options(60), p))
	}
}

// TestMemory: memory that is closed is given back, and terms that do not fit are an error that says so.
func TestMemory(t *testing.T) {
	device := gputest.Device(t)
	memory := func() (m gpu.Memory) {
		_ = device.Do(func() error { m = device.Memory(); return nil })
		return m
	}
	before := memory()
	e := engineOn(t, op.Sum, "reduce3", "reduce3", options(240, "blocks", 1<<20, "block-size", 1024))
	components(t, e, uniform(t, 3))
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	after := memory()
	if cold := int64(3 * device.Info().L2Bytes); after.Current > before.Current+cold {
		t.Errorf("%d bytes in use before, %d after", before.Current, after.Current)
	}
	if !gputest.Emulated() {
		return
	}
	t.Setenv("MPBENCH_EMULATOR_MEMORY", fmt.Sprint(after.Current+4000))
	e = engineOn(t, op.Sum, "reduce3", "reduce3", options(240))
	if err := method.Run(context.Background(), e, uniform(t, 1000)); !errors.Is(err, gpu.ErrOutOfMemory) {
		t.Errorf("error %v", err)
	}
}

// TestTimes: a timed run has the times of its phases.
func TestTimes(t *testing.T) {
	for _, variant := range []string{"reduce1s", "reduce1p"} {
		e := engineOn(t, op.Sum, "reduce1", variant, options(60)).(*sumEngine)
		if err := e.Prepare(context.Background(), uniform(t, 50)); err != nil {
			t.Fatal(err)
		}
		if err := e.RunTimed(context.Background()); err != nil {
			t.Fatal(err)
		}
		resultOf(t, e)
		if x := e.Times(); x.Convert <= 0 || x.CopyIn <= 0 || x.Kernel <= 0 || x.CopyOut <= 0 || x.Host <= 0 {
			t.Errorf("%s: %+v", variant, x)
		}
	}
}
