package deferred

import (
	"fmt"
	"math/bits"
	"mpbench/pkg/numbers"
)

// Op says how a matrix enters a product.
type Op uint8

// NoTrans multiplies by A, Trans by its transpose; Both prepares for either.
const (
	NoTrans Op = iota
	Trans
	Both
)

// String returns the letter of BLAS.
func (op Op) String() string {
	switch op {
	case NoTrans:
		return "N"
	case Trans:
		return "T"
	}
	return "N or T"
}

// Options limits and shapes a matrix.
type Options struct {
	// MaxModuli is the most moduli to use; 0 stands for the constant MaxModuli. Data that need more are truncated.
	MaxModuli int
	// KeepBits, if positive, truncates every element below 2^(Top - KeepBits) of its row even where the moduli would
	// suffice: it makes products of data of widely different size cheaper. Results stay correctly rounded, because rows
	// for which truncation leaves the rounding open are computed again exactly; precision + 64 is a good value.
	KeepBits int
	// Threads is how many goroutines convert; 0 stands for GOMAXPROCS.
	Threads int
	// Pack makes a packed copy of the elements for the time until a Matrix is made, unless they are binary64 or packed:
	// they are read once then, in the order of memory, and not once to be measured and once to be converted.
	Pack bool
}

// Plan is a matrix before its planes are allocated: what it will take, and how its rows are aligned.
type Plan struct {
	src    numbers.Source
	layout numbers.Layout
	op     Op
	opt    Options

	// What is measured and converted: the numbers themselves if that is fast, otherwise a packed copy of them.
	near       numbers.Source
	nearLayout numbers.Layout

	low, bits []int            // per row of op(A); one of each for Both
	extents   []numbers.Extent // of rows of op(A) before truncation, if there is any
	allTerms  int              // terms of a sum; more than this plan's if it is a slice
	special   []special
	width     int // the widest row's bits
	xBits     int
	moduli    int
	truncated bool
}

// special is an element that is infinite or NaN.
type special struct {
	i, j  int
	class numbers.Class
	neg   bool
}

// NewPlan measures the elements of a, laid out by l, for products with op: every row of op(A) is aligned at the least
// bit position that occurs in it (for Both, the whole matrix), and moduli are chosen so that
//
//	log2 M > 1 + bits(A) + bits(x) + ceil(log2 N),  N the length of x,
//
// where x is the extent of the vectors to come, as [Measure] returns it. Vectors of more bits can be used; they are
// truncated (see [Options]). An error says that l does not fit a or, as a *TooManyModuliError, that even truncated to
// 32 bits the numbers need more moduli than are allowed.
func NewPlan(a numbers.Source, l numbers.Layout, op Op, x numbers.Extent, opt Options) (*Plan, error) {
	p, err := newPlan(a, l, op, x, opt)
	if err != nil {
		return nil, err
	}
	if err := p.align(p.measure()); err != nil {
		return nil, err
	}
	return p, nil
}

// newPlan returns a plan without alignment.
func newPlan(a numbers.Source, l numbers.Layout, op Op, x numbers.Extent, opt Options) (*Plan, error) {
	if err := l.Check(a.Len()); err != nil {
		return nil, err
	}
	if opt.MaxModuli <= 0 || opt.MaxModuli > MaxModuli {
		opt.MaxModuli = MaxModuli
	}
	p := &Plan{src: a, layout: l, op: op, opt: opt, xBits: x.Bits()}
	p.allTerms = p.terms()
	p.near, p.nearLayout = a, l
	switch a.(type) {
	case numbers.Float64s, *Packed:
	default:
		if opt.Pack {
			p.near, p.nearLayout = packMatrix(a, l, opt.Threads)
		}
	}
	return p, nil
}

// align chooses widths and moduli for rows of op(A) of these extents, and each row's alignment.
func (p *Plan) align(extents []numbers.Extent) error {
	p.width = widest(extents)
	if err := p.choose(); err != nil {
		return err
	}
	if p.truncated {
		p.extents = extents
	}
	p.low, p.bits = make([]int, len(extents)), make([]int, len(extents))
	for i, e := range extents {
		p.low[i], p.bits[i] = e.Low, e.Bits()
		if p.bits[i] > p.width {
			p.low[i], p.bits[i] = e.Top-p.width, p.width
		}
	}
	return nil
}

// terms returns the greatest number of products in one sum.
func (p *Plan) terms() int {
	switch p.op {
	case NoTrans:
		return p.layout.Cols
	case Trans:
		return p.layout.Rows
	}
	return max(p.layout.Rows, p.layout.Cols)
}

// choose sets the widths of A and x and the number of moduli.
func (p *Plan) choose() error {
	width, xBits := p.width, p.xBits
	if keep := p.opt.KeepBits; keep > 0 {
		width, xBits = min(width, keep), min(xBits, keep)
	}
	room := capacity(p.opt.MaxModuli) - log2Ceil(p.terms())
	if width+xBits > room {
		half := max(room/2, 0)
		switch {
		case width <= half:
			xBits = room - width
		case xBits <= half:
			width = room - xBits
		default:
			width, xBits = half, half
		}
		const least = 32
		if width < min(p.width, least) || xBits < min(p.xBits, least) {
			need := ModuliFor(p.width + p.xBits + log2Ceil(p.terms()))
			return &TooManyModuliError{need, p.opt.MaxModuli, p.describe()}
		}
	}
	p.truncated = width < p.width
	p.width, p.xBits = width, xBits
	p.moduli = max(1, ModuliFor(width+xBits+log2Ceil(p.terms())))
	return nil
}

func (p *Plan) describe() string {
	return fmt.Sprintf("a product of %d terms with factors of %d and %d bits", p.terms(), p.width, p.xBits)
}

