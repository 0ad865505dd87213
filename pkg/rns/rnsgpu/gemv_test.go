package rnsgpu

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// bases are the precisions and moduli that every test of products goes through.
var bases = []base{
	{30, 16}, {30, 31}, {53, 31}, {106, 16}, {106, 31}, {212, 31}, {240, 16}, {424, 31}, {848, 31}, {848, 16}, {1696, 31},
	{1696, 16},
}

// TestProducts compares both methods on small random and adversarial problems: shapes, strides, factors, wide numbers,
// cancellation, far exponents, NaN beside the data.
func TestProducts(t *testing.T) {
	for _, name := range []string{"rns-split", "rns-basic"} {
		for _, b := range bases {
			cases, largest := 240, 40
			if gputest.Emulated() {
				cases, largest = max(8, 72*106/(b.bits+53)), max(6, 24*212/(b.bits+106))
			}
			t.Run(fmt.Sprintf("%s/p=%d/bits=%d", name, b.bits, b.moduliBits), func(t *testing.T) {
				if b.bits == 30 {
					gputest.Sanitize(t)
				}
				gputest.Device(t)
				for seed := range uint64(cases) {
					checkProduct(t, name, b, seed, largest)
				}
			})
		}
	}
}

func checkProduct(t *testing.T, name string, b base, seed uint64, largest int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, uint64(b.bits)))
	c := problems.Choice{
		Seed: seed, Kind: problems.Kind(seed) % problems.Kinds, Bits: []int{0, b.bits, 2*b.bits - 8}[seed/4%3],
		Largest: largest,
	}
	p := c.Random(op.Gemv)
	config := options(b.bits, "moduli-bits", b.moduliBits, "block-size", []int{1, 2, 3, 7, 8, 32, 64, 1024}[rng.IntN(8)],
		"rounding", roundings[rng.IntN(2)], "alignment", alignments[rng.IntN(2)], "tune", "off")
	compareAll(t, fmt.Sprintf("%+v, %v", c, config.Options), []string{name}, config, p)
}

// medium returns a product with sums long enough for every shape of the kernels.
func medium(seed uint64, m, n, bits int) *op.Problem {
	c := problems.Choice{Seed: seed, Kind: problems.Kind(seed) % problems.Kinds, Bits: bits}
	return c.Product(seed%2 == 1, m, n, 0.7, -3)
}

// fullProduct has an m x n matrix and vectors of full p-bit significands in [-1, 1), the timing data of the 2020
// paper.
func fullProduct(trans bool, m, n, bits int) *op.Problem {
	p := problems.Choice{Seed: uint64(bits), Bits: bits}.Product(trans, m, n, 1, 1)
	rng := rand.New(rand.NewPCG(uint64(bits), uint64(m*n)))
	p.Alpha, p.Beta = wideNumbers(rng, 1, bits-8), wideNumbers(rng, 1, bits-8)
	return p
}

// TestShapes: launch parameters never change a result.
func TestShapes(t *testing.T) {
	gputest.Device(t)
	rng := rand.New(rand.NewPCG(8, 8))
	for seed, b := range bases {
		p := medium(uint64(seed), 7, 9, []int{0, b.bits}[seed%2])
		c := options(b.bits, "moduli-bits", b.moduliBits, "block-size", 4, "tune", "off")
		want := reference(t, op.Gemv, "rns-split", c, p)
		e := engineOn(t, op.Gemv, "rns-split", "rns-split", c).(*split)
		if err := e.Prepare(context.Background(), p); err != nil {
			t.Fatal(err)
		}
		for _, s := range e.candidates() {
			if gputest.Emulated() && rng.IntN(100) >= 800/b.bits {
				continue
			}
			if err := e.useShape(s); err != nil {
				t.Fatalf("%+v: %v", s, err)
			}
			if err := e.Run(context.Background()); err != nil {
				t.Fatal(err)
			}
			compare(t, fmt.Sprintf("%d bits, %+v", b.bits, s), resultOf(t, e), want)
		}
	}
}

