package multifloat

import (
	"math/bits"
	"sync"

	"mpbench/pkg/multifloat/network"
)

// The order of additions, which is the same on every device, for any number of threads and all instruction sets.
//
// Sums and dot products are cut into segments. In a segment, lane l adds the terms l, l + lanes, l + 2*lanes, ... in
// turn; then lane l adds lane l + lanes/2, l + lanes/4, ..., l + 1. The sums of segments are added in pairs of
// neighbours until one is left.
const (
	segment = 2048
	lanes   = network.Lanes
)

// depth returns how many additions that round a term goes through, at most, in a sum of n. Adding to 0 does not round.
func depth(n int) int {
	in := min(n, segment)
	return max(0, ceilDiv(in, lanes)-1) + log2(min(in, lanes)) + log2(Segments(n))
}

// Segments returns how many segments a sum of n has; an empty one counts.
func Segments(n int) int { return max(1, ceilDiv(n, segment)) }

func ceilDiv(a, b int) int { return (a + b - 1) / b }

// log2 returns the base-2 logarithm of n, rounded up; 0 for 0.
func log2(n int) int { return bits.Len(uint(max(n, 1) - 1)) }

// arithmetic adds and multiplies vectors by the programs of a scheme.
type arithmetic[T Float] struct {
	components int
	doubleWord bool
	programs   func() *programs[T]
	states     sync.Pool // of *state[T]
}

// programs are those of a scheme.
type programs[T Float] struct{ add, addProduct, mul, axpy *network.Program[T] }

// newArithmetic returns the arithmetic of a scheme, whose programs are recorded when they are first run.
func newArithmetic[T Float](s network.Scheme) *arithmetic[T] {
	a := &arithmetic[T]{components: s.Components, doubleWord: s.DoubleWord}
	a.programs = sync.OnceValue(func() *programs[T] { return record[T](s) })
	a.states.New = func() any { return newState(s.Components, a.programs()) }
	return a
}

func record[T Float](s network.Scheme) *programs[T] {
	type f = network.Arithmetic[int]
	k := s.Components
	return &programs[T]{
		add: network.Record[T](k, 2, func(r f, x [][]int) []int { return network.Add(r, s, x[0], x[1]) }),
		mul: network.Record[T](k, 2, func(r f, x [][]int) []int { return network.Mul(r, s, x[0], x[1]) }),
		addProduct: network.Record[T](k, 3, func(r f, x [][]int) []int {
			return network.Add(r, s, x[0], network.Mul(r, s, x[1], x[2]))
		}),
		axpy: network.Record[T](k, 3, func(r f, x [][]int) []int {
			return network.Add(r, s, network.Mul(r, s, x[0], x[1]), x[2])
		}),
	}
}

// Sum returns the sum of a vector.
func (a *arithmetic[T]) Sum(x Vector[T]) Number[T] {
	z := MakeVector[T](1, a.components)
	a.reduce(z, a.programs().add, 1, x.Len, x)
	return z.Get(0)
}

// Asum returns the sum of the magnitudes of a vector.
func (a *arithmetic[T]) Asum(x Vector[T]) Number[T] {
	z := MakeVector[T](x.Len, a.components)
	for i := range x.Len {
		z.Set(i, x.Get(i).abs())
	}
	return a.Sum(z)
}

// Dot returns a dot product.
func (a *arithmetic[T]) Dot(x, y Vector[T]) Number[T] {
	z := MakeVector[T](1, a.components)
	a.reduce(z, a.programs().addProduct, 1, x.Len, x, y)
	return z.Get(0)
}

// Dots sets z to the dot products of the rows of m and the columns of x, row by row; both have n numbers each.
func (a *arithmetic[T]) Dots(z, m, x Vector[T], rows, columns, n int) {
	a.reduce(z.Slice(0, rows*columns), a.programs().addProduct, columns, n, m, x)
}

// Axpy sets z = c*x + y.
func (a *arithmetic[T]) Axpy(z Vector[T], c Number[T], x, y Vector[T]) {
	a.elements(z, a.programs().axpy, &c, x, y)
}

// Scal sets z = c*x.
func (a *arithmetic[T]) Scal(z Vector[T], c Number[T], x Vector[T]) {
	a.elements(z, a.programs().mul, &c, x)
}

// Products sets z_i = x_i * y_i.
func (a *arithmetic[T]) Products(z, x, y Vector[T]) { a.elements(z, a.programs().mul, nil, x, y) }

// Add returns x + y.
func (a *arithmetic[T]) Add(x, y Number[T]) Number[T] { return a.one(a.programs().add, x, y) }

