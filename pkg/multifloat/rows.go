package multifloat

import (
	"slices"
	"sort"

	"mpbench/pkg/numbers"
	"mpbench/pkg/sell"
)

// slice is rows of a sparse matrix that lanes compute side by side, the longest first. Its elements lie in the
// order in which they are added: the first ones of all rows, then the second ones of those that have any, and so
// on.
//
// It is the layout of package sell, with as many rows as there are lanes, and no padding.
type slice struct {
	rows    []int32
	lengths []int
	start   int // of its elements
}

// active returns how many rows have an element number j, of the n that have the one before.
func (s *slice) active(j, n int) int {
	for n > 0 && s.lengths[n-1] <= j {
		n--
	}
	return n
}

// cut is rows of a matrix in slices, and the order of their elements.
type cut struct {
	pattern *numbers.Pattern
	list    []slice
	order   []int
}

// add cuts rows into slices, the longest first.
func (c *cut) add(rows []int32) {
	p := c.pattern
	length := func(i int32) int { return p.Start[i+1] - p.Start[i] }
	slices.SortStableFunc(rows, func(a, b int32) int { return length(b) - length(a) })
	for part := range slices.Chunk(rows, lanes) {
		s := slice{rows: part, start: len(c.order)}
		for _, i := range part {
			s.lengths = append(s.lengths, length(i))
		}
		n := len(part)
		for j := 0; ; j++ {
			if n = s.active(j, n); n == 0 {
				break
			}
			for _, i := range part[:n] {
				c.order = append(c.order, p.Start[i]+j)
			}
		}
		c.list = append(c.list, s)
	}
}

// windowsOf returns the slices of a matrix, and the first ones of each window of rows.
func windowsOf(p *numbers.Pattern, starts []int) (c cut, windows []int) {
	c = cut{pattern: p, order: make([]int, 0, p.Len())}
	for w, from := range starts[:len(starts)-1] {
		windows = append(windows, len(c.list))
		rows := make([]int32, starts[w+1]-from)
		for i := range rows {
			rows[i] = int32(from + i)
		}
		c.add(rows)
	}
	return c, append(windows, len(c.list))
}

// levelsOf returns the slices of a triangular matrix, level by level, and for each the number of those before its
// level.
func levelsOf(p *numbers.Pattern, upper bool) (c cut, before []uint32) {
	c = cut{pattern: p, order: make([]int, 0, p.Len())}
	rows, starts := p.Levels(upper)
	for l, from := range starts[:len(starts)-1] {
		first := len(c.list)
		c.add(rows[from:starts[l+1]])
		for range len(c.list) - first {
			before = append(before, uint32(first))
		}
	}
	return c, before
}

// Layout is how the elements of a sparse matrix lie in a device's memory: in slices of 32 rows, which lanes compute
// side by side.
type Layout struct {
	Order   []int    // of the elements
	Starts  []uint64 // of the slices among them
	Lengths []uint32 // of the rows of a slice, from the longest to the shortest
	Rows    []uint32 // their numbers; NoRow beyond the last one
	Before  []uint32 // of a triangular matrix: how many slices have to be computed before each one
}

// NoRow stands for no row, of length 0.
const NoRow = 1<<32 - 1

// NewLayout returns that of a matrix.
func NewLayout(p *numbers.Pattern) Layout {
	c, _ := windowsOf(p, p.Windows())
	return c.layout()
}

// NewTriangle returns that of a matrix whose elements are all below the diagonal, or all above it: slices of rows of
// the same level (numbers.Pattern.Levels).
func NewTriangle(p *numbers.Pattern, upper bool) Layout {
	c, before := levelsOf(p, upper)
	l := c.layout()
	l.Before = before
	return l
}

// Widest returns how many slices of a triangular matrix are computed side by side, at most.
func (l *Layout) Widest() (n int) {
	first := 0
	for i, before := range l.Before {
		if int(before) == i {
			first = i
		}
		n = max(n, i+1-first)
	}
	return n
}

