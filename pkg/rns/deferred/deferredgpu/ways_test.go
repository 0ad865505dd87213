package deferredgpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"mpbench/pkg/bound"
	"mpbench/pkg/device"
	"mpbench/pkg/exact"
	"mpbench/pkg/exactsum"
	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// exactOn returns an engine for exact sums on the device under test by one of the ways of this package, or all.
func exactOn(t testing.TB, o *op.Operation, precision int, ways ...exactsum.NewWay) method.Engine {
	t.Helper()
	name := func(method.Config) (string, error) { return "device", nil }
	if ways == nil {
		ways = Ways()
	}
	m := method.Method{
		Operation: o, Name: "deferred", Format: "exact", Least: 24, Most: 1 << 16, Merges: true,
		Bound: bound.New("u*|s|, u = 2^-p", "test"), On: map[device.Kind]method.New{device.CUDA: exactsum.NewOn(name,
			ways...)},
	}
	e, err := m.New(method.Config{Precision: precision, Devices: device.Must(gputest.Name(t)), Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// checkRounded runs an engine twice and compares every component with the exact one, rounded once.
func checkRounded(t *testing.T, what string, e method.Engine, precision int, p *op.Problem) {
	t.Helper()
	r, err := op.Exact(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Prepare(context.Background(), p); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	for turn := range 2 {
		if err := e.Run(context.Background()); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		y, err := e.Result()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if y.Len() != r.Shape.Components {
			t.Fatalf("%s: %d components, want %d", what, y.Len(), r.Shape.Components)
		}
		for i := range y.Len() {
			got, want := numbers.At(y, i), r.Component(i).Sum
			if want.IsFinite() {
				want = exact.FromBig(want.Round(uint(precision)))
			}
			if !got.Equal(want) {
				t.Fatalf("%s, run %d, component %d: %v, want %v", what, turn, i, got, want)
			}
		}
	}
}

// reciprocals returns 1/i for i = 1 to n, every third negative.
func reciprocals(n int) numbers.Array {
	x := make([]*big.Rat, n)
	for i := range x {
		x[i] = big.NewRat(int64(1-i%3/2*2), int64(i+1))
	}
	return numbers.Vector(numbers.Rationals(x))
}

// farApart returns numbers of 240 bits with exponents from -12000 to 12000.
func farApart(r *rand.Rand, n int) numbers.Array {
	x := make(numbers.Bigs, n)
	for i := range x {
		x[i] = wideNumber(r, 240)
		x[i].SetMantExp(x[i], r.IntN(24_000)-12_000)
	}
	return numbers.Vector(x)
}

// wideNumber returns a number of p bits in (-1, 1).
func wideNumber(r *rand.Rand, p int) *big.Float {
	n := new(big.Int)
	for range p/64 + 1 {
		n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(r.Uint64()))
	}
	x := new(big.Float).SetPrec(uint(p)).SetInt(n)
	x.SetMantExp(x, -x.MantExp(nil))
	if r.IntN(2) == 0 {
		x.Neg(x)
	}
	return x
}

func wideNumbers(r *rand.Rand, n, p int) numbers.Array {
	x := make(numbers.Bigs, n)
	for i := range x {
		x[i] = wideNumber(r, p)
	}
	return numbers.Vector(x)
}

// TestWideSums: sums of numbers that are no float64, also decimals, and far apart.
func TestWideSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for what, x := range map[string]numbers.Array{
		"1/i": reciprocals(80), "far apart": farApart(r, 400), "full": wideNumbers(r, 999, 240), "none": wideNumbers(r, 0,
			100),
	} {
		for _, precision := range []int{24, 53, 240, 1696, 4096} {
			e := exactOn(t, op.Sum, precision)
			checkRounded(t, fmt.Sprintf("%s, %d bits", what, precision), e, precision, &op.Problem{Op: op.Sum, X: x})
			if v := e.Info().Variant; !strings.HasPrefix(v, packedVariant) {
				t.Errorf("%s: variant %q", what, v)
			}
		}
	}
}

// TestWideDots: dot products of numbers wider than float64, and of decimals.
func TestWideDots(t *testing.T) {
	gputest.Sanitize(t)
	r := rand.New(rand.NewPCG(3, 3))
	sizes := []int{0, 1, 2, 333}
	if !gputest.Emulated() {
		sizes = append(sizes, 20_001)
	}
	for _, n := range sizes {
		for _, precision := range []int{24, 106, 424} {
			p := &op.Problem{Op: op.Dot, X: wideNumbers(r, n, 200), Y: wideNumbers(r, n, 90)}
			checkRounded(t, fmt.Sprintf("n = %d, %d bits", n, precision), exactOn(t, op.Dot, precision), precision, p)
		}
	}
	third := &op.Problem{Op: op.Dot, X: reciprocals(50), Y: reciprocals(50)}
	checkRounded(t, "reciprocals", exactOn(t, op.Dot, 106), 106, third)
}

// truncatedDot has factors whose exact products take many moduli: a sum that truncated ones decide or, where it
// cancels, one that they do not.
func truncatedDot(r *rand.Rand, n int, cancel bool) *op.Problem {
	x, y := make(numbers.Bigs, n), make(numbers.Bigs, n)
	for i := range n {
		for _, list := range []numbers.Bigs{x, y} {
			list[i] = new(big.Float).SetMantExp(big.NewFloat(r.Float64()-0.5), r.IntN(9000))
		}
		if cancel && i < n-1 && i%2 == 1 {
			x[i], y[i] = new(big.Float).Neg(x[i-1]), y[i-1]
		}
	}
	if cancel { // nothing but the last product is left, which has no factor near the largest
		x[n-2], y[n-2] = new(big.Float), new(big.Float)
		x[n-1], y[n-1] = big.NewFloat(1.0/3), big.NewFloat(1.0/7)
	}
	return &op.Problem{Op: op.Dot, X: numbers.Vector(x), Y: numbers.Vector(y)}
}

// TestTruncatedDots: sums that truncated factors decide, and sums that they do not, which are exact from then on.
func TestTruncatedDots(t *testing.T) {
	gputest.Sanitize(t)
	r := rand.New(rand.NewPCG(33, 3))
	for _, precision := range []int{24, 106, 424} {
		for _, cancel := range []bool{false, true} {
			var made *planesDot
			e := exactOn(t, op.Dot, precision, func(ctx context.Context, c method.Config, p *op.Problem) (exactsum.Way,
				method.Times, error) {
				w, times, err := newPlanesDot(ctx, c, p)
				made, _ = w.(*planesDot)
				return w, times, err
			})
			what := fmt.Sprintf("%d bits, cancellation %v", precision, cancel)
			checkRounded(t, what, e, precision, truncatedDot(r, 60, cancel))
			if recomputed, _ := made.product.Recomputed(); made.product.Truncated() == cancel || recomputed > 0 {
				t.Errorf("%s: truncated %v, computed again %d times", what, made.product.Truncated(), recomputed)
			}
		}
	}
}

// TestParts: numbers for which a device has no room go through it in parts.
func TestParts(t *testing.T) {
	gputest.Sanitize(t)
	r := rand.New(rand.NewPCG(5, 5))
	wide := wideNumbers(r, 500, 240)
	parts := func(ctx context.Context, c method.Config, p *op.Problem) (exactsum.Way, method.Times, error) {
		w, times, err := newPackedParts(ctx, c, p)
		w.(*packedParts).part = 77
		return w, times, err
	}
	e := exactOn(t, op.Sum, 300, parts)
	checkRounded(t, "parts of a sum", e, 300, &op.Problem{Op: op.Sum, X: wide})
	if v := e.Info().Variant; v != packedVariant+", streamed" {
		t.Errorf("variant %q", v)
	}
	checkRounded(t, "parts of nothing", e, 300, &op.Problem{Op: op.Sum, X: wideNumbers(r, 0, 100)})
	e = exactOn(t, op.Dot, 300, newPanelsDot)
	checkRounded(t, "panels of a dot product", e, 300, &op.Problem{Op: op.Dot, X: wide, Y: wide})
	if v := e.Info().Variant; !strings.HasPrefix(v, planesVariant+", streamed in ") {
		t.Errorf("variant %q", v)
	}
}

// inUse returns how many bytes of the device are taken.
func inUse(d *gpu.Device) (bytes int64) {
	_ = d.Do(func() error { bytes = d.Memory().Current; return nil })
	return bytes
}

// limit leaves so many bytes of the emulator's memory.
func limit(t *testing.T, bytes int64) {
	t.Setenv("MPBENCH_EMULATOR_MEMORY", fmt.Sprint(inUse(gputest.Device(t))+bytes))
}

// TestDotMemory: a dot product whose planes do not fit the device is streamed, and one whose numbers do not fit is an
// error.
func TestDotMemory(t *testing.T) {
	gputest.Device(t)
	if !gputest.Emulated() {
		t.Skip("a GPU has too much memory: the emulator is given less")
	}
	const n = 4000
	r := rand.New(rand.NewPCG(6, 6))
	x := wideNumbers(r, n, 106)
	p := &op.Problem{Op: op.Dot, X: x, Y: x}
	for _, c := range []struct {
		bytes   int64
		variant string
	}{{1 << 30, ""}, {50 * n, ", streamed in "}, {20 * n, "error"}} {
		limit(t, c.bytes)
		e := exactOn(t, op.Dot, 106)
		if c.variant == "error" {
			if err := method.Run(context.Background(), e, p); !errors.Is(err, gpu.ErrOutOfMemory) {
				t.Errorf("with %d bytes: %v", c.bytes, err)
			}
			continue
		}
		checkRounded(t, fmt.Sprintf("with %d bytes", c.bytes), e, 106, p)
		if v := e.Info().Variant; strings.Contains(v, "streamed") != (c.variant != "") {
			t.Errorf("with %d bytes: %q", c.bytes, v)
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

// gemvOn returns the engine of matrix-vector products on the device under test.
func gemvOn(t testing.TB, c method.Config) *gemv {
	t.Helper()
	c.Devices, c.Threads = device.Must(gputest.Name(t)), 2
	e, err := NewGemv(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e.(*gemv)
}

// TestForms: short numbers are limbs on a device, longer ones residues.
func TestForms(t *testing.T) {
	for _, c := range []struct {
		large         float64 // beside 1, in A
		name          string
		bytes, moduli int
	}{{3, "limbs", 4, 0}, {0x1p27, "limbs", 4, 0}, {0x1p28, "limbs", 8, 0}, {0x1p111, "limbs", 16, 0},
		{0x1p112, "residues", 20, 5}} {
		p := &op.Problem{
			Op: op.Gemv, A: numbers.Array{Source: numbers.Float64s{1, 1, c.large, c.large}, Layout: numbers.ColMajor(2, 2, 2)},
			X: numbers.Vector(numbers.Float64s{1, 1}),
		}
		e := gemvOn(t, method.Config{Precision: 160})
		checkRounded(t, c.name, e, 160, p)
		if f := e.Info(); f.Format != c.name || f.NumberBytes != c.bytes || f.Moduli != c.moduli {
			t.Errorf("%g: %q, %d bytes, %d moduli, want %+v", c.large, f.Format, f.NumberBytes, f.Moduli, c)
		}
	}
}

// TestReuse: a binary64 matrix that is for few products, in rows, is multiplied in place, with the same bits, and
// infinities and NaN in it.
func TestReuse(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	a := make(numbers.Float64s, 30*70)
	for i := range a {
		a[i] = r.Float64() - 0.5
	}
	for turn, value := range []float64{0.25, math.NaN(), math.Inf(-1)} {
		a[7*70+turn] = value
		for _, reuse := range []int{0, 1, fewUses, fewUses + 1} {
			for _, byColumns := range []bool{false, true} {
				layout := numbers.RowMajor(30, 70, 70)
				if byColumns {
					layout = numbers.ColMajor(30, 70, 30)
				}
				p := &op.Problem{
					Op: op.Gemv, A: numbers.Array{Source: a, Layout: layout}, X: numbers.Vector(a[100:170]),
					Alpha: numbers.Scalar(-3), Y: numbers.Vector(a[200:230]), Beta: numbers.Scalar(0.7),
				}
				e := gemvOn(t, method.Config{Precision: 90}.For(reuse))
				checkRounded(t, fmt.Sprint(turn, reuse, byColumns), e, 90, p)
				want := 0 < reuse && reuse <= fewUses && !byColumns
				if f := e.Info(); (f.Variant == inPlaceVariant) != want || want && f.NumberBytes != 8 {
					t.Errorf("reuse %d, columns %v: %+v", reuse, byColumns, f)
				}
			}
		}
	}
}

// panelled returns an engine that streams the matrix in panels of a size.
func panelled(t *testing.T, precision int, cut PanelOptions) *gemv {
	t.Helper()
	e := gemvOn(t, method.Config{Precision: precision})
	e.streams = &cut
	return e
}

// TestPanels: panels of every size, infinities and NaN in a later one, among numbers that do not keep to what the
// first ones promise.
func TestPanels(t *testing.T) {
	gputest.Sanitize(t)
	gputest.Device(t)
	const m, n = 20, 50
	for turn, value := range []float64{0.5, math.NaN(), math.Inf(1), 1e200} {
		for _, trans := range []bool{false, true} {
			r := rand.New(rand.NewPCG(7, uint64(turn)))
			random := func(n int) numbers.Float64s {
				x := make(numbers.Float64s, n)
				for i := range x {
					x[i] = r.Float64() - 0.5
				}
				return x
			}
			rows, terms := m, n
			if trans {
				rows, terms = n, m
			}
			p := &op.Problem{
				Op: op.Gemv, Trans: trans, Alpha: numbers.Scalar(0.7), Beta: numbers.Scalar(-3),
				A: numbers.Array{Source: random(n * (m + 1)), Layout: numbers.ColMajor(m, n, m+1)},
				X: numbers.Array{Source: random(terms), Layout: numbers.Strided(terms, -1)},
				Y: numbers.Array{Source: random(2 * rows), Layout: numbers.Strided(rows, 2)},
			}
			a := p.A.Source.(numbers.Float64s)
			for j := range n { // what is below the columns
				a[j*(m+1)+m] = math.NaN()
			}
			a[44*(m+1)+7], a[45*(m+1)+9] = value, 1e-290
			for _, cut := range []PanelOptions{{Columns: 8}, {Columns: 1 + turn, Chunk: 8}, {Chunk: 40}} {
				e := panelled(t, 106, cut)
				checkRounded(t, fmt.Sprintf("%v, transposed %v, %+v", value, trans, cut), e, 106, p)
				if v := e.Info().Variant; !strings.HasPrefix(v, "streamed in ") {
					t.Errorf("variant %q", v)
				}
			}
		}
	}
}

// TestChoice: a matrix whose residues fit the device's memory is kept there, one whose residues do not is streamed,
// with the same result; where not even a column fits, that is an error.
func TestChoice(t *testing.T) {
	name := gputest.Name(t)
	if !gputest.Emulated() {
		t.Skip("takes the memory of the emulator away, not a GPU's")
	}
	r := rand.New(rand.NewPCG(8, 8))
	for _, bits := range []int{53, 106} {
		product := func(m, n int) *op.Problem {
			a := wideNumbers(r, m*n, bits)
			return &op.Problem{
				Op: op.Gemv, A: numbers.Array{Source: a.Source, Layout: numbers.ColMajor(m, n, m)}, X: wideNumbers(r, n, bits),
			}
		}
		p := product(60, 200)
		for _, c := range []struct {
			bytes   int64
			stream  bool
			variant string
		}{{1 << 30, false, ""}, {1 << 30, true, "streamed in 1 panel"}, {250_000, false, "streamed in "}} {
			limit(t, c.bytes)
			e := gemvOn(t, method.Config{Precision: 106, Stream: c.stream})
			checkRounded(t, fmt.Sprintf("%+v", c), e, 106, p)
			if v := e.Info().Variant; !strings.HasPrefix(v, c.variant) || c.variant == "" && v != "" {
				t.Errorf("%+v: %q", c, v)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
		small := product(50, 50)
		var memory *method.MemoryError
		for bytes := int64(40_000); bytes > 100; bytes /= 2 {
			e := gemvOn(t, method.Config{Precision: 106})
			limit(t, bytes)
			err := e.Prepare(context.Background(), small)
			if err != nil && (!errors.As(err, &memory) || memory.Device != name || memory.Need <= memory.Have-memory.Have/16) {
				t.Errorf("%d bytes: %v", bytes, err)
			}
			if err := e.Close(); err != nil {
				t.Error(err)
			}
		}
		if memory == nil || !strings.Contains(memory.Error(), "streamed") {
			t.Errorf("no memory: %v", memory)
		}
		limit(t, 1<<30)
	}
}

// TestGemvTimes: the stages and kernels of a timed run.
func TestGemvTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 9))
	p := &op.Problem{
		Op: op.Gemv, A: numbers.Array{Source: wideNumbers(r, 600, 106).Source, Layout: numbers.ColMajor(20, 30, 20)},
		X: wideNumbers(r, 30, 106),
	}
	for _, stream := range []bool{false, true} {
		e := gemvOn(t, method.Config{Precision: 106, Stream: stream})
		if err := e.Prepare(context.Background(), p); err != nil {
			t.Fatal(err)
		}
		if err := e.RunTimed(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, s := range e.Stages() {
			if s.Time <= 0 || s.Summary == "" || s.Name == "" {
				t.Errorf("%+v", s)
			}
		}
		for _, k := range e.Times().Kernels {
			if k.Name == "" || k.Stage == "" || k.Bytes <= 0 || k.Occupancy <= 0 || k.Blocks < 1 || k.Threads < 1 ||
				k.Time <= 0 {
				t.Errorf("kernel %+v", k)
			}
		}
		if x := e.Times(); x.Kernel <= 0 || x.CopyIn <= 0 || len(x.Kernels) < 2 {
			t.Errorf("%+v", x)
		}
	}
}