// TestTies: products whose bits cut off are one half of a unit, a little more or a little less, with what decides far
// below. For A = 2^(p-1) + 2^(p-2) + r and x = 2^(p-1) + 1 the bits cut off A*x are those of 2^(p-2) + r.
func TestTies(t *testing.T) {
	gputest.Sanitize(t)
	gputest.Device(t)
	for _, b := range bases {
		bits := uint(b.bits)
		power := func(k uint) *big.Int { return new(big.Int).Lsh(big.NewInt(1), k) }
		number := func(x *big.Int) *big.Float { return new(big.Float).SetPrec(bits).SetInt(x) }
		middle := new(big.Int).Add(power(bits-1), power(bits-2))
		var a numbers.Bigs
		for _, r := range []*big.Int{
			big.NewInt(0), big.NewInt(1), big.NewInt(2), big.NewInt(3), big.NewInt(-1), big.NewInt(-2), power(bits / 2),
			power(bits - 4),
		} {
			a = append(a, number(new(big.Int).Add(middle, r)))
		}
		p := &op.Problem{
			Op: op.Gemv, A: numbers.Array{Source: a, Layout: numbers.ColMajor(len(a), 1, len(a))},
			X: numbers.Vector(numbers.Bigs{number(new(big.Int).Add(power(bits-1), big.NewInt(1)))}),
		}
		for _, rounding := range roundings {
			c := options(b.bits, "moduli-bits", b.moduliBits, "rounding", rounding)
			compareAll(t, fmt.Sprintf("ties, %d bits, %s", b.bits, rounding), []string{"rns-split"}, c, p)
		}
	}
}

// TestManySlots: sums whose slots do not fit in shared memory, and blocks of the largest size.
func TestManySlots(t *testing.T) {
	gputest.Sanitize(t)
	gputest.Device(t)
	for seed, n := range []int{63, 65, 300} {
		c := options(1696, "moduli-bits", 16, "block-size", 1024, "tune", "off")
		compareAll(t, fmt.Sprintf("%d terms", n), []string{"rns-split"}, c, medium(uint64(2*seed), 2, n, 0))
	}
}

// TestLargerThanGrid: more rows, columns and numbers than the blocks of a grid take at once.
func TestLargerThanGrid(t *testing.T) {
	gputest.Device(t)
	for seed, size := range [][2]int{{1500, 3}, {3, 1500}, {1, 66_000}, {66_000, 1}} {
		if testing.Short() && seed > 1 {
			t.Log("-short: without 66,000 rows or columns")
			break
		}
		for _, trans := range []bool{false, true} {
			p := problems.Choice{Seed: uint64(seed)}.Product(trans, size[0], size[1], 0.7, -3)
			compareAll(t, fmt.Sprintf("%v, transposed %v", size, trans), []string{"rns-split", "rns-basic"},
				options(30, "tune", "off"), p)
		}
	}
}

// TestResidueThreads: blocks of the paper's equation (8), with its own example.
func TestResidueThreads(t *testing.T) {
	for _, c := range []struct{ stride, threads, blocks, want int }{
		{4, 2048, 32, 64}, {8, 2048, 32, 64}, {24, 2048, 32, 48}, {112, 2048, 32, 112}, {216, 1024, 16, 216},
		{2000, 2048, 32, maxThreads}, {8, 0, 0, 64},
	} {
		if got := residueThreads(c.stride, c.threads, c.blocks); got != c.want {
			t.Errorf("%d residues, %d threads and %d blocks of a multiprocessor: %d threads, want %d",
				c.stride, c.threads, c.blocks, got, c.want)
		}
	}
}

// TestFull is the full comparison with the CPU, for GPUs: every precision, sizes at all boundaries, with and without
// tuning.
func TestFull(t *testing.T) {
	if gputest.Emulated() {
		t.Skip("needs a GPU (MPBENCH_TEST_DEVICE=cuda:0): TestProducts, TestShapes and TestManySlots compare on the " +
			"emulator")
	}
	gputest.Device(t)
	t.Setenv("MPBENCH_TUNE_CACHE", t.TempDir()+"/tune.json")
	sizes := [][2]int{
		{1, 1}, {1, 63}, {1, 64}, {1, 65}, {63, 1}, {64, 1}, {65, 1}, {31, 33}, {32, 32}, {33, 31}, {127, 129}, {128, 128},
		{129, 127}, {255, 257}, {256, 256}, {1, 4097}, {4097, 1},
	}
	for i, b := range bases {
		t.Run(fmt.Sprintf("p=%d/bits=%d", b.bits, b.moduliBits), func(t *testing.T) {
			for k, size := range append(sizes, [2]int{1000 * 106 / max(b.bits, 106), 1000}) {
				p := fullProduct((i+k)%2 == 1, size[0], size[1], b.bits)
				c := options(b.bits, "moduli-bits", b.moduliBits, "rounding", roundings[k%2], "alignment", alignments[i%2],
					"block-size", []int{64, 1, 63, 128, 1024}[k%5], "tune", []string{"auto", "off", "force"}[k%3])
				compareAll(t, fmt.Sprintf("%v, %d bits, %v", size, b.bits, c.Options), []string{"rns-split", "rns-basic"}, c, p)
			}
		})
	}
}

