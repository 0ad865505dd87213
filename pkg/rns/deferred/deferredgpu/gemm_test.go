package deferredgpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/bits"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"mpbench/pkg/device"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/bytemod"
	"mpbench/pkg/rns/deferred"
)

// gemmElement makes an element of at most p bits; i and j are its row and column.
type gemmElement func(rng *rand.Rand, p, i, j int) *big.Float

// gemmKinds are the elements that products are tested with.
var gemmKinds = []struct {
	name string
	make gemmElement
}{
	{"full", func(rng *rand.Rand, p, _, _ int) *big.Float { return signed(rng, p, 0) }},
	{"uniform", func(rng *rand.Rand, p, _, _ int) *big.Float { return signed(rng, p, -rng.IntN(20)) }},
	{"least", func(_ *rand.Rand, p, _, _ int) *big.Float { return new(big.Float).SetMantExp(big.NewFloat(-1), p) }},
	{"sparse", func(rng *rand.Rand, p, _, _ int) *big.Float {
		if rng.IntN(3) > 0 {
			return new(big.Float)
		}
		return signed(rng, 1+rng.IntN(p), 0)
	}},
	{"scaled", func(rng *rand.Rand, p, i, _ int) *big.Float { return signed(rng, p, i*300) }},
	{"spread", func(rng *rand.Rand, p, _, _ int) *big.Float { return signed(rng, p, rng.IntN(400)-200) }},
	{"falling", falling},
	{"cancelling", func(rng *rand.Rand, p, i, j int) *big.Float {
		x := signed(rand.New(rand.NewPCG(uint64(p), uint64((i+j)/2))), p, 0)
		if (i+j)%2 == 1 {
			x.Neg(x)
		}
		return x
	}},
}

// falling elements come in pairs of terms, the largest first, so that truncation leaves out most of them.
func falling(_ *rand.Rand, p, i, j int) *big.Float {
	pair := (i + j) / 2
	return signed(rand.New(rand.NewPCG(uint64(p), uint64(pair))), p, -200*pair)
}

// cancelled elements make pairs cancel that meet pairs of falling ones: a quarter of the entries are 0.
func cancelled(_ *rand.Rand, p, i, j int) *big.Float {
	x := falling(nil, p, i, j)
	if (i+j)%2 == 1 {
		x.Neg(x)
	}
	return x
}

// signed returns a random number of p bits times 2^exp.
func signed(rng *rand.Rand, p, exp int) *big.Float {
	x := new(big.Int).SetBit(new(big.Int), p-1, 1)
	for b := range p - 1 {
		x.SetBit(x, b, uint(rng.IntN(2)))
	}
	z := new(big.Float).SetPrec(uint(p)).SetInt(x)
	z.SetMantExp(z, exp)
	if rng.IntN(2) == 0 {
		z.Neg(z)
	}
	return z
}

// gemmArray returns a matrix in a random layout, with space between its rows or columns, of float64 numbers where
// those have all bits.
func gemmArray(rng *rand.Rand, rows, cols, p int, floats bool, make_ gemmElement) numbers.Array {
	l := numbers.RowMajor(rows, cols, cols+rng.IntN(3))
	if rng.IntN(2) == 0 {
		l = numbers.ColMajor(rows, cols, rows+rng.IntN(3))
	}
	bigs, doubles := make(numbers.Bigs, l.Size()), make(numbers.Float64s, l.Size())
	for i := range rows {
		for j := range cols {
			at := l.Index(i, j)
			bigs[at] = make_(rng, p, i, j)
			doubles[at], _ = bigs[at].Float64()
		}
	}
	if floats {
		return numbers.Array{Source: doubles, Layout: l}
	}
	return numbers.Array{Source: bigs, Layout: l}
}

