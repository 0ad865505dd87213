package deferred

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// threadCount returns the number of workers for the parameter threads, where 0 stands for GOMAXPROCS.
func threadCount(threads int) int {
	if threads <= 0 {
		return runtime.GOMAXPROCS(0)
	}
	return threads
}

// parallel calls work(worker, task) for every task from 0 to tasks-1, from at most threads goroutines numbered by worker. Which worker gets
// which task is left to chance, so no result may depend on it.
func parallel(threads, tasks int, work func(worker, task int)) {
	threads = min(threads, tasks)
	if threads <= 1 {
		for task := range tasks {
			work(0, task)
		}
		return
	}
	var next atomic.Int64
	var group sync.WaitGroup
	run := func(worker int) {
		for {
			task := int(next.Add(1)) - 1
			if task >= tasks {
				return
			}
			work(worker, task)
		}
	}
	for worker := 1; worker < threads; worker++ {
		group.Go(func() { run(worker) })
	}
	run(0)
	group.Wait()
}
