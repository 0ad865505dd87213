//go:build !noasm

package deferred

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd _asm && go generate"

// The instruction sets in use; every bit that the kernels need is tested.
var (
	useAVX2   = cpu.X86.HasAVX2
	useAVX512 = useAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL
)

// SIMD returns the instruction set that the kernels use: "none", "avx2" or "avx512".
func SIMD() string {
	switch {
	case useAVX512:
		return "avx512"
	case useAVX2:
		return "avx2"
	}
	return "none"
}

func dot(a, x []uint32) (low, high uint64) {
	switch n := len(x); {
	case n == 0:
		return 0, 0
	case useAVX512:
		return dotAVX512(&a[:n][0], &x[0], n)
	case useAVX2:
		return dotAVX2(&a[:n][0], &x[0], n)
	}
	return dotGeneric(a, x)
}

var (
	dotLimbsAVX2 = [...]func(sums *int64, a *uint32, aStride int, x *uint32, xStride, n int){
		dotLimbs1AVX2, dotLimbs2AVX2, dotLimbs3AVX2, dotLimbs4AVX2, dotLimbs5AVX2,
	}
	dotLimbsAVX512 = [...]func(sums *int64, a *uint32, aStride int, x *uint32, xStride, n int){
		dotLimbs1AVX512, dotLimbs2AVX512, dotLimbs3AVX512, dotLimbs4AVX512, dotLimbs5AVX512,
	}
)

func dotLimbs(sums []int64, a []uint32, aStride int, x []uint32, xStride, n int) {
	last := (len(sums)/2+1)/2 - 1
	_, _ = a[last*aStride+n-1], x[last*xStride+n-1]
	switch {
	case useAVX512:
		dotLimbsAVX512[last](&sums[0], &a[0], aStride, &x[0], xStride, n)
	case useAVX2:
		dotLimbsAVX2[last](&sums[0], &a[0], aStride, &x[0], xStride, n)
	default:
		dotLimbsGeneric(sums, a, aStride, x, xStride, n)
	}
}

func axpyBlock(sums []uint64, a []uint32, ld int, c []uint32) {
	n := len(sums)
	if !useAVX2 || n == 0 {
		axpyBlockGeneric(sums, a, ld, c)
		return
	}
	for r, cr := range c {
		row := a[r*ld:][:n]
		next := &row[0]
		if r+1 < len(c) {
			next = &a[(r+1)*ld]
		}
		if useAVX512 {
			axpyAVX512(&sums[0], &row[0], next, cr, n)
		} else {
			axpyAVX2(&sums[0], &row[0], next, cr, n)
		}
	}
}

func axpyTable(sums []uint64, a []uint32, ld int, c []uint32) {
	n := len(sums)
	if !useAVX2 || n == 0 {
		axpyBlockGeneric(sums, a, ld, c)
		return
	}
	r, step := 0, 4
	if useAVX512 {
		step = 8
	}
	for ; r+step <= len(c); r += step {
		_ = a[(r+step-1)*ld+n-1]
		if useAVX512 {
			axpy8AVX512(&sums[0], &a[r*ld], ld, &c[r], n)
		} else {
			axpy4AVX2(&sums[0], &a[r*ld], ld, &c[r], n)
		}
	}
	if r < len(c) {
		axpyBlock(sums, a[r*ld:], ld, c[r:])
	}
}

func reduceSums(sums []uint64, delta uint32) {
	switch n := len(sums); {
	case n == 0:
	case useAVX512:
		reduceSumsAVX512(&sums[0], delta, n)
	case useAVX2:
		reduceSumsAVX2(&sums[0], delta, n)
	default:
		reduceSumsGeneric(sums, delta)
	}
}

func convertBlock(z []uint32, stride int, limbs [][laneMultiple]uint64, powers []uint32, lanes int, delta []uint32,
	neg *[laneMultiple]uint64) {
	n, count := len(delta), len(limbs)
	if !useAVX2 || n == 0 || count == 0 {
		convertGeneric(z, stride, limbs, powers, lanes, delta, neg)
		return
	}
	_, _ = z[(n-1)*stride+laneMultiple-1], powers[(count-1)*lanes+n-1]
	convert := convertAVX2
	short := count <= shortLimbs && delta[n-1] <= shortDelta // deltas increase
	switch {
	case useAVX512 && short:
		convert = convertShortAVX512
	case useAVX512:
		convert = convertAVX512
	case short:
		convert = convertShortAVX2
	}
	convert(&z[0], stride, &limbs[0][0], count, &powers[0], lanes, &delta[0], &neg[0], n)
}

func sumBlock(x []uint32) uint64 {
	switch n := len(x); {
	case n == 0:
		return 0
	case useAVX512:
		return sumBlockAVX512(&x[0], n)
	case useAVX2:
		return sumBlockAVX2(&x[0], n)
	}
	return sumBlockGeneric(x)
}

func packedAdd(s *LimbSum, p *Packed, i, n int) int {
	if !useAVX2 || n == 0 || len(s.acc) == 0 {
		return packedAddGeneric(s, p, i, n)
	}
	_, words := p.exponents[i+n-1], p.words[i*p.width:]
	add := packedAddAVX2
	if useAVX512 {
		add = packedAddAVX512
	}
	return add(&s.acc[0], &s.window[0], s.base, windowSize, &p.exponents[i], &words[0], n, p.width, s.lanes, s.ways)
}
