package deferred

import (
	"math"
	"mpbench/internal/parallel"
	"mpbench/pkg/numbers"
	"slices"
)

// This file has the choice between exact and truncated factors where these are of widely different size.
//
// Let D be by how many bits the largest product of a row falls short of the product of the row's and the vector's
// largest elements. With k bits kept of both, the sum of N products is in error by less than 2^(log2 N + 1 - k) of
// that product of largest elements, so by less than 2^(log2 N + 3 + D - k) of the row's largest product. With k = p +
// 64 + D the error is 2^(61 - log2 N) times smaller than half a unit in the last of p places of that product: sums of
// 2^20 terms may lose 20 bits by cancellation, and in one row of 2^20 the rounding is left open and the row is
// computed again. Data with more cancellation than that are computed again as a whole; nothing but the sums themselves
// tells.
//
// On one processor core, with float64 numbers of all exponents, 400 x 400 (BenchmarkTruncated): 33 moduli in place of
// 147, 4.7 in place of 21 ns an element for a product, 96 in place of 184 for plan and conversion. A row that is
// computed again takes many times as long.
//
// The cost of products is the number of moduli times that of rows. Rows of which D is above the rest are better
// computed again.

const (
	guardBits   = 64
	redoFactor  = 4 // a row computed again costs so many products with all moduli: it is converted as well
	leastSaving = 2 // truncation has to save this factor
)

// NoTop stands for the end of the bits of zero.
const NoTop = math.MinInt32

// moduliOf is the number of moduli for factors of a and x bits.
func moduliOf(a, x, terms int) int { return max(1, ModuliFor(a+x+log2Ceil(terms))) }

// widest returns the bits of the widest extent.
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

// VectorTops returns the end of the bits of each element of a column vector, NoTop for those that are not finite or
// zero.
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
	l := p.layout
	if p.op == Trans {
		l.Rows, l.Cols, l.RowStride, l.ColStride = l.Cols, l.Rows, l.ColStride, l.RowStride
	}
	tops := make([]int, l.Rows)
	parallel.Tasks(p.opt.Threads, l.Rows, func(_, i int) {
		top := NoTop
		for j := range l.Cols {
			if s := p.src.Span(l.Index(i, j)); s.Class == numbers.Finite && x[j] != NoTop {
				top = max(top, s.Top+int(x[j]))
			}
		}
		tops[i] = top
	})
	return tops
}