// Mul returns x * y.
func (a *arithmetic[T]) Mul(x, y Number[T]) Number[T] { return a.one(a.programs().mul, x, y) }

func (a *arithmetic[T]) one(p *network.Program[T], x, y Number[T]) Number[T] {
	v, z := MakeVector[T](1, a.components), MakeVector[T](1, a.components)
	v.Set(0, y)
	a.elements(z, p, &x, v)
	return z.Get(0)
}

// reduce sets z[i] to the sum of n terms. Terms are what the program adds to its first operand: numbers of row
// i/columns of the first vector, and of column i%columns of the second one, if there is one.
func (a *arithmetic[T]) reduce(z Vector[T], p *network.Program[T], columns, n int, vectors ...Vector[T]) {
	s := a.states.Get().(*state[T])
	defer a.states.Put(s)
	each := Segments(n)
	sums := MakeVector[T](z.Len*each, a.components)
	for first := 0; first < sums.Len; first += chains {
		tasks := make([]task, min(chains, sums.Len-first))
		for c := range tasks {
			i, from := (first+c)/each, (first+c)%each*segment
			tasks[c] = task{[2]int{i / columns * n, i % columns * n}, from, min(n, from+segment)}
		}
		a.addSegments(s, p, tasks, vectors)
		for c := range tasks {
			for k := range a.components {
				sums.Planes[k][first+c] = s.sums[c][k][0]
			}
		}
	}
	for i := range z.Len {
		z.Set(i, a.addPairs(s, sums.Slice(i*each, (i+1)*each)))
	}
}

// task is a segment of a sum: terms from to to-1, of vectors from starts on.
type task struct {
	starts   [2]int
	from, to int
}

// addSegments adds a segment by each chain. The sums are in lane 0 of s.sums.
func (a *arithmetic[T]) addSegments(s *state[T], p *network.Program[T], tasks []task, vectors []Vector[T]) {
	s.begin(p)
	for c := range tasks {
		for k := range a.components {
			clear(s.register(c, k))
		}
	}
	for from := 0; from < segment; from += lanes {
		begin := 0 // of neighbouring chains that have terms left
		for c := 0; c <= len(tasks); c++ {
			if c < len(tasks) && tasks[c].from+from < tasks[c].to {
				a.readTerms(s, c, tasks[c], from, vectors)
				continue
			}
			s.run(begin, c)
			s.feedBack(begin, c)
			begin = c + 1
		}
	}
	for c := range tasks {
		s.keep(c, false)
	}
	s.addLanes(a.programs().add, len(tasks))
}

// readTerms reads the next terms of a segment.
func (a *arithmetic[T]) readTerms(s *state[T], c int, t task, from int, vectors []Vector[T]) {
	for i, v := range vectors {
		start := t.starts[i]
		s.load(c, (1+i)*a.components, v, start+t.from+from, start+t.to)
	}
}

// addPairs adds neighbours until one number is left, in place.
func (a *arithmetic[T]) addPairs(s *state[T], x Vector[T]) Number[T] {
	s.begin(a.programs().add)
	for n := x.Len; n > 1; n = (n + 1) / 2 {
		for from := 0; from < n/2; from += lanes {
			w := min(lanes, n/2-from)
			for k := range a.components {
				left, right := &s.memory[0][k], &s.memory[0][a.components+k]
				for i := range w {
					left[i], right[i] = x.Planes[k][2*(from+i)], x.Planes[k][2*(from+i)+1]
				}
			}
			s.run(0, 1)
			for k, r := range a.programs().add.Results {
				copy(x.Planes[k][from:from+w], s.register(0, r))
			}
		}
		if n%2 == 1 {
			x.Set(n/2, x.Get(n-1))
		}
	}
	return x.Get(0)
}

// elements sets all numbers of z to a program's results for c, unless that is nil, and the numbers of the vectors.
func (a *arithmetic[T]) elements(z Vector[T], p *network.Program[T], c *Number[T], vectors ...Vector[T]) {
	s := a.states.Get().(*state[T])
	defer a.states.Put(s)
	s.begin(p)
	first := 0 // register of the vectors
	if c != nil {
		first = a.components
		s.constant(c, a.components)
	}
	for from := 0; from < z.Len; from += chains * lanes {
		n := min(chains, ceilDiv(z.Len-from, lanes))
		for chain := range n {
			for i, v := range vectors {
				s.load(chain, first+i*a.components, v, from+chain*lanes, z.Len)
			}
		}
		s.run(0, n)
		for chain := range n {
			s.store(chain, z, from+chain*lanes)
		}
	}
}
