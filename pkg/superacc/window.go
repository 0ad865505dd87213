package superacc

import (
	"math"
	"math/bits"
)

// window is the state of fast accumulation: the anchors of the levels, the sums of what the kernels counted at each,
// and what has been learnt about the data: how large they are, how many levels they need, and whether to try at all.
type window struct {
	anchor [maxLevels]float64
	limit  uint64 // bit pattern of the power of two that no magnitude may exceed; 0 before the first block
	hi     [maxLevels]int64
	lo     [maxLevels]uint64 // hi*2^64 + lo is the sum of the counts in the unit of the level

	kernel    int  // index of the kernel in use
	wait      int  // blocks until the kernel of fewer levels is tried
	patience  int  // the next value of wait
	slow      int  // terms still to be added one by one
	slowNext  int  // the next value of slow
	tentative bool // the next block may well fail and is therefore a short one

	out blockSums
}

const (
	laneRoom  = laneBits + 1                // binades from the limit to the first anchor
	levelBits = fractionBits + 1 - laneRoom // binades from one anchor to the next
	maxLimit  = 1022 - laneRoom             // exponent of the largest limit: a biased sum is at most 2^1023
	minAnchor = -1022                       // exponent of the least anchor; its unit is the least of all numbers
	guessFrom = 8                           // terms to guess the first limit from

	tentativeTerms        = 1024
	leastSlow, mostSlow   = 1 << 13, 1 << 18
	leastBlocks, mostWait = 1 << 4, 1 << 12
)

// ceiling returns the exponent of a power of two that exceeds the magnitude with the given bit pattern: of the least
// such one, but at least -1022. It is 1025 for Inf and NaN.
func ceiling(pattern uint64) int { return int(pattern>>fractionBits) - 1022 }

func (w *window) limitExponent() int { return int(w.limit>>fractionBits) - 1023 }

// start makes a first guess at the anchors for data that begin with the given magnitudes.
func (w *window) start(magnitudes []float64) {
	largest := 0.0
	for _, x := range magnitudes {
		largest = max(largest, x)
	}
	w.move(min(ceiling(math.Float64bits(largest))+1, maxLimit)) // most data have larger terms than their first ones
	w.patience, w.slowNext, w.tentative = leastBlocks, leastSlow, true
}

// move sets the anchors for magnitudes of at most 2^limit, limit <= maxLimit. All counts must be 0.
func (w *window) move(limit int) {
	limit = max(limit, minAnchor)
	w.limit = uint64(limit+1023) << fractionBits
	e := limit + laneRoom
	for l := range w.anchor {
		w.anchor[l] = math.Float64frombits(uint64(e+1023)<<fractionBits | hiddenBit>>1) // 1.5 * 2^e
		e = max(e-levelBits, minAnchor)
	}
}

// settle moves the counts to f.
func (w *window) settle(f *fixed) {
	for l, a := range w.anchor {
		if w.hi[l] != 0 || w.lo[l] != 0 {
			f.addSigned(w.hi[l], w.lo[l], int(math.Float64bits(a)>>fractionBits)-bias)
			w.hi[l], w.lo[l] = 0, 0
		}
	}
}

// blockLength returns the length of the next block of n > 0 terms: a multiple of the kernel's group or less than one.
func (w *window) blockLength(n int, k kernel, maxGroups int) int {
	n = min(n, k.group*maxGroups)
	if w.tentative {
		n = min(n, tentativeTerms)
	}
	if n > k.group {
		n -= n % k.group
	}
	return n
}

// accept adds what the kernel made of a block, w.out, if that is the whole of it, and says so. Else nothing is added,
// and the window is changed: to other anchors, to more levels, or to adding term by term.
//
// The same block is not refused forever: first the limit becomes the block's own, then the levels increase.
func (w *window) accept(f *fixed, kernels []kernel) bool {
	o := &w.out
	largest := ceiling(o.max)
	switch {
	case o.max > w.limit && largest <= maxLimit:
		w.settle(f)
		w.move(largest)
	case o.max > w.limit || o.tiny != 0:
		w.giveUp()
	case o.rest&^signMask == 0:
		for l, c := range o.counts[:kernels[w.kernel].levels] {
			var carry uint64
			w.lo[l], carry = bits.Add64(w.lo[l], uint64(c), 0)
			w.hi[l] += c>>63 + int64(carry)
		}
		w.succeed()
		return true
	case largest < w.limitExponent():
		w.settle(f)
		w.move(largest)
	case w.kernel+1 < len(kernels):
		w.kernel++
		w.wait = w.patience
		w.patience = min(2*w.patience, mostWait)
	default:
		w.giveUp()
	}
	return false
}

// giveUp has some terms added one by one: more each time it happens in a row.
func (w *window) giveUp() {
	w.slow = w.slowNext
	w.slowNext = min(2*w.slowNext, mostSlow)
	w.tentative = true
}

func (w *window) succeed() {
	if w.tentative {
		w.tentative = false
		w.slowNext = leastSlow
	}
	if w.kernel > 0 {
		if w.wait--; w.wait < 0 {
			w.kernel--
			w.wait = w.patience
			w.tentative = true
		}
	}
}
