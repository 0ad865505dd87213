package deferred

import "mpbench/pkg/numbers"

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
