//go:build !noasm

package lanes

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate sh -c "cd _asm && go generate"

// The instruction sets in use; every bit that the kernels need is tested.
var (
	useAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA
	useAVX512 = useAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ
)

// Leaves sets sums[i] to the sum of the next 8*groups[i] numbers of x, as leavesGeneric describes.
func Leaves(x []float64, groups []int, sums []float64) {
	if !useAVX2 || len(groups) == 0 {
		leavesGeneric(x, groups, sums)
		return
	}
	leavesAVX2(unsafe.SliceData(x), unsafe.SliceData(groups), len(groups), unsafe.SliceData(sums))
}

// Kernels are by number of levels less 2, for AVX2 and AVX-512.
var (
	sumKernels = [][2]func(x *float64, groups int, lanes *float64){
		{sums2AVX2, sums2AVX512}, {sums3AVX2, sums3AVX512},
	}
	productKernels = [][2]func(x, y *float64, groups int, lanes *float64){
		{products2AVX2, products2AVX512}, {products3AVX2, products3AVX512},
	}
	binSumKernels = [][2]func(x *float64, groups int, lanes *float64) float64{
		{binSums2AVX2, binSums2AVX512}, {binSums3AVX2, binSums3AVX512}, {binSums4AVX2, binSums4AVX512},
	}
	binProductKernels = [][2]func(x, y *float64, groups int, lanes *float64) float64{
		{binProducts2AVX2, binProducts2AVX512}, {binProducts3AVX2, binProducts3AVX512},
		{binProducts4AVX2, binProducts4AVX512},
	}
)

// wide chooses from pairs of kernels.
func wide() int {
	if useAVX512 {
		return 1
	}
	return 0
}

// AddSums adds the terms of x, whose number is a multiple of Count, to the lanes.
func (c Cascade) AddSums(x []float64) {
	if k := len(c) - 2; useAVX2 && k < len(sumKernels) && len(x) > 0 {
		sumKernels[k][wide()](&x[0], len(x)/Count, &c[0][0])
		return
	}
	c.sumsGeneric(x)
}

// AddProducts adds the products of x and y, whose number is a multiple of Count, to the lanes.
func (c Cascade) AddProducts(x, y []float64) {
	if k := len(c) - 2; useAVX2 && k < len(productKernels) && len(x) > 0 {
		productKernels[k][wide()](&x[0], &y[0], len(x)/Count, &c[0][0])
		return
	}
	c.productsGeneric(x, y)
}

// AddSums adds the terms of x, whose number is a multiple of Count, and returns the largest magnitude; that of NaN is
// left out.
func (b Bins) AddSums(x []float64) (largest float64) {
	if k := len(b) - 2; useAVX2 && k < len(binSumKernels) && len(x) > 0 {
		return binSumKernels[k][wide()](&x[0], len(x)/Count, &b[0][0])
	}
	return b.sumsGeneric(x)
}

// AddProducts does so for rounded products.
func (b Bins) AddProducts(x, y []float64) (largest float64) {
	if k := len(b) - 2; useAVX2 && k < len(binProductKernels) && len(x) > 0 {
		return binProductKernels[k][wide()](&x[0], &y[0], len(x)/Count, &b[0][0])
	}
	return b.productsGeneric(x, y)
}