func newTestGemm(t *testing.T, precision int) *gemm {
	e, err := NewGemm(method.Config{Precision: precision, Devices: device.Must(gputest.Name(t)), Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e.(*gemm)
}

// testTiles are tiles of all kernels that the device has, the portable one first.
func testTiles(t *testing.T) []int {
	if info := gputest.Device(t).Info(); info.Major != 9 || info.Minor != 0 {
		t.Logf("%s has no wgmma", info.Name)
		return []int{64, 128}
	}
	return []int{64, 128, wideTile}
}

// checkGemm runs an engine, and compares all entries with exact ones, rounded.
func checkGemm(t *testing.T, e *gemm, p *op.Problem) {
	t.Helper()
	if err := method.Run(context.Background(), e, p); err != nil {
		t.Fatal(err)
	}
	checkResult(t, e, p)
}

func checkResult(t *testing.T, e *gemm, p *op.Problem) {
	t.Helper()
	y, err := e.Result()
	if err != nil {
		t.Fatal(err)
	}
	want, err := op.Exact(p)
	if err != nil {
		t.Fatal(err)
	}
	cols := p.Right().Cols
	for i := range y.Len() {
		f := new(big.Float).SetPrec(uint(e.config.Precision)).SetRat(want.Component(i).Sum.Number())
		if r, _ := f.Rat(nil); r.Cmp(numbers.At(y, i).Number()) != 0 {
			t.Fatalf("entry (%d, %d) is %v, want %v (%s)", i/cols, i%cols, numbers.At(y, i), r, e.Info().Variant)
		}
	}
}

// TestGemm: random shapes, layouts, elements, alpha and beta.
func TestGemm(t *testing.T) {
	gputest.Sanitize(t)
	gputest.Device(t)
	count := 40
	if testing.Short() || gputest.Emulated() {
		count = 16
	}
	if os.Getenv("MPBENCH_FULL_TESTS") != "" {
		count = 10_000
	}
	tiles := testTiles(t)
	truncated, recomputed := 0, 0
	for seed := range count {
		rng := rand.New(rand.NewPCG(uint64(seed), 17))
		kind := gemmKinds[seed%len(gemmKinds)]
		left := kind.make
		p := []int{2, 24, 53, 106, 113, 212, 424}[rng.IntN(7)]
		floats := p <= 53 && rng.IntN(2) == 0 && kind.name != "scaled" && kind.name != "falling"
		rows, terms, cols := 1+rng.IntN(20), 1+rng.IntN(40), gemmFewColumns+1+rng.IntN(40)
		if !gputest.Emulated() && seed%10 == 0 {
			rows, terms, cols = 1+rng.IntN(300), 1+rng.IntN(300), gemmFewColumns+1+rng.IntN(300)
		}
		if kind.name == "falling" {
			left, terms = cancelled, 30 // exact sums take more moduli than there are
		}
		name := fmt.Sprintf("%d %s %d bits %d x %d x %d", seed, kind.name, p, rows, terms, cols)
		t.Run(name, func(t *testing.T) {
			q := &op.Problem{Op: op.Gemm, Trans: rng.IntN(2) == 0, TransX: rng.IntN(2) == 0}
			q.A, q.X = gemmArray(rng, rows, terms, p, floats, left), gemmArray(rng, terms, cols, p, floats, kind.make)
			if q.Trans {
				q.A = gemmArray(rng, terms, rows, p, floats, left)
			}
			if q.TransX {
				q.X = gemmArray(rng, cols, terms, p, floats, kind.make)
			}
			if rng.IntN(2) == 0 {
				q.Alpha, q.Beta = numbers.Scalar(-1.1), numbers.Scalar(math.Ldexp(0.9, rng.IntN(60)-30))
				q.Y = gemmArray(rng, rows, cols, p, floats, kind.make)
			}
			e := newTestGemm(t, max(2, p-rng.IntN(3)))
			e.limits.tile = tiles[seed/len(gemmKinds)%2*(len(tiles)-1)]
			checkGemm(t, e, q)
			if e.product == nil {
				t.Fatal("no product on the device")
			}
			if e.plan.Truncated() {
				truncated++
			}
			recomputed += len(e.open)
		})
	}
	if truncated == 0 || recomputed == 0 {
		t.Errorf("%d products truncated, %d entries computed again: want some of both", truncated, recomputed)
	}
}

// TestGemmShapes: tiles of all sizes, sums that are reduced after each stage, panels of rows, of columns, of both.
func TestGemmShapes(t *testing.T) {
	gputest.Sanitize(t)
	gputest.Device(t)
	type shape struct {
		rows, terms, cols, p, tile, turns int
		panels                            int // at least
		share                             int64
	}
	list := []shape{
		{70, 300, 66, 24, 64, 1, 1, 0},  // three stages, each reduced
		{70, 300, 66, 24, 256, 1, 1, 0}, // the same by clusters
		{5, 300, 6, 200, 64, 2, 1, 0},   // two digits
		{5, 700, 6, 200, 256, 2, 1, 0},  // and stages that come again
		{130, 20, 70, 24, 128, 0, 1, 0}, // more than a tile of rows
		{70, 10, 140, 24, 64, 0, 2, 2},  // panels of columns
		{140, 10, 70, 24, 64, 0, 2, 2},  // of rows
		{140, 10, 140, 24, 64, 0, 4, 3}, // of both
		{9, 3, 7, 1200, 64, 0, 1, 0},    // integers of more than 128 bytes
	}
	if testing.Short() {
		list = list[:6]
	} else if !gputest.Emulated() || os.Getenv("MPBENCH_FULL_TESTS") != "" {
		for _, tile := range testTiles(t) { // sums that reach 2^30
			list = append(list, shape{5, 2*bytemod.StageTerms + 130, 9, 7, tile, 0, 1, 0})
		}
	}
	for _, c := range list {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			if !slices.Contains(testTiles(t), c.tile) {
				t.Skip("the device has no wgmma")
			}
			rng := rand.New(rand.NewPCG(uint64(c.rows), uint64(c.cols)))
			full := gemmKinds[0].make
			if c.p == 7 { // residues of A are the largest modulo 256, 255, ...
				full = func(rng *rand.Rand, p, _, _ int) *big.Float { return big.NewFloat(127) }
			}
			q := &op.Problem{Op: op.Gemm, A: gemmArray(rng, c.rows, c.terms, c.p, c.p <= 53, full),
				X: gemmArray(rng, c.terms, c.cols, c.p, c.p <= 53, full), Beta: numbers.Scalar(3),
				Y: gemmArray(rng, c.rows, c.cols, c.p, c.p <= 53, full)}
			e := newTestGemm(t, c.p)
			e.limits.tile, e.limits.turns = c.tile, c.turns
			if c.share > 0 {
				checkGemm(t, e, q)
				in, out := e.product.moduli.Planes()
				a, b := int64(e.product.sides[0].panel), int64(e.product.sides[1].panel)
				e.limits.room = (int64(in*e.product.terms)*(a+b) + int64(out)*a*b) * 2 / (c.share + 1)
			}
			checkGemm(t, e, q)
			if n := e.product.panels(); n < c.panels || c.panels == 1 && n > 1 {
				t.Errorf("%d panels, want %d", n, c.panels)
			}
			if err := e.RunTimed(context.Background()); err != nil {
				t.Fatal(err)
			}
			if times := e.Times(); len(times.Kernels) != 2+min(1, e.product.panels()-1) {
				t.Errorf("kernels %v", times.Kernels)
			}
			checkResult(t, e, q)
		})
	}
}

