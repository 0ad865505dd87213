package deferred

import (
	"math"
	"math/bits"
	"slices"
	"sync"

	"mpbench/internal/parallel"
	"mpbench/pkg/numbers"
)

// line has the extents of some numbers in a row: Low above Top for zeros, infinities and NaN.
type line struct {
	low, top [lineLength]int
	special  bool // infinities or NaN may be among them
}

const lineLength = 256

// read looks at n <= lineLength numbers, the first being number first and each step further.
func (l *line) read(src numbers.Source, first, step, n int) {
	l.special = false
	low, top := l.low[:n], l.top[:n]
	switch x := src.(type) {
	case numbers.Float64s:
		for t := range low {
			low[t], top[t] = math.MaxInt, math.MinInt
			s, e := numbers.Significand(x[first+t*step])
			if s != 0 && e <= 1023-52 {
				low[t], top[t] = e+bits.TrailingZeros64(s), e+bits.Len64(s)
			} else if s != 0 {
				l.special = true
			}
		}
	case *Packed:
		l.special = len(x.special) > 0
		for t := range low {
			i := first + t*step
			low[t], top[t] = wordsExtent(x.words[i*x.width:(i+1)*x.width], int(x.exponents[i]>>1))
		}
	default:
		for t := range low {
			low[t], top[t] = math.MaxInt, math.MinInt
			switch s := src.Span(first + t*step); {
			case s.Class == numbers.Finite:
				low[t], top[t] = s.Low, s.Top
			case s.Class > numbers.Finite:
				l.special = true
			}
		}
	}
}

// wordsExtent returns the extent of W * 2^exp.
func wordsExtent(words []uint64, exp int) (low, top int) {
	low, top = math.MaxInt, math.MinInt
	for h, w := range words {
		if w != 0 {
			low = exp + 64*h + bits.TrailingZeros64(w)
			break
		}
	}
	for h := len(words) - 1; h >= 0; h-- {
		if w := words[h]; w != 0 {
			return low, exp + 64*h + bits.Len64(w)
		}
	}
	return low, top
}

// bounds are extents of rows or columns before they are known to have a number other than zero.
type bounds struct{ low, top []int }

func newBounds(n int) bounds {
	b := bounds{make([]int, n), make([]int, n)}
	for i := range n {
		b.low[i], b.top[i] = math.MaxInt, math.MinInt
	}
	return b
}

// add takes the numbers of a line into account: all of them for entry i or, if i is -1, each for one from j on.
func (b bounds) add(i, j int, low, top []int) {
	if i < 0 {
		lows, tops := b.low[j:][:len(low)], b.top[j:][:len(low)]
		for t, x := range low {
			lows[t], tops[t] = min(lows[t], x), max(tops[t], top[t])
		}
		return
	}
	least, most := b.low[i], b.top[i]
	for t, x := range low {
		least, most = min(least, x), max(most, top[t])
	}
	b.low[i], b.top[i] = least, most
}

func (b bounds) extents() []numbers.Extent {
	list := make([]numbers.Extent, len(b.low))
	for i, low := range b.low {
		if low < b.top[i] {
			list[i] = numbers.Extent{Low: low, Top: b.top[i]}
		}
	}
	return list
}

// measure returns the extent of each row of op(A), or one for Both, and notes special elements. Elements are looked at
// in the order of memory.
func (p *Plan) measure() []numbers.Extent {
	l, swapped := inOrder(p.nearLayout)
	byLine := p.op == Both || swapped == (p.op == Trans)
	all := newBounds(l.Rows)
	if !byLine {
		all = newBounds(l.Cols)
	}
	var mutex sync.Mutex
	const chunk = 32
	parallel.Ranges(p.opt.Threads, l.Rows, chunk, func(_, from, to int) {
		own := all
		if !byLine {
			own = newBounds(l.Cols)
		}
		var found []special
		var numbers line
		for i := from; i < to; i++ {
			for j := 0; j < l.Cols; j += lineLength {
				n := min(lineLength, l.Cols-j)
				numbers.read(p.near, l.Index(i, j), l.ColStride, n)
				if numbers.special {
					found = appendSpecial(found, p, swapped, i, j, n)
				}
				entry := i
				if !byLine {
					entry = -1
				}
				own.add(entry, j, numbers.low[:n], numbers.top[:n])
			}
		}
		mutex.Lock()
		defer mutex.Unlock()
		if !byLine {
			all.add(-1, 0, own.low, own.top)
		}
		p.special = append(p.special, found...)
	})
	slices.SortFunc(p.special, func(a, b special) int {
		if a.i != b.i {
			return a.i - b.i
		}
		return a.j - b.j
	})
	rows := all.extents()
	if p.op != Both {
		return rows
	}
	var union numbers.Extent
	for _, e := range rows {
		union = union.Union(e)
	}
	return []numbers.Extent{union}
}

// inOrder returns a layout whose rows are neighbours in memory, and whether it is that of the transpose.
func inOrder(l numbers.Layout) (_ numbers.Layout, swapped bool) {
	if l.Cols == 1 || max(l.RowStride, -l.RowStride) < max(l.ColStride, -l.ColStride) {
		l.Rows, l.Cols, l.RowStride, l.ColStride = l.Cols, l.Rows, l.ColStride, l.RowStride
		return l, true
	}
	return l, false
}

// appendSpecial appends the special ones of n elements from (i, j) on, or from (j, i) on if swapped.
func appendSpecial(list []special, p *Plan, swapped bool, i, j, n int) []special {
	for t := range n {
		row, column := i, j+t
		if swapped {
			row, column = column, row
		}
		if s := p.near.Span(p.nearLayout.Index(row, column)); s.Class > numbers.Finite {
			list = append(list, special{row, column, s.Class, s.Neg})
		}
	}
	return list
}

// Measure returns the extent of the finite elements of x, laid out by l.
func Measure(x numbers.Source, l numbers.Layout) (numbers.Extent, error) {
	if err := l.Check(x.Len()); err != nil {
		return numbers.Extent{}, err
	}
	p := Plan{near: x, nearLayout: l, op: Both, opt: Options{Threads: 1}}
	return p.measure()[0], nil
}
