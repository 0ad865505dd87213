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

func dotBlock(out []uint64, a []uint32, ld int, x []uint32) {
	rows, n := len(out)/2, len(x)
	if rows == 0 || n == 0 {
		return
	}
	_ = a[(rows-1)*ld+n-1]
	switch {
	case rows == dotRows && useAVX512:
		dot4AVX512(&out[0], &a[0], ld, &x[0], n)
	case rows == dotRows && useAVX2:
		dot4AVX2(&out[0], &a[0], ld, &x[0], n)
	case useAVX2:
		for r := range rows {
			var halves [2]uint64
			if useAVX512 {
				dot1AVX512(&halves[0], &a[r*ld], &x[0], n)
			} else {
				dot1AVX2(&halves[0], &a[r*ld], &x[0], n)
			}
			out[r] += halves[0]
			out[rows+r] += halves[1]
		}
	default:
		dotBlockGeneric(out, a, ld, x)
	}
}

func axpyBlock(sums []uint64, a []uint32, ld int, c []uint32) {
	n := len(sums)
	if len(c) == 0 || n == 0 {
		return
	}
	_ = a[(len(c)-1)*ld+n-1]
	r := 0
	switch {
	case useAVX512:
		for ; r+8 <= len(c); r += 8 {
			axpy8AVX512(&sums[0], &a[r*ld], ld, &c[r], n)
		}
		for ; r < len(c); r++ {
			axpy1AVX512(&sums[0], &a[r*ld], &c[r], n)
		}
	case useAVX2:
		for ; r+4 <= len(c); r += 4 {
			axpy4AVX2(&sums[0], &a[r*ld], ld, &c[r], n)
		}
		for ; r < len(c); r++ {
			axpy1AVX2(&sums[0], &a[r*ld], &c[r], n)
		}
	default:
		axpyBlockGeneric(sums, a, ld, c)
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

func combine(z, table []uint32, stride int, coef, delta []uint32, neg bool) {
	n, count := len(z), len(coef)
	if !useAVX2 || count == 0 {
		combineGeneric(z, table, stride, coef, delta, neg)
		return
	}
	_, _ = table[(count-1)*stride+n-1], delta[n-1]
	var mask uint32
	if neg {
		mask = ^mask
	}
	if useAVX512 {
		combineAVX512(&z[0], &table[0], stride, &coef[0], count, &delta[0], mask, n)
	} else {
		combineAVX2(&z[0], &table[0], stride, &coef[0], count, &delta[0], mask, n)
	}
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
