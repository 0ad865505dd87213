//go:build !noasm

package superacc

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd _asm && go generate"

// The instruction sets in use; every bit that the kernels need is tested.
var (
	useAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	useAVX512 = useAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
)

// SIMD returns the instruction set that sums and dot products use: "none", "avx2" or "avx512".
func SIMD() string {
	switch {
	case useAVX512:
		return "avx512"
	case useAVX2:
		return "avx2"
	}
	return "none"
}

// The kernels in use, by increasing number of levels.
var sumKernels, dotKernels = chooseKernels()

func chooseKernels() (sum, dot []kernel) {
	switch {
	case useAVX512:
		return []kernel{{2, 32}, {3, 32}, {4, 32}, {8, 16}}, []kernel{{3, 16}, {4, 16}, {6, 16}, {8, 8}}
	case useAVX2:
		return []kernel{{2, 8}, {3, 8}, {4, 8}, {8, 4}}, []kernel{{3, 4}, {4, 4}, {6, 4}, {8, 4}}
	}
	return genericSumKernels, genericDotKernels
}

// sumBlock adds a block with kernel k.
func sumBlock(k kernel, x []float64, anchor *[maxLevels]float64, out *blockSums) {
	p, groups, a, o := &x[0], len(x)/k.group, &anchor[0], &out.counts[0]
	switch {
	case useAVX512:
		switch k.levels {
		case 2:
			sum2AVX512(p, groups, a, o)
		case 3:
			sum3AVX512(p, groups, a, o)
		case 4:
			sum4AVX512(p, groups, a, o)
		case 8:
			sum8AVX512(p, groups, a, o)
		}
	case useAVX2:
		switch k.levels {
		case 2:
			sum2AVX2(p, groups, a, o)
		case 3:
			sum3AVX2(p, groups, a, o)
		case 4:
			sum4AVX2(p, groups, a, o)
		case 8:
			sum8AVX2(p, groups, a, o)
		}
	default:
		sumBlockGeneric(k, x, anchor, out)
	}
}

// dotBlock adds a block of products with kernel k.
func dotBlock(k kernel, x, y []float64, anchor *[maxLevels]float64, out *blockSums) {
	p, q, groups, a, o := &x[0], &y[:len(x)][0], len(x)/k.group, &anchor[0], &out.counts[0]
	switch {
	case useAVX512:
		switch k.levels {
		case 3:
			dot3AVX512(p, q, groups, a, o)
		case 4:
			dot4AVX512(p, q, groups, a, o)
		case 6:
			dot6AVX512(p, q, groups, a, o)
		case 8:
			dot8AVX512(p, q, groups, a, o)
		}
	case useAVX2:
		switch k.levels {
		case 3:
			dot3AVX2(p, q, groups, a, o)
		case 4:
			dot4AVX2(p, q, groups, a, o)
		case 6:
			dot6AVX2(p, q, groups, a, o)
		case 8:
			dot8AVX2(p, q, groups, a, o)
		}
	default:
		dotBlockGeneric(k, x, y, anchor, out)
	}
}
