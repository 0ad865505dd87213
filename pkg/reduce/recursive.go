package reduce

// adder is a number format with a few numbered slots for partial sums: what an order of additions works on.
// Terms are numbered from 0.
type adder interface {
	load(slot, i int)    // slot = term i
	addTerm(slot, i int) // slot = slot + term i
	addSlot(slot, j int) // slot = slot + slot j
}

// recursive adds n >= 1 terms to slot 0, one after the other: Reduce1 of the 2018 paper.
//
// A term takes part in at most n - 1 additions.
func recursive[A adder](a A, n int) {
	a.load(0, 0)
	for i := 1; i < n; i++ {
		a.addTerm(0, i)
	}
}

// recursiveDepth is the largest number of additions that a term passes through.
func recursiveDepth(n int) int { return max(0, n-1) }
