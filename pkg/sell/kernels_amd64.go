//go:build !noasm

package sell

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:generate sh -c "cd _asm && go generate"

var useAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA

func float64s(steps, columns []int32, a, x, sums []float64) {
	if !useAVX2 || len(steps) == 0 {
		float64sGeneric(steps, columns, a, x, sums)
		return
	}
	float64sAVX2(unsafe.SliceData(steps), len(steps), unsafe.SliceData(columns), unsafe.SliceData(a), unsafe.SliceData(x),
		nil, unsafe.SliceData(sums))
}

func doubleDoubles(parts int, steps, columns []int32, a, x, low, sums []float64) {
	if !useAVX2 || len(steps) == 0 {
		doubleDoublesGeneric(parts, steps, columns, a, x, low, sums)
		return
	}
	kernel := doubleDoublesAVX2
	if parts == 1 {
		kernel = doubleDoublesOf64AVX2
	}
	kernel(unsafe.SliceData(steps), len(steps), unsafe.SliceData(columns), unsafe.SliceData(a), unsafe.SliceData(x),
		unsafe.SliceData(low), unsafe.SliceData(sums))
}
