package primer

import "sync"

// Team are threads that combine a value each, in the order of their ranks, whoever comes first: so a rounding
// operation gives the same bits every time. Its methods are Peril-L's forms of reduce and scan of local operands.
//
// The zero Team is of no use; it serves any number of combinations, one after the other, each by all threads.
type Team[T Number] struct {
	combiner Combiner[T]
	values   []T   // of the present combination, by rank
	given    []int // combinations that each thread gave a value for
	prefixes []T   // of the last one that is complete
	total    T
	arrived  int
	turn     int // combinations that are complete
	mutex    sync.Mutex
	complete *sync.Cond
}

// NewTeam returns a team of so many threads.
func NewTeam[T Number](c Combiner[T], threads int) *Team[T] {
	t := &Team[T]{combiner: c, values: make([]T, threads), given: make([]int, threads), prefixes: make([]T, threads),
		total: c.Identity}
	t.complete = sync.NewCond(&t.mutex)
	return t
}

// arrive gives a thread's value to a combination, whose number it returns. The last thread combines.
func (t *Team[T]) arrive(rank int, value T) (turn int) {
	turn = t.given[rank]
	t.await(turn) // of the one before, which a global result does not wait for
	t.given[rank]++
	t.values[rank] = value
	if t.arrived++; t.arrived == len(t.values) {
		t.total = t.combiner.Scan(t.combiner.Identity, t.prefixes, t.values)
		t.arrived = 0
		t.turn++
		t.complete.Broadcast()
	}
	return turn
}

// await waits until so many combinations are complete. Results stay until all threads have come again.
func (t *Team[T]) await(combinations int) {
	for t.turn < combinations {
		t.complete.Wait()
	}
}

// Reduce is total = o/value with a local result: every thread gets a copy of the total. A local result is a barrier,
// as no thread can have it before the last one has given its value.
func (t *Team[T]) Reduce(rank int, value T) T {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.await(t.arrive(rank, value) + 1)
	return t.total
}

// Scan is upTo = o\value with a local result: the thread gets the combination of the values of ranks up to its own,
// and of those before it. It is a barrier, too.
func (t *Team[T]) Scan(rank int, value T) (upTo, before T) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.await(t.arrive(rank, value) + 1)
	if before = t.combiner.Identity; rank > 0 {
		before = t.prefixes[rank-1]
	}
	return t.prefixes[rank], before
}

// Contribute is Total = o/value with a global result: the thread gives its value and goes on. Whoever reads the
// total waits ([Team.Total]).
func (t *Team[T]) Contribute(rank int, value T) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.arrive(rank, value)
}

// Total returns the global result when so many combinations are complete.
func (t *Team[T]) Total(combinations int) T {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	t.await(combinations)
	return t.total
}
