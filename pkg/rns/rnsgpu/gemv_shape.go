package rnsgpu

import "fmt"

// splitShape is how the kernels of rns-split are launched. It never changes a result.
type splitShape struct {
	ResidueThreads int    `json:"residue_threads"` // of a block, a multiple of the residues of a number, or fewer
	ResidueRows    int    `json:"residue_rows"`    // numbers of a thread
	Round          string `json:"round"`           // one of roundKernels
	RoundThreads   int    `json:"round_threads"`
	SumsLanes      int    `json:"sums_lanes"` // lanes that work on one addition
	SumsThreads    int    `json:"sums_threads"`
	SumsRows       int    `json:"sums_rows"` // components of a block
}

// roundKernel is a kernel gemvRound of cuda/gemv.cu: lanes that work on one number, residues that each can hold, 0 for
// any number.
type roundKernel struct{ lanes, each int }

var roundKernels = map[string]roundKernel{
	"gemvRound1x8": {1, 8}, "gemvRound2x4": {2, 4}, "gemvRound2x8": {2, 8}, "gemvRound4x4": {4, 4},
	"gemvRound4x8": {4, 8}, "gemvRound8x4": {8, 4},
	"gemvRound8x8": {8, 8}, "gemvRound16x4": {16, 4}, "gemvRound16x8": {16, 8}, "gemvRound32x4": {32, 4},
	"gemvRound32x8": {32, 8}, "gemvRoundAny": {32, 0},
}

// holds reports whether a kernel can round numbers of so many residues.
func (k roundKernel) holds(stride int) bool { return k.each == 0 || k.lanes*k.each >= stride }

// sumsThreads are the most threads of a block of the kernels gemvSums, by their lanes.
var sumsThreads = map[int]int{1: 256, 4: 512, 8: 512, 16: 512, 32: 512}

func (s splitShape) sumsKernel() string { return fmt.Sprintf("gemvSums%d", s.SumsLanes) }

// maxThreads is the most threads of a block.
const maxThreads = 1024

// Limits of devices that say nothing about themselves.
const (
	defaultThreadsPerMP = 2048
	defaultBlocksPerMP  = 32
)

// residueThreads returns the block of the paper's equation (8): whole numbers, at least as many threads as fill a
// multiprocessor with blocks.
func residueThreads(stride, threadsPerMP, blocksPerMP int) int {
	if threadsPerMP == 0 || blocksPerMP == 0 {
		threadsPerMP, blocksPerMP = defaultThreadsPerMP, defaultBlocksPerMP
	}
	return min(max(1, threadsPerMP/blocksPerMP/stride)*stride, maxThreads)
}

// defaultShape is what is used without tuning.
func (e *split) defaultShape() splitShape {
	stride, info := e.context.Base().Stride(), e.device.Info()
	s := splitShape{ResidueThreads: residueThreads(stride, info.ThreadsPerMP, info.BlocksPerMP), ResidueRows: 4,
		Round: "gemvRoundAny", RoundThreads: 128}
	for _, name := range []string{"gemvRound1x8", "gemvRound2x8", "gemvRound4x8", "gemvRound8x8", "gemvRound16x8",
		"gemvRound32x8"} {
		if roundKernels[name].holds(stride) {
			s.Round = name
			break
		}
	}
	s.SumsLanes = 32
	for _, lanes := range []int{4, 8, 16} {
		if stride <= 2*lanes {
			s.SumsLanes = lanes
			break
		}
	}
	return e.withSumsRows(s, 1)
}

// withSumsRows gives the blocks of the sums so many components, and as many threads as these have work for.
func (e *split) withSumsRows(s splitShape, rows int) splitShape {
	s.SumsRows = rows
	threads := (rows*max(e.used(), 1)*s.SumsLanes + 31) / 32 * 32
	s.SumsThreads = min(threads, sumsThreads[s.SumsLanes])
	return s
}