// TestFullDevice: a matrix that does not fit the device's memory is an error that says so, and names the device.
func TestFullDevice(t *testing.T) {
	device := gputest.Device(t)
	release := fill(t, device)
	large := problems.Choice{Seed: 1}.Product(false, 64, 64, 1, 0)
	e := engineOn(t, op.Gemv, "rns-split", "rns-split", options(1696))
	err := e.Prepare(context.Background(), large)
	release()
	var memory *method.MemoryError
	if !errors.As(err, &memory) || memory.Device == "" ||
		!strings.Contains(err.Error(), "of device memory for a 64 x 64 matrix") {
		t.Errorf("a full device: %v", err)
	}
	if err := e.Prepare(context.Background(), problems.Choice{Seed: 1}.Product(false, 5, 5, 1, 0)); err != nil {
		t.Errorf("after the memory was given back: %v", err)
	}
}

// fill takes the device's memory but for little more than 64 KiB; release gives it back.
func fill(t *testing.T, d *gpu.Device) (release func()) {
	t.Helper()
	var taken []*gpu.Buffer[byte]
	err := d.Do(func() error {
		for size := int64(1) << 40; size > 64<<10; size /= 2 {
			for {
				free, err := d.Free()
				if err != nil {
					return err
				}
				if free < size {
					break
				}
				b, err := gpu.Alloc[byte](d, int(size))
				if err != nil {
					break // in pieces
				}
				taken = append(taken, b)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = d.Do(func() error {
			for _, b := range taken {
				b.Free()
			}
			return nil
		})
	}
}

// TestTuneCache: parameters are kept and found again; a broken or foreign file is a warning and no more.
func TestTuneCache(t *testing.T) {
	gputest.Device(t)
	path := filepath.Join(t.TempDir(), "folder", "tune.json")
	t.Setenv("MPBENCH_TUNE_CACHE", path)
	p := problems.Choice{Seed: 2}.Product(false, 2, 3, 1, 0)
	want := reference(t, op.Gemv, "rns-split", options(53), p)
	tune := func(choice string) method.Info {
		t.Helper()
		e := engineOn(t, op.Gemv, "rns-split", "rns-split", options(53, "tune", choice))
		compare(t, "tune "+choice, components(t, e, p), want)
		return e.Info()
	}
	tune("force")
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "rns-split, 53 bits") {
		t.Fatalf("%s, %v", text, err)
	}
	for i, content := range []string{"{", `{"version": 99}`, `{"version":1,"entries":{"x":1}}`, "", `[1]`} {
		if i > 2 && gputest.Emulated() {
			break // which is slow
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		tune("force")
		if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "rns-split, 53 bits") {
			t.Errorf("%q is not replaced: %s, %v", content, text, err)
		}
	}
	if err := os.WriteFile(path, []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if info := tune("auto"); !gputest.Emulated() && len(info.Warnings) == 0 { // the emulator keeps the default
		t.Error("no warning about a broken file")
	}
}

// candidates are shapes that differ from the default in one kernel's parameters.
func (e *split) candidates() (shapes []splitShape) {
	for _, change := range slices.Concat(e.residueCandidates(), e.roundCandidates(), e.sumsCandidates()) {
		s := e.defaultShape()
		change(&s)
		if e.valid(s) && !slices.Contains(shapes, s) {
			shapes = append(shapes, s)
		}
	}
	return shapes
}

// useShape makes the steps anew.
func (e *split) useShape(s splitShape) error {
	return e.device.Do(func() (err error) {
		e.shape = s
		e.steps, err = e.makeSteps(s)
		return err
	})
}
