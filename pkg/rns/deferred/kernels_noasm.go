//go:build !amd64 || noasm

package deferred

func dot(a, x []uint32) (low, high uint64)                    { return dotGeneric(a, x) }
func axpyTable(sums []uint64, a []uint32, ld int, c []uint32) { axpyBlockGeneric(sums, a, ld, c) }
func axpyBlock(sums []uint64, a []uint32, ld int, c []uint32) { axpyBlockGeneric(sums, a, ld, c) }
func reduceSums(sums []uint64, delta uint32)                  { reduceSumsGeneric(sums, delta) }
func sumBlock(x []uint32) uint64                              { return sumBlockGeneric(x) }

func convertBlock(z []uint32, stride int, limbs [][laneMultiple]uint64, powers []uint32, lanes int, delta []uint32,
	neg *[laneMultiple]uint64) {
	convertGeneric(z, stride, limbs, powers, lanes, delta, neg)
}

// SIMD returns the instruction set that the kernels use: "none", "avx2" or "avx512".
func SIMD() string { return "none" }

func packedAdd(s *LimbSum, p *Packed, i, n int) int { return packedAddGeneric(s, p, i, n) }

func dotLimbs(sums []int64, a []uint32, aStride int, x []uint32, xStride, n int) {
	dotLimbsGeneric(sums, a, aStride, x, xStride, n)
}