func (c *cut) layout() Layout {
	l := Layout{Order: c.order}
	for _, s := range c.list {
		l.Starts = append(l.Starts, uint64(s.start))
		for k := range lanes {
			row, length := uint32(NoRow), 0
			if k < len(s.rows) {
				row, length = uint32(s.rows[k]), s.lengths[k]
			}
			l.Rows, l.Lengths = append(l.Rows, row), append(l.Lengths, uint32(length))
		}
	}
	return l
}

// Rows returns the function of [format.Loops]: the elements of a row are added from the first to the last, rows
// side by side.
func (a *arithmetic[T]) Rows(p *numbers.Pattern, m Vector[T]) func(z, x Vector[T], from, to int) {
	if rows := a.doubleWordRows(p, m); rows != nil {
		return rows
	}
	starts := p.Windows()
	c, windows := windowsOf(p, starts)
	elements, columns := ordered(a, &c, m)
	return func(z, x Vector[T], from, to int) {
		first, last := sort.SearchInts(starts, from), sort.SearchInts(starts, to)
		s := a.states.Get().(*state[T])
		defer a.states.Put(s)
		for _, rows := range c.list[windows[first]:windows[last]] {
			clear(s.sums[0])
			a.addSlice(s, rows, elements, columns, z, x)
		}
	}
}

// Triangle returns the function of [format.Loops]: rows of the same level go side by side.
func (a *arithmetic[T]) Triangle(p *numbers.Pattern, upper bool, m Vector[T]) func(z, y Vector[T]) {
	c, _ := levelsOf(p, upper)
	elements, columns := ordered(a, &c, m)
	return func(z, y Vector[T]) {
		s := a.states.Get().(*state[T])
		defer a.states.Put(s)
		for _, rows := range c.list {
			clear(s.sums[0])
			for l, i := range rows.rows {
				s.setLane(s.sums[0], l, y.Get(int(i)))
			}
			a.addSlice(s, rows, elements, columns, z, z)
		}
	}
}

// ordered returns the elements of a matrix and their columns in the order of slices.
func ordered[T Float](a *arithmetic[T], c *cut, m Vector[T]) (elements Vector[T], columns []int32) {
	elements, columns = MakePacked[T](len(c.order), a.components, m.packing), make([]int32, len(c.order))
	for to, from := range c.order {
		columns[to] = c.pattern.Column[from]
		elements.Set(to, m.Get(from))
	}
	return elements, columns
}

// doubleWordRows is Rows of double words by loops of their own, nil for other numbers. Low parts of a matrix that are
// all 0 take neither memory nor time.
func (a *arithmetic[T]) doubleWordRows(p *numbers.Pattern, m Vector[T]) func(z, x Vector[T], from, to int) {
	high, ok := any(m.Planes[0]).([]float64)
	if !ok || !a.doubleWord || m.packing != nil {
		return nil
	}
	parts := [][]float64{high}
	if low := any(m.Planes[1]).([]float64); slices.ContainsFunc(low, func(x float64) bool { return x != 0 }) {
		parts = append(parts, low)
	}
	matrix := sell.New(p, parts...)
	plane := func(v Vector[T], k int) []float64 { return any(v.Planes[k]).([]float64) }
	return func(z, x Vector[T], from, to int) {
		matrix.DoubleDouble(plane(z, 0), plane(z, 1), plane(x, 0), plane(x, 1), from, to)
	}
}

// addSlice adds the products of the rows of a slice and x to the lanes of the first sum, and stores each sum in z
// behind the last element of its row.
func (a *arithmetic[T]) addSlice(s *state[T], rows slice, elements Vector[T], columns []int32, z, x Vector[T]) {
	sum, at, active := s.sums[0], rows.start, len(rows.rows)
	for j := 0; ; j++ {
		left := rows.active(j, active)
		for l, i := range rows.rows[left:active] {
			z.Set(int(i), s.lane(sum, left+l))
		}
		if active = left; active == 0 {
			return
		}
		if active == lanes {
			s.point(0, elements, at, active)
		} else {
			s.pad(0, elements, at, active)
		}
		s.gather(1, x, columns[at:at+active])
		a.loops().AddProduct.Run(sum, s.table, lanes)
		at += active
	}
}
