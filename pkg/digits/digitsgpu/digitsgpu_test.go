package digitsgpu_test

import (
	"context"
	"testing"

	"mpbench/internal/problems"
	"mpbench/pkg/device"
	"mpbench/pkg/digits"
	"mpbench/pkg/digits/digitsgpu"
	"mpbench/pkg/gpu/gputest"
	"mpbench/pkg/method"
	"mpbench/pkg/numbers"
	"mpbench/pkg/op"
)

// TestBits: all operations have the bits of the CPU, with as few and as many words as every kernel has room for.
func TestBits(t *testing.T) {
	gputest.Sanitize(t)
	gpu := device.Must(gputest.Name(t))
	for _, m := range digitsgpu.On(digits.Methods()) {
		seed := uint64(0)
		for _, words := range []int{2, 4, 5, 16, 17, 64, 65, 257} {
			c := problems.Choice{Kind: problems.Kind(words) % problems.Kinds, Bits: digits.Bits(words), Largest: 9}
			for range 3 {
				seed++
				c.Seed = seed
				p := c.Random(m.Operation)
				config := method.Config{Precision: min(digits.Bits(words), m.Most)}
				want := run(t, m, config, p)
				config.Devices = gpu
				got := run(t, m, config, p)
				for i := range want.Len() {
					if x, y := numbers.At(want, i), numbers.At(got, i); !x.Equal(y) {
						t.Fatalf("%s %s, %d words, seed %d: component %d is %v, on the CPU %v", m.Operation.Name, m.Name, words,
							seed, i, y, x)
					}
				}
			}
		}
	}
}

// run computes a problem twice and returns the result.
func run(t *testing.T, m method.Method, c method.Config, p *op.Problem) numbers.Source {
	t.Helper()
	e, err := m.New(c)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := method.Run(context.Background(), e, p); err != nil {
			t.Fatal(err)
		}
	}
	y, err := e.Result()
	if err == nil {
		err = e.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return y
}
