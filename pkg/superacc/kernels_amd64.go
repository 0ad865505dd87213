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

var useBMI2 = cpu.X86.HasBMI2

// add adds normal numbers to their buckets.
func (b *termBuckets) add(x []float64) {
	if n := len(x) &^ 3; useBMI2 && n > 0 {
		addBucketsBMI2(&x[0], n, &b.sum[0], &b.carry[0])
		x = x[n:]
	}
	b.addGeneric(x)
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

// columnLanes is the number of rows of a matrix stored by columns that columnsBlock takes at a time; 0 for none.
var columnLanes = chooseLanes()

func chooseLanes() int {
	switch {
	case useAVX512:
		return 8
	case useAVX2:
		return 4
	}
	return 0
}

// columnsBlock adds the products of len(x) columns of columnLanes rows, which begin at a and are stride bytes apart,
// with x, by kernel k.
func columnsBlock(k kernel, a *float64, stride int, x []float64, anchor *[maxLevels]float64, out *columnSums) {
	p, n, first, o := &x[0], len(x), &anchor[0], &out.counts[0][0]
	switch {
	case useAVX512:
		switch k.levels {
		case 3:
			columns3AVX512(a, stride, p, n, first, o)
		case 4:
			columns4AVX512(a, stride, p, n, first, o)
		case 6:
			columns6AVX512(a, stride, p, n, first, o)
		case 8:
			columns8AVX512(a, stride, p, n, first, o)
		}
	case useAVX2:
		switch k.levels {
		case 3:
			columns3AVX2(a, stride, p, n, first, o)
		case 4:
			columns4AVX2(a, stride, p, n, first, o)
		case 6:
			columns6AVX2(a, stride, p, n, first, o)
		case 8:
			columns8AVX2(a, stride, p, n, first, o)
		}
	}
}
