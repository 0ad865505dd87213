// Package parallel has the one loop that goroutines share.
package parallel

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// Threads resolves an option: 0 or less stands for GOMAXPROCS.
func Threads(threads int) int {
	if threads <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return threads
}

// Ranges calls do(worker, from, to) for consecutive ranges of at most grain of the numbers 0 to n-1, on up to threads
// goroutines (0: GOMAXPROCS); workers are numbered from 0, and the caller is one of them. Which worker does which
// range is left to chance and must not matter to the result.
func Ranges(threads, n, grain int, do func(worker, from, to int)) {
	ranges := (n + grain - 1) / grain
	threads = min(Threads(threads), ranges)
	if threads <= 1 {
		for from := 0; from < n; from += grain {
			do(0, from, min(from+grain, n))
		}
		return
	}
	var next atomic.Int64
	work := func(worker int) {
		for r := int(next.Add(1) - 1); r < ranges; r = int(next.Add(1) - 1) {
			do(worker, r*grain, min((r+1)*grain, n))
		}
	}
	var others sync.WaitGroup
	for worker := 1; worker < threads; worker++ {
		others.Go(func() { work(worker) })
	}
	work(0)
	others.Wait()
}

// Tasks calls do(worker, task) for every task from 0 to n-1, as Ranges.
func Tasks(threads, n int, do func(worker, task int)) {
	Ranges(threads, n, 1, func(worker, task, _ int) { do(worker, task) })
}
