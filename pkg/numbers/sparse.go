package numbers

import (
	"fmt"
	"math"
	"sync"
)

// Pattern says which elements of a sparse matrix are stored, in compressed rows: those of row i are the elements
// Start[i] to Start[i+1]-1 of a list, in columns Column. A row may have several elements in one column, which are
// added, in any order. A Pattern must not be changed once it is in use.
type Pattern struct {
	Start  []int // one more than there are rows
	Column []int32
	Number []int // which number of the source each element is; nil where element k is number k

	once       sync.Once
	transposed *Pattern
}

// MostColumns is how many rows or columns a sparse matrix has at most.
const MostColumns = math.MaxInt32

// Sparse returns the sparse matrix of so many columns whose elements, as a pattern places them, are numbers of s.
func Sparse(s Source, cols int, p *Pattern) Array {
	return Array{Source: s, Layout: Layout{Rows: len(p.Start) - 1, Cols: cols}, Pattern: p}
}

// Len returns the number of stored elements.
func (p *Pattern) Len() int { return p.Start[len(p.Start)-1] - p.Start[0] }

// Row returns the columns of the elements of row i.
func (p *Pattern) Row(i int) []int32 { return p.Column[p.Start[i]:p.Start[i+1]] }

// Longest returns how many elements the longest row has.
func (p *Pattern) Longest() (n int) {
	for i := range len(p.Start) - 1 {
		n = max(n, p.Start[i+1]-p.Start[i])
	}
	return n
}

// WindowRows and WindowElements are how many rows and elements a window of rows has at most, unless a single row has
// more elements.
const (
	WindowRows     = 1024
	WindowElements = 1 << 14
)

// Windows returns the first rows of the windows, and the number of rows: windows of about the same work, which
// goroutines take one after the other.
func (p *Pattern) Windows() []int {
	starts, rows := []int{0}, len(p.Start)-1
	from := 0
	for i := range rows {
		if i > from && (i-from == WindowRows || p.Start[i+1]-p.Start[from] > WindowElements) {
			from = i
			starts = append(starts, from)
		}
	}
	if rows > 0 {
		starts = append(starts, rows)
	}
	return starts
}

// part returns rows from to to-1.
func (p *Pattern) part(from, to int) *Pattern {
	return &Pattern{Start: p.Start[from : to+1], Column: p.Column, Number: p.Number}
}

// transpose returns the pattern of the transpose, whose rows are in the order of p's; it is made once. A matrix has so
// many columns.
func (p *Pattern) transpose(cols int) *Pattern {
	p.once.Do(func() {
		q := &Pattern{Start: make([]int, cols+1), Column: make([]int32, p.Len()), Number: make([]int, p.Len())}
		first, rows := p.Start[0], len(p.Start)-1
		for _, j := range p.Column[first:p.Start[rows]] {
			q.Start[j+1]++
		}
		for j := range cols {
			q.Start[j+1] += q.Start[j]
		}
		next := append([]int(nil), q.Start...)
		for i := range rows {
			for k := p.Start[i]; k < p.Start[i+1]; k++ {
				to := next[p.Column[k]]
				next[p.Column[k]]++
				q.Column[to], q.Number[to] = int32(i), p.number(k)
			}
		}
		p.transposed = q
	})
	return p.transposed
}

// number returns which number element k is.
func (p *Pattern) number(k int) int {
	if p.Number == nil {
		return k
	}
	return p.Number[k]
}

// check reports whether all elements of an m x n matrix are among so many numbers.
func (p *Pattern) check(m, n, numbers int) error {
	if len(p.Start) != m+1 || m < 0 || n < 0 || max(m, n) > MostColumns {
		return fmt.Errorf("a sparse matrix of %d rows and %d columns with %d row pointers", m, n, len(p.Start))
	}
	for i := range m {
		if p.Start[i] < 0 || p.Start[i+1] < p.Start[i] || p.Start[i+1] > len(p.Column) {
			return fmt.Errorf("row %d has elements %d to %d of %d", i, p.Start[i], p.Start[i+1]-1, len(p.Column))
		}
	}
	if p.Number != nil && len(p.Number) != len(p.Column) {
		return fmt.Errorf("%d columns and %d numbers of elements", len(p.Column), len(p.Number))
	}
	for k := p.Start[0]; k < p.Start[m]; k++ {
		if j := p.Column[k]; j < 0 || int(j) >= n {
			return fmt.Errorf("an element in column %d of %d", j, n)
		}
		if i := p.number(k); i < 0 || i >= numbers {
			return fmt.Errorf("an element is number %d of %d", i, numbers)
		}
	}
	return nil
}

// Elements returns the stored elements of a sparse matrix as a vector, row by row; another array as it is.
func (a Array) Elements() Array {
	if a.Pattern == nil {
		return a
	}
	return a.run(a.Pattern.Start[0], a.Pattern.Start[a.Rows])
}

// run returns elements from to to-1 of the list of a sparse matrix.
func (a Array) run(from, to int) Array {
	if a.Pattern.Number != nil {
		return Pick(Vector(a.Source), a.Pattern.Number[from:to])
	}
	return Array{Source: a.Source, Layout: Layout{Rows: to - from, Cols: 1, Offset: from, RowStride: 1}}
}

// Compressed returns the same sparse matrix with its elements in the order of their numbers, from 0 on.
func (a Array) Compressed() Array {
	p := a.Pattern
	first := p.Start[0]
	if first == 0 && p.Number == nil {
		return a
	}
	q := &Pattern{Start: make([]int, a.Rows+1), Column: p.Column[first:p.Start[a.Rows]]}
	for i, s := range p.Start {
		q.Start[i] = s - first
	}
	elements := a.Elements()
	if x, ok := elements.Contiguous(); ok {
		return Sparse(Float64s(x), a.Cols, q)
	}
	all := make([]int, elements.Rows)
	for k := range all {
		all[k] = k
	}
	return Sparse(Pick(elements, all).Source, a.Cols, q)
}

// Pick returns some elements of a vector: binary64 numbers in memory as a copy, others where they are.
func Pick[I int | int32](v Array, which []I) Array {
	if x, ok := v.Source.(Float64s); ok {
		list := make(Float64s, len(which))
		for k, i := range which {
			list[k] = x[v.Index(int(i), 0)]
		}
		return Vector(list)
	}
	at := make([]int, len(which))
	for k, i := range which {
		at[k] = v.Index(int(i), 0)
	}
	return Vector(Quotients(&picked{v.Source, at}, v.Denominator()))
}

// picked are some numbers of a source.
type picked struct {
	Source
	at []int
}

func (p *picked) Len() int              { return len(p.at) }
func (p *picked) Span(i int) Span       { return p.Source.Span(p.at[i]) }
func (p *picked) Read(z *Number, i int) { p.Source.Read(z, p.at[i]) }
