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
