package reduce

import "math/bits"

// pairwise adds n >= 1 terms, neighbours first and then neighbouring partial sums, with the result in slot 0:
// Reduce2 of the 2018 paper.
//
// The slots are a stack. After 2k terms it holds partial sums whose lengths are the powers of two that make up 2k,
// the longest at the bottom: one join follows for every trailing zero bit of k. It never holds more than
// pairwiseSlots(n) values. What is left at the end is joined from the top.
//
// A term takes part in at most ceil(log2 n) additions.
//
// Source: B. Dalton, A. Wang, B. Blainey, "SIMDizing pairwise sums", WPMVP 2014, section 3.
func pairwise[A adder](a A, n int) {
	top := 0 // the number of slots in use
	for i := 0; i+1 < n; i += 2 {
		a.load(top, i)
		a.addTerm(top, i+1)
		top++
		for range bits.TrailingZeros(uint(i/2 + 1)) {
			top--
			a.addSlot(top-1, top)
		}
	}
	if n%2 == 1 {
		a.load(top, n-1)
		top++
	}
	for ; top > 1; top-- {
		a.addSlot(top-2, top-1)
	}
}

// pairwiseSlots is the number of slots that pairwise needs for n terms.
func pairwiseSlots(n int) int { return bits.Len(uint(n)) + 1 }
