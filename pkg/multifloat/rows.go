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

// slicesOf returns the slices of a matrix, the first ones of each window of rows, and the order of the elements.
func slicesOf(p *numbers.Pattern, starts []int) (list []slice, windows []int, order []int) {
	order = make([]int, 0, p.Len())
	length := func(i int32) int { return p.Start[i+1] - p.Start[i] }
	for w, from := range starts[:len(starts)-1] {
		windows = append(windows, len(list))
		sorted := make([]int32, starts[w+1]-from)
		for i := range sorted {
			sorted[i] = int32(from + i)
		}
		slices.SortStableFunc(sorted, func(a, b int32) int { return length(b) - length(a) })
		for part := range slices.Chunk(sorted, lanes) {
			s := slice{rows: part, start: len(order)}
			for _, i := range part {
				s.lengths = append(s.lengths, length(i))
			}
			n := len(part)
			for j := 0; ; j++ {
				if n = s.active(j, n); n == 0 {
					break
				}
				for _, i := range part[:n] {
					order = append(order, p.Start[i]+j)
				}
			}
			list = append(list, s)
		}
	}
	return list, append(windows, len(list)), order
}

// Layout is how the elements of a sparse matrix lie in a device's memory: in slices of 32 rows, which lanes compute
// side by side.
type Layout struct {
	Order   []int    // of the elements
	Starts  []uint64 // of the slices among them
	Lengths []uint32 // of the rows of a slice, from the longest to the shortest
	Rows    []uint32 // their numbers; NoRow beyond the last one
}

// NoRow stands for no row, of length 0.
const NoRow = 1<<32 - 1

// NewLayout returns that of a matrix.
func NewLayout(p *numbers.Pattern) Layout {
	list, _, order := slicesOf(p, p.Windows())
	l := Layout{Order: order}
	for _, s := range list {
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
	list, windows, order := slicesOf(p, starts)
	elements, columns := MakePacked[T](len(order), a.components, m.packing), make([]int32, len(order))
	for to, from := range order {
		columns[to] = p.Column[from]
		elements.Set(to, m.Get(int(from)))
	}
	return func(z, x Vector[T], from, to int) {
		first, last := sort.SearchInts(starts, from), sort.SearchInts(starts, to)
		s := a.states.Get().(*state[T])
		defer a.states.Put(s)
		for _, rows := range list[windows[first]:windows[last]] {
			a.multiplySlice(s, rows, elements, columns, z, x)
		}
	}
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

// multiplySlice computes the rows of a slice.
func (a *arithmetic[T]) multiplySlice(s *state[T], rows slice, elements Vector[T], columns []int32, z, x Vector[T]) {
	sum, at := s.sums[0], rows.start
	clear(sum)
	active := rows.active(0, len(rows.rows))
	for j := 0; active > 0; {
		if active == lanes {
			s.point(0, elements, at, active)
		} else {
			s.pad(0, elements, at, active)
		}
		s.gather(1, x, columns[at:at+active])
		a.loops().AddProduct.Run(sum, s.table, lanes)
		at += active
		j++
		active = rows.active(j, active)
	}
	for l, i := range rows.rows {
		z.Set(int(i), s.lane(sum, l))
	}
}
