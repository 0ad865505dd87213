package gemv

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// threadsOf resolves the option: 0 stands for all processors.
func threadsOf(threads int) int {
	if threads <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return threads
}

// parallel calls do(worker, first, last) for consecutive ranges of at most grain of the numbers 0 to n-1, on up to
// threads goroutines. Which worker does which range is left to chance and must not matter to the result.
func parallel(threads, n, grain int, do func(worker, first, last int)) {
	ranges := (n + grain - 1) / grain
	if threads = min(threads, ranges); threads <= 1 {
		for first := 0; first < n; first += grain {
			do(0, first, min(first+grain, n))
		}
		return
	}
	var next atomic.Int64
	var pool sync.WaitGroup
	for worker := range threads {
		pool.Go(func() {
			for r := int(next.Add(1) - 1); r < ranges; r = int(next.Add(1) - 1) {
				do(worker, r*grain, min((r+1)*grain, n))
			}
		})
	}
	pool.Wait()
}
