package gemv

import "math/bits"

// The order of the additions of the paper's step 4, apart from any number format.

// adder adds the terms of several components at once. Component r has its own slots r*used to (r+1)*used - 1.
type adder interface {
	load(slot, r, j int)    // slot = term j of component r
	addTerm(slot, r, j int) // slot = slot + term j of component r
	addSlot(slot, other int)
}

// blockSums leaves the sum of the n >= 1 terms of each component r < components in its first slot; used =
// min(blockSize, n) slots each.
//
// Thread t of a block of B threads adds terms t, t + B, t + 2B, ... in this order; then, for h = P/2, P/4, ..., 1 with
// P the least power of two >= B, thread t < h adds the sum of thread t + h, if there is one. The order depends on n
// and B alone. The components go side by side, column by column, because that is how their terms lie in memory.
//
// Source: K. Isupov, V. Knyazkov (2020), section 4.1, which cites algorithm 6 of their DOI 10.1016/j.jpdc.2020.02.006.
func blockSums[A adder](a A, components, n, blockSize int) {
	used := min(blockSize, n)
	for j := range n {
		t := j % blockSize
		for r := range components {
			if j < used {
				a.load(r*used+t, r, j)
			} else {
				a.addTerm(r*used+t, r, j)
			}
		}
	}
	for r := range components {
		for half := 1 << bits.Len(uint(used-1)) / 2; half >= 1; half /= 2 {
			for t := 0; t < half && t+half < used; t++ {
				a.addSlot(r*used+t, r*used+t+half)
			}
		}
	}
}
