// Package sell multiplies sparse matrices and vectors of binary64 and of double-double numbers: rows side by side in
// vector registers, the elements of each from the first to the last, so that the bits are those of a plain loop.
//
// It is SELL-C-sigma of M. Kreutzer et al., SIAM J. Sci. Comput. 36 (2014), DOI 10.1137/130930352: in each window of
// rows (numbers.Pattern.Windows) the longest come first, and slices of 8 rows go side by side as far as the shortest
// of them goes. What is left of the others follows one by one, in place of padding.
package sell

import (
	"slices"
	"sort"

	"mpbench/pkg/numbers"
)

// rows is how many a slice has.
const rows = 8

// Matrix is a sparse matrix of binary64 numbers, or of double-double ones.
type Matrix struct {
	pattern *numbers.Pattern
	parts   [][]float64 // the elements in the order of the pattern
	windows []window
	starts  []int // first rows of the windows, and the number of rows

	// Of all slices: steps they go side by side, and for each step 8 columns and 8 elements, each part of them.
	steps   []int32
	columns []int32
	values  []float64
}

// window is a window of rows.
type window struct {
	order          []int32 // its rows, 8 for each slice; those behind the last slice are multiplied one by one
	slice, element int     // its first ones
}

// New returns a matrix with elements of one part, or of a high and a low one.
func New(p *numbers.Pattern, parts ...[]float64) *Matrix {
	m := &Matrix{pattern: p, parts: parts, starts: p.Windows()}
	for w, from := range m.starts[:len(m.starts)-1] {
		m.windows = append(m.windows, m.window(from, m.starts[w+1]))
	}
	return m
}

func (m *Matrix) length(i int32) int { return m.pattern.Start[i+1] - m.pattern.Start[i] }

// window adds the slices of the rows from to to-1.
func (m *Matrix) window(from, to int) window {
	w := window{slice: len(m.steps), element: len(m.columns)}
	for i := from; i < to; i++ {
		w.order = append(w.order, int32(i))
	}
	slices.SortStableFunc(w.order, func(a, b int32) int { return m.length(b) - m.length(a) })
	for s := 0; s+rows <= len(w.order); s += rows {
		slice := w.order[s : s+rows]
		steps := m.length(slice[rows-1])
		m.steps = append(m.steps, int32(steps))
		for j := range steps {
			for _, i := range slice {
				m.columns = append(m.columns, m.pattern.Column[m.pattern.Start[i]+j])
			}
			for _, part := range m.parts {
				for _, i := range slice {
					m.values = append(m.values, part[m.pattern.Start[i]+j])
				}
			}
		}
	}
	return w
}

// each calls do for the windows of rows from to to-1, which bound windows.
func (m *Matrix) each(from, to int, do func(w *window, steps, columns []int32, values []float64)) {
	for k := sort.SearchInts(m.starts, from); m.starts[k] < to; k++ {
		w := &m.windows[k]
		end := w.slice + len(w.order)/rows
		do(w, m.steps[w.slice:end], m.columns[w.element:], m.values[w.element*len(m.parts):])
	}
}

// Float64 sets rows from to to-1 of z, which bound windows, to those of the product with x.
func (m *Matrix) Float64(z, x []float64, from, to int) {
	var sums [numbers.WindowRows]float64
	m.each(from, to, func(w *window, steps, columns []int32, values []float64) {
		float64s(steps, columns, values, x, sums[:])
		for n, i := range w.order {
			sum, k := 0.0, m.pattern.Start[i]
			if n/rows < len(steps) {
				sum, k = sums[n], k+int(steps[n/rows])
			}
			for ; k < m.pattern.Start[i+1]; k++ {
				sum += float64(m.parts[0][k] * x[m.pattern.Column[k]])
			}
			z[i] = sum
		}
	})
}

// DoubleDouble is Float64 for vectors of high parts and low ones; elements of one part have low parts of 0.
func (m *Matrix) DoubleDouble(z, low, x, xLow []float64, from, to int) {
	var sums [2 * numbers.WindowRows]float64
	m.each(from, to, func(w *window, steps, columns []int32, values []float64) {
		doubleDoubles(len(m.parts), steps, columns, values, x, xLow, sums[:])
		for n, i := range w.order {
			var sum word
			k, slice := m.pattern.Start[i], n/rows
			if slice < len(steps) {
				at := 2*rows*slice + n%rows
				sum, k = word{sums[at], sums[at+rows]}, k+int(steps[slice])
			}
			for ; k < m.pattern.Start[i+1]; k++ {
				j := m.pattern.Column[k]
				element := word{m.parts[0][k], 0}
				if len(m.parts) == 2 {
					element[1] = m.parts[1][k]
				}
				sum = sum.addProduct(element, word{x[j], xLow[j]})
			}
			z[i], low[i] = sum[0], sum[1]
		}
	})
}
