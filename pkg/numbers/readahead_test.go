package numbers

import (
	"context"
	"errors"
	"testing"
)

// TestReadAhead: runs come in order and as they were read, in few buffers.
func TestReadAhead(t *testing.T) {
	for i, count := range []int{0, 1, 2, 3, 4, 5, 100, 100} {
		next, buffers := 0, map[*float64]bool{}
		err := ReadAhead(t.Context(), 1+i%3, count, 3, func(k int, x []float64) ([]float64, error) {
			x[0], x[1] = float64(k), float64(-k)
			return x[:1+k%2], nil
		}, func(k int, x []float64) error {
			if k != next || len(x) != 1+k%2 || x[0] != float64(k) || k%2 == 1 && x[1] != float64(-k) {
				t.Errorf("run %d of %d is %v, want run %d", k, count, x, next)
			}
			next++
			buffers[&x[0]] = true
			return nil
		})
		if err != nil || next != count || len(buffers) > 2*(1+i%3) {
			t.Errorf("%d runs of %d in %d buffers: %v", next, count, len(buffers), err)
		}
	}
}

// TestReadAheadErrors: the first error ends it, wherever it comes from.
func TestReadAheadErrors(t *testing.T) {
	broken := errors.New("broken")
	fine := func(_ int, x []float64) ([]float64, error) { return x, nil }
	used := 0
	use := func(int, []float64) error { used++; return nil }
	err := ReadAhead(t.Context(), 2, 100, 1, func(k int, x []float64) ([]float64, error) {
		if k == 7 {
			return nil, broken
		}
		return x, nil
	}, use)
	if !errors.Is(err, broken) || used != 7 {
		t.Errorf("%v after %d runs", err, used)
	}
	err = ReadAhead(t.Context(), 2, 100, 1, fine, func(k int, _ []float64) error {
		if k == 5 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = ReadAhead(ctx, 3, 1_000_000_000, 1, fine, func(k int, _ []float64) error {
		if k == 5 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
