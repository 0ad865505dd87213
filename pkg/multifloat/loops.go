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

// arithmetic adds and multiplies vectors by the loops of a scheme.
type arithmetic[T Float] struct {
	components int
	doubleWord bool
	loops      func() *network.Loops[T]
	states     sync.Pool // of *state[T]
}

// newArithmetic returns the arithmetic of a scheme, whose loops are made when they are first run.
func newArithmetic[T Float](s network.Scheme) *arithmetic[T] {
	a := &arithmetic[T]{components: s.Components, doubleWord: s.DoubleWord}
	a.loops = sync.OnceValue(func() *network.Loops[T] { return network.NewLoops[T](s) })
	a.states.New = func() any { return newState[T](s.Components) }
	return a
}

// Sum returns the sum of a vector.
func (a *arithmetic[T]) Sum(x Vector[T]) Number[T] {
	z := MakeVector[T](1, a.components)
	a.reduce(z, &a.loops().Add, 1, x.Len, x)
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
	a.reduce(z, &a.loops().AddProduct, 1, x.Len, x, y)
	return z.Get(0)
}

// Dots sets z to the dot products of the rows of m and the columns of x, row by row; both have n numbers each.
func (a *arithmetic[T]) Dots(z, m, x Vector[T], rows, columns, n int) {
	a.reduce(z.Slice(0, rows*columns), &a.loops().AddProduct, columns, n, m, x)
}

// Axpy sets z = c*x + y.
func (a *arithmetic[T]) Axpy(z Vector[T], c Number[T], x, y Vector[T]) {
	a.elements(z, &a.loops().Axpy, c, x, y)
}

// Scal sets z = c*x.
func (a *arithmetic[T]) Scal(z Vector[T], c Number[T], x Vector[T]) {
	a.elements(z, &a.loops().Mul, c, x)
}

// Products sets z_i = x_i * y_i.
func (a *arithmetic[T]) Products(z, x, y Vector[T]) {
	a.elements(z, &a.loops().Product, Number[T]{}, x, y)
}

// Add returns x + y.
func (a *arithmetic[T]) Add(x, y Number[T]) Number[T] {
	s := a.states.Get().(*state[T])
	defer a.states.Put(s)
	s.setLanes(s.sums[0], x)
	s.setTail(0, y)
	a.loops().Add.Run(s.sums[0], s.table, 1)
	return s.lane(s.sums[0], 0)
}

// Mul returns x * y.
func (a *arithmetic[T]) Mul(x, y Number[T]) (z Number[T]) {
	s := a.states.Get().(*state[T])
	defer a.states.Put(s)
	s.setLanes(s.sums[0], x)
	s.setTail(0, y)
	for k := range a.components {
		s.tail(a.components + k)
	}
	a.loops().Mul.Run(s.sums[0], s.table, 1)
	for k := range a.components {
		z[k] = s.tails[a.components+k][0]
	}
	return z
}

// tile is what a vector's numbers that are read again for the next row may take, in bytes: they stay in the cache.
const tile = 1 << 18

// reduce sets z[i] to the sum of n terms. Terms are what the loop adds to its first operand: numbers of row i/columns
// of the first vector, and of column i%columns of the second one, if there is one.
func (a *arithmetic[T]) reduce(z Vector[T], l *network.Loop[T], columns, n int, vectors ...Vector[T]) {
	s := a.states.Get().(*state[T])
	defer a.states.Put(s)
	width := max(1, tile/(8*a.components*max(n, 1)))
	for first := 0; first < columns; first += width {
		a.reduceColumns(s, z, l, [2]int{first, min(columns, first+width)}, columns, n, vectors)
	}
}

// reduceColumns is reduce for some of the columns.
func (a *arithmetic[T]) reduceColumns(
	s *state[T], z Vector[T], l *network.Loop[T], which [2]int, columns, n int, vectors []Vector[T],
) {
	each, width := Segments(n), which[1]-which[0]
	place := func(i int) (row, column int) { return i / width, which[0] + i%width }
	count := z.Len / columns * width
	var sums Vector[T]
	if each > 1 {
		sums = MakeVector[T](count*each, a.components)
	}
	for first := 0; first < count*each; first += batch {
		now := min(batch, count*each-first)
		for c := range now {
			row, column := place((first + c) / each)
			from := (first + c) % each * segment
			clear(s.sums[c])
			s.addTerms(s.sums[c], l, [2]int{row*n + from, column*n + from}, min(segment, n-from), vectors)
		}
		a.addLanes(s, now)
		for c := range now {
			if each > 1 {
				sums.Set(first+c, s.lane(s.sums[c], 0))
			} else {
				row, column := place(first + c)
				z.Set(row*columns+column, s.lane(s.sums[c], 0))
			}
		}
	}
	for i := range count {
		if each > 1 {
			row, column := place(i)
			z.Set(row*columns+column, a.addPairs(s, sums.Slice(i*each, (i+1)*each)))
		}
	}
}

// addLanes adds the lanes of the first sums; the results are in lane 0.
func (a *arithmetic[T]) addLanes(s *state[T], count int) {
	for half := lanes / 2; half > 0; half /= 2 {
		for _, sum := range s.sums[:count] {
			for k := range a.components {
				s.table[k] = &sum[k*lanes+half]
			}
			a.loops().Add.Run(sum, s.table, half)
		}
	}
}

// addPairs adds neighbours until one number is left, in place.
func (a *arithmetic[T]) addPairs(s *state[T], x Vector[T]) Number[T] {
	sum := s.sums[0]
	for n := x.Len; n > 1; n = (n + 1) / 2 {
		for from := 0; from < n/2; from += lanes {
			w := min(lanes, n/2-from)
			for k := range a.components {
				right := s.tail(k)
				for i := range w {
					sum[k*lanes+i], right[i] = x.Planes[k][2*(from+i)], x.Planes[k][2*(from+i)+1]
				}
			}
			a.loops().Add.Run(sum, s.table, w)
			for k := range a.components {
				copy(x.Planes[k][from:from+w], sum[k*lanes:])
			}
		}
		if n%2 == 1 {
			x.Set(n/2, x.Get(n-1))
		}
	}
	return x.Get(0)
}

// elements sets all numbers of z to a loop's results for c, where the loop has one, and the numbers of the vectors.
func (a *arithmetic[T]) elements(z Vector[T], l *network.Loop[T], c Number[T], vectors ...Vector[T]) {
	s := a.states.Get().(*state[T])
	defer a.states.Put(s)
	s.setLanes(s.sums[0], c)
	for from := 0; from < z.Len; from += segment {
		s.setElements(z.Slice(from, min(z.Len, from+segment)), l, from, vectors)
	}
}
