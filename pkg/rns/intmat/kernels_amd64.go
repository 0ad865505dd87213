//go:build !noasm

package intmat

import (
	"os"
	"sync"

	"golang.org/x/sys/cpu"
)

//go:generate sh -c "cd _asm && go generate"

// useTiles is the environment variable that, set to 1, lets products use AMX: no processor that has it has run them.
const useTiles = "MPBENCH_AMX"

// kernels returns the vector versions that the processor has, the fastest first, and the plain one.
var kernels = sync.OnceValue(func() (list []kernel) {
	if os.Getenv(useTiles) == "1" {
		list = tileKernels()
	}
	has512 := cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW
	if has512 && cpu.X86.HasAVX512VNNI {
		list = append(list, kernel{"avx512-vnni", 12, 32, vectors(mulVNNI, 12, 32), nil})
	}
	if has512 {
		list = append(list, kernel{"avx512", 12, 32, vectors(mulAVX512, 12, 32), nil})
	}
	if cpu.X86.HasAVX2 {
		list = append(list, kernel{"avx2", 6, 16, vectors(mulAVX2, 6, 16), nil})
	}
	return append(list, plain)
})

var (
	fastest = func() kernel { return kernels()[0] }
	useAVX2 = cpu.X86.HasAVX2
)

// tileKernels returns the kernel with products of bytes by AMX, if the processor has it and the system allows it,
// which is asked once.
var tileKernels = sync.OnceValue(func() []kernel {
	x := &cpu.X86
	if !x.HasAMXTile || !x.HasAMXInt8 || !x.HasAVX512F || !x.HasAVX512BW || !x.HasAVX512VNNI || !tilesAllowed() {
		return nil
	}
	return []kernel{{"amx-int8", 12, byteCols, vectors(mulVNNI, 12, byteCols), tiles}}
})

// tiles is the product of bytes by AMX.
func tiles(low, high []int32, size int, a []uint32, stride int, b []uint32, blocks, panels int) {
	if blocks == 0 || panels == 0 {
		return
	}
	last := (panels-1)*size + byteRows*byteCols - 1
	_, _ = low[last], high[last]
	_, _ = a[(panels-1)*stride+blocks*blockWords*byteRows-1], b[blocks*blockWords*2*byteCols-1]
	mulAMX(&low[0], &high[0], size, &a[0], stride, &b[0], blocks, panels)
}

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

func fold(tile, high []int32, cols int, moduli []modulus) {
	if !useAVX2 || cols%8 != 0 {
		foldGeneric(tile, high, cols, moduli)
		return
	}
	_, _ = tile[len(moduli)*cols-1], high[len(moduli)*cols-1]
	foldAVX2(&tile[0], &high[0], cols, &moduli[0].m, len(moduli))
}

func split(words []uint32) {
	if !useAVX2 || len(words)%8 != 0 {
		splitGeneric(words)
		return
	}
	splitAVX2(&words[0], len(words))
}

func interleave(low, high, words, turned []uint32) {
	n := len(words)
	if !useAVX2 || n%8 != 0 {
		interleaveGeneric(low, high, words, turned)
		return
	}
	_, _, _ = low[n-1], high[n-1], turned[n-1]
	interleaveAVX2(&low[0], &high[0], &words[0], &turned[0], n)
}
