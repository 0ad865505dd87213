package primer

import (
	"mpbench/internal/parallel"
	"mpbench/pkg/record"
	"mpbench/pkg/sampling"
)

// Problem is what all ways of a table compute.
type Problem[T Number] struct {
	Combiner[T]
	X         []T
	Threads   int // of processors; 0 for all
	Reference *Reference[T]
}

// NewProblem makes the data, and computes the exact result.
func NewProblem[T Number](o Operation, n int, seed uint64, threads int) *Problem[T] {
	c := CombinerOf[T](o)
	x := Data[T](o, n, seed)
	return &Problem[T]{c, x, parallel.Threads(threads), NewReference(c, x)}
}

// Bytes returns the size of the numbers.
func (p *Problem[T]) Bytes() int64 { return int64(len(p.X)) * int64(SizeOf[T]()) }

// timed makes a function what is timed by the clock.
func timed(f func()) func(*sampling.Timer) error {
	return func(t *sampling.Timer) error {
		t.Time(record.PhaseKernel, f)
		return nil
	}
}

// CPUCopy is a copy of the numbers by all threads.
func (p *Problem[T]) CPUCopy() Way {
	to := make([]T, len(p.X))
	return Way{
		Name: "copy", Summary: "reads and writes every number", Device: "cpu", Threads: p.Threads, Bytes: 2 * p.Bytes(),
		Sample: timed(func() {
			share(p.Threads, len(to), func(_, from, end int) { copy(to[from:end], p.X[from:end]) })
		}),
	}
}

// CPUReductions are the ways to reduce on processors.
func (p *Problem[T]) CPUReductions() (ways []Way) {
	for _, r := range Reducers[T]() {
		threads := p.Threads
		if !r.Parallel {
			threads = 1
		}
		var result T
		ways = append(ways, Way{
			Name: r.Name, Summary: r.Summary, Device: "cpu", Threads: threads, Bytes: p.Bytes(),
			Sample: timed(func() { result = r.Reduce(p.Combiner, p.X, p.Threads) }),
			Judge:  func() (Verdict, error) { return p.Reference.Judge(result), nil },
		})
	}
	return ways
}

// CPUScans are the ways to scan on processors.
func (p *Problem[T]) CPUScans(r *PrefixReference[T]) (ways []Way) {
	for _, s := range Scanners[T](p.Operation) {
		threads := p.Threads
		if !s.Parallel {
			threads = 1
		}
		y := make([]T, len(p.X))
		ways = append(ways, Way{
			Name: s.Name, Summary: s.Summary, Device: "cpu", Threads: threads, Bytes: 2 * p.Bytes(),
			Sample: timed(func() { s.Scan(p.Combiner, y, p.X, r.exclusive, p.Threads) }),
			Judge:  func() (Verdict, error) { return r.Judge(y, s.Name == exactName), nil },
		})
	}
	return ways
}