// TestGemmExtremes: all elements -2^p, of which sums are at the limit of the moduli, and -2^p against 2^p - 1.
func TestGemmExtremes(t *testing.T) {
	gputest.Device(t)
	const n = 9
	tiles := testTiles(t)
	for k, p := range []int{53, 106, 212, 424, 53, 106, 212, 424} {
		least := func(*rand.Rand, int, int, int) *big.Float { return new(big.Float).SetMantExp(big.NewFloat(-1), p) }
		most := func(_ *rand.Rand, _, i, j int) *big.Float {
			x := new(big.Int).Lsh(big.NewInt(1), uint(p))
			return new(big.Float).SetInt(x.Sub(x, big.NewInt(1)))
		}
		// of one binade, so that nothing is cut: an odd element in each row and column
		odd := func(rng *rand.Rand, p, i, j int) *big.Float {
			if i == j {
				return most(rng, p, i, j)
			}
			return least(rng, p, i, j)
		}
		rng := rand.New(rand.NewPCG(1, 1))
		for _, pair := range [][2]gemmElement{{least, least}, {odd, odd}, {odd, most}, {most, most}} {
			e := newTestGemm(t, p)
			e.limits.tile = tiles[k/4*(len(tiles)-1)]
			checkGemm(t, e, &op.Problem{Op: op.Gemm, A: gemmArray(rng, n, 64, p, false, pair[0]),
				X: gemmArray(rng, 64, n, p, false, pair[1])})
		}
	}
}

