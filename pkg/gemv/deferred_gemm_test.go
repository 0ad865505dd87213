package gemv

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
	"mpbench/pkg/rns/deferred"
)

// TestGemmReconsidered: where all sums cancel, truncated factors leave all entries open, and exact ones are taken.
func TestGemmReconsidered(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	const n = 40
	x, y := make(numbers.Float64s, n*n), make(numbers.Float64s, n*n)
	for i := range n {
		for j := range n {
			v := math.Ldexp(float64(rng.Int64N(1<<53)), -20*j) // the largest product is that of the largest elements
			if j%2 == 0 {
				x[n*i+j], x[n*i+j+1] = v, -v
				y[n*j+i], y[n*(j+1)+i] = v, v
			}
		}
	}
	layout := numbers.RowMajor(n, n, n)
	a, b := numbers.Array{Source: x, Layout: layout}, numbers.Array{Source: y, Layout: layout}
	p := &op.Problem{Op: op.Gemm, A: a, X: b}
	e := &gemmEngine{deferredEngine: deferredEngine{config: method.Config{Precision: 24, Threads: 1}}}
	if err := method.Run(context.Background(), e, p); err != nil {
		t.Fatal(err)
	}
	first := deferred.NewGemm(p.A, p.X, 24, 1)
	if !first.Truncated() || e.gemm.Truncated() || strings.Contains(e.Info().Variant, "again") {
		t.Errorf("first truncated: %v, then variant %q", first.Truncated(), e.Info().Variant)
	}
	z, err := e.Result()
	if err != nil {
		t.Fatal(err)
	}
	for i := range z.Len() {
		if v := numbers.At(z, i); v.Number().Sign() != 0 {
			t.Fatalf("component %d is %v, want 0", i, v)
		}
	}
}

// TestGemmVariants: which way of computing runs, and that all of them are exact.
func TestGemmVariants(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	matrix := func(rows, cols, spread int) numbers.Array {
		x := make(numbers.Float64s, rows*cols)
		for i := range x {
			x[i] = math.Ldexp(float64(rng.Int64N(1<<53)-1<<52), rng.IntN(2*spread+1)-spread)
		}
		return numbers.Array{Source: x, Layout: numbers.RowMajor(rows, cols, cols)}
	}
	const memory = 1 << 30
	for _, c := range []struct {
		cols, spread, precision int
		memory                  int64
		want                    string
	}{
		{fewColumns, 0, 53, memory, "rows in place"},
		{fewColumns + 1, 0, 53, memory, "blocks, "},
		{fewColumns + 1, 900, 53, memory, "truncated factors"},
		{fewColumns + 1, 0, 3000, memory, "blocks, "},        // short numbers, long results
		{fewColumns + 1, 900, 3000, memory, "blocks, "},      // exact, though wide
		{300, 0, 53, 3_000_000, "panels"},                    // of B
		{fewColumns + 1, 0, 53, 1000, "panels of 10 moduli"}, // not even these: an error
	} {
		t.Run(fmt.Sprintf("%d columns spread %d to %d bits", c.cols, c.spread, c.precision), func(t *testing.T) {
			p := &op.Problem{Op: op.Gemm, A: matrix(7, 400, c.spread), X: matrix(400, c.cols, c.spread)}
			p.Beta, p.Y = numbers.Scalar(-3), matrix(7, c.cols, c.spread)
			m := deferredMethods()[3]
			e, err := m.New(method.Config{Precision: c.precision, Threads: 1, MaxBytes: c.memory})
			if err != nil {
				t.Fatal(err)
			}
			if err := method.Run(context.Background(), e, p); c.memory == 1000 {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("error %v, want one with %q", err, c.want)
				}
				return
			} else if err != nil {
				t.Fatal(err)
			}
			if got := e.Info().Variant; !strings.Contains(got, c.want) {
				t.Errorf("variant %q, want one with %q", got, c.want)
			}
			y, err := e.Result()
			if err != nil {
				t.Fatal(err)
			}
			want, err := op.Exact(p)
			if err != nil {
				t.Fatal(err)
			}
			for i := range y.Len() {
				f := new(big.Float).SetPrec(uint(c.precision)).SetRat(want.Component(i).Sum.Number())
				if r, _ := f.Rat(nil); r.Cmp(numbers.At(y, i).Number()) != 0 {
					t.Fatalf("component %d is %v, want %v", i, numbers.At(y, i), r)
				}
			}
		})
	}
}
