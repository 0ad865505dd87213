package primer

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"mpbench/internal/parallel"
)

// A Reducer is a way to reduce on processors.
type Reducer[T Number] struct {
	Name, Summary string
	Parallel      bool
	Reduce        func(c Combiner[T], x []T, threads int) T
}

// Reducers lists the ways on processors, from the one that is only right to the one that is fast, too.
func Reducers[T Number]() []Reducer[T] {
	return []Reducer[T]{
		{"serial", "one thread, one loop", false,
			func(c Combiner[T], x []T, _ int) T { return c.Fold(c.Identity, x) }},
		{"critical", "one result that all threads update, each in its turn (critical)", true, reduceCritical[T]},
		{"atomic", "one result, updated by compare-and-swap (atomic)", true, reduceAtomic[T]},
		{"neighbours", "a copy a thread, all in one cache line, updated in memory", true, reduceNeighbours[T]},
		{"private", "a private copy a thread, combined at the end (reduction)", true, reducePrivate[T]},
	}
}

// share calls do for every thread's part of n elements, the parts being as even as they can be and in the order of the
// ranks (schedule(static)), and waits.
func share(threads, n int, do func(rank, from, to int)) {
	var others sync.WaitGroup
	for rank := 1; rank < threads; rank++ {
		others.Go(func() { do(rank, part(n, rank, threads), part(n, rank+1, threads)) })
	}
	do(0, 0, part(n, 1, threads))
	others.Wait()
}

// part returns where a thread's part begins.
func part(n, rank, threads int) int { return n/threads*rank + min(rank, n%threads) }

func reduceCritical[T Number](c Combiner[T], x []T, threads int) T {
	var mutex sync.Mutex
	s := c.Identity
	share(parallel.Threads(threads), len(x), func(_, from, to int) {
		for i := from; i < to; i++ {
			mutex.Lock()
			s = c.Fold(s, x[i:i+1])
			mutex.Unlock()
		}
	})
	return s
}

func reduceAtomic[T Number](c Combiner[T], x []T, threads int) T {
	var s atomic.Uint64
	s.Store(bitsOf(c.Identity))
	share(parallel.Threads(threads), len(x), func(_, from, to int) {
		for i := from; i < to; i++ {
			for before := s.Load(); ; before = s.Load() {
				if s.CompareAndSwap(before, bitsOf(c.Fold(ofBits[T](before), x[i:i+1]))) {
					break
				}
			}
		}
	})
	return ofBits[T](s.Load())
}

// bitsOf and ofBits are an element as it is in memory.
func bitsOf[T Number](v T) uint64 {
	if unsafe.Sizeof(v) == 4 {
		return uint64(*(*uint32)(unsafe.Pointer(&v)))
	}
	return *(*uint64)(unsafe.Pointer(&v))
}

func ofBits[T Number](b uint64) (v T) {
	if low := uint32(b); unsafe.Sizeof(v) == 4 {
		return *(*T)(unsafe.Pointer(&low))
	}
	return *(*T)(unsafe.Pointer(&b))
}

// reduceNeighbours shows false sharing: no thread reads another's copy, but the processors' caches pass the line with
// all copies around.
func reduceNeighbours[T Number](c Combiner[T], x []T, threads int) T {
	copies := make([]T, parallel.Threads(threads))
	share(len(copies), len(x), func(rank, from, to int) {
		copies[rank] = c.Identity
		for i := from; i < to; i++ {
			copies[rank] = c.Fold(copies[rank], x[i:i+1])
		}
	})
	return c.Fold(c.Identity, copies)
}

func reducePrivate[T Number](c Combiner[T], x []T, threads int) T {
	threads = parallel.Threads(threads)
	team := NewTeam(c, threads)
	share(threads, len(x), func(rank, from, to int) {
		team.Contribute(rank, c.Fold(c.Identity, x[from:to]))
	})
	return team.Total(1)
}
