package deferred

import (
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"mpbench/internal/parallel"
	"mpbench/pkg/numbers"
)

// Pack returns the elements of x, a matrix of one column laid out by l, in words as the longest needs, by so many
// goroutines, 0 standing for GOMAXPROCS.
func Pack(x numbers.Source, l numbers.Layout, threads int) (*Packed, error) {
	if err := l.Check(x.Len()); err != nil {
		return nil, err
	}
	if l.Cols != 1 {
		return nil, fmt.Errorf("deferred: a vector of %d columns", l.Cols)
	}
	p, _ := packMatrix(x, l, threads)
	return p, nil
}

// packMatrix packs the elements of a matrix, without what lies between them, and returns where they are then. Each is
// read once, in the order of memory, unless one turns out to be longer than the first.
func packMatrix(x numbers.Source, l numbers.Layout, threads int) (*Packed, numbers.Layout) {
	lines, swapped := inOrder(l)
	width := 1
	if n := lines.Rows * lines.Cols; n > 0 {
		var z numbers.Number
		x.Read(&z, lines.Index(0, 0))
		width = max(1, len(z.Words))
	}
	p, need := packWords(x, lines, width, threads)
	if need > width {
		p, _ = packWords(x, lines, need, threads)
	}
	packed := numbers.Layout{Rows: l.Rows, Cols: l.Cols, RowStride: l.Cols, ColStride: 1}
	if swapped {
		packed.RowStride, packed.ColStride = 1, l.Rows
	}
	return p, packed
}

// packWords packs the elements, line by line, in so many words each, and returns how many they need.
func packWords(x numbers.Source, lines numbers.Layout, width, threads int) (p *Packed, need int) {
	p = NewPacked(lines.Rows*lines.Cols, 64*width)
	need = width
	var mutex sync.Mutex
	const grain = 1 << 12
	parallel.Ranges(threads, p.Len(), grain, func(_, from, to int) {
		var z numbers.Number
		var found []special
		own := width
		i, j := from/lines.Cols, from%lines.Cols
		for at := from; at < to; at++ {
			switch x.Read(&z, lines.Index(i, j)); z.Class {
			case numbers.Finite:
				own = max(own, p.setWords(at, &z))
			case numbers.Infinite, numbers.NaN:
				found = append(found, special{i: at, class: z.Class, neg: z.Neg})
			}
			if j++; j == lines.Cols {
				i, j = i+1, 0
			}
		}
		mutex.Lock()
		defer mutex.Unlock()
		p.special, need = append(p.special, found...), max(need, own)
	})
	slices.SortFunc(p.special, func(a, b special) int { return a.i - b.i })
	return p, need
}

// setWords makes number i, which is zero, equal to x, which is finite, with the highest bit of the words set, and
// returns how many words that takes: if more than there are, the number is not x.
func (p *Packed) setWords(i int, x *numbers.Number) (need int) {
	words := x.Words
	for words[len(words)-1] == 0 {
		words = words[:len(words)-1]
	}
	n := len(words)
	z := p.words[i*p.width : (i+1)*p.width]
	shift := uint(bits.LeadingZeros64(words[n-1]))
	for h := n - 1; h >= 0; h-- {
		w := words[h] << shift
		if h > 0 {
			w |= words[h-1] >> (64 - shift) // a shift by 64 gives 0
		}
		switch at := h + p.width - n; {
		case at >= 0:
			z[at] = w
		case w != 0:
			return n
		}
	}
	p.exponents[i] = signedExponent(x.Exp-64*(p.width-n)-int(shift), x.Neg)
	return p.width
}
