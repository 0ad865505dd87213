package deferredgpu

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"mpbench/pkg/device"
	"mpbench/pkg/gpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
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
	{"spread", func(rng *rand.Rand, p, _, _ int) *big.Float { return signed(rng, p, rng.IntN(3000)-1500) }},
	{"cancelling", func(rng *rand.Rand, p, i, j int) *big.Float {
		x := signed(rand.New(rand.NewPCG(uint64(p), uint64((i+j)/2))), p, 0)
		if (i+j)%2 == 1 {
			x.Neg(x)
		}
		return x
	}},
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

// checkGemm runs an engine, and compares all entries with exact ones, rounded.
func checkGemm(t *testing.T, e *gemm, p *op.Problem) {
	t.Helper()
	if err := method.Run(context.Background(), e, p); err != nil {
		t.Fatal(err)
	}
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
	if testing.Short() {
		count = 14
	}
	truncated, recomputed := 0, 0
	for seed := range count {
		rng := rand.New(rand.NewPCG(uint64(seed), 17))
		kind := gemmKinds[seed%len(gemmKinds)]
		p := []int{2, 24, 53, 106, 113, 212, 424}[rng.IntN(7)]
		floats := p <= 53 && rng.IntN(2) == 0 && kind.name != "spread" && kind.name != "scaled"
		rows, terms, cols := 1+rng.IntN(20), 1+rng.IntN(40), gemmFewColumns+1+rng.IntN(40)
		name := fmt.Sprintf("%d %s %d bits %d x %d x %d", seed, kind.name, p, rows, terms, cols)
		t.Run(name, func(t *testing.T) {
			q := &op.Problem{Op: op.Gemm, Trans: rng.IntN(2) == 0, TransX: rng.IntN(2) == 0}
			q.A, q.X = gemmArray(rng, rows, terms, p, floats, kind.make), gemmArray(rng, terms, cols, p, floats, kind.make)
			if q.Trans {
				q.A = gemmArray(rng, terms, rows, p, floats, kind.make)
			}
			if q.TransX {
				q.X = gemmArray(rng, cols, terms, p, floats, kind.make)
			}
			if rng.IntN(2) == 0 {
				q.Alpha, q.Beta = numbers.Scalar(-1.1), numbers.Scalar(math.Ldexp(0.9, rng.IntN(60)-30))
				q.Y = gemmArray(rng, rows, cols, p, floats, kind.make)
			}
			e := newTestGemm(t, max(2, p-rng.IntN(3)))
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
	_ = gpu.ErrOutOfMemory
}
