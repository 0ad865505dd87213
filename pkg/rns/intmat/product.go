package intmat

import (
	"fmt"
	"math/big"
	"time"

	"mpbench/internal/parallel"
)

// Plan is what products of matrices of integers have in common. It is immutable and safe for concurrent use.
type Plan struct {
	n      int // moduli
	terms  int
	bits   [2]int
	base   *base
	kernel kernel
}

// NewPlan returns a plan for sums of so many products of integers |a| < 2^aBits and |b| < 2^bBits, or nil if more
// moduli or digits would be needed than there are.
func NewPlan(aBits, bBits, terms int) *Plan {
	n := Moduli(aBits, bBits, terms)
	if n > MaxModuli {
		return nil
	}
	k := fastest()
	return &Plan{n: n, terms: terms, bits: [2]int{aBits, bBits}, base: baseOf(n, k.rows), kernel: k}
}

// Moduli returns how many moduli a plan takes, more than MaxModuli if there is none.
func Moduli(aBits, bBits, terms int) int {
	if max(aBits, bBits) > MaxBits {
		return MaxModuli + 1
	}
	width := aBits + bBits
	for n := terms; n > 1; n = (n + 1) / 2 {
		width++
	}
	return ModuliFor(width)
}

// Moduli returns the number of moduli: an element takes twice as many bytes.
func (p *Plan) Moduli() int { return p.n }

// Kernel returns the name of the instructions that products are computed with.
func (p *Plan) Kernel() string { return p.kernel.name }

// Blocks of the result that a task computes, for all moduli: so many panels of rows, and of columns. With blockTerms
// terms, residues of the left block take 48 KiB, of the right one 128 KiB, of the result 2*96*256 bytes a modulus.
const (
	blockRows = 96
	blockCols = 256
	leastCols = 32 // where there would be fewer tasks than goroutines
)

// Times says what goroutines spent on the parts of a product, together, divided by how many there are.
type Times struct {
	Products    time.Duration // of residues
	Reconstruct time.Duration // with what the caller does with the integers
}

// Multiplier has the memory for products of a plan. It is not safe for concurrent use; its products use several
// goroutines themselves.
type Multiplier struct {
	plan    *Plan
	workers []worker
}

// NewMultiplier returns one for so many goroutines; 0 stands for GOMAXPROCS.
func (p *Plan) NewMultiplier(threads int) *Multiplier {
	return &Multiplier{p, make([]worker, parallel.Threads(threads))}
}

// Multiply calls emit with every entry of the product of a and b, from several goroutines, which are numbered. sum is
// the worker's own until emit returns, and may be overwritten.
func (m *Multiplier) Multiply(a, b *Operand, emit func(worker, i, j int, sum *big.Int)) (total Times) {
	p, threads := m.plan, len(m.workers)
	if a.terms != p.terms || b.terms != p.terms || len(a.planes) != p.n*a.stride || len(b.planes) != p.n*b.stride {
		panic(fmt.Sprintf("intmat: a product of %d and %d terms with a plan for %d", a.terms, b.terms, p.terms))
	}
	down, width := (a.vectors+blockRows-1)/blockRows, blockCols
	for width > leastCols && down*((b.vectors+width-1)/width) < 4*threads {
		width /= 2
	}
	across := (b.vectors + width - 1) / width
	parallel.Tasks(threads, down*across, func(id, task int) {
		w := &m.workers[id]
		start := time.Now()
		row, col := task/across*blockRows, task%across*width
		w.begin(p, row, col, min(blockRows, a.vectors-row), min(width, b.vectors-col))
		w.product(a, b)
		middle := time.Now()
		w.reconstruct(func(i, j int, sum *big.Int) { emit(id, i, j, sum) })
		w.times.Products += middle.Sub(start)
		w.times.Reconstruct += time.Since(middle)
	})
	for i := range m.workers {
		total.Products += m.workers[i].times.Products / time.Duration(threads)
		total.Reconstruct += m.workers[i].times.Reconstruct / time.Duration(threads)
		m.workers[i].times = Times{}
	}
	return total
}

// WorkspaceBytes returns what each goroutine of a Multiplier takes at most.
func (p *Plan) WorkspaceBytes() int64 {
	return 4 * blockRows * blockCols * int64(p.base.pairs+3)
}

// worker is the scratch memory of a goroutine.
type worker struct {
	plan *Plan
	row  int // of the block, as its column
	col  int
	rows int
	cols int
	sums [2][]int32 // tiles of the block for the two moduli of a pair, panels of columns by panels of rows
	high []int32    // of a modulus, with products of bytes
	// residues of the block: pair q of moduli of row i and column j is residues[((i*panels + j/width)*pairs + q)*width +
	// j%width], with the panels and the width of columns: right operands of the product with crt.
	residues []uint32
	tiles    []int32 // of that product: digits by columns
	sum      big.Int
	words    []big.Word
	times    Times
}

// begin makes room for the block at a row and a column, of so many of them.
func (w *worker) begin(p *Plan, row, col, rows, cols int) {
	k := p.kernel
	w.plan, w.row, w.col, w.rows, w.cols = p, row, col, rows, cols
	if w.tiles == nil {
		w.tiles = make([]int32, roundUp(p.base.digits+1, k.rows)*k.cols)
		w.words = make([]big.Word, wordsFor(p.base.digits))
	}
	if size := roundUp(rows, k.height()) * roundUp(cols, k.cols); len(w.sums[0]) < size {
		w.sums[0], w.sums[1] = make([]int32, size), make([]int32, size)
		w.residues = make([]uint32, size*p.base.pairs)
	}
}

// product computes the residues of the block.
func (w *worker) product(a, b *Operand) {
	p, k := w.plan, w.plan.kernel
	panels := roundUp(w.cols, k.cols) / k.cols
	size, tile := roundUp(w.rows, k.height())*panels*k.cols, k.height()*k.cols
	for q := range p.base.pairs {
		for half := range 2 {
			sums := w.sums[half][:size]
			clear(sums)
			if 2*q+half < p.n {
				w.accumulate(sums, a, b, 2*q+half)
			}
		}
		for at := 0; at < size; at += tile {
			j, i := at/tile%panels, at/tile/panels*k.height()
			to := w.residues[((i*panels+j)*p.base.pairs+q)*k.cols:]
			pair(to, panels*p.base.pairs*k.cols, w.sums[0][at:at+tile], w.sums[1][at:], k.cols)
		}
	}
}

// accumulate adds the products modulo m_k to the tiles of the block, in steps that an int32 holds.
func (w *worker) accumulate(sums []int32, a, b *Operand, index int) {
	k := w.plan.kernel
	m := w.plan.base.moduli[index : index+1]
	left, right := a.planes[index*a.stride:(index+1)*a.stride], b.planes[index*b.stride:(index+1)*b.stride]
	if k.bytes != nil {
		w.accumulateBytes(sums, left, right, a.pairs, m)
		return
	}
	panels, tile := roundUp(w.cols, k.cols)/k.cols, k.rows*k.cols
	steps := max(1, (a.pairs+blockTerms/2-1)/(blockTerms/2))
	for step := range steps {
		from, to := step*a.pairs/steps, (step+1)*a.pairs/steps
		for j := range panels {
			columns := right[((w.col/k.cols+j)*b.pairs+from)*k.cols:]
			for i := 0; i < w.rows; i += k.rows {
				rows := left[((w.row+i)/k.rows*a.pairs+from)*k.rows:]
				z := sums[(i/k.rows*panels+j)*tile:][:tile]
				k.mul(z, rows, columns, to-from)
				reduce(z, tile, m)
			}
		}
	}
}
