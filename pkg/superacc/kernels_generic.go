package superacc

import "math"

// The kernels in plain Go, for any number of levels: anchor has one entry for each. See the package comment.

// genericGroup is the number of independent biased sums of the plain Go kernels.
const genericGroup = 2

// sumGeneric adds the terms x, an even number of them.
func sumGeneric(x []float64, anchor []float64, out *blockSums) {
	out.clear()
	biased := [genericGroup][maxLevels]float64{}
	for c := range biased {
		copy(biased[c][:], anchor)
	}
	for ; len(x) >= genericGroup; x = x[genericGroup:] {
		for c, term := range x[:genericGroup] {
			out.note(math.Float64bits(term))
			out.rest |= math.Float64bits(extract(biased[c][:len(anchor)], term))
		}
	}
	out.count(&biased, anchor)
}

// dotGeneric adds the products of x and y, an even number of them.
func dotGeneric(x, y []float64, anchor []float64, out *blockSums) {
	out.clear()
	biased := [genericGroup][maxLevels]float64{}
	for c := range biased {
		copy(biased[c][:], anchor)
	}
	for ; len(x) >= genericGroup && len(y) >= genericGroup; x, y = x[genericGroup:], y[genericGroup:] {
		for c := range genericGroup {
			p, e := TwoProduct(x[c], y[c])
			out.note(math.Float64bits(p))
			if math.Abs(p) < tinyProduct && x[c] != 0 && y[c] != 0 {
				out.tiny = 1
			}
			out.rest |= math.Float64bits(extract(biased[c][:len(anchor)], p))
			out.rest |= math.Float64bits(extract(biased[c][1:len(anchor)], e))
		}
	}
	out.count(&biased, anchor)
}

// extract adds x to the biased sums level by level, as multiples of the level's unit, and returns what is left.
func extract(biased []float64, x float64) float64 {
	for l, s := range biased {
		t := s + x
		x -= t - s
		biased[l] = t
	}
	return x
}

// sum2Generic is sumGeneric for two levels with its sums in registers.
func sum2Generic(x []float64, anchor *[maxLevels]float64, out *blockSums) {
	a0, a1 := anchor[0], anchor[0]
	b0, b1 := anchor[1], anchor[1]
	var largest, rest uint64
	for ; len(x) >= genericGroup; x = x[genericGroup:] {
		x0, x1 := x[0], x[1]
		largest = max(largest, math.Float64bits(x0)&^signMask, math.Float64bits(x1)&^signMask)
		s0, s1 := a0+x0, a1+x1
		x0, x1 = x0-(s0-a0), x1-(s1-a1)
		a0, a1 = s0, s1
		s0, s1 = b0+x0, b1+x1
		rest |= math.Float64bits(x0-(s0-b0)) | math.Float64bits(x1-(s1-b1))
		b0, b1 = s0, s1
	}
	*out = blockSums{max: largest, rest: rest}
	out.counts[0] = units(a0, anchor[0]) + units(a1, anchor[0])
	out.counts[1] = units(b0, anchor[1]) + units(b1, anchor[1])
}

// units returns (biased - anchor) in units of the last place of anchor, which both share.
func units(biased, anchor float64) int64 {
	return int64(math.Float64bits(biased) - math.Float64bits(anchor))
}

func (o *blockSums) clear() { *o = blockSums{} }

// note takes account of the magnitude of a term; a NaN is larger than anything.
func (o *blockSums) note(pattern uint64) { o.max = max(o.max, pattern&^signMask) }

// count sets the counts from the biased sums.
func (o *blockSums) count(biased *[genericGroup][maxLevels]float64, anchor []float64) {
	for l, a := range anchor {
		for c := range biased {
			o.counts[l] += units(biased[c][l], a)
		}
	}
}

// The plain Go kernels that are faster than adding term by term with buckets. No kernel for products is: without
// vectors, an integer multiplication does more than a floating-point one and its error.
var (
	genericSumKernels = []kernel{{2, genericGroup}}
	genericDotKernels []kernel
)

// sumBlockGeneric adds a block with kernel k in plain Go.
func sumBlockGeneric(k kernel, x []float64, anchor *[maxLevels]float64, out *blockSums) {
	if k.levels == 2 {
		sum2Generic(x, anchor, out)
		return
	}
	sumGeneric(x, anchor[:k.levels], out)
}

// dotBlockGeneric adds a block of products with kernel k in plain Go.
func dotBlockGeneric(k kernel, x, y []float64, anchor *[maxLevels]float64, out *blockSums) {
	dotGeneric(x, y, anchor[:k.levels], out)
}

const maxLevels = 8

// blockSums is what a kernel makes of a block. The assembly code knows the layout.
type blockSums struct {
	counts [maxLevels]int64 // sums of what was added at each level, in the level's unit
	max    uint64           // bit pattern of the largest magnitude of the terms or products (not a NaN's, perhaps)
	// not 0, but for the sign bit, if something was left after the last level, also for Inf and NaN
	rest uint64
	tiny uint64 // not 0 if a product is not the sum of its halves by TwoProduct
}

// columnSums is what a kernel makes of columns of a matrix: counts for each row, the rest for all rows together. The
// assembly code knows the layout.
type columnSums struct {
	counts          [maxLevels][maxLanes]int64
	max, rest, tiny uint64
}

// maxLanes is the greatest number of rows that such a kernel takes at a time.
const maxLanes = 8

// kernel describes a routine that adds a block. Blocks are multiples of group and at most maxGroups groups.
type kernel struct {
	levels int
	group  int // terms or products added in one step, each to a biased sum of its own
}

// maxGroups bounds the groups of a block so that a biased sum gets at most 2^laneBits numbers, two of a product.
const (
	laneBits     = 9
	maxSumGroups = 1 << laneBits
	maxDotGroups = 1 << (laneBits - 1)
)

const maxGroup = 32
