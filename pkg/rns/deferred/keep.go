package deferred

import (
	"math"
	"slices"

	"mpbench/internal/parallel"
	"mpbench/pkg/numbers"
)

// This file has the choice between exact and truncated factors where these are of widely different size: the number of
// bits k = p + 64 + D for rows whose largest product is 2^D times smaller than the product of the row's and the
// vector's largest elements, and the rows that are better computed again. docs/design/deferred.md has the reasons.

const (
	guardBits   = 64
	redoFactor  = 4 // a row computed again costs so many products with all moduli: it is converted as well
	leastSaving = 2 // truncation has to save this factor
)

// NoTop stands for the end of the bits of zero.
const NoTop = math.MinInt32

// moduliOf is the number of moduli for factors of a and x bits.
func moduliOf(a, x, terms int) int { return max(1, ModuliFor(a+x+log2Ceil(terms))) }

func widest(extents []numbers.Extent) (width int) {
	for _, e := range extents {
		width = max(width, e.Bits())
	}
	return width
}

// MayTruncate reports whether truncation could be worth while for rows of these extents, times a vector of that
// extent, and results of prec bits. Only if so, the tops of products are needed.
func MayTruncate(rows []numbers.Extent, terms int, x numbers.Extent, prec int) bool {
	width, keep := widest(rows), prec+guardBits
	return leastSaving*moduliOf(min(width, keep), min(x.Bits(), keep), terms) <= moduliOf(width, x.Bits(), terms)
}

// KeepBits returns the [Options].KeepBits for products of rows of these extents and a vector of that extent, in sums
// of so many terms that are rounded to prec bits: the value of least cost, or 0, for all bits, if the cost would be
// more than half of theirs. tops[i] is the end of the bits of the largest product of row i: the greatest sum of the
// ends of two factors, or NoTop if all products are zero.
func KeepBits(rows []numbers.Extent, tops []int, terms int, x numbers.Extent, prec int) int {
	if !MayTruncate(rows, terms, x, prec) {
		return 0
	}
	var short []int // the D of each row
	for i, e := range rows {
		switch {
		case e.Bits() == 0: // nothing is left out of zeros
			short = append(short, 0)
		case tops[i] != NoTop:
			short = append(short, e.Top+x.Top-tops[i])
		}
	}
	slices.Sort(short)
	width := widest(rows)
	exact := moduliOf(width, x.Bits(), terms)
	best, least := 0, float64(exact)*float64(len(rows))/leastSaving
	for i, d := range short {
		if i+1 < len(short) && short[i+1] == d {
			continue
		}
		keep := prec + guardBits + d
		cost := float64(moduliOf(min(width, keep), min(x.Bits(), keep), terms))*float64(len(rows)) +
			redoFactor*float64(exact)*float64(len(rows)-i-1)
		if cost <= least {
			best, least = keep, cost
		}
	}
	return best
}

// NewPlanFor is [NewPlan] for products with the vector x, laid out by xl, that are rounded to prec bits. Where
// Options.KeepBits is 0 it chooses one, see [KeepBits]. The plan is for NoTrans or Trans.
func NewPlanFor(
	a numbers.Source, l numbers.Layout, op Op, x numbers.Source, xl numbers.Layout, prec int, opt Options,
) (*Plan, error) {
	extent, err := Measure(x, xl)
	if err != nil {
		return nil, err
	}
	p, err := newPlan(a, l, op, extent, opt)
	if err != nil {
		return nil, err
	}
	rows := p.measure()
	if opt.KeepBits == 0 && MayTruncate(rows, p.allTerms, extent, prec) {
		p.opt.KeepBits = KeepBits(rows, productTops(p, VectorTops(x, xl)), p.allTerms, extent, prec)
	}
	if err := p.align(rows); err != nil {
		return nil, err
	}
	return p, nil
}

// Exact returns the plan without truncation, for a vector of that extent, or nil if the moduli do not suffice.
func (p *Plan) Exact(x numbers.Extent) *Plan {
	extents := p.extents
	if extents == nil {
		for i := range p.low {
			extents = append(extents, p.RowExtent(i))
		}
	}
	q := *p
	q.opt.KeepBits, q.xBits, q.extents = 0, x.Bits(), nil
	if q.align(extents) != nil || q.truncated || q.xBits < x.Bits() {
		return nil
	}
	return &q
}

// VectorTops returns the end of the bits of each element of a column vector, NoTop for 0, infinities, NaN.
func VectorTops(x numbers.Source, l numbers.Layout) []int32 {
	tops := make([]int32, l.Rows)
	for j := range tops {
		tops[j] = NoTop
		if s := x.Span(l.Index(j, 0)); s.Class == numbers.Finite {
			tops[j] = int32(s.Top)
		}
	}
	return tops
}

// productTops returns the end of the bits of the largest product of each row of op(A).
func productTops(p *Plan, x []int32) []int {
	l := p.nearLayout
	if p.op == Trans {
		l.Rows, l.Cols, l.RowStride, l.ColStride = l.Cols, l.Rows, l.ColStride, l.RowStride
	}
	tops := make([]int, l.Rows)
	parallel.Tasks(p.opt.Threads, l.Rows, func(_, i int) {
		top := NoTop
		for j := range l.Cols {
			if s := p.near.Span(l.Index(i, j)); s.Class == numbers.Finite && x[j] != NoTop {
				top = max(top, s.Top+int(x[j]))
			}
		}
		tops[i] = top
	})
	return tops
}

// Room beyond a sample in what Assume returns, in bits.
const (
	roomAbove = 8
	roomBelow = 20 // the least of n numbers is some 1/n of the greatest: 10^6 times fewer than there are
)

// Positions of bits of float64 numbers.
const (
	lowestBit  = -1074
	highestBit = 1024 // one more than the highest
)

// Assume returns extents that the rows of a matrix of float64 numbers may have of which only a sample has been seen,
// with the extents sample[i], so that products with vectors of the extent x can begin before all numbers are known.
// All rows get the same width: that of the widest in the sample, at least 8 bits above and 20 bits below, and what the
// moduli then hold beyond that ([PlanExtents]). A row of zeros is taken for one like all others together. Whether
// numbers keep to it is to be found out; if they do, results are exact.
func Assume(sample []numbers.Extent, terms int, x numbers.Extent) []numbers.Extent {
	width, all := 0, numbers.Extent{}
	for _, e := range sample {
		width = max(width, e.Bits())
		all = all.Union(e)
	}
	if width == 0 { // nothing is known: numbers about 1
		width, all = 53, numbers.Extent{Low: -53, Top: 0}
	}
	other := x.Bits() + log2Ceil(terms)
	width = min(capacity(ModuliFor(width+roomAbove+roomBelow+other))-other, highestBit-lowestBit)
	rows := make([]numbers.Extent, len(sample))
	for i, e := range sample {
		if e.Bits() == 0 {
			e = all
		}
		top := min(e.Top+roomAbove, highestBit)
		low := max(top-width, lowestBit)
		rows[i] = numbers.Extent{Low: low, Top: low + width}
	}
	return rows
}
