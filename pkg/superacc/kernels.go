package superacc

// maxLevels is the largest number of levels of a kernel.
const maxLevels = 8

// blockSums is what a kernel makes of a block. The assembly code knows the layout.
type blockSums struct {
	counts [maxLevels]int64 // sums of what was added at each level, in the level's unit
	max    uint64           // bit pattern of the largest magnitude of the terms or products (not a NaN's, perhaps)
	// not 0, but for the sign bit, if something was left after the last level, also for Inf and NaN
	rest uint64
	tiny uint64 // not 0 if a product is not the sum of its halves by TwoProduct
}

// kernel describes a routine that adds a block. Blocks are multiples of group and at most maxGroups groups.
type kernel struct {
	levels int
	group  int // terms or products added in one step, each to a biased sum of its own
}

// maxGroups bounds the groups of a block so that a biased sum gets at most 2^laneBits numbers, of which a product adds
// two.
const (
	laneBits     = 9
	maxSumGroups = 1 << laneBits
	maxDotGroups = 1 << (laneBits - 1)
)

// maxGroup is the largest group of a kernel.
const maxGroup = 32
