package methods_test

import (
	"context"
	"fmt"
	"testing"

	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// BenchmarkCall times a run of an engine beside its loop alone, from one term to a thousand: what the contract costs.
func BenchmarkCall(b *testing.B) {
	m, _ := catalog.Lookup(op.Sum, "float64")
	for _, n := range []int{1, 64, 1000} {
		x := make(numbers.Float64s, n)
		for i := range x {
			x[i] = 1 / float64(i+1)
		}
		b.Run(fmt.Sprintf("n=%d/loop", n), func(b *testing.B) {
			for b.Loop() {
				sink = recursiveSum(x)
			}
		})
		b.Run(fmt.Sprintf("n=%d/engine", n), func(b *testing.B) {
			e, err := m.New(method.Config{})
			if err != nil {
				b.Fatal(err)
			}
			ctx := context.Background()
			if err := e.Prepare(ctx, &op.Problem{Op: op.Sum, X: numbers.Vector(x)}); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if err := e.Run(ctx); err != nil {
					b.Fatal(err)
				}
			}
			y, err := e.Result()
			if err != nil || numbers.At(y, 0).Float64() != recursiveSum(x) {
				b.Errorf("the sum is %v, %v", y, err)
			}
		})
	}
}

var sink float64

//go:noinline
func recursiveSum(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}
