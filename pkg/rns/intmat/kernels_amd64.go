//go:build !noasm

package intmat

import "golang.org/x/sys/cpu"

//go:generate sh -c "cd _asm && go generate"

// kernels are the vector versions that the processor has, the fastest first, and the plain one.
var kernels = func() (list []kernel) {
	has512 := cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW
	if has512 && cpu.X86.HasAVX512VNNI {
		list = append(list, kernel{"avx512-vnni", 12, 32, vectors(mulVNNI, 12, 32)})
	}
	if has512 {
		list = append(list, kernel{"avx512", 12, 32, vectors(mulAVX512, 12, 32)})
	}
	if cpu.X86.HasAVX2 {
		list = append(list, kernel{"avx2", 6, 16, vectors(mulAVX2, 6, 16)})
	}
	return append(list, plain)
}()

var (
	fastest = kernels[0]
	useAVX2 = cpu.X86.HasAVX2
)

// vectors checks the lengths of what a kernel of so many rows and columns is called with.
func vectors(mul func(tile *int32, a, b *uint32, pairs int), rows, cols int) func([]int32, []uint32, []uint32, int) {
	return func(tile []int32, a, b []uint32, pairs int) {
		if pairs > 0 {
			_, _, _ = tile[rows*cols-1], a[rows*pairs-1], b[cols*pairs-1]
			mul(&tile[0], &a[0], &b[0], pairs)
		}
	}
}

func reduce(tile []int32, cols int, moduli []modulus) {
	if !useAVX2 || cols%8 != 0 {
		reduceGeneric(tile, cols, moduli)
		return
	}
	_ = tile[len(moduli)*cols-1]
	reduceAVX2(&tile[0], cols, &moduli[0].m, len(moduli))
}

func pair(words []uint32, stride int, even, odd []int32, cols int) {
	if !useAVX2 || cols%8 != 0 {
		pairGeneric(words, stride, even, odd, cols)
		return
	}
	rows := len(even) / cols
	_, _ = words[(rows-1)*stride+cols-1], odd[len(even)-1]
	pairAVX2(&words[0], stride, &even[0], &odd[0], cols, rows)
}

func carry(tile []int32, cols int, product []int32) {
	if !useAVX2 || cols%8 != 0 {
		carryGeneric(tile, cols, product)
		return
	}
	_ = tile[(len(product)+1)*cols-1]
	carryAVX2(&tile[0], cols, &product[0], len(product))
}
