package reduce

// grid is the shape of a block reduction: Blocks blocks of BlockSize threads, a power of two.
type grid struct{ Blocks, BlockSize int }

// block reduces the terms of block b to slot 0 of a, an adder with BlockSize slots that are zero: the first two
// stages of Reduce3 of the 2018 paper (Harris 2007). The block must be one that is used.
//
// Thread t adds terms i and i + BlockSize for i = 2*b*BlockSize + t and every 2*Blocks*BlockSize further; then the
// threads' sums are added in a tree, halving the number of threads.
//
// Source: K. Isupov et al. (2018), algorithm 5; M. Harris, "Optimizing parallel reduction in CUDA" (2007).
func block[A adder](a A, g grid, b, n int) {
	stride := 2 * g.Blocks * g.BlockSize
	for start := 2 * b * g.BlockSize; start < n; start += stride {
		end := min(start+2*g.BlockSize, n)
		for i := start; i < end; i++ { // thread t meets its two terms in the order of i
			a.addTerm((i-start)&(g.BlockSize-1), i)
		}
	}
	for half := g.BlockSize / 2; half >= 1; half /= 2 {
		for t := range half {
			a.addSlot(t, t+half)
		}
	}
}

// used is the number of blocks that have any of n terms; they are the first ones.
func (g grid) used(n int) int { return min(g.Blocks, (n+2*g.BlockSize-1)/(2*g.BlockSize)) }
