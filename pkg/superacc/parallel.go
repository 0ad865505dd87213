package superacc

import "mpbench/internal/parallel"

// share is the number of elements that a worker takes at a time. Fewer are not worth a goroutine.
const share = 1 << 15

// Sum returns the correctly rounded sum of x, computed by at most threads goroutines (0 or less: GOMAXPROCS). The
// result does not depend on their number.
func Sum(x []float64, threads int) float64 {
	if workers(len(x), threads) == 1 {
		var a Accumulator // stays on the stack
		a.AddSlice(x)
		return a.Float64()
	}
	a := new(Accumulator)
	a.AddSliceParallel(x, threads)
	return a.Float64()
}

// Dot returns the correctly rounded dot product of x and y, which must have the same length, computed by at most
// threads goroutines (0 or less: GOMAXPROCS). The result does not depend on their number.
func Dot(x, y []float64, threads int) float64 {
	if workers(len(x), threads) == 1 {
		var a Accumulator // stays on the stack
		a.AddProducts(x, y)
		return a.Float64()
	}
	a := new(Accumulator)
	a.AddProductsParallel(x, y, threads)
	return a.Float64()
}

// AddSliceParallel is AddSlice by at most threads goroutines (0 or less: GOMAXPROCS).
func (a *Accumulator) AddSliceParallel(x []float64, threads int) {
	threads = workers(len(x), threads)
	if threads == 1 {
		a.AddSlice(x)
		return
	}
	a.parallel(len(x), threads, func(a *Accumulator, from, to int) { a.AddSlice(x[from:to]) })
}

// AddProductsParallel is AddProducts by at most threads goroutines (0 or less: GOMAXPROCS).
func (a *Accumulator) AddProductsParallel(x, y []float64, threads int) {
	threads = workers(len(x), threads)
	if threads == 1 || len(x) != len(y) {
		a.AddProducts(x, y)
		return
	}
	a.parallel(len(x), threads, func(a *Accumulator, from, to int) { a.AddProducts(x[from:to], y[from:to]) })
}

// workers returns the number of goroutines worth using for n elements.
func workers(n, threads int) int { return max(1, min(parallel.Threads(threads), n/share)) }

// parallel has add called for all shares of n elements, by a goroutine for each accumulator merged into a.
func (a *Accumulator) parallel(n, threads int, add func(a *Accumulator, from, to int)) {
	parts := make([]Accumulator, threads-1)
	parallel.Ranges(threads, n, share, func(worker, from, to int) {
		if worker == 0 {
			add(a, from, to)
		} else {
			add(&parts[worker-1], from, to)
		}
	})
	for i := range parts {
		a.Merge(&parts[i])
	}
}
