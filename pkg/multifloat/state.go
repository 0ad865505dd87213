package multifloat

import "mpbench/pkg/multifloat/network"

// batch is how many segments' lanes are added side by side: while one waits for a result, the others go on.
const batch = 8

// operands is the most vectors that a loop reads and writes.
const operands = 3

// state is what a goroutine runs loops with.
type state[T Float] struct {
	components int
	table      []*T          // pointers to the components of operands
	sums       [batch][]T    // the lanes of component 0, then of component 1, and so on; more follow
	tails      [][]T         // of operands with fewer numbers than there are lanes
	low        [operands][]T // second components of packed numbers, a segment at most
}

func newState[T Float](components int) *state[T] {
	s := &state[T]{components: components, table: make([]*T, operands*components)}
	for c := range s.sums {
		s.sums[c] = make([]T, (components+1)*lanes)
	}
	for range s.table {
		s.tails = append(s.tails, make([]T, lanes))
	}
	return s
}

// tail returns the memory of lanes numbers, and makes it a component of an operand.
func (s *state[T]) tail(i int) []T {
	s.table[i] = &s.tails[i][0]
	return s.tails[i]
}

// setTail makes an operand lanes times a number.
func (s *state[T]) setTail(operand int, x Number[T]) {
	for k := range s.components {
		for i := range s.tail(operand*s.components + k) {
			s.tails[operand*s.components+k][i] = x[k]
		}
	}
}

// setLanes sets all lanes to a number.
func (s *state[T]) setLanes(to []T, x Number[T]) {
	for i := range s.components * lanes {
		to[i] = x[i/lanes]
	}
}

// setLane sets a lane to a number.
func (s *state[T]) setLane(to []T, i int, x Number[T]) {
	for k := range s.components {
		to[k*lanes+i] = x[k]
	}
}

// lane returns the number in a lane.
func (s *state[T]) lane(of []T, i int) (x Number[T]) {
	for k := range s.components {
		x[k] = of[k*lanes+i]
	}
	return x
}

// addTerms adds n <= segment terms of vectors, from starts on, to lanes by a loop.
func (s *state[T]) addTerms(sum []T, l *network.Loop[T], starts [2]int, n int, vectors []Vector[T]) {
	full := n / lanes * lanes
	for i, v := range vectors {
		s.point(i, v, starts[i], n)
	}
	l.Run(sum, s.table, full)
	if full < n {
		for i, v := range vectors {
			s.pad(i, v, starts[i]+full, n-full)
		}
		l.Run(sum, s.table, lanes)
	}
}

// point makes the n <= segment numbers of a vector from from on an operand.
func (s *state[T]) point(operand int, v Vector[T], from, n int) {
	s.place(operand, v, from, n)
	if v.packing != nil {
		expandAll(v.packing, s.low[operand][:n], v.Low[from:from+n])
	}
}

// place makes the memory of these numbers an operand, and other memory that of packed components.
func (s *state[T]) place(operand int, v Vector[T], from, n int) {
	for k := range s.components {
		to := &s.table[operand*s.components+k]
		switch {
		case k == 1 && v.packing != nil:
			if s.low[operand] == nil {
				s.low[operand] = make([]T, segment)
			}
			*to = &s.low[operand][0]
		case n > 0:
			*to = &v.Planes[k][from]
		}
	}
}

// pad makes the n < lanes numbers of a vector from from on, and zeros behind them, an operand.
func (s *state[T]) pad(operand int, v Vector[T], from, n int) {
	for k := range s.components {
		tail := s.tail(operand*s.components + k)
		if k == 1 && v.packing != nil {
			expandAll(v.packing, tail, v.Low[from:from+n])
		} else {
			copy(tail, v.Planes[k][from:from+n])
		}
		clear(tail[n:])
	}
}

// setElements sets z, a segment at most, to a loop's results for the lanes of the first sum and the vectors' numbers
// from from on.
func (s *state[T]) setElements(z Vector[T], l *network.Loop[T], from int, vectors []Vector[T]) {
	last, full := len(vectors), z.Len/lanes*lanes
	for i, v := range vectors {
		s.point(i, v, from, full)
	}
	s.place(last, z, 0, full)
	l.Run(s.sums[0], s.table, full)
	if z.packing != nil {
		packAll(z.packing, z.Planes[0], z.Low, z.Planes[0][:full], s.low[last])
	}
	if full == z.Len {
		return
	}
	for i, v := range vectors {
		s.pad(i, v, from+full, z.Len-full)
	}
	for k := range s.components {
		s.tail(last*s.components + k)
	}
	l.Run(s.sums[0], s.table, lanes)
	for i := range z.Len - full {
		var x Number[T]
		for k := range s.components {
			x[k] = s.tails[last*s.components+k][i]
		}
		z.Set(full+i, x)
	}
}

// gather makes some numbers of a vector, with zeros behind them, an operand.
func (s *state[T]) gather(operand int, v Vector[T], which []int32) {
	for k := range s.components {
		tail := s.tail(operand*s.components + k)
		for l, i := range which {
			if k == 1 && v.packing != nil {
				tail[l] = T(v.packing.expand(v.Low[i]))
			} else {
				tail[l] = v.Planes[k][i]
			}
		}
		clear(tail[len(which):])
	}
}
