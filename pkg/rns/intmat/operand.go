package intmat

import "mpbench/internal/parallel"

// Integer is an element of a matrix: (-1)^Neg * floor(W * 2^Shift), W = sum Words[i] * 2^(64i).
type Integer struct {
	Words []uint64
	Shift int
	Neg   bool
}

// Source sets z to a term of a vector: element (vector, term) of the left matrix, (term, vector) of the right one. z
// may be kept by the worker that asks, which is numbered from 0; it comes with the words it was given the last time.
type Source func(worker int, z *Integer, vector, term int)

// Operand is a matrix as residues, made for the plan's products. It is immutable and safe for concurrent use.
//
// Plane k, of stride words, has the residues modulo m_k, two neighbouring terms of a vector in the halves of a word.
// Vectors are in panels: word (v/width*pairs + t/2)*width + v%width has terms t and t+1, t even, of vector v. With
// products of bytes, blockWords words of a row follow each other, and every width words of columns are twice as many.
type Operand struct {
	vectors, terms int
	width, pairs   int
	run            int // words of a vector that follow each other
	stride         int
	planes         []uint32
}

// Left converts the left matrix, of so many rows.
func (p *Plan) Left(rows int, src Source, threads int) *Operand {
	return p.operand(0, p.kernel.height(), rows, src, threads)
}

// Right converts the right matrix, of so many columns.
func (p *Plan) Right(cols int, src Source, threads int) *Operand {
	return p.operand(1, p.kernel.cols, cols, src, threads)
}

// OperandBytes returns what an operand of so many rows or columns takes, at most.
func (p *Plan) OperandBytes(vectors int) int64 {
	width, size := max(p.kernel.height(), p.kernel.cols), 4
	if p.kernel.bytes != nil {
		size = 8
	}
	return int64(p.n) * int64(size*roundUp(vectors, width)) * int64(p.kernel.pairsOf(p.terms))
}

// groupsOfTask is how many groups of words, of the width of the kernel, one task converts.
const groupsOfTask = 32

func (p *Plan) operand(side, width, vectors int, src Source, threads int) *Operand {
	o := &Operand{vectors: vectors, terms: p.terms, width: width, pairs: p.kernel.pairsOf(p.terms), run: 1}
	o.stride = roundUp(roundUp(vectors, width)*o.pairs, p.kernel.cols)
	groups := o.stride / p.kernel.cols
	switch {
	case p.kernel.bytes == nil:
	case side == 0:
		o.run = blockWords
	default:
		o.stride *= 2
	}
	o.planes = make([]uint32, p.n*o.stride)
	converters := make([]converter, parallel.Threads(threads))
	parallel.Ranges(threads, groups, groupsOfTask, func(worker, from, to int) {
		c := &converters[worker]
		c.init(p, side, worker, src)
		for g := from; g < to; g++ {
			c.convert(o, g*p.kernel.cols)
		}
	})
	return o
}

// place returns the vector and the pair of terms of a word.
func (o *Operand) place(word int) (vector, pair int) {
	panel, run := word/(o.width*o.pairs), word/o.run
	return panel*o.width + run%o.width, run/o.width*o.run%o.pairs + word%o.run
}

// converter turns integers into residues: the table of powers, moduli by digits, times the digits of as many words as
// the kernel has columns, once for each half of the words.
type converter struct {
	plan   *Plan
	side   int
	worker int
	src    Source
	digits int // of an integer, an even number
	number Integer
	panel  [2][]uint32 // the digits: pairs of them by words
	tile   [2][]int32
	bytes  byteScratch
}

func (c *converter) init(p *Plan, side, worker int, src Source) {
	if c.plan != nil {
		return
	}
	c.plan, c.side, c.worker, c.src = p, side, worker, src
	c.digits = roundUp(max(1, (p.bits[side]+digitBits-1)/digitBits), 2)
	for half := range 2 {
		c.panel[half] = make([]uint32, c.digits/2*p.kernel.cols)
		c.tile[half] = make([]int32, p.kernel.rows*p.kernel.cols)
	}
}

// convert sets the words from at on, as many as the kernel has columns, of all planes.
func (c *converter) convert(o *Operand, at int) {
	k, b := c.plan.kernel, c.plan.base
	clear(c.panel[0])
	clear(c.panel[1])
	for lane := range k.cols {
		vector, pair := o.place(at + lane)
		if vector >= o.vectors {
			continue
		}
		for term := 2 * pair; term < min(2*pair+2, o.terms); term++ {
			c.src(c.worker, &c.number, vector, term)
			c.number.setDigits(c.panel[term%2][lane:], k.cols)
		}
	}
	for row := 0; row < c.plan.n; row += k.rows {
		moduli := b.moduli[row:]
		for half, tile := range c.tile {
			clear(tile)
			k.mul(tile, b.powers[c.side][row*maxDigits/2:], c.panel[half], c.digits/2)
			reduce(tile, k.cols, moduli[:k.rows])
		}
		rows := min(k.rows, c.plan.n-row)
		if k.bytes != nil {
			c.storeBytes(o, row, at, rows)
			continue
		}
		pair(o.planes[row*o.stride+at:], o.stride, c.tile[0][:rows*k.cols], c.tile[1], k.cols)
	}
}

// setDigits sets panel[i*step] to digits 2i and 2i+1 of z, where they are not zero.
func (z *Integer) setDigits(panel []uint32, step int) {
	if len(z.Words) == 0 {
		return
	}
	sign := int32(1)
	if z.Neg {
		sign = -1
	}
	const width = 2 * digitBits
	first := max(z.Shift, 0) / width
	for i, pos := first, first*width-z.Shift; pos < 64*len(z.Words); i, pos = i+1, pos+width {
		var v uint64
		if pos < 0 {
			v = z.Words[0] << -pos
		} else {
			at, shift := pos/64, uint(pos%64)
			v = z.Words[at] >> shift
			if at+1 < len(z.Words) {
				v |= z.Words[at+1] << (64 - shift) // a shift by 64 gives 0
			}
		}
		if v &= 1<<width - 1; v != 0 {
			low, high := sign*int32(v&digitMask), sign*int32(v>>digitBits)
			panel[i*step] = uint32(uint16(low)) | uint32(high)<<16
		}
	}
}
