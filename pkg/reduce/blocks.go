package reduce

import (
	"fmt"
	"math/bits"
)

// grid is the shape of a block reduction: Blocks blocks of BlockSize threads, a power of two.
type grid struct{ Blocks, BlockSize int }

// block reduces the terms of block b to slot 0 of a, an adder with BlockSize slots that are zero: the first two stages of
// Reduce3 of the 2018 paper (Harris 2007). It reports whether the block has any term.
//
// Thread t adds terms i and i + BlockSize for i = 2*b*BlockSize + t and every 2*Blocks*BlockSize further; then the
// threads' sums are added in a tree, halving the number of threads.
//
// Source: K. Isupov et al. (2018), algorithm 5; M. Harris, "Optimizing parallel reduction in CUDA" (2007).
func block[A adder](a A, g grid, b, n int) bool {
	first := 2 * b * g.BlockSize
	if first >= n {
		return false
	}
	stride := 2 * g.Blocks * g.BlockSize
	for start := first; start < n; start += stride {
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
	return true
}

// depth is the largest number of additions that one of n terms passes through, additions to zero not counted:
// 2*ceil(n / (2*Blocks*BlockSize)) - 1 in its thread, log2 BlockSize in its block, and one for each further block.
func (g grid) depth(n int) int {
	if n <= 1 {
		return 0
	}
	perPass := 2 * g.Blocks * g.BlockSize
	passes := (n + perPass - 1) / perPass
	return 2*passes - 1 + bits.Len(uint(g.BlockSize)) - 1 + g.used(n) - 1
}

// used is the number of blocks that have any of n terms; they are the first ones.
func (g grid) used(n int) int { return min(g.Blocks, (n+2*g.BlockSize-1)/(2*g.BlockSize)) }

// Limits of a grid: those of a CUDA launch.
const (
	DefaultBlocks    = 256
	DefaultBlockSize = 64
	MaxBlocks        = 1 << 20
	MaxBlockSize     = 1024
)

// newGrid checks a grid; 0 stands for the default.
func newGrid(blocks, blockSize int) (grid, error) {
	if blocks == 0 {
		blocks = DefaultBlocks
	}
	if blockSize == 0 {
		blockSize = DefaultBlockSize
	}
	if blocks < 1 || blocks > MaxBlocks {
		return grid{}, fmt.Errorf("%w: %d blocks; want 1 to %d", ErrOption, blocks, MaxBlocks)
	}
	if blockSize < 1 || blockSize > MaxBlockSize || blockSize&(blockSize-1) != 0 {
		return grid{}, fmt.Errorf("%w: block size %d; want a power of two from 1 to %d", ErrOption, blockSize, MaxBlockSize)
	}
	return grid{blocks, blockSize}, nil
}