// log2Ceil returns ceil(log2 n), 0 for n <= 1.
func log2Ceil(n int) int {
	if n <= 1 {
		return 0
	}
	return bits.Len(uint(n - 1))
}

// Moduli returns the number of moduli.
func (p *Plan) Moduli() int { return p.moduli }

// ABits and XBits return the widths of aligned elements of A and of x that the plan provides for.
func (p *Plan) ABits() int { return p.width }

// XBits is described at ABits.
func (p *Plan) XBits() int { return p.xBits }

// Truncated reports whether elements of A are truncated.
func (p *Plan) Truncated() bool { return p.truncated }

// Bytes returns the size of the residue planes: 4 bytes for each modulus and element, rows padded to 64 bytes.
// Beside them a matrix takes 16 bytes per row of op(A), and nothing that grows with the number of elements.
func (p *Plan) Bytes() int64 {
	return 4 * int64(p.moduli) * int64(p.layout.Rows) * int64(leadingDimension(p.layout.Cols))
}

// CopyBytes returns the size of the packed copy of A's elements that the plan has until a matrix is made, if any.
func (p *Plan) CopyBytes() int64 {
	if packed, ok := p.near.(*Packed); ok && p.near != p.src {
		return packed.Bytes()
	}
	return 0
}

// Slice returns the plan of rows i0 to i1-1 and columns j0 to j1-1 of A, with the alignment and the moduli of the
// whole: products with slices can be added in one [Accumulator]. So a matrix whose planes do not fit memory, or that
// several devices share, is multiplied in parts.
func (p *Plan) Slice(i0, i1, j0, j1 int) *Plan {
	l := p.layout
	if i0 < 0 || i1 < i0 || l.Rows < i1 || j0 < 0 || j1 < j0 || l.Cols < j1 {
		panic(fmt.Sprintf("deferred: rows %d to %d and columns %d to %d of a %d x %d matrix", i0, i1, j0, j1, l.Rows,
			l.Cols))
	}
	q := *p
	q.layout.Offset = l.Index(i0, j0)
	q.layout.Rows, q.layout.Cols = i1-i0, j1-j0
	q.nearLayout.Offset = p.nearLayout.Index(i0, j0)
	q.nearLayout.Rows, q.nearLayout.Cols = i1-i0, j1-j0
	switch p.op {
	case NoTrans:
		q.low, q.bits = p.low[i0:i1], p.bits[i0:i1]
		if p.extents != nil {
			q.extents = p.extents[i0:i1]
		}
	case Trans:
		q.low, q.bits = p.low[j0:j1], p.bits[j0:j1]
		if p.extents != nil {
			q.extents = p.extents[j0:j1]
		}
	}
	q.special = nil
	for _, e := range p.special {
		if i0 <= e.i && e.i < i1 && j0 <= e.j && e.j < j1 {
			e.i, e.j = e.i-i0, e.j-j0
			q.special = append(q.special, e)
		}
	}
	return &q
}

// leadingDimension returns the distance between rows of a plane.
func leadingDimension(cols int) int { return roundUp(cols, laneMultiple) }

// Matrix is a matrix of aligned numbers as residue planes: the residue modulo m_k of element (i, j) is
// planes[(k*rows + i)*ld + j], and element (i, j) is the integer of the residues times 2^low[row of op(A)], plus
// what was truncated. It is immutable and safe for concurrent use.
//
// If it is truncated, it keeps the numbers it was made of, which must not change.
type Matrix struct {
	Plan
	base   *base
	ld     int
	planes []uint32
}

// Matrix allocates and fills the planes.
func (p *Plan) Matrix() *Matrix {
	a := &Matrix{Plan: *p, base: baseOf(p.moduli), ld: leadingDimension(p.layout.Cols)}
	l := p.layout
	a.planes = alignedUint32(p.moduli * l.Rows * a.ld)
	const width = 64 * laneMultiple // columns of one task
	blocks := (l.Cols + width - 1) / width
	convertParallel(a.base, p.opt.Threads, l.Rows*blocks, func(c *converter, task int) {
		i, begin := task/blocks, task%blocks*width
		for j := begin; j < min(begin+width, l.Cols); j += laneMultiple {
			low, step := p.low, 0
			switch p.op {
			case NoTrans:
				low = low[i:]
			case Trans:
				low, step = low[j:], 1
			}
			c.convert(a.planes, l.Rows*a.ld, i*a.ld+j, p.near, p.nearLayout.Index(i, j), p.nearLayout.ColStride,
				min(laneMultiple, l.Cols-j), low, step)
		}
	})
	a.near = nil
	if !p.truncated {
		a.src = nil
	}
	return a
}

// Rows and Cols return the shape of A.
func (a *Matrix) Rows() int { return a.layout.Rows }

// Cols is described at Rows.
func (a *Matrix) Cols() int { return a.layout.Cols }

// shape returns the lengths of y and x in a product with op.
func (a *Matrix) shape(op Op) (rows, terms int) {
	if op == Trans {
		return a.layout.Cols, a.layout.Rows
	}
	return a.layout.Rows, a.layout.Cols
}

func (a *Matrix) plane(k int) []uint32 {
	size := a.layout.Rows * a.ld
	return a.planes[k*size : (k+1)*size]
}

// alignment returns low and bits of row i of op(A).
func (a *Matrix) alignment(i int) (low, bits int) {
	if a.op == Both {
		i = 0
	}
	return a.low[i], a.bits[i]
}

// rowTruncated reports whether elements of row i of op(A) may have been truncated.
func (a *Matrix) rowTruncated(i int) bool {
	_, bits := a.alignment(i)
	return a.truncated && bits == a.width
}
