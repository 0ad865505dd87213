package numbers

import (
	"context"
	"sync"
)

// Readers returns how many runs of arrays are best read at a time: 2, so that a disk and the processor that copies
// from it both have work, or 1 where they are to be read in ascending order ([Chunked]).
func Readers(arrays ...Array) int {
	for _, a := range arrays {
		if s, ok := a.Source.(interface{ Sequential() bool }); ok && s.Sequential() {
			return 1
		}
	}
	return 2
}

// ReadAhead calls use(k, x) for k = 0, 1, ... count-1, one after the other. x is what read(k, buffer) returns, of a
// buffer of size numbers; while a run is used, the next ones are read, by so many goroutines, into buffers of their
// own, two for each. It ends with the first error of read, of use, or of ctx, and when no goroutine is left.
func ReadAhead(
	ctx context.Context, readers, count, size int, read func(k int, buffer []float64) ([]float64, error),
	use func(k int, x []float64) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	type run struct {
		x, buffer []float64
		err       error
	}
	full := make([]chan run, readers)
	free := make([]chan []float64, readers)
	for i := range min(readers, count) {
		full[i], free[i] = make(chan run, 1), make(chan []float64, 2)
		for j := i; j < min(2*readers, count); j += readers {
			free[i] <- make([]float64, size)
		}
		all.Go(func() {
			for k := i; k < count; k += readers {
				var r run
				select {
				case r.buffer = <-free[i]:
				case <-ctx.Done():
					return
				}
				r.x, r.err = read(k, r.buffer)
				select {
				case full[i] <- r:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	for k := range count {
		if err := ctx.Err(); err != nil {
			return err
		}
		select {
		case r := <-full[k%readers]:
			if r.err == nil {
				r.err = use(k, r.x)
			}
			if r.err != nil {
				return r.err
			}
			free[k%readers] <- r.buffer
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