// TestGemmWays: which way of computing runs, and that all of them are exact.
func TestGemmWays(t *testing.T) {
	gputest.Device(t)
	rng := rand.New(rand.NewPCG(1, 2))
	full := gemmKinds[0].make
	third := numbers.Rationals([]*big.Rat{big.NewRat(1, 3)})
	for _, c := range []struct {
		cols, p, precision int
		make               gemmElement
		alpha              numbers.Array
		want               string
	}{
		{gemmFewColumns, 53, 53, full, numbers.Array{}, "column by column"},
		{gemmFewColumns + 1, 53, 53, full, numbers.Array{}, "tensor cores, 14 products of bytes"},
		{gemmFewColumns + 1, 53, 53, full, numbers.Scalar(0), "column by column, each converted anew"},
		{gemmFewColumns + 1, 53, 53, full, numbers.Array{Source: third, Layout: numbers.RowMajor(1, 1, 1)},
			"column by column, each converted anew"},
		{gemmFewColumns + 1, 53, 3000, full, numbers.Array{}, "tensor cores, 14 products of bytes"},
		{gemmFewColumns + 1, 53, 60000, full, numbers.Array{}, "column by column"}, // the window takes too much memory
		{gemmFewColumns + 1, 24, 24, falling, numbers.Array{}, "truncated factors"},
		{gemmFewColumns + 1, 2450, 53, full, numbers.Array{}, "truncated factors"},
		{gemmFewColumns + 1, 2500, 2450, full, numbers.Array{}, "column by column"},
	} {
		t.Run(fmt.Sprintf("%d columns of %d bits to %d", c.cols, c.p, c.precision), func(t *testing.T) {
			q := &op.Problem{Op: op.Gemm, A: gemmArray(rng, 6, 8, c.p, c.p == 53, c.make),
				X: gemmArray(rng, 8, c.cols, c.p, c.p == 53, c.make), Alpha: c.alpha, Beta: numbers.Scalar(-3),
				Y: gemmArray(rng, 6, c.cols, c.p, c.p == 53, c.make)}
			e := newTestGemm(t, c.precision)
			checkGemm(t, e, q)
			if got := e.Info().Variant; !strings.Contains(got, c.want) {
				t.Errorf("variant %q, want one with %q", got, c.want)
			}
		})
	}
}

// TestGemmMemory: a product whose planes do not fit, not even those of a tile, says what it needs.
func TestGemmMemory(t *testing.T) {
	gputest.Device(t)
	rng := rand.New(rand.NewPCG(3, 3))
	full := gemmKinds[0].make
	q := &op.Problem{Op: op.Gemm, A: gemmArray(rng, 70, 9, 53, true, full), X: gemmArray(rng, 9, 70, 53, true, full)}
	e := newTestGemm(t, 53)
	e.limits.room, e.limits.tile = 10_000, 64
	var small *method.MemoryError
	err := method.Run(context.Background(), e, q)
	if !errors.As(err, &small) {
		t.Fatalf("error %v, want one about memory", err)
	}
	// 15 products: planes of 64 x 128 bytes of A and of B, of 64 x 64 of the product
	if planes := int64(15 * (2*64*128 + 64*64)); small.Need < planes || small.Need > planes+200_000 ||
		small.Need-small.Have != planes-10_000 {
		t.Errorf("%d bytes of %d, where planes take %d", small.Need, small.Have, planes)
	}
	e.limits.room = 0
	checkGemm(t, e, q)
}

