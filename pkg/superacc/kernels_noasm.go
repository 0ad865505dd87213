//go:build !amd64 || noasm

package superacc

// SIMD returns the instruction set that sums and dot products use: "none", "avx2" or "avx512".
func SIMD() string { return "none" }

// The kernels in use, by increasing number of levels.
var sumKernels, dotKernels = genericSumKernels, genericDotKernels

func sumBlock(k kernel, x []float64, anchor *[maxLevels]float64, out *blockSums) {
	sumBlockGeneric(k, x, anchor, out)
}

func dotBlock(k kernel, x, y []float64, anchor *[maxLevels]float64, out *blockSums) {
	dotBlockGeneric(k, x, y, anchor, out)
}

// columnLanes says that there is no columnsBlock.
var columnLanes = 0

func columnsBlock(kernel, *float64, int, []float64, *[maxLevels]float64, *columnSums) {}

func (b *termBuckets) add(x []float64) { b.addGeneric(x) }