// TestGemmReconsidered: where all sums cancel, truncated factors leave all entries open, and exact ones are taken.
func TestGemmReconsidered(t *testing.T) {
	gputest.Device(t)
	rng := rand.New(rand.NewPCG(1, 3))
	const n = 12
	x, y := make(numbers.Float64s, n*n), make(numbers.Float64s, n*n)
	for i := range n {
		for j := 0; j < n; j += 2 { // the largest product is that of the largest elements
			v := math.Ldexp(float64(rng.Int64N(1<<53)), -70*j)
			x[n*i+j], x[n*i+j+1] = v, -v
			y[n*j+i], y[n*(j+1)+i] = v, v
		}
	}
	layout := numbers.RowMajor(n, n, n)
	q := &op.Problem{Op: op.Gemm, A: numbers.Array{Source: x, Layout: layout},
		X: numbers.Array{Source: y, Layout: layout}}
	e := newTestGemm(t, 24)
	checkGemm(t, e, q)
	first := deferred.NewGemmPlan(q.A, q.X, nil, nil, 24, 1,
		deferred.GemmCost{Products: bytemod.Products, Most: bytemod.MaxProducts - 1, Redo: gemmRedo})
	if !first.Truncated() || e.plan.Truncated() || strings.Contains(e.Info().Variant, "again") {
		t.Errorf("first truncated: %v, then variant %q", first.Truncated(), e.Info().Variant)
	}
}

// packedNumbers returns n numbers of p random bits in (-1, 1), uniform but for what is below 2^-spread.
func packedNumbers(t testing.TB, rng *rand.Rand, n, p, spread int) *deferred.Packed {
	packed := deferred.NewPacked(n, p)
	z := numbers.Number{Class: numbers.Finite, Words: make([]uint64, (p+63)/64)}
	for i := range n {
		for k := range z.Words {
			z.Words[k] = rng.Uint64()
		}
		last, top := &z.Words[len(z.Words)-1], uint((p-1)%64)
		*last = *last&(1<<top-1) | 1<<top
		z.Neg, z.Exp = rng.IntN(2) == 0, -p-min(spread, bits.LeadingZeros64(rng.Uint64()))
		if err := packed.Set(i, &z); err != nil {
			t.Fatal(err)
		}
	}
	return packed
}

// TestGemmLarge compares random entries of a product of numbers uniform in (-1, 1) with exact dot products: on
// a GPU of 4096 x 4096 matrices, by all kernels.
func TestGemmLarge(t *testing.T) {
	gputest.Device(t)
	n, count := 4096, 10_000
	if gputest.Emulated() {
		n, count = 70, 200
	}
	rng := rand.New(rand.NewPCG(4, 4))
	for _, p := range []int{53, 106, 212, 424} {
		a, b := packedNumbers(t, rng, n*n, p, 20), packedNumbers(t, rng, n*n, p, 20)
		l := numbers.RowMajor(n, n, n)
		q := &op.Problem{Op: op.Gemm, A: numbers.Array{Source: a, Layout: l}, X: numbers.Array{Source: b, Layout: l}}
		entries := make([]int, count)
		for i := range entries {
			entries[i] = i*(n*n/count) + rng.IntN(n*n/count)
		}
		want := deferred.NewPacked(n*n, p)
		for k, tile := range testTiles(t)[1:] {
			e := newTestGemm(t, p)
			e.limits.tile = tile
			if err := method.Run(context.Background(), e, q); err != nil {
				t.Fatal(err)
			}
			if k == 0 {
				e.plan.Recompute(want, entries, big.NewFloat(1), new(big.Float), numbers.Array{})
			}
			z, err := e.Result()
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range entries {
				if !numbers.At(z, i).Equal(numbers.At(want, i)) {
					t.Fatalf("%d bits, %s: entry %d is %v, want %v", p, e.Info().Variant, i, numbers.At(z, i),
						numbers.At(want, i))
				}
			}
			if err := e.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
